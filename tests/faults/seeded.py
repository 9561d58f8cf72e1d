"""Applies the faults of seeded.txt to the product, one at a time, and runs the tests that must
catch each: a test fails, crashes or hangs.

Works on a copy of the tree with its own build; both are kept, so the next run starts quickly. Each
result is printed, and appended to a file, as soon as it is known.

usage: seeded.py --check
       seeded.py [--build DIR] [--from N] [--only N] [--results FILE [--missed]] [--limit SECONDS]
                 [--jobs N] [FOLDER...]
"""

import argparse
import contextlib
import dataclasses
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIST = HERE / "seeded.txt"
WANTED = 95  # percent of the faults that are not equivalent

CAUGHT, MISSED, EQUIVALENT, BROKEN = "caught", "MISSED", "equivalent", "BROKEN"

FAILED_TEST = re.compile(r"Test +#\d+: (\S+).*?\*\*\*(?!Skipped)(\w+)")
# CMake's message if a test program cannot list its tests.
NO_LIST_OF_TESTS = "Error running test executable"


class Trouble(Exception):
    """A reason why faults cannot be tried."""


@dataclasses.dataclass
class Fault:
    """An entry of the list, numbered from 1."""
    number: int
    path: str
    folder: str
    old: str = ""
    new: str | None = None
    equivalent: str = ""

    def key(self):
        return [self.path, self.old, self.new]

    def applied(self, text):
        """The file's text with the fault."""
        return text.replace(self.old, self.new)

    def text(self, root):
        return (root / self.path).read_text(encoding="utf-8")

    def place(self, root):
        """FILE:LINE, or the file alone if the fragment is not in it."""
        text = self.text(root)
        at = text.find(self.old)
        return self.path if at < 0 else f"{self.path}:{text.count(chr(10), 0, at) + 1}"

    def wrong(self, root):
        """Why it cannot be applied, in words; else empty."""
        if not self.old:
            return "it has no '-' line"
        if self.new is None:
            return "it has no '+' line"
        if self.new == self.old:
            return "it changes nothing"
        if not (root / self.path).is_file():
            return "there is no such file"
        if not (root / "tests" / self.folder / "CMakeLists.txt").is_file():
            return f"there is no folder tests/{self.folder} with tests"
        count = self.text(root).count(self.old)
        return "" if count == 1 else f"it occurs {count} times, not once"


def read_list(text):
    """The faults of a list. Raises `Trouble` for a line that is not part of one."""
    faults, current = [], None
    for number, line in enumerate(text.splitlines(), 1):
        if line.startswith("#"):
            continue
        line = line.strip()
        kind, _, rest = line.partition(" ")
        if not line:
            current = None
        elif current is None and len(line.split()) == 2:
            path, folder = line.split()
            current = Fault(len(faults) + 1, path, folder)
            faults.append(current)
        elif current and kind == "-" and not current.old:
            current.old = rest.strip()
        elif current and kind == "+" and current.new is None:
            current.new = rest.strip()
        elif current and kind == "equivalent:" and rest:
            current.equivalent = rest.strip()
        else:
            raise Trouble(f"line {number} is no part of a fault: {line}")
    return faults


def check(faults, root):
    """Prints every entry that cannot be applied; returns their number."""
    wrong = 0
    seen = set()
    for fault in faults:
        why = fault.wrong(root) or ("it is there twice" if tuple(fault.key()) in seen else "")
        seen.add(tuple(fault.key()))
        if why:
            print(f"{fault.number}: {fault.path}: {fault.old}\n    {why}")
            wrong += 1
    return wrong


