"""No result takes the place of a file that its command reads.

usage: kept_files_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import pathlib
import subprocess
import sys
import unittest

from cli_test import EXPERIMENT, MAKE_IMAGES, Case, graphline
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
                        f"error: {words[-2]} '{words[-1]}': this command reads it; name another "
                        "file")
            self.assertEqual(pathlib.Path(words[-1]).read_text(), before)

    def test_what_stages_read_is_kept(self):
        pictures = self.folder / "pictures"
        subprocess.run([MAKE_IMAGES, pictures, "1"], check=True, capture_output=True)
        picture, = pictures.iterdir()
        weights = self.folder / "linear.safetensors"
        weights.write_bytes(safetensors([0.5, 0.25]))
        path = self.pipeline(DATA)
        experiment = self.pipeline(EXPERIMENT, "e.yaml")
        for words in (["run", path], ["inspect", path], ["overhead", path],
                      ["capacity", path, "--under", "1s"],
                      ["compare", experiment, "--store", self.folder / "e.trials"]):
            for taken in (picture, weights):
                before = taken.read_bytes()
                self.expect(graphline(*words, "--json", taken), 2,
                            f"error: --json '{taken}': this command reads it; name another file")
                self.assertEqual(taken.read_bytes(), before)

    def test_a_result_from_before_may_stand_beside_pictures(self):
        pictures = self.folder / "pictures"
        subprocess.run([MAKE_IMAGES, pictures, "1"], check=True, capture_output=True)
        (self.folder / "linear.safetensors").write_bytes(safetensors([0.5, 0.25]))
        path = self.pipeline(DATA)
        for _ in range(2):
            self.expect(graphline("run", path, "--json", pictures / "result.json"), 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
