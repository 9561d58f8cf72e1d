"""Every class, inline function and inline variable of the project has a name of its own.

Two files that each define one under the same qualified name break the one-definition rule: in a
program that holds both, the linker keeps either and reports nothing. Compared are the sources of
the libraries and tools with each other, every other source with these, and the sources of each
folder. Names in unnamed namespaces belong to one file. All branches of `#if` count. Operators are
not compared.

The parser reads only as much C++ as that takes; definitions_test.py shows how much.
"""

import collections
import pathlib
import re
import sys

import source_tree

# Folders whose definitions can end up in any program.
SHARED = ("framework/", "stages/", "tools/")

SKIPPED = re.compile(
    r"""//(?:\\\n|[^\n])*|/\*.*?\*/|R"(?P<mark>[^()\s\\]{0,16})\(.*?\)(?P=mark)"
      |"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])+'|^[ \t]*\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE)
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.']*|::|->|\[\[.*?\]\]|[^\s\w]", re.DOTALL)
UNNAMED = "(unnamed)"
TYPE_KEYS = ("class", "struct", "union", "enum")
WORD = re.compile(r"[A-Za-z_]\w*$")
# A declaration with one of these is none of an inline entity, or one of an operator.
NOT_INLINE = {"static", "friend", "using", "typedef", "extern", "operator"}
INLINE = {"inline", "constexpr", "consteval"}
# Words that end a parameter's type and are not the parameter's name.
TYPE_WORDS = ("const", "unsigned", "signed", "int", "char", "short", "long", "float", "double",
              "bool", "void", "auto", "...", "&", "*", ">")


def tokens_of(text):
    """The tokens of a source that stand outside of comments and directives; literals are empty."""
    def blank(match):
        return ('""' if match[0][0] in "\"'R" else " ") + "\n" * match[0].count("\n")
    plain = SKIPPED.sub(blank, text)
    line, at, found = 1, 0, []
    for match in TOKEN.finditer(plain):
        line += plain.count("\n", at, match.start())
        at = match.start()
        if not match[0].startswith("[["):
            found.append((match[0], line))
    return found


def matching(tokens, at, opening, closing):
    """The index of what closes the bracket that stands `at`."""
    depth = 0
    for index in range(at, len(tokens)):
        depth += (tokens[index][0] == opening) - (tokens[index][0] == closing)
        if depth == 0:
            return index
    return len(tokens) - 1


def after_template(head):
    """The words of a declaration after `template <...>`."""
    while head[:1] == ["template"]:
        depth, end = 0, 1
        for end in range(1, len(head)):
            depth += (head[end] == "<") - (head[end] == ">")
            if depth == 0:
                break
        head = head[end + 1:]
    return head


def type_name(head):
    """The name of the type that `head { ...` defines, with its template arguments, or None."""
    head = after_template(head)
    if head[:1] == ["typedef"]:
        head = head[1:]
    if not head or head[0] not in TYPE_KEYS:
        return None
    words = head[2:] if head[1:2] in (["class"], ["struct"]) else head[1:]
    while words[:1] == ["alignas"]:
        words = words[2 + words[1:].index(")"):]
    if "=" in words or (len(words) > 1 and WORD.match(words[0]) and WORD.match(words[1])
                        and words[1] != "final"):
        return None  # an object of the type
    name, depth = [], 0
    for word in words:
        if depth == 0 and word in (":", "final"):
            break
        depth += (word == "<") - (word == ">")
        name.append(word)
    return "".join(name) or None


def parameter_type(words):
    """A parameter's words without its default and its name."""
    if "=" in words:
        words = words[:words.index("=")]
    if len(words) > 1 and WORD.match(words[-1]) and words[-1] not in TYPE_WORDS \
            and words[-2] != "::" and words[:-1] != ["const"]:
        words = words[:-1]
    return " ".join(words)


def function_name(head):
    """The name and parameter types of a function that several files may define without a word of
    the linker's, whose body follows `head`: a template, or inline. Otherwise None."""
    templated = head[:1] == ["template"]
    head = after_template(head)
    if "(" not in head:
        return None
    at = head.index("(")
    before = head[:at]
    if not before or not WORD.match(before[-1]) or NOT_INLINE & set(before):
        return None
    if before[-2:-1] == ["::"] or not (templated or INLINE & set(before)):
        return None  # a member defined outside of its class, or no inline function
    parameters, depth = [[]], 0
    for word in head[at + 1:]:
        if word == ")" and depth == 0:
            break
        depth += (word in "(<[{") - (word in ")>]}")
        if word == "," and depth == 0:
            parameters.append([])
        else:
            parameters[-1].append(word)
    return f"{before[-1]}({', '.join(parameter_type(p) for p in parameters)})"


def variable_name(head):
    """The name of the inline variable whose declaration starts with `head`, or None."""
    if "inline" not in head or NOT_INLINE & set(head):
        return None
    end = next((at for at, word in enumerate(head) if word in ("=", "[", "(", "{}")), len(head))
    return head[end - 1] if head[end:end + 1] != ["("] and WORD.match(head[end - 1]) else None


def definitions(text):
    """(qualified name, line) of all types, nested ones included, inline functions and inline
    variables that a source defines."""
    tokens = tokens_of(text)
    found, scopes, head, index = [], [], [], 0

    def note(name, line):
        if name and all(scope != UNNAMED for _, scope in scopes):
            found.append(("::".join([scope for _, scope in scopes if scope] + [name]), line))

    while index < len(tokens):
        word, line = tokens[index]
        words = [w for w, _ in head]
        in_namespace = all(kind == "namespace" for kind, _ in scopes)
        if word == "{":
            scope = scope_of(words)
            if scope:
                note(scope[1] if scope[0] == "type" else None, line)
                scopes.append(scope)
                head = []
            else:  # the body of a function, or an initializer
                function = function_name(words)
                if in_namespace and function:
                    note(function, head[0][1])
                index = matching(tokens, index, "{", "}")
                head = head + [("{}", line)] if is_initializer(words) else []
        elif word == "}":
            scopes[-1:] = []
            head = []
        elif word == "(":
            end = matching(tokens, index, "(", ")")
            head += tokens[index:end + 1]
            index = end
        elif word == ";":
            if in_namespace and head:
                note(variable_name(words), head[0][1])
            head = []
        elif word == ":" and words in (["public"], ["protected"], ["private"]):
            head = []
        else:
            head.append((word, line))
        index += 1
    return found


def is_initializer(words):
    """Whether a brace after these words opens an initializer, of a variable or in a constructor,
    and not a function's body."""
    at = words.index("(") if "(" in words else len(words)
    if at == len(words) or "=" in words[:at] and "operator" not in words[:at]:
        return True
    return ":" in words[at:] and bool(WORD.match(words[-1]) or words[-1] == ">")


def scope_of(words):
    """The scope that a brace after these words opens, as (kind, name), or None."""
    if words[:2] == ["inline", "namespace"]:
        words = words[1:]
    if words[:1] == ["namespace"]:
        return "namespace", "".join(words[1:]) or UNNAMED
    if words[:1] == ["extern"] and "(" not in words:
        return "namespace", ""
    name = type_name(words)
    return ("type", name) if name else None


def violations(sources):
    """What two of `sources`, a map of paths to their text, both define, as messages; and the number
    of names."""
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
    """Whether one program may hold both sources."""
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
