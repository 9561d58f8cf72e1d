"""Draws random one-line faults in framework/ and stages/ and reports which ones the tests catch.

A fault turns a comparison, an arithmetic or a logical operator, negates a condition, changes a
number, or removes a statement or an early return, inside a function. The tests of its folder run
first, then those of the folders whose tests include headers of its folder, then the program's. A
fault that leaves every object file as it was is equal: nothing can see it.

Building and testing are seeded.py's. Each result is printed, and appended to the results file, as
soon as it is known; the same command continues there. It takes hours.

usage: random_faults.py [--count N] [--seed N] [--results FILE] [--build DIR] [--limit SECONDS]
                        [--jobs N] [--list]
"""

import argparse
import collections
import dataclasses
import hashlib
import json
import os
import pathlib
import random
import re
import signal
import sys
import time

import seeded
from seeded import BROKEN, CAUGHT, EQUIVALENT, MISSED, ROOT, say

WANTED = 90  # percent of the faults that change something visible
SOURCES = (".cpp", ".hpp", ".cuh")

# Comments, literals and preprocessor lines, in which no fault is drawn.
HIDDEN = re.compile(r'//[^\n]*|/\*.*?\*/|R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"'
                    r"|(?<![\w'])'(?:\\.|[^'\\\n])+'|^[ \t]*#(?:[^\n]*\\\n)*[^\n]*",
                    re.DOTALL | re.MULTILINE)
TURNED = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||",
          "||": "&&", "+": "-", "-": "+", "*": "/", "/": "*"}
# clang-format puts spaces around operators, and none around those of templates and pointers.
OPERATOR = re.compile(r"(?<= )(<=|>=|==|!=|&&|\|\||[<>+\-*/])(?= \S)")
NUMBER = re.compile(r"(?<![\w.'])\d+(?![\w.'])")
# Without a declaration, which cannot be negated.
CONDITION = re.compile(r"\b(?:if|while) \((?P<condition>(?:(?! = )[^;])*)\)(?= \S)")
EARLY_EXIT = re.compile(r"^ *if \(.*\) (?:return\b.*|continue|break|throw\b.*);$")
STATEMENT = re.compile(r"^ *(?:\+\+|--|\*)?[A-Za-z_][\w:.>()\[\]-]*(?:(?: [-+*/|&]?= |[(.]).*)?;$")
# Not removed: other statements and declarations, and assignments of texts such as helps.
KEPT = re.compile(r"^ *(?:return|using|static|const|auto|typedef|template|friend|throw|goto)\b"
                  r"|.* = [{}, ]*;$")
NO_BODY = re.compile(r"\b(?:namespace|class|struct|union|enum)\b[^()=]*$")


@dataclasses.dataclass
class RandomFault:
    """A changed line of a file, from 1."""
    number: int
    path: str
    line: int
    old: str
    new: str

    def key(self):
        return [self.path, self.line, self.old, self.new]

    def applied(self, text):
        lines = text.split("\n")
        assert lines[self.line - 1] == self.old
        lines[self.line - 1] = self.new
        return "\n".join(lines)


def masked(text):
    """The text with spaces in place of comments, literals and preprocessor lines."""
    return HIDDEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]), text)


def lines_in_bodies(code):
    """Numbers, from 0, of the lines that begin and end inside functions."""
    stack, head, found = [], 0, []
    inside = False
    for number, line in enumerate(code.split("\n")):
        begins_inside = inside
        for at, char in enumerate(line):
            if char == "{":
                stack.append(inside or not NO_BODY.search(statement + line[head:at]))
                inside = stack[-1]
            elif char == "}" and stack:
                stack.pop()
                inside = bool(stack) and stack[-1]
            if char in "{};":
                statement, head = "", at + 1
        if begins_inside and inside:
            found.append(number)
        statement, head = ("" if number == 0 else statement) + line[head:] + " ", 0
    return found


def mutations(line, code, before):
    """All faults of a line, given its masked text and the masked line before it."""
    found = []
    for match in OPERATOR.finditer(code):
        found.append(line[:match.start()] + TURNED[match[1]] + line[match.end():])
    for match in NUMBER.finditer(code):
        found.append(line[:match.start()] + str(int(match[0]) + 1) + line[match.end():])
    for match in CONDITION.finditer(code):
        begin, end = match.span("condition")
        if balanced(code[begin:end]):
            found.append(f"{line[:begin]}!({line[begin:end]}){line[end:]}")
    whole = before.rstrip().endswith((";", "{", "}", ":")) or not before.strip()
    if whole and balanced(code) and not KEPT.match(code):
        if EARLY_EXIT.match(code.rstrip()) or STATEMENT.match(code.rstrip()):
            found.append("")
    return found


def balanced(code):
    depth = 0
    for char in code:
        depth += (char in "({") - (char in ")}")
        if depth < 0:
            return False
    return depth == 0


