"""Fails if a normal or build dependency of a published package asks for a newer Rust than the one given.

    cargo metadata --all-features … | dependencies_msrv.py 1.88 postgres=1.94

What only the feature `postgres` brings in may ask for 1.94. Dev-dependencies do not count: users never build them.
"""

import json
import sys


def version(text):
    return tuple(int(part) for part in text.split("."))[:2]


def brought_in(package, feature):
    """Names of the optional dependencies that this feature of a package turns on, and no other."""
    def names(which):
        return {item.removeprefix("dep:") for item in package["features"].get(which, []) if item.startswith("dep:")}

    others = set().union(*(names(other) for other in package["features"] if other != feature))
    return names(feature) - others


def reach(metadata, without):
    """All packages that the published ones bring in, without those that only come with this feature."""
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [member for member in metadata["workspace_members"] if packages[member]["publish"] != []]
    reached = set()
    while waiting:
        current = waiting.pop()
        if current in reached:
            continue
        reached.add(current)
        left_out = brought_in(packages[current], without) if without and packages[current]["source"] is None else set()
        for dependency in nodes[current]["deps"]:
            is_used = any(kind["kind"] != "dev" for kind in dependency["dep_kinds"])
            if is_used and packages[dependency["pkg"]]["name"] not in left_out:
                waiting.append(dependency["pkg"])
    return [packages[name] for name in reached]


def check(packages, limit, what):
    silent, too_new = [], []
    for package in packages:
        label = f"{package['name']} {package['version']}"
        if package["rust_version"] is None:
            silent.append(label)
        elif version(package["rust_version"]) > version(limit):
            too_new.append(f"{label} asks for {package['rust_version']}, with {what}")
    print(f"{len(packages)} packages with {what}; these state no minimum: {', '.join(sorted(silent)) or 'none'}")
    for line in sorted(too_new):
        print(line, file=sys.stderr)
    return not too_new


def main():
    metadata = json.load(sys.stdin)
    limit, exception = sys.argv[1], sys.argv[2]
    feature, later = exception.split("=")
    core = check(reach(metadata, feature), limit, f"all features but `{feature}`")
    every = check(reach(metadata, None), later, "all features")
    sys.exit(0 if core and every else 1)


main()
