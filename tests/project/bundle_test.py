"""The bundle for machines with a GPU: it has the libraries of its programs, and needs no newer C
library than they do.

usage: bundle_test.py CMAKE BUILD_DIR
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD = sys.argv[1:]

# Libraries that every machine has.
OF_THE_SYSTEM = re.compile(r"lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so\.|ld-linux|linux-vdso")


def said(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def c_library_wanted(file):
    """The newest version of the C library that a file needs, as numbers."""
    versions = re.findall(r"\bGLIBC_([0-9.]+)", said("objdump", "-T", str(file)))
    return max((tuple(map(int, v.split("."))) for v in versions), default=())


class bundle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="bundle_test_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        said(CMAKE, "--install", BUILD, "--component", "bundle", "--prefix", str(cls.folder))
        cls.programs = sorted((cls.folder / "bin").iterdir())

    def test_programs_find_their_libraries_in_it(self):
        self.assertIn("graphline", [program.name for program in self.programs])
        for program in self.programs:
            for line in said("ldd", str(program)).splitlines():
                if not OF_THE_SYSTEM.search(line):
                    self.assertIn(str(self.folder / "bin" / ".." / "lib"), line, program.name)

    def test_libraries_in_it_want_no_newer_c_library_than_its_programs(self):
        wanted = max(map(c_library_wanted, self.programs))
        for library in sorted((self.folder / "lib").iterdir()):
            self.assertLessEqual(c_library_wanted(library), wanted, library.name)

    def test_references_of_its_tests_are_in_it(self):
        self.assertTrue((self.folder / "references" / "cases.yaml").exists())
        self.assertTrue(list((self.folder / "references" / "weights").glob("*.safetensors")))

    def test_its_check_runs_every_test_program_in_it(self):
        known = (self.folder / "checking" / "tests.py").read_text()
        for program in self.programs:
            if program.name.endswith("_test"):
                self.assertIn(f'"{program.name}"', known)
        table = self.check("--only", "pipelines")
        self.assertRegex(table, r"pipelines_test +21 of 21 passed +all +PASS")

    def test_its_check_runs(self):
        table = self.check("--only", "ladder", "launch", "--quick")
        self.assertRegex(table, r"graphs frame +PASS")
        self.assertRegex(table, r"two_models +PASS")
        self.assertRegex(table, r"launching a stage, event")

    def check(self, *words):
        return said(str(self.folder / "gpu_check"), "--device", "host", "--keep",
                    str(self.folder / "kept"), *words)



if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
