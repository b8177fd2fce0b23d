"""Fails if a normal or build dependency of a published package asks for a newer Rust than the one given.

    cargo metadata --all-features … | dependencies_msrv.py 1.88 postgres,sqlx-sqlite=1.94

What only these features bring in may ask for 1.94. Dev-dependencies do not count: users never build them.
"""

import json
import sys


def version(text):
    return tuple(int(part) for part in text.split("."))[:2]


def brought_in(package, features):
    """Names of the optional dependencies that these features of a package turn on, and no other."""
    def names(which):
        return {item.removeprefix("dep:") for item in package["features"].get(which, []) if item.startswith("dep:")}

    all_of = lambda features: set().union(*map(names, features))
    return all_of(features) - all_of(set(package["features"]) - features)


def reach(metadata, without):
    """All packages that the published ones bring in, without those that only come with these features."""
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
    names, later = exception.split("=")
    core = check(reach(metadata, set(names.split(","))), limit, f"all features but {names}")
    every = check(reach(metadata, set()), later, "all features")
    sys.exit(0 if core and every else 1)


main()
