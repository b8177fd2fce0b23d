"""Fails if a normal or build dependency of a published package asks for a newer Rust than the one given.

Reads `cargo metadata` from standard input. Dev-dependencies do not count: users never build them.
"""

import json
import sys


def version(text):
    return tuple(int(part) for part in text.split("."))[:2]


def main():
    limit = version(sys.argv[1])
    metadata = json.load(sys.stdin)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}

    members = metadata["workspace_members"]
    waiting = [member for member in members if packages[member]["publish"] != []]
    reached = set()
    while waiting:
        current = waiting.pop()
        if current in reached:
            continue
        reached.add(current)
        for dependency in nodes[current]["deps"]:
            if any(kind["kind"] != "dev" for kind in dependency["dep_kinds"]):
                waiting.append(dependency["pkg"])

    silent, too_new = [], []
    for package in (packages[name] for name in reached):
        label = f"{package['name']} {package['version']}"
        if package["rust_version"] is None:
            silent.append(label)
        elif version(package["rust_version"]) > limit:
            too_new.append(f"{label} asks for {package['rust_version']}")

    print(f"{len(reached)} packages; these state no minimum: {', '.join(sorted(silent)) or 'none'}")
    for line in sorted(too_new):
        print(line, file=sys.stderr)
    sys.exit(1 if too_new else 0)


main()
