"""Holds source files to a length at which each is still one concept."""

import pathlib
import sys

import source_tree

LIMIT = 400  # lines


def too_long(path, text):
    lines = text.count("\n")
    return [f"{path}: error: {lines} lines, where {LIMIT} is the most"] if lines > LIMIT else []


def main(root):
    assert not too_long("made_up.cpp", "\n" * LIMIT) and too_long("made_up.cpp", "\n" * (LIMIT + 1))
    paths = [path for path in source_tree.files(root)
             if path.endswith(source_tree.SOURCES + (".py", ".cmake", ".sh"))]
    found = [line for path in paths
             for line in too_long(path, pathlib.Path(root, path).read_text(encoding="utf-8"))]
    print("\n".join(found + [f"{len(paths)} files checked, {len(found)} too long"]))
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
