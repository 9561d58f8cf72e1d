"""The report of a run as a browser shows it.

usage: run_page_test.py SAMPLE_PAGES [CLASS ...]
"""

import subprocess
import sys

import harness

SAMPLE_PAGES = sys.argv[1]


class run_page(harness.PageCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([SAMPLE_PAGES, cls.folder], check=True, timeout=120)

    def page(self, name):
        return self.folder / f"{name}.html"

    def test_every_page_opens_without_a_complaint_and_asks_for_nothing(self):
        for path in sorted(self.folder.glob("*.html")):
            with self.subTest(path.stem):
                self.show(path)
                self.assert_quiet(path)


if __name__ == "__main__":
    harness.main(["-v", *sys.argv[2:]])
