"""The Git commit of a build: from a repository, from one with changes, and from an archive.

usage: commit_test.py CMAKE SCRIPT
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, SCRIPT = sys.argv[1:3]


class commit(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.source = pathlib.Path(folder.name) / "source"
        self.source.mkdir()
        (self.source / "file").write_text("text\n")
        self.out = pathlib.Path(folder.name) / "commit.cpp"

    def written(self):
        subprocess.run([CMAKE, "-D", f"out={self.out}", "-D", f"source={self.source}", "-P",
                        SCRIPT], check=True, timeout=60)
        return self.out.read_text().split('return "')[1].split('"')[0]

    def git(self, *words):
        return subprocess.run(
            ["git", "-c", "user.name=A", "-c", "user.email=a@b.c", *words], cwd=self.source,
            check=True, timeout=60, stdout=subprocess.PIPE, text=True).stdout.strip()

    def repository(self):
        if shutil.which("git") is None:
            self.skipTest("there is no git")
        self.git("init", "-q")
        self.git("add", ".")
        self.git("commit", "-qm", "first")
        self.git("tag", "-a", "v1", "-m", "not told")

    def test_is_empty_where_an_archive_was_unpacked(self):
        self.assertEqual(self.written(), "")

    def test_is_not_that_of_a_repository_around_the_source(self):
        self.repository()
        inner = self.source / "inner"
        inner.mkdir()
        self.source = inner
        self.assertEqual(self.written(), "")

    def test_is_that_of_the_repository(self):
        self.repository()
        self.assertEqual(self.written(), self.git("rev-parse", "HEAD")[:12])

    def test_says_that_files_were_changed(self):
        self.repository()
        (self.source / "file").write_text("other\n")
        self.assertEqual(self.written(), self.git("rev-parse", "HEAD")[:12] + "+changes")

    def test_is_not_written_again_where_it_is_the_same(self):
        self.repository()
        self.written()
        os.utime(self.out, (1, 1))
        self.written()
        self.assertEqual(self.out.stat().st_mtime, 1)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
