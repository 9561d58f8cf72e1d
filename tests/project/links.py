"""Checks that links in the project's Markdown files lead to existing files and headings. Links to
other sites are not followed.
"""

import pathlib
import re
import sys

FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"^(?: {4}|\t).*$|`[^`\n]*`", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)|(?:href|src|srcset)=\"([^\"]+)\"")
HEADING = re.compile(r"^#+ (.+?)\s*$", re.MULTILINE)


def anchors(text):
    """The anchors of a text, from its headings."""
    found = []
    for title in HEADING.findall(FENCED.sub("", text)):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        again = found.count(anchor)
        found.append(f"{anchor}-{again}" if again else anchor)
    return found


def blank(match):
    """The same number of lines, empty."""
    return "\n" * match[0].count("\n")


def dead_links(root, path):
    """Messages on the dead links of the text `path`."""
    text = pathlib.Path(root, path).read_text(encoding="utf-8")
    text = CODE.sub(blank, FENCED.sub(blank, text))
    found = []
    for match in LINK.finditer(text):
        target = match[1] or match[2]
        if re.match(r"[a-z]+:", target):
            continue
        name, _, anchor = target.partition("#")
        file = pathlib.Path(root, path).parent / name if name else pathlib.Path(root, path)
        if not file.exists():
            why = "there is no such file"
        elif anchor and anchor not in anchors(file.read_text(encoding="utf-8")):
            why = "there is no such heading"
        else:
            continue
        line = text.count("\n", 0, match.start()) + 1
        found.append(f"{path}:{line}: error: {target}: {why}")
    return found


def texts(root):
    """The project's texts: those at its root and in `docs`."""
    root = pathlib.Path(root)
    return [path.relative_to(root).as_posix()
            for path in sorted([*root.glob("*.md"), *root.glob("docs/**/*.md")])]


def main(root):
    paths = texts(root)
    found = [line for path in paths for line in dead_links(root, path)]
    print("\n".join(found + [f"{len(paths)} texts checked, {len(found)} dead links"]))
    return 1 if found or not paths else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
