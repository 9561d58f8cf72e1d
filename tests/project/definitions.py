"""Every class, inline function and inline variable of the project has a unique qualified name.

Two files that each define one under the same name break the one-definition rule: in a program that
contains both, the linker keeps one and reports nothing. The check compares the sources of the
libraries and tools with each other, all other sources with these, and the sources of each folder.

It relies on clang-format: what a namespace contains begins in column 0, and the end of a namespace
has a comment. Nested types follow from their outer type. All branches of `#if` count.
"""

import collections
import pathlib
import re
import sys

import source_tree

# Folders whose definitions can end up in any program.
SHARED = ("framework/", "stages/", "tools/")

# Namespaces of one line, which have no comment at their end; comments, literals and directives.
SKIPPED = re.compile(
    r"""^namespace[ ][\w:]+[ ]\{\n[^\n]*\n\}$|//(?![ ]namespace)(?:\\\n|[^\n])*|/\*.*?\*/
      |R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"|"(?:\\.|[^"\\\n])*"
      |(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'|^[ \t]*\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE)
SCOPE = re.compile(r"(?:inline )?namespace ?(?P<name>[\w:]*) \{$|(?P<end>\})  // namespace")
TEMPLATE = re.compile(r"template <[^;{]*?>\s(?=[\w:\[]+ ?[\w:(<\[&*])")
TYPE = re.compile(r"(?:enum )?(?:class|struct|union|enum) (?:alignas\(.*?\) |\[\[.*?\]\] )*"
                  r"(?P<name>[\w:]+(?:<[^{]*>)?)(?: final)?(?: : [^({;]*)?\s*\{")
FUNCTION = re.compile(r"(?P<before>[^=({;]*?)\b(?P<name>\w+)\((?P<rest>.*)", re.DOTALL)
VARIABLE = re.compile(r"[^({;=]*?\b(?P<name>\w+)(?:\[.*?\])* ?[={]")
INLINE = re.compile(r"\b(?:inline|constexpr|consteval)\b")
NOT_INLINE = re.compile(r"\b(?:static|friend|using|typedef|extern|operator)\b|::$")
# A parameter with a name after its type.
NAMED = re.compile(r"(?!const \w+$)(?P<type>.*[ &*>])(?!(?:int|char|long|short|float|double|bool|"
                   r"unsigned|auto)$)\w+", re.DOTALL)


def parameter_types(text):
    """The types of a parameter list, up to its closing parenthesis."""
    types, depth = [""], 0
    for char in text:
        if char == ")" and depth == 0:
            break
        depth += (char in "(<[{") - (char in ")>]}")
        if char == "," and depth == 0:
            types.append("")
        else:
            types[-1] += char
    types = [" ".join(one.split("=")[0].split()) for one in types]
    named = map(NAMED.fullmatch, types)
    return ", ".join(match["type"].strip() if match else one for match, one in zip(named, types))


def defined_name(text):
    """The name that a declaration at the beginning of `text` defines for all files, or None."""
    template = TEMPLATE.match(text)
    declaration = text[template.end():] if template else text
    if found := TYPE.match(declaration):
        return "".join(found["name"].split())
    head = re.match(r"[^;]*?(?:\{\n|(?<!= )\{\}|\{ |;|$)", declaration)[0]
    function = FUNCTION.match(head)
    if function and not NOT_INLINE.search(function["before"]):
        is_inline = template or INLINE.search(function["before"])
        is_variable = "inline" in function["before"] and head.endswith(";")
        if is_inline and not head.endswith(";") and function["before"].strip():
            return f"{function['name']}({parameter_types(function['rest'])})"
        if not is_variable:
            return None
    variable = VARIABLE.match(head) if "inline " in head else None
    return variable["name"] if variable and not NOT_INLINE.search(variable[0]) else None


def definitions(text):
    """(qualified name, line) of all types, inline functions and inline variables of a source."""
    plain = SKIPPED.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)
    found, scopes, at, templated = [], [], 0, False
    for number, line in enumerate(plain.split("\n"), 1):
        if scope := SCOPE.match(line):
            scopes = scopes[:-1] if scope["end"] else [*scopes, scope["name"]]
        elif re.match(r"[A-Za-z]|\[\[", line) and not templated and "" not in scopes:
            if name := defined_name(plain[at:]):
                found.append(("::".join([*scopes, name]), number))
        templated = line.startswith("template <") and line.endswith(">")
        at += len(line) + 1
    return found


def violations(sources):
    """Messages on names that two of `sources`, a map of paths to texts, define; and the number of
    names."""
    places = collections.defaultdict(dict)
    for path, text in sources.items():
        for name, line in definitions(text):
            places[name].setdefault(path, line)
    found = []
    for name, lines in places.items():
        for path, line in lines.items():
            other = next((p for p in lines if p != path and meet(p, path)), None)
            if other:
                found.append(f"{path}:{line}: error: defines {name}, as does {other}:"
                             f"{lines[other]}; rename one, or use an unnamed namespace")
    return sorted(found), len(places)


def meet(path, other):
    """Whether one program may contain both sources."""
    return (path.startswith(SHARED) or other.startswith(SHARED)
            or pathlib.PurePath(path).parent == pathlib.PurePath(other).parent)


def main(root):
    paths = source_tree.cpp_files(root)
    found, names = violations(
        {path: pathlib.Path(root, path).read_text(encoding="utf-8") for path in paths})
    print("\n".join(found + [f"{names} names in {len(paths)} files, {len(found)} violations"]))
    return 1 if found or names == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
