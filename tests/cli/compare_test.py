"""graphline compare and overhead: tables, verdicts, files.

usage: compare_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES [CLASS ...]
"""

import csv
import json
import os
import re
import subprocess
import sys
import unittest

from cli_test import GRAPHLINE, PIPELINES, Case, graphline

SPINS = """pipeline: spins
params:
  length: 1ms
stages:
  - {name: work, kind: cpu.spin, duration: $length}
run: {frames: 6, warmup: 1, timing: none}
"""

LENGTHS = """experiment: lengths
pipeline: spins.yaml
vary:
  length: [1ms, 3ms]
trials: 6
"""


class CompareCase(Case):
    """Runs in its own folder with the pipeline."""

    def setUp(self):
        super().setUp()
        self.pipeline(SPINS, "spins.yaml")
        self.store = self.folder / "lengths.trials.jsonl"

    def experiment(self, text=LENGTHS, name="lengths.yaml"):
        self.pipeline(text, name)
        return name

    def compare(self, *words, text=LENGTHS, status=0):
        done = graphline("compare", self.experiment(text), "--device", "host", *words,
                         cwd=self.folder)
        self.expect(done, status)
        return done

    def result(self, *words, text=LENGTHS):
        return json.loads(self.compare("--json", "-", *words, text=text).stdout)


class shipped_experiments(Case):
    def test_each_shows_its_table_and_all_its_configurations_compute_the_same(self):
        files = sorted((PIPELINES / "experiments").glob("*.yaml"))
        self.assertGreaterEqual(len(files), 7)
        for path in files:
            saved = self.folder / f"{path.stem}.json"
            done = graphline("compare", path, "--device", "host", "--trials", "1", "--json", saved,
                             cwd=self.folder)
            self.expect(done, 0, path.stem, "p50", stream="stdout")
            # After warnings of too few trials; wrapped on a narrow terminal.
            self.assertRegex(" ".join(done.stderr.split()),
                             rf"{path.stem}: \d configurations, 1 trial each: about .*\d s$")
            result = json.loads(saved.read_text())
            self.assertEqual(result["schema"], "graphline.experiment/1")
            self.assertEqual((result["stopped"], result["failure"]), ("", None))
            self.assertEqual(len(result["record"]["trials"]), len(result["configurations"]))
            self.check_outputs(path.stem, result)

    def check_outputs(self, name, result):
        if name in ("batch_size", "batching", "gemv") or name.startswith("sweep_"):
            return  # other batches, another order of additions, other sizes
        seen = {}
        for trial in result["record"]["trials"]:
            for member in trial["members"]:
                seen.setdefault(member["pipeline"], set()).add(json.dumps(member["outputs"]))
        for pipeline, outputs in seen.items():
            self.assertEqual(len(outputs), 1, f"{name}: {pipeline}")


class verdicts(CompareCase):
    def verdict(self, result):
        comparison, = [c for c in result["comparisons"] if c["figure"] == "p50"]
        return comparison

    def test_three_milliseconds_are_slower_than_one(self):
        result = self.result("--trials", 12)
        found = self.verdict(result)
        self.assertEqual(found["verdict"], "slower")
        self.assertEqual(found["reference"], "length=1ms")
        self.assertGreater(found["ratio"], 1.5)
        low, high = found["ratio_interval"]
        self.assertTrue(1.01 < low <= found["ratio"] <= high, found)
        self.assertEqual(len(result["record"]["trials"]), 24)
        self.assertEqual(result["complete_blocks"], 12)

    def test_the_whole_grid_is_shown_without_its_trials(self):
        done = self.compare("--check")
        for fragment in ("2 configurations, 6 trials each: about",
                         "id (ms)  length  a trial  compared with\nc1       1ms", "\nc2       3ms",
                         "in random order (seed 1)"):
            self.assertIn(fragment, done.stdout)
        self.assertEqual(done.stderr, "")
        self.assertFalse(self.store.exists())

    def test_what_trials_are_too_few_for_is_said_before_they_run(self):
        done = self.compare("--check", "--trials", "3", text=LENGTHS + "tail: p99\nframes: 25\n")
        self.assertIn("trials: 3 gives no intervals and no verdicts, which need 5", done.stdout)
        self.assertIn("tail: p99 needs 299 frames of a configuration, and 3 trials of 25 frames "
                      "are 75", " ".join(done.stdout.split()))
        self.assertIn("12 trials give one, or 100 frames a trial",
                      " ".join(done.stdout.split()))
        enough = self.compare("--check", "--trials", "12",
                              text=LENGTHS + "tail: p99\nframes: 25\n")
        self.assertNotIn("warning", enough.stdout)
        done = self.compare("--trials", "1", "--quiet", text=LENGTHS)
        self.assertIn("warning: trials: 1 gives no intervals", done.stderr)

    def test_a_limit_of_a_minute_is_a_minute(self):
        done = self.compare("--check", "--time-limit", "60s")
        self.assertIn("none begins after 1 min", " ".join(done.stdout.split()))

    def test_it_ends_at_the_time_limit_after_a_whole_block(self):
        result = self.result("--trials", 10000, "--time-limit", "300ms")
        self.assertIn("time limit", result["stopped"])
        self.assertEqual(len(result["record"]["trials"]), 2 * result["complete_blocks"])
        self.assertGreaterEqual(result["complete_blocks"], 1)

    def test_two_hundred_trials_are_kept_in_little_memory(self):
        quick = LENGTHS.replace("1ms, 3ms", "100us, 200us")
        command = [GRAPHLINE, "compare", self.experiment(quick), "--device", "host", "--trials",
                   "100", "--json", "r.json"]
        with subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as running:
            _, status, used = os.wait4(running.pid, 0)
            running.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(running.returncode, 0)
        result = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(len(result["record"]["trials"]), 200)
        self.assertLess(used.ru_maxrss, 200 * 1000)  # in kB


