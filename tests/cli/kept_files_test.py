"""No result replaces a file that its command reads, or another result.

usage: kept_files_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import os
import pathlib
import subprocess
import sys
import unittest

from cli_test import EXPERIMENT, GRAPHLINE, SMALL, Case, graphline, parts_in
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

    def test_no_result_takes_the_place_of_another(self):
        path = self.pipeline()
        one, same = self.folder / "one.csv", self.folder / "sub" / ".." / "one.csv"
        (self.folder / "sub").mkdir()
        os.symlink(self.folder, self.folder / "link")
        os.symlink(one, self.folder / "file-link")  # to a file that does not exist yet
        os.symlink("file-link", self.folder / "second-link")
        for there in (False, True):
            if there:
                one.write_text("before")
                os.link(one, self.folder / "hard.csv")
            for other in (one, same, self.folder / "link" / "one.csv",
                          self.folder / "file-link", self.folder / "second-link",
                          *([self.folder / "hard.csv"] if there else [])):
                self.expect(graphline("run", path, "--csv", one, "--json", other), 2,
                            "another result goes there")
        self.assertEqual(one.read_text(), "before")

    def test_an_output_follows_a_link_that_leads_to_nothing_yet(self):
        os.symlink("r.json", self.folder / "link")
        self.expect(graphline("run", self.pipeline(), "--json", self.folder / "link"), 0)
        self.assertTrue((self.folder / "link").is_symlink())
        self.assertTrue(json.loads((self.folder / "r.json").read_text()))
        experiment = self.pipeline(EXPERIMENT, "e.yaml")
        os.symlink("trials", self.folder / "store-link")
        self.expect(graphline("compare", experiment, "--store", self.folder / "store-link",
                              "--json", self.folder / "trials"), 2, "another result goes there")

    def test_no_result_takes_the_place_of_a_stream(self):
        path, taken = self.pipeline(), self.folder / "taken"
        for stream in ("stdout", "stderr"):
            with open(taken, "w", encoding="utf-8") as to:
                done = subprocess.run([GRAPHLINE, "run", path, "--json", taken, "--csv", "-"],
                                      check=False, **{"stdout": subprocess.DEVNULL,
                                                      "stderr": subprocess.DEVNULL, stream: to})
            self.assertEqual(done.returncode, 2)
        self.assertIn("standard output or standard error goes there", taken.read_text())

    def test_no_result_takes_the_place_of_a_tensor(self):
        tensors = self.folder / "tensors"
        tensors.mkdir()
        self.expect(graphline("run", self.pipeline(), "--save-tensors", tensors, "--json",
                              tensors / "input.x.npy"), 2, "--save-tensors writes there")

    def test_no_result_takes_the_place_of_the_trials_before(self):
        store = self.folder / "e.trials"
        self.pipeline()
        words = ["compare", self.pipeline(EXPERIMENT, "e.yaml"), "--store", store]
        self.expect(graphline(*words), 0)
        self.expect(graphline(*words, "--json", f"{store}.previous"), 2, "goes there")

    def test_names_that_temporary_files_once_had_are_free(self):
        path, result = self.pipeline(), self.folder / "a"
        part = self.folder / "a.part"
        part.write_text("mine")
        self.expect(graphline("run", path, "--csv", result), 0)
        self.assertEqual(part.read_text(), "mine")
        self.expect(graphline("run", path, "--csv", result, "--json", part), 0)
        self.assertTrue(result.read_text().startswith("frame,"), result.read_text()[:80])
        self.assertEqual(json.loads(part.read_text())["pipeline"], "small")
        self.assertEqual(parts_in(self.folder), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