def sites(root):
    """(path, line from 0, text, mutations) of each line in which a fault can be drawn."""
    found = []
    for path in sorted(path for top in ("framework", "stages") for path in (root / top).rglob("*")
                       if path.suffix in SOURCES):
        text = path.read_text(encoding="utf-8")
        code = masked(text)
        lines, codes = text.split("\n"), code.split("\n")
        for number in lines_in_bodies(code):
            if choices := mutations(lines[number], codes[number], codes[number - 1]):
                found.append((path.relative_to(root).as_posix(), number, lines[number], choices))
    return found


def draw(root, count, seed):
    """`count` faults in different lines."""
    chance = random.Random(seed)
    chosen = chance.sample(sites(root), count)
    return [RandomFault(number, path, line + 1, text, chance.choice(choices))
            for number, (path, line, text, choices) in enumerate(chosen, 1)]


def folders_of(path, root):
    """The folders of tests/ that see a product file, the nearest first."""
    parts = path.split("/")
    own, product = (parts[1], f"framework/{parts[1]}/") if parts[0] == "framework" else (
        "stages", "stages/")
    seen = collections.Counter()
    for test in (root / "tests").rglob("*.[ch]pp"):
        folder = test.relative_to(root / "tests").parts[0]
        seen[folder] += test.read_text(encoding="utf-8").count(f'#include "{product}')
    others = [folder for folder, count in seen.most_common()
              if count and folder not in ("bench", "browser")]
    folders = [own, *others, "cli"] + ["models"] * path.startswith("stages/nn/")
    return [folder for folder in dict.fromkeys(folders)
            if (root / "tests" / folder / "CMakeLists.txt").is_file()]


class ObjectFiles:
    """The object files of a build without a fault."""

    def __init__(self, build):
        self.build = build
        self.hashes = {path: self.hash_of(path) for path in build.rglob("*.o")}

    @staticmethod
    def hash_of(path):
        return hashlib.sha256(path.read_bytes()).digest()

    def changed_since(self, begin_ns):
        """Whether an object file written since then differs."""
        return any(self.hashes.get(path) != self.hash_of(path) for path in self.build.rglob("*.o")
                   if path.stat().st_mtime_ns >= begin_ns)


def attempt(place, objects, fault):
    """A verdict on a fault, and its reason."""
    changed = False
    with place.seeded(fault):
        for folder in folders_of(fault.path, ROOT):
            begin = time.time_ns()
            if failed := place.try_build(folder):
                return failed
            changed = changed or objects.changed_since(begin)
            if not changed:
                continue
            verdict, what = place.try_tests(folder)
            if verdict == CAUGHT:
                return verdict, what
    return (MISSED, "") if changed else (EQUIVALENT, "the same object files")


def summarize(faults, results):
    """Prints the survivors and the rate; returns the exit status."""
    found = [results.verdicts.get(json.dumps(fault.key())) for fault in faults]
    for fault, verdict in zip(faults, found):
        if verdict == MISSED:
            say(f"survived: {fault.path}:{fault.line}\n  - {fault.old.strip()}\n"
                f"  + {fault.new.strip()}")
    count = collections.Counter(found)
    visible = count[CAUGHT] + count[MISSED]
    percent = 100 * count[CAUGHT] / visible if visible else 0
    say(f"{count[CAUGHT]} of {visible} visible faults caught ({percent:.1f} %), "
        f"{count[BROKEN]} do not compile, {count[EQUIVALENT]} leave the machine code equal, "
        f"{count[None]} not tried")
    return 0 if percent >= WANTED and not count[None] else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--count", type=int, default=150, help="faults to draw")
    parser.add_argument("--seed", type=int, default=1, help="of the draw")
    parser.add_argument("--results", type=pathlib.Path, help="file to append results to",
                        default=ROOT / "build" / "random_faults.jsonl")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "seeded",
                        help="folder for the copy and its build")
    parser.add_argument("--limit", type=int, default=900,
                        help="seconds until the tests of a folder count as hanging")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="of the build and the tests")
    parser.add_argument("--list", action="store_true", help="only print the faults")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, seeded.interrupt)
    faults = draw(ROOT, given.count, given.seed)
    if given.list:
        for fault in faults:
            print(f"{fault.path}:{fault.line}\n- {fault.old.strip()}\n+ {fault.new.strip()}")
        return 0
    results = seeded.Results(given.results)
    left = [fault for fault in faults if json.dumps(fault.key()) not in results.verdicts]
    try:
        if left:
            cuda = any("cuda" in fault.path for fault in left)
            place = seeded.Workplace(given.build.resolve(), given.limit, given.jobs, cuda)
            place.prepare(sorted({folder for fault in left
                                  for folder in folders_of(fault.path, ROOT)}))
            objects = ObjectFiles(place.build)
        for fault in left:
            begin = time.monotonic()
            verdict, what = attempt(place, objects, fault)
            seconds = time.monotonic() - begin
            results.add(fault, verdict, what, seconds)
            say(f"{fault.number:3} {fault.path}:{fault.line}: {verdict} {what}, {seconds:.0f} s")
        return summarize(faults, results)
    except seeded.Trouble as trouble:
        say(str(trouble))
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
