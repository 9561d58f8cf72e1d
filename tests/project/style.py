"""Runs a style checker over the project's files: `style.py format|shell`.

Exits with 77, which ctest shows as skipped, when the checker is missing.
"""

import re
import shutil
import subprocess
import sys

import source_tree

SKIPPED = 77
CLANG_FORMAT = 14  # Debian 12's; other versions format differently


def skip(reason):
    print(f"skipped: {reason}")
    return SKIPPED


def run(command, root, paths):
    print(f"{command[0]} on {len(paths)} files", flush=True)
    return subprocess.run(command + paths, cwd=root, check=False).returncode if paths else 1


def check_format(root):
    """Runs clang-format on all sources."""
    program = shutil.which(f"clang-format-{CLANG_FORMAT}") or shutil.which("clang-format")
    if not program:
        return skip(f"clang-format {CLANG_FORMAT} is not installed")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    major = int(re.search(r"version (\d+)", version.stdout)[1])
    if major != CLANG_FORMAT:
        return skip(f"{program} is version {major}, the project is laid out by {CLANG_FORMAT}")
    return run([program, "--dry-run", "-Werror"], root, source_tree.cpp_files(root))


def check_shell(root):
    """Runs shellcheck on all scripts and the files that they source."""
    program = shutil.which("shellcheck")
    if not program:
        return skip("shellcheck is not installed")
    return run([program, "--external-sources"], root, source_tree.shell_scripts(root))


if __name__ == "__main__":
    sys.exit({"format": check_format, "shell": check_shell}[sys.argv[1]](sys.argv[2]))