class grids(CompareCase):
    def test_a_combination_that_cannot_run_is_named_with_the_way_out(self):
        text = LENGTHS.replace("length: [1ms, 3ms]",
                               "strategy: [serial, async]\n  in_flight: [1, 2]")
        done = self.compare(text=text, status=2)
        self.expect(done, 2, "strategy=serial in_flight=2", "exclude")
        self.assertFalse(self.store.exists())
        left_out = text + "exclude:\n  - {strategy: serial, in_flight: 2}\n"
        self.assertIn("3 configurations", self.compare("--check", text=left_out).stdout)


class standard_output(CompareCase):
    def test_a_page_may_go_to_standard_output(self):
        done = self.compare("--trials", "1", "--html", "-")
        self.assertTrue(done.stdout.startswith("<!doctype html>"))
        self.assertTrue(done.stdout.endswith("</html>\n"))
        self.assertIn("p50", done.stderr)

    def test_a_standard_output_that_is_full_is_an_error(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            for words in ((), ("--json", "-")):
                done = subprocess.run([GRAPHLINE, "compare", self.experiment(), "--trials", "1",
                                       *words], cwd=self.folder, stdout=full, text=True,
                                      stderr=subprocess.PIPE, timeout=60)
                self.assertIn(done.returncode, (1, 2), done.stderr)
                self.assertIn("standard output", done.stderr)


class outputs(CompareCase):
    def test_the_report_the_rows_and_the_result_are_written_at_once(self):
        self.compare("--trials", "2", "--json", "r.json", "--csv", "r.csv", "--html", "r.html")
        result = json.loads((self.folder / "r.json").read_text())
        with open(self.folder / "r.csv", encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 2 * 2 * 6)
        for trial in result["record"]["trials"]:
            name = result["configurations"][trial["configuration"]]["name"]
            own = [(int(row["begin_ns"]), int(row["end_ns"])) for row in rows
                   if (row["configuration"], int(row["block"])) == (name, trial["block"])]
            frames = trial["members"][0]["frames"]
            self.assertEqual(own, list(zip(frames["due"], frames["end"])))
        page = (self.folder / "r.html").read_text(encoding="utf-8")
        self.assertTrue(page.startswith("<!doctype html>"))
        data = re.search(r'<script type="application/json" id="document">(.*)</script>', page)
        shown = json.loads(data[1])
        self.assertEqual(shown["title"], "lengths")
        files = next(part["list"] for part in shown["parts"] if part["type"] == "files")
        self.assertIn(LENGTHS, dict(files).values())


TOGETHER = """experiment: beside
together:
  - name: camera
    pipeline: camera.yaml
    priority: high
    run: {arrival: constant, rate: 100, deadline: 20ms, frames: 40, warmup: 1}
  - name: batch
    pipeline: small.yaml
    priority: low
    run: {warmup: 1}
trials: 1
"""

STALLS = """pipeline: camera
inputs:
  x: {shape: [1, 64]}
stages:
  - {name: net, kind: network, reads: x, writes: y, layers: [relu]}
  - {name: work, kind: cpu.spin, duration: 1ms, stall: 100ms, stall_at: 7}
"""


class together(CompareCase):
    def test_each_runs_alone_and_beside_the_others_with_and_without_priorities(self):
        self.pipeline(STALLS, "camera.yaml")
        self.pipeline()
        saved = self.folder / "r.json"
        done = self.compare("--json", saved, text=TOGETHER)
        for fragment in ("camera", "batch", "together", "without priorities", "late %"):
            self.assertIn(fragment, done.stdout)
        result = json.loads(saved.read_text())
        names = [[m["name"] for m in c["members"]] for c in result["configurations"]]
        self.assertEqual(names, [["camera"], ["batch"], ["camera", "batch"], ["camera", "batch"]])
        priorities = {t["configuration"]: [m["settings"]["priorities"] for m in t["members"]]
                      for t in result["record"]["trials"]}
        self.assertEqual((priorities[2], priorities[3]), ([True, True], [False, False]))
        # The latency of frames that were due during the stall counts from when they were due.
        camera = result["configurations"][0]["members"][0]
        self.assertEqual((camera["due"], camera["deadline"]["missed"] >= 8), (40, True), camera)
        trial = next(t for t in result["record"]["trials"] if t["configuration"] == 0)
        frames = trial["members"][0]["frames"]
        late = sum(end - due > 20e6 for due, end in zip(frames["due"], frames["end"]))
        self.assertEqual(camera["deadline"]["missed"], late)

    def test_a_chain_across_them_has_the_times_that_its_stamps_give(self):
        saved = self.folder / "r.json"
        chains = "chains: {brake: {stages: [camera.work, control.work], age: 1ns, reaction: 60s}}\n"
        for name, work in (("camera", "1ms"), ("control", "2ms")):
            self.pipeline(f"pipeline: {name}\nstages:\n"
                          f"  - {{name: work, kind: cpu.spin, duration: {work}}}\n", f"{name}.yaml")
        rate = "arrival: constant, frames: 40, rate"
        done = self.compare("--json", saved, text="experiment: chained\ntogether:\n"
                            f"  - {{pipeline: camera.yaml, run: {{{rate}: 100}}}}\n"
                            f"  - {{pipeline: control.yaml, run: {{{rate}: 90}}}}\n"
                            "trials: 1\n" + chains)
        self.assertIn("Data age of chains", done.stdout)
        self.assertIn("Reaction time of chains", done.stdout)
        self.assertIn("chains exceed their bounds: age of 'brake' in 'together'", done.stdout)
        result = json.loads(saved.read_text())
        chain, = result["chains"]
        self.assertEqual((chain["chain"], chain["configuration"]), ("brake", "together"))
        trial, = (t for t in result["record"]["trials"] if t["configuration"] == 2)
        camera, control = trial["members"]

        def stamps(run, of):
            return [run["epoch_ns"] + t for t in of]
        sampled = stamps(camera, camera["frames"]["due"])
        published = stamps(camera, camera["stages"][0]["cpu"]["end"])
        read = stamps(control, control["stages"][0]["cpu"]["begin"])
        ended = stamps(control, control["stages"][0]["cpu"]["end"])
        start = max(stamps(r, r["frames"]["begin"])[0] for r in (camera, control))
        stop = min(stamps(r, r["frames"]["end"])[-1] for r in (camera, control))
        last = {}
        for begin, end in zip(read, ended):
            known = [k for k, at in enumerate(published) if at <= begin]
            if known and end <= stop:
                last[known[-1]] = end
        ages = [end - sampled[k] for k, end in last.items()
                if k != max(last) and sampled[k] >= start]
        self.assertGreater(len(ages), 20)
        self.assertEqual((chain["used"], chain["age_late"]), (len(ages), len(ages)))
        self.assertAlmostEqual(chain["age"]["max"], max(ages) / 1e6)
        self.assertEqual(chain["reaction_late"], 0)
        self.assertEqual(result["chain_comparisons"], [])  # nothing else runs both


class overhead(Case):
    def test_it_compares_the_methods_that_make_sense(self):
        path = self.folder / "o.json"
        done = graphline("overhead", self.pipeline(), "--trials", "4", "--frames", "5",
                         "--json", path)
        self.expect(done, 0, "none", "host", "sync", "event", "too few for intervals and verdicts",
                    stream="stdout")
        result = json.loads(path.read_text())
        self.assertEqual(result["schema"], "graphline.experiment/1")
        methods = [c["name"] for c in result["configurations"]]
        self.assertEqual(methods, ["timing=none", "timing=host", "timing=sync", "timing=callback",
                                   "timing=event", "timing=layers"])
        self.assertEqual({c["reference"] for c in result["comparisons"]}, {"timing=none"})
        self.assertRegex(done.stdout, r"- event[ :](.|\n  )*no\s+interval")
        self.expect(graphline("report", path), 0, done.stdout, stream="stdout")
        done = graphline("overhead", self.pipeline(), "--graphs", "frame", "--trials", "2",
                         "--frames", "2", "--json", path)
        self.expect(done, 0)
        self.assertEqual([c["name"] for c in json.loads(path.read_text())["configurations"]],
                         ["timing=none", "timing=event", "timing=layers"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[4:]])
