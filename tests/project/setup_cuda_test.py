"""When tools/setup/cuda downloads a toolkit: in a copy of it, with a made-up driver and pip.

    setup_cuda_test.py ROOT
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
# Creates the folders that pip would fill for `--target FOLDER`.
PIP = """#!/bin/sh
while [ $# -gt 1 ]; do
  [ "$1" != --target ] || mkdir -p "$2/nvidia/cu13/bin" "$2/nvidia/cu13/lib"
  shift
done
"""


@unittest.skipIf(os.path.exists("/proc/driver/nvidia/version"), "this machine has a driver")
class SetupCuda(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        shutil.copytree(ROOT / "tools" / "setup", self.root / "tools" / "setup")
        self.program("python3", PIP)
        self.program("nvcc", "#!/bin/sh\nexit 1\n")

    def program(self, name, text):
        path = self.root / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def driver(self, version):
        self.program("nvidia-smi", f"#!/bin/sh\necho {version}\n")

    def bring(self, *arguments):
        """The finished script, and whether it downloaded a toolkit."""
        path = f"{self.root / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run([self.root / "tools" / "setup" / "cuda", *arguments], check=False,
                              capture_output=True, text=True, env={**os.environ, "PATH": path})
        return done, (self.root / "build" / "cuda" / "bin").exists()

    def test_without_a_driver_only_where_it_is_asked_for(self):
        self.program("nvidia-smi", "#!/bin/sh\nexit 9\n")
        done, brought = self.bring()
        self.assertEqual((done.returncode, brought, done.stdout), (0, False, ""), done.stderr)
        done, brought = self.bring("yes")
        self.assertEqual((done.returncode, brought), (0, True), done.stderr)

    def test_with_a_driver_it_says_how_much_and_fetches_once(self):
        self.driver("580.65.06")
        done, brought = self.bring()
        self.assertEqual((done.returncode, brought), (0, True), done.stderr)
        self.assertIn("1.0 GB", done.stdout)
        self.assertEqual(self.bring()[0].stdout, "")

    def test_a_driver_too_old_for_the_toolkit_is_refused_with_the_remedy(self):
        self.driver("570.124.06")
        done, brought = self.bring()
        self.assertEqual((done.returncode, brought), (1, False))
        self.assertIn("570.124.06 is too old", done.stderr)
        self.assertIn("580 or newer", done.stderr)

    def test_a_toolkit_that_will_do_is_left_alone(self):
        self.driver("580.65.06")
        self.program("nvcc", "#!/bin/sh\nexit 0\n")
        done, brought = self.bring()
        self.assertEqual((done.returncode, brought, done.stdout), (0, False, ""), done.stderr)


if __name__ == "__main__":
    unittest.main()
