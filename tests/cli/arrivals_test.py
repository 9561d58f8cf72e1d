"""Loads from traces, with phase, jitter and bursts: run, predict, compare, capacity. Late frames.

usage: arrivals_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import csv
import io
import json
import time
import unittest

from cli_test import SMALL, Case, graphline

TRACE = SMALL.replace("run: {frames: 12,", "run: {arrival: trace, arrival_file: loads/a.csv,")
MS = 1_000_000


class traces(Case):
    def setUp(self):
        super().setUp()
        (self.folder / "loads").mkdir()
        self.trace = self.folder / "loads/a.csv"
        self.trace.write_text("due_ms\n0\n2.5\n2.5\n9\n40\n")
        self.path = self.pipeline(TRACE)

    def due(self, result):
        times = result["record"]["frames"]["due"]
        return [time - times[0] for time in times]

    def test_a_run_has_the_due_times_of_the_file_beside_the_pipeline(self):
        result = self.result_of("run", self.path, "--device", "host")
        self.assertEqual(self.due(result), [0, 2.5 * MS, 2.5 * MS, 9 * MS, 40 * MS])
        self.assertEqual(result["settings"]["frames"], 5)
        self.assertEqual(result["settings"]["arrival_file"], str(self.trace))
        self.assertEqual([name for name, _ in result["record"]["files"]], [str(self.trace)])

    def test_an_option_names_a_file_in_the_working_directory(self):
        path = self.pipeline()
        words = ("run", path, "--device", "host", "--arrival", "trace", "--arrival-file", "a.csv")
        done = graphline(*words, cwd=self.folder)
        self.expect(done, 2, "--arrival-file a.csv: error: arrival file 'a.csv' cannot be read: "
                    "there is no such file")
        result = self.result_of(*words, "--burst", 2, "--phase", "5ms", "--rate", 100,
                                cwd=self.folder / "loads")
        # Four arrivals in 40 ms after the first; two frames each, at 100 a second, in 80 ms.
        self.assertEqual(self.due(result), [at * MS for at in (0, 0, 5, 5, 5, 5, 18, 18, 80, 80)])

    def test_errors_name_file_line_and_remedy(self):
        self.trace.write_text("due_ms\n1\n\n0\n")
        self.expect(graphline("check", self.path), 2,
                    f"small.yaml:19:37: error: arrival file '{self.trace}', line 4: 0 is earlier "
                    "than the time before it; sort the times")
        self.expect(graphline("check", self.pipeline(), "--arrival", "trace"), 2,
                    "--arrival trace: error: arrival: trace needs a file with the times at which "
                    "frames are due; add it, such as arrival_file: arrivals.csv")

    def test_more_frames_than_arrive_are_a_warning(self):
        done = graphline("check", self.path, "--frames", 9)
        self.expect(done, 0, f"--frames 9: warning: frames: 9 is more than arrive in "
                    f"'{self.trace}'; the run has 5")

    def test_the_csv_has_when_stages_were_ready_and_when_frames_were_due_and_began(self):
        done = graphline("run", self.path, "--device", "host", "--strategy", "overlap", "--csv",
                         "-", "--json", "r.json", cwd=self.folder)
        self.expect(done, 0)
        record = json.loads((self.folder / "r.json").read_text())["record"]
        rows = list(csv.DictReader(io.StringIO(done.stdout)))
        frames = [row for row in rows if row["measure"] == "end_to_end"]
        self.assertEqual([int(row["begin_ns"]) for row in frames], record["frames"]["due"])
        self.assertEqual([int(row["ready_ns"]) for row in frames], record["frames"]["begin"])
        stages = {stage["name"]: stage for stage in record["stages"]}
        names = [stage["name"] for stage in record["stages"]]
        checked = set()
        for row in rows:
            if row["measure"] not in ("cpu_time", "enqueue_time"):
                continue
            frame = int(row["frame"])
            cause = stages[row["stage"]]["causes"][frame]
            ready = int(row["ready_ns"])
            if cause == -1:
                self.assertEqual(ready, record["frames"]["begin"][frame])
            elif cause >= 0 and row["stage"] == "best":
                self.assertGreaterEqual(ready, stages[names[cause]]["seen"][frame])
            self.assertLessEqual(ready, int(row["begin_ns"]))
            checked.add(row["stage"])
        self.assertGreaterEqual(checked, {"net", "pause", "best"})

    def test_a_record_counts_from_a_time_on_the_monotonic_clock(self):
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        record = self.result_of("run", self.path, "--device", "host")["record"]
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        self.assertLess(before, record["epoch_ns"])
        self.assertLess(record["epoch_ns"] + record["frames"]["end"][-1], after)

    def test_a_prediction_from_its_record_has_the_same_arrivals(self):
        source = self.folder / "source.json"
        self.expect(graphline("run", self.path, "--device", "host", "--strategy", "serial",
                              "--json", source), 0)
        predict = ("predict", self.path, "--from", source)
        result = self.result_of(*predict)
        self.assertEqual(self.due(result), self.due(json.loads(source.read_text())))
        self.assertIsNone(result["record"]["epoch_ns"])
        self.assertEqual(self.result_of(*predict)["end_to_end"], result["end_to_end"])
        jittered = self.result_of(*predict, "--jitter", "3ms")
        self.assertEqual(self.due(jittered), self.due(result))
        self.assertGreater(jittered["end_to_end"]["mean"], result["end_to_end"]["mean"])
        self.expect(graphline(*predict, "--at-most", "pause=1ms"), 2,
                    "--at-most: arrivals follow a trace, so frames can overlap")

    def test_an_experiment_is_not_resumed_with_another_trace(self):
        experiment = self.pipeline("experiment: e\npipeline: small.yaml\n"
                                   "vary: {burst: [1, 2]}\ntrials: 2\n", "e.yaml")
        words = ("compare", experiment, "--device", "host", "--store", "e.trials", "--json",
                 "e.json")
        self.expect(graphline(*words, cwd=self.folder), 0)
        self.trace.write_text("due_ms\n0\n2.5\n2.5\n9\n41\n")
        self.expect(graphline(*words, "--resume", cwd=self.folder), 2, "files/",
                    "when these trials were made", "--overwrite")

    def test_capacity_replays_a_trace(self):
        source = self.folder / "source.json"
        self.expect(graphline("run", self.path, "--device", "host", "--strategy", "serial",
                              "--json", source), 0)
        words = ("capacity", self.path, "--under", "20ms", "--predict", source)
        self.expect(graphline(*words), 2, f"{self.trace}: its 5 frames are too few: a verdict "
                    "on p95 needs at least")
        self.trace.write_text("".join(f"{i // 3}\n" for i in range(300)))
        result = self.result_of(*words)
        self.assertEqual(result["settings"]["arrival"], "trace")
        self.assertEqual(result["settings"]["frames"], 300)
        # A frame takes over a millisecond; the last of 300 may be 20 ms late.
        self.assertGreater(result["capacity"]["value"], 50)
        self.assertLess(result["capacity"]["value"], 1100)


class late_frames(Case):
    """Frames that are late whatever the machine does: none lasts a microsecond."""

    def run_of(self, *words):
        path = self.folder / "late.json"
        done = graphline("run", self.pipeline(), "--device", "host", "--deadline", "1us", *words,
                         "--json", path, "--csv", self.folder / "late.csv")
        self.expect(done, 0)
        rows = list(csv.DictReader(io.StringIO((self.folder / "late.csv").read_text())))
        return done.stdout, json.loads(path.read_text()), rows

    def test_skip_rest_cuts_them_short(self):
        text, result, rows = self.run_of("--late", "skip_rest")
        self.assertIn("late=skip_rest", text)
        self.assertIn("deadline of 1.00 us missed by 12 of 12 frames, 12 of them dropped (12 cut "
                      "short)", " ".join(text.split()))
        self.assertEqual(result["settings"]["late"], "skip_rest")
        self.assertEqual((result["deadline"]["missed"], result["deadline"]["frames"]), (12, 12))
        record = result["record"]
        self.assertEqual(record["frames"]["due"], [])
        self.assertEqual(record["load"]["cut_short"], 12)
        self.assertEqual(len(record["load"]["dropped"]), 12)
        self.assertEqual([(row["measure"], int(row["begin_ns"]), row["end_ns"]) for row in rows],
                         [("dropped", due, "") for due in record["load"]["dropped"]])

    def test_drop_leaves_out_those_that_cannot_begin_in_time(self):
        # All twelve are due at once. The first may begin in time; it takes a millisecond.
        text, result, rows = self.run_of("--late", "drop", "--arrival", "constant", "--rate", 10,
                                         "--burst", 12)
        self.assertIn("late=drop", text)
        self.assertEqual((result["deadline"]["missed"], result["deadline"]["frames"]), (12, 12))
        record = result["record"]
        completed = len(record["frames"]["due"])
        self.assertLessEqual(completed, 1)
        self.assertIn(f"missed by 12 of 12 frames, {12 - completed} of them dropped",
                      " ".join(text.split()))
        self.assertNotIn("cut short", text)
        self.assertEqual(record["load"]["cut_short"], 0)
        self.assertEqual(result["load"]["dropped"], 12 - completed)
        measures = [row["measure"] for row in rows]
        self.assertEqual(measures.count("dropped"), 12 - completed)
        self.assertEqual(measures.count("end_to_end"), completed)

    def test_finish_completes_them(self):
        text, result, rows = self.run_of()
        self.assertNotIn("late=", text)
        self.assertIn("missed by 12 of 12 frames", " ".join(text.split()))
        self.assertEqual(len(result["record"]["frames"]["due"]), 12)
        self.assertNotIn("dropped", [row["measure"] for row in rows])


if __name__ == "__main__":
    unittest.main(argv=["arrivals_test.py", "-v"])