def copy_tree(root, to):
    """Makes `to` a copy of all files that git does not ignore. Equal files stay untouched, so that
    they do not compile again."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    names = {name for name in listed if name and (root / name).is_file()}
    for name in names:
        source, target = root / name, to / name
        content = source.read_bytes()
        if not target.is_file() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        target.chmod(source.stat().st_mode & 0o777)
    for path in to.rglob("*"):
        if path.is_file() and path.relative_to(to).as_posix() not in names:
            path.unlink()


def run(words, limit=None, **options):
    """Status and output of a program; the status is None if it was killed after `limit` seconds."""
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors="replace", start_new_session=True, **options) as process:
        try:
            out, _ = process.communicate(timeout=limit)
            return process.returncode, out
        except BaseException as why:
            os.killpg(process.pid, signal.SIGKILL)
            out, _ = process.communicate()
            if isinstance(why, subprocess.TimeoutExpired):
                return None, out
            raise


class Workplace:
    """A copy of the tree and its build, with the cuda device only if a fault needs it."""

    def __init__(self, folder, limit, jobs, cuda):
        self.source, self.build = folder / "source", folder / "build"
        self.limit, self.jobs, self.cuda = limit, jobs, cuda
        self.environment = {**os.environ, "CCACHE_BASEDIR": str(self.source),
                            "CCACHE_NOHASHDIR": "1"}

    def prepare(self, folders):
        """Copies, configures, builds and tests; all tests must pass without a fault."""
        self.source.mkdir(parents=True, exist_ok=True)
        copy_tree(ROOT, self.source)
        frontend = self.source / "build" / "cudnn_frontend"
        if self.cuda and not frontend.is_symlink():
            frontend.parent.mkdir(exist_ok=True)
            frontend.symlink_to(ROOT / "build" / "cudnn_frontend")
        self.demand("configuring", ["cmake", "--preset", "test", "-B", str(self.build),
                                    f"-DGRAPHLINE_WITH_CUDA={'ON' if self.cuda else 'OFF'}",
                                    # The library's assertions, as in the sanitizers' builds.
                                    "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -D_GLIBCXX_ASSERTIONS"],
                    cwd=self.source)
        self.demand("building", self.build_words(folders))
        for folder in folders:
            begun = time.monotonic()
            status, out = self.test(folder)
            if status != 0:
                raise Trouble(f"tests/{folder} does not pass without a fault:\n{out[-2000:]}")
            say(f"tests/{folder} passes without a fault ({time.monotonic() - begun:.0f} s)")

    def demand(self, what, words, **options):
        say(f"{what} ...")
        status, out = run(words, env=self.environment, **options)
        if status != 0:
            raise Trouble(f"{what} failed:\n{out[-3000:]}")

    def build_words(self, folders):
        return ["cmake", "--build", str(self.build), "--parallel", str(self.jobs),
                "--target", *(f"tests/{folder}/all" for folder in folders)]

    def test(self, folder):
        return run(["ctest", "--test-dir", str(self.build), "-L", f"^{folder}$",
                    "--stop-on-failure", f"-j{self.jobs}", "--no-tests=error"], self.limit,
                   env=self.environment)

    @contextlib.contextmanager
    def seeded(self, fault):
        """The source with the fault. Each write makes the file compile again."""
        path = self.source / fault.path
        text = path.read_text(encoding="utf-8")
        try:
            path.write_text(fault.applied(text), encoding="utf-8")
            yield
        finally:
            path.write_text(text, encoding="utf-8")

    def try_build(self, folder):
        """Builds the tests of a folder: None, or a verdict and its reason if that fails."""
        status, out = run(self.build_words([folder]), env=self.environment)
        if status == 0:
            return None
        if NO_LIST_OF_TESTS in out:
            return CAUGHT, "a test program that cannot list its tests"
        errors = [line for line in out.splitlines() if "error" in line]
        return BROKEN, "it does not build: " + (errors[0] if errors else out[-200:])

    def try_tests(self, folder):
        """Runs the tests of a folder: a verdict, and the test that failed."""
        status, out = self.test(folder)
        if status is None:
            return CAUGHT, f"a hang of more than {self.limit} s"
        failed = FAILED_TEST.search(out)
        if failed:
            return CAUGHT, f"{failed[1]} ({failed[2]})"
        return (CAUGHT, f"ctest's status {status}") if status != 0 else (MISSED, "")

    def attempt(self, fault):
        """A verdict on a fault, and its reason."""
        with self.seeded(fault):
            return self.try_build(fault.folder) or self.try_tests(fault.folder)


def say(line):
    print(line, flush=True)


class Results:
    """Verdicts on faults, of this run and of earlier ones with the same file."""

    def __init__(self, path):
        self.path, self.verdicts = path, {}
        if path and path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                entry = json.loads(line)
                self.verdicts[json.dumps(entry["fault"])] = entry["verdict"]

    def add(self, fault, verdict, what, seconds):
        self.verdicts[json.dumps(fault.key())] = verdict
        if self.path is None:
            return
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"number": fault.number, "verdict": verdict, "what": what,
                                   "seconds": round(seconds, 1), "fault": fault.key()}) + "\n")

    def end(self, faults):
        """Prints how many were caught; returns the exit status."""
        found = [EQUIVALENT if fault.equivalent else self.verdicts.get(json.dumps(fault.key()))
                 for fault in faults]
        for fault, verdict in zip(faults, found):
            if verdict in (MISSED, BROKEN):
                say(f"{verdict}: {fault.number}, {fault.place(ROOT)}: {fault.old}")
        caught, count = found.count(CAUGHT), found.count(CAUGHT) + found.count(MISSED)
        percent = 100 * caught / count if count else 0
        say(f"{caught} of {count} faults caught ({percent:.1f} %), "
            f"{found.count(EQUIVALENT)} equivalent")
        if found.count(None):
            say(f"{found.count(None)} of the list were not tried")
        return 0 if percent >= WANTED and BROKEN not in found else 1


def try_faults(place, faults, results):
    for fault in faults:
        begun = time.monotonic()
        verdict, what = EQUIVALENT, fault.equivalent
        if not what:
            verdict, what = place.attempt(fault)
        seconds = time.monotonic() - begun
        results.add(fault, verdict, what, seconds)
        by = f" by {what}" if verdict == CAUGHT else f": {what}" if what else ""
        say(f"{fault.number:3} {fault.place(ROOT)}: {verdict}{by}, {seconds:.0f} s")


def interrupt(*_):
    """Ends the program like Ctrl-C, so that the source is restored."""
    raise KeyboardInterrupt


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="only check that each can be applied")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build" / "seeded",
                        help="folder for the copy and its build")
    parser.add_argument("--from", type=int, default=1, dest="first", help="start with this one")
    parser.add_argument("--only", type=int, help="try only this one")
    parser.add_argument("--results", type=pathlib.Path, help="file to append results to")
    parser.add_argument("--missed", action="store_true",
                        help="try only those that are not caught in --results")
    parser.add_argument("--limit", type=int, default=900,
                        help="seconds until the tests of a folder count as hanging")
    parser.add_argument("folders", nargs="*", metavar="FOLDER",
                        help="try only faults that the tests of this folder must catch")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(),
                        help="of the build and the tests")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, interrupt)
    try:
        faults = read_list(LIST.read_text(encoding="utf-8"))
        wrong = check(faults, ROOT)
        if given.check or wrong or not faults:
            say(f"{len(faults)} faults, {wrong} of which cannot be applied")
            return 1 if wrong or not faults else 0
        chosen = [fault for fault in faults
                  if (fault.number == given.only if given.only else fault.number >= given.first)]
        if given.folders:
            chosen = [fault for fault in chosen if fault.folder in given.folders]
        results = Results(given.results)
        if given.missed:
            chosen = [fault for fault in chosen
                      if results.verdicts.get(json.dumps(fault.key())) != CAUGHT]
        cuda = any("cuda" in fault.path for fault in chosen)
        place = Workplace(given.build.resolve(), given.limit, given.jobs, cuda)
        folders = sorted({fault.folder for fault in chosen if not fault.equivalent})
        if folders:
            place.prepare(folders)
        try_faults(place, chosen, results)
        return results.end(chosen if given.only else faults)
    except Trouble as trouble:
        say(str(trouble))
        return 1
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
