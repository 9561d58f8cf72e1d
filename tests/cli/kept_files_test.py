"""No result takes the place of a file that its command reads.

usage: kept_files_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import pathlib
import sys
import unittest

from cli_test import EXPERIMENT, SMALL, Case, graphline
from compare_resume_test import DATA, safetensors


class kept_files(Case):
    def test_a_text_is_kept(self):
        path = self.pipeline()
        experiment = self.pipeline(EXPERIMENT, "e.yaml")
        store = ["--store", self.folder / "e.trials"]
        for words in (["run", path, "--json", path], ["run", path, "--csv", path],
                      ["inspect", path, "--json", path], ["overhead", path, "--json", path],
                      ["capacity", path, "--under", "1s", "--json", path],
                      ["compare", experiment, *store, "--html", path],
                      ["compare", experiment, *store, "--json", experiment]):
            before = pathlib.Path(words[-1]).read_text()
            self.expect(graphline(*words), 2,
                        f"error: {words[-2]} '{words[-1]}': another result goes there, or this "
                        "command reads it; name another file")
            self.assertEqual(pathlib.Path(words[-1]).read_text(), before)

    def test_what_stages_read_is_kept(self):
        weights = self.folder / "linear.safetensors"
        weights.write_bytes(safetensors([0.5, 0.25]))
        path = self.pipeline("\n".join(line for line in DATA.splitlines() if "camera" not in line))
        experiment = self.pipeline(EXPERIMENT, "e.yaml")
        for words in (["run", path], ["inspect", path], ["overhead", path],
                      ["capacity", path, "--under", "1s"],
                      ["compare", experiment, "--store", self.folder / "e.trials"]):
            before = weights.read_bytes()
            self.expect(graphline(*words, "--json", weights), 2,
                        f"error: --json '{weights}': another result goes there, or this command "
                        "reads it")
            self.assertEqual(weights.read_bytes(), before)

    def test_the_file_of_an_input_is_kept(self):
        self.expect(graphline("run", self.pipeline(), "--save-tensors", self.folder), 0)
        numbers = self.folder / "input.x.npy"
        path = self.pipeline(SMALL.replace("{shape: [1, 3, 16, 16]}", "{file: input.x.npy}"),
                             "given.yaml")
        before = numbers.read_bytes()
        self.expect(graphline("run", path, "--json", numbers), 2, "or this command reads it")
        self.assertEqual(numbers.read_bytes(), before)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
