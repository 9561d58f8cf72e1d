"""Checks the length of files, so that each is one concept, and of lines.

C++ is laid out by clang-format, see style.py; YAML has tables whose rows stay in one line.
"""

import pathlib
import sys

import source_tree

LIMIT = 600  # lines
WIDTH = 100  # columns


def too_long(path, text):
    lines = text.count("\n")
    return [f"{path}: error: {lines} lines, where {LIMIT} is the most"] if lines > LIMIT else []


def too_wide(path, text):
    return [f"{path}:{number}: error: {len(line)} columns, where {WIDTH} is the most"
            for number, line in enumerate(text.split("\n"), 1) if len(line) > WIDTH]


def main(root):
    assert not too_long("made_up.cpp", "\n" * LIMIT) and too_long("made_up.cpp", "\n" * (LIMIT + 1))
    assert not too_wide("a.js", "\u2192" * WIDTH) and too_wide("a.js", "-" * 101)
    scripts = (".py", ".cmake", "CMakeLists.txt", ".js", ".css")
    checks = ((too_long, source_tree.SOURCES + scripts + (".sh",)), (too_wide, scripts))
    files = [(path, pathlib.Path(root, path).read_text(encoding="utf-8"))
             for path in source_tree.files(root) if path.endswith(checks[0][1])]
    found = [line for check, ends in checks for path, text in files if path.endswith(ends)
             for line in check(path, text)]
    print("\n".join(found + [f"{len(files)} files checked, {len(found)} too long or too wide"]))
    return 1 if found or not files else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
