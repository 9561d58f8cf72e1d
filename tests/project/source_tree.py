"""The project's files, found without git, so that a plain copy of the tree can be checked too."""

import os
import pathlib

TOP_FOLDERS = ("framework", "stages", "tools", "tests", "examples")
SOURCES = (".cpp", ".hpp", ".cu", ".cuh")


def files(root):
    """Every file under the project's folders, as paths relative to `root`, in order."""
    found = []
    for top in TOP_FOLDERS + (".ci",):
        for folder, folders, names in os.walk(pathlib.Path(root, top)):
            folders[:] = sorted(name for name in folders if name != "__pycache__")
            found += [pathlib.Path(folder, name).relative_to(root).as_posix() for name in names]
    return sorted(found)


def cpp_files(root):
    """The C++ and CUDA sources."""
    return [path for path in files(root) if path.endswith(SOURCES)]


def shell_scripts(root):
    """Shell scripts, recognized by their first line."""
    return [path for path in files(root) if _is_shell(pathlib.Path(root, path))]


def _is_shell(path):
    with open(path, "rb") as file:
        first = file.readline(80)
    return first.startswith(b"#!") and first.rstrip().endswith((b"/sh", b" bash", b"/bash"))
