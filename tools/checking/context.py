"""What every step of the check works with, and where the programs and files are that it needs."""

import itertools
import json
import os
import pathlib
import random
import re
import sys

from .outcome import FAIL

# The relative error that a precision may have against `host` in float32. With weights drawn so that
# values keep their size, what is rounded in any layer of a network reaches its output.
TOLERANCES = {"float32": 1e-5, "tf32": 2e-3, "float16": 1e-2, "bfloat16": 4e-2}


class Context:
    """`device` is the backend checked: cuda or host. `quick` asks for the least that tries every
    step. `work` is a folder for files that go with the check."""

    def __init__(self, options, places, runner, outcome, work):
        self.options, self.places, self.runner, self.outcome = options, places, runner, outcome
        self.work = pathlib.Path(work)
        self.device = options.device
        self.quick = options.quick
        self.on_gpu = options.device.startswith("cuda")
        # Fresh at every check, and told, so that a failure can be had again.
        self.seed = options.seed if options.seed is not None else random.SystemRandom().randrange(
            1, 1 << 31)
        self.graphline = places.program("graphline")
        # After those of an earlier check, which were kept.
        self._numbers = itertools.count(1 + max(
            (int(path.name[:4]) for path in self.work.glob("[0-9][0-9][0-9][0-9]*")), default=0))

    @staticmethod
    def say(text):
        """For whoever watches, at once."""
        print(text, file=sys.stderr, flush=True)

    def name(self, ending):
        """A file or folder in `work` that is not there yet."""
        return self.work / f"{next(self._numbers):04}{ending}"  # one step: threads call this

    def run(self, pipeline, *words, most=60.0, device=None):
        """`graphline run` on the device: how it ended, and its result or None."""
        result = self.name(".json")
        done = self.runner.run([self.graphline, "run", pipeline, "--device", device or self.device,
                                "--seed", self.seed, "--json", result, *words], most)
        return done, read_json(result) if done.status == 0 else None

    def precisions(self):
        """Those that the device can be asked for: `host` computes in float32."""
        return list(TOLERANCES) if self.on_gpu else ["float32"]

    def pipeline_files(self):
        """Those whose models are here: some are downloaded by tools/setup/models."""
        def complete(path):
            text = path.read_text(encoding="utf-8")
            models = re.findall(r"^    model: (\S+)$", text, re.MULTILINE)
            return all((self.places.pipelines / model).exists() for model in models)

        return sorted(filter(complete, self.places.pipelines.glob("*.yaml")))

    def text_of(self, pipeline, precision=None, without=(), tune=True):
        """A pipeline file's text: relative paths made absolute, its networks in a precision or
        without tuning, stages left out by name."""
        def absolute(found):
            return found[1] + json.dumps(str(self.places.pipelines / found[2]))

        text = pathlib.Path(pipeline).read_text(encoding="utf-8")
        text = re.sub(r"^( +(?:folder|model|characters): )([^$/\s]\S*)", absolute, text,
                      flags=re.MULTILINE)
        for stage in without:
            text = re.sub(rf"^  - name: {stage}\n(?:    .*\n)*", "", text, flags=re.MULTILINE)
        added = [f"precision: {precision}"] * bool(precision) + ["tune: off"] * (not tune)
        for kind in ("network", "onnx", "matmul"):
            for line in added:
                text = re.sub(rf"^    kind: {kind}$", rf"\g<0>\n    {line}", text,
                              flags=re.MULTILINE)
                text = text.replace(f"kind: {kind},", f"kind: {kind}, {line},")
        return text

    def variant(self, pipeline, precision=None, without=(), tune=True):
        """A file with `text_of`."""
        path = self.name(f"-{pathlib.Path(pipeline).stem}.yaml")
        path.write_text(self.text_of(pipeline, precision, without, tune), encoding="utf-8")
        return path


def read_json(path):
    try:
        return json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as reason:
        print(f"  {path}: {reason}", file=sys.stderr)
        return None


def result_of(context, label, words, most):
    """What a command of graphline finds on the device; None, after a row, where it fails."""
    file = context.name(".json")
    done = context.runner.run([context.graphline, *words, "--device", context.device, "--json",
                               file], most=most)
    result = read_json(file) if done.status == 0 else None
    if result is None:
        context.outcome.add(label, FAIL, note=done.reason())
    return result


class Places:
    """`program(name)` and the folders `pipelines`, `scripts` and `references`. Built from a build
    folder of the source tree, or from the folder of an unpacked bundle."""

    def __init__(self, here, build=None):
        here = pathlib.Path(here)
        self.bundle = (here / "bin" / "graphline").exists() and not build
        if self.bundle:
            self.root, folders = here, [here / "bin"]
            self.pipelines, self.scripts = here / "pipelines", here / "bench"
            self.references = here / "references"
        else:
            source = here.parent
            self.root = pathlib.Path(build) if build else newest_build(source / "build")
            self.pipelines, self.scripts = source / "pipelines", source / "tests" / "bench"
            self.references = source / "tests" / "stages" / "references"
            folders = [self.root / "bin"] if self.root else []
            if self.root:
                folders += [p for p in sorted((self.root / "tests").glob("**")) if p.is_dir()
                            and "CMakeFiles" not in p.parts]
        self._folders = folders

    def program(self, name):
        """Its path, or None."""
        for folder in self._folders:
            path = folder / name
            if path.is_file() and os.access(path, os.X_OK):
                return path
        return None

    def lacks(self, name):
        """That it has no such program, and how to get it."""
        how = "" if self.bundle else f"; 'cmake --build --preset test --target {name}' builds it"
        return f"{name} is not in {self.root}{how}"


def newest_build(folder):
    """That of build/release and build/test whose graphline was built last, or None."""
    programs = [path for path in (folder / "release" / "bin" / "graphline",
                                  folder / "test" / "bin" / "graphline") if path.exists()]
    newest = max(programs, key=lambda path: path.stat().st_mtime, default=None)
    return newest.parent.parent if newest else None
