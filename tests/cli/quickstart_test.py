"""tools/quickstart on a device that does not do: with a program in the place of graphline, nothing
being built.

usage: quickstart_test.py SOURCE_DIR
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(sys.argv[1])

# Works on `host`; on what it takes by itself it ends as it is told to.
PROGRAM = """#!/bin/sh
case "$*" in *"--device host"*) echo "ran: $*"; exit 0 ;; esac
{otherwise}
"""
BROKEN = """cat >&2 <<'END'
error: stage 'backbone': cudaGraphLaunch failed: cudaErrorIllegalAddress (700)
error: stage 'head': cudaEventQuery failed: cudaErrorIllegalAddress (700)
END
exit 1"""


class quickstart(unittest.TestCase):
    def run_with(self, otherwise):
        folder = tempfile.TemporaryDirectory(prefix="quickstart_test_")
        self.addCleanup(folder.cleanup)
        root = pathlib.Path(folder.name)
        shutil.copytree(SOURCE / "tools", root / "tools")
        for name, text in (("build/release/bin/graphline", PROGRAM.format(otherwise=otherwise)),
                           ("bin/cmake", "#!/bin/sh\n")):
            path = root / name
            path.parent.mkdir(parents=True)
            path.write_text(text)
            path.chmod(0o755)
        return subprocess.run([root / "tools" / "quickstart", "--no-install"], check=False,
                              capture_output=True, text=True, timeout=60,
                              env={"PATH": f"{root}/bin:/usr/bin:/bin", "HOME": str(root)})

    def test_a_device_that_works_is_used(self):
        done = self.run_with('echo "took the best: $*"')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("took the best: run pipelines/two_models.yaml\n", done.stdout)
        self.assertIn("took the best: overhead pipelines/two_models.yaml --trials 10\n",
                      done.stdout)
        self.assertNotIn("self-test", done.stdout)

    def test_where_it_fails_the_cpu_takes_its_place_and_one_line_says_why(self):
        for otherwise, why in ((BROKEN, "cudaGraphLaunch failed"), ("kill -SEGV $$", "status 139"),
                               ("exit 3", "status 3")):
            done = self.run_with(otherwise)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn(why, done.stdout)
            self.assertIn("tools/gpu_check --first", done.stdout)
            self.assertIn("ran: run pipelines/two_models.yaml --device host", done.stdout)
            self.assertIn("ran: overhead pipelines/two_models.yaml --device host", done.stdout)
            self.assertEqual((done.stdout + done.stderr).count("cudaError"),
                             1 if otherwise is BROKEN else 0)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
