"""graphline report of saved results.

usage: report_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import os
import subprocess
import sys
import unittest

from cli_test import EXPERIMENT, GRAPHLINE, SMALL, Case, graphline, parts_in


class report(Case):
    def run_result(self, *words, text=SMALL, forms=("html", "trace", "csv")):
        """A result of a run, the files written with it, and its table."""
        path = self.folder / "run.json"
        files = {form: self.folder / f"run.{form}" for form in forms}
        options = [word for form, file in files.items() for word in (f"--{form}", file)]
        done = graphline("run", self.pipeline(text), "--json", path, *options, *words)
        self.expect(done, 0)
        return path, files, done.stdout

    def experiment_result(self):
        self.pipeline()
        experiment = self.pipeline(EXPERIMENT, "two.yaml")
        path = self.folder / "experiment.json"
        done = graphline("compare", experiment, "--store", self.folder / "two.trials", "--json",
                         path)
        self.expect(done, 0)
        return path, done.stdout

    def test_a_saved_run_gives_what_the_run_itself_gave(self):
        ways = [["--timing", "layers"], ["--timing", "sync"], ["--timing", "none"],
                ["--graphs", "frame", "--in-flight", "2"],
                ["--strategy", "overlap", "--in-flight", "3", "--deadline", "1ms"],
                ["--arrival", "poisson", "--rate", "800", "--queue", "1", "--when-full",
                 "drop_oldest"],
                ["--kernels"]]
        for words in ways:
            with self.subTest(words):
                path, files, table = self.run_result(*words)
                done = graphline("report", path)
                self.expect(done, 0)
                self.assertEqual(done.stdout, table)
                self.assertEqual(done.stderr, "")
                options = []
                for form, file in files.items():
                    options += [f"--{form}", self.folder / f"again.{form}"]
                done = graphline("report", path, *options)
                self.expect(done, 0)
                self.assertEqual(done.stdout + done.stderr, "")
                for form, file in files.items():
                    again = self.folder / f"again.{form}"
                    self.assertTrue(again.read_bytes() == file.read_bytes(), form)

    def test_the_help_names_every_command_whose_results_it_reads(self):
        text = " ".join(graphline("report", "--help").stdout.split())
        self.assertIn("A --json result of run, predict, compare, overhead, search, roofline, "
                      "calibrate, capacity, predict --validate or inspect", text)

    def test_a_trace_of_an_experiment_is_refused_with_the_remedy(self):
        path, _ = self.experiment_result()
        file = self.folder / "e"
        self.expect(graphline("report", path, "--trace", file), 2,
                    "experiment.json' is not the result of one run",
                    "'graphline run' with --trace FILE")
        self.assertFalse(file.exists())

    def test_a_result_is_read_from_standard_input(self):
        path, files, table = self.run_result()
        page = self.folder / "from_input.html"
        for words, expected in ((("--html", page), ""), ((), table)):
            with open(path, encoding="utf-8") as result:
                done = subprocess.run([GRAPHLINE, "report", "-", *words], stdin=result,
                                      capture_output=True, text=True, check=False)
            self.expect(done, 0)
            self.assertEqual(done.stdout, expected)
        self.assertEqual(page.read_text(), files["html"].read_text())

    def test_one_file_may_be_standard_output(self):
        path, files, _ = self.run_result()
        for form, file in files.items():
            done = graphline("report", path, f"--{form}", "-")
            self.expect(done, 0)
            self.assertEqual(done.stderr, "")
            self.assertTrue(done.stdout == file.read_text(), form)
        done = graphline("report", path, "--html", "-", "--csv", "-")
        self.expect(done, 2, "another result goes there")
        self.assertEqual(done.stdout, "")

    def test_files_that_cannot_be_written_are_told_and_the_others_not_left_behind(self):
        path, _, _ = self.run_result()
        page = self.folder / "p.html"
        self.expect(graphline("report", path, "--html", self.folder / "no" / "p.html"), 2,
                    "no/p.html")
        self.expect(graphline("report", path, "--csv", self.folder), 2, str(self.folder))
        self.assertFalse(page.exists())
        self.expect(graphline("report", path, "--html", page, "--csv", "/dev/full"), 1, "/dev/full",
                    "space")
        self.expect(graphline("report", path, "--html", page, "--csv", page), 2,
                    "another result goes there")
        self.assertEqual(parts_in(self.folder), [])

    def test_all_that_can_be_written_is_written_where_one_cannot(self):
        path, files, _ = self.run_result()
        rows = self.folder / "p.csv"
        reading, writing = os.pipe()
        with subprocess.Popen([GRAPHLINE, "report", path, "--html", f"/dev/fd/{writing}", "--csv",
                               rows], pass_fds=[writing], stderr=subprocess.PIPE,
                              text=True) as process:
            os.close(writing)
            os.read(reading, 5)
            os.close(reading)  # the page is larger than what a pipe holds
            _, said = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 1, said)
        self.assertIn(f"writing '/dev/fd/{writing}' failed", said)
        self.assertEqual(rows.read_bytes(), files["csv"].read_bytes())

    def test_the_result_itself_is_not_replaced(self):
        path, _, _ = self.run_result(forms=())
        before = path.read_bytes()
        link = self.folder / "link"
        link.symlink_to(path)
        for target in (path, link):
            self.expect(graphline("report", path, "--html", target), 2, "name another file")
        self.assertEqual(path.read_bytes(), before)

    def test_files_that_are_no_whole_result_are_refused(self):
        path, _, _ = self.run_result(forms=())
        page = self.folder / "p.html"
        refused = lambda result, *said: self.expect(
            graphline("report", result, "--html", page), 2, *said)
        refused(self.folder / "rum.json", "no such file", "(did you mean 'run.json'?)")
        refused(self.folder, "folder")
        refused(self.pipeline(), "small.yaml: error: this is no result: results are JSON files")
        cut = self.folder / "cut.json"
        for part in (0.01, 0.5, 0.99):
            cut.write_bytes(path.read_bytes()[:int(path.stat().st_size * part)])
            refused(cut, "cut.json:", "not JSON")
        refused(self.changed(path, "newer.json", lambda r: r.update(schema="graphline.run/2")),
                "newer.json: error: ", "'graphline.run/2'", "reads graphline.run/1")
        refused(self.changed(path, "older.json", lambda r: r.pop("record")),
                "older.json: error: result lacks 'record' (graphline ", " wrote it); ",
                "make it again with 'graphline run'")
        self.assertFalse(page.exists())


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
