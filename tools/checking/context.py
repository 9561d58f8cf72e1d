"""The context of all steps, and the places of programs and files."""

import itertools
import json
import os
import pathlib
import re
import shutil


class NoDevice(Exception):
    """This machine has no device of the requested name; the text says why."""


class Context:
    """`device` is cuda or host, `work` a temporary folder for files of the check."""

    def __init__(self, options, places, runner, outcome, work):
        self.places, self.runner, self.outcome, self.work = places, runner, outcome, work
        self.device, self.quick, self.seed = options.device, options.quick, options.seed
        self.on_gpu = options.device == "cuda"
        self.graphline = places.program("graphline")
        self._numbers = itertools.count()

    def name(self, ending):
        """A file or folder in `work` that does not exist yet."""
        return self.work / f"{next(self._numbers):04}{ending}"

    def result_of(self, label, words, most=60.0):
        """The result of a graphline command, which is kept; if it fails, adds a row and returns
        None."""
        file = self.name(".json")
        done = self.runner.run([self.graphline, *words, "--device", self.device, "--json", file],
                               most, logged=True)
        if not self.outcome.add_unless_done(label, done):
            return None
        result = json.loads(file.read_text(encoding="utf-8"))
        self.outcome.keep_result(label, result)
        return result

    def pipeline_with(self, name, *lines):
        """A copy of a pipeline with these lines, such as 'tune: off', in its networks. It lies in a
        copy of the folder, beside the models, so that relative paths still hold."""
        folder = self.name("-tree")
        shutil.copytree(self.places.pipelines, folder / "pipelines")
        if self.places.models.is_dir():
            (folder / "build").mkdir()
            (folder / "build" / "models").symlink_to(self.places.models.absolute())
        path = folder / "pipelines" / f"{name}.yaml"
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"^    kind: (network|onnx)$", "\n    ".join([r"\g<0>", *lines]),
                               text, flags=re.MULTILINE), encoding="utf-8")
        return path


class Places:
    """Finds programs and the folders `pipelines`, `scripts`, `references` and `models`, in a build
    folder and its source tree or in an unpacked bundle."""

    def __init__(self, here, build=None):
        if (here / "bin" / "graphline").exists() and not build:
            self.root, self._folders = here, [here / "bin"]
            self.pipelines, self.scripts = here / "pipelines", here / "bench"
            self.references, self.models = here / "references", here / "build" / "models"
            return
        source = here.parent
        # The newest build.
        self.root = pathlib.Path(build) if build else max(
            (source / "build" / name for name in ("release", "test")), key=lambda folder: max(
                (path.stat().st_mtime for path in folder.glob("bin/graphline")), default=0))
        self.pipelines, self.scripts = source / "pipelines", source / "tests" / "bench"
        self.references = source / "tests" / "stages" / "references"
        self.models = source / "build" / "models"
        self._folders = [self.root / "bin", *sorted((self.root / "tests").glob("**"))]

    def program(self, name):
        """Its path, or None."""
        paths = (folder / name for folder in self._folders)
        return next((path for path in paths if path.is_file() and os.access(path, os.X_OK)), None)

    def lacks(self, name):
        return f"{name} is not in {self.root}"
