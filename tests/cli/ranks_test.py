"""graphline run on several ranks, under mpirun: results, messages, failures.

usage: ranks_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES PLUGIN_DIR
"""

import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import time
import unittest

from cli_test import GRAPHLINE, PIPELINES, Case

PLUGINS = pathlib.Path(sys.argv[4])
MPIRUN = shutil.which("mpirun")
LIBRARY = pathlib.Path(GRAPHLINE).parent / "libgraphline_mpi.so"

# Open MPI asks for these of root, as whom tests may run.
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# mpirun kills ranks a second after it asked them to end, which is short on a busy machine.
PATIENT = ("--mca", "odls_base_sigkill_timeout", "3")
PIPELINE = """pipeline: replicas
inputs: {x: {shape: [1, 3, 16, 16]}}
stages:
  - {name: net, kind: network, reads: x, writes: y,
     layers: [{conv2d: {out_channels: 8, kernel: 3}}]}
  - {name: pause, kind: cpu.spin, duration: 1ms, after: net}
run: {frames: 60, warmup: 2}
"""
LONG = PIPELINE.replace("frames: 60", "frames: 1000000")


def nearest_rank(times, p):
    """The percentile by its definition, without the program."""
    return sorted(times)[max(0, -(-len(times) * p // 100) - 1)]


def times_of(run):
    frames = run["frames"]
    return [end - due for due, end in zip(frames["due"], frames["end"])]


def why_not():
    """Why this machine cannot run ranks; empty if it can."""
    if not MPIRUN:
        return "mpirun is not installed (openmpi-bin)"
    if not LIBRARY.exists():
        return "built without libgraphline_mpi.so (libopenmpi-dev)"
    tried = subprocess.run([MPIRUN, "--oversubscribe", "-n", "2", "true"], capture_output=True,
                           text=True, timeout=60, env={**os.environ, **AS_ROOT})
    return "" if tried.returncode == 0 else f"mpirun starts nothing here: {tried.stderr}"


WHY_NOT = why_not()


@unittest.skipIf(WHY_NOT, WHY_NOT)
class ranks(Case):
    def begin(self, count, *words, mpi=()):
        process = subprocess.Popen(
            [MPIRUN, "--oversubscribe", *mpi, "-n", str(count), GRAPHLINE, *map(str, words)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
            env={**os.environ, **AS_ROOT})
        self.addCleanup(process.kill)
        return process

    def begin_long(self, *words, mpi=()):
        """Starts a long run on two ranks, and waits until both have measured some frames."""
        saved = self.folder / "frames"
        process = self.begin(2, "run", self.pipeline(LONG, "p.yaml"), "--device", "host",
                             "--save-tensors", saved, "--each-frame", *words, mpi=mpi)
        until = time.time() + 60
        while not all((saved / f"rank.{r}" / "frame.100").exists() for r in (0, 1)):
            self.assertLess(time.time(), until, "no frames")
            time.sleep(0.05)
        return process

    def end(self, process, seconds=60):
        out, err = process.communicate(timeout=seconds)
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def run_on(self, count, *words, text=PIPELINE):
        path = self.pipeline(text, "p.yaml")
        return self.end(self.begin(count, "run", path, "--device", "host", *words))

    def run_both(self, first, second):
        """Runs a command on rank 0 and another on rank 1."""
        command = [MPIRUN, "--oversubscribe", "-n", "1", *first, ":", "-n", "1", *second]
        return subprocess.run(command, capture_output=True, text=True, timeout=60,
                              cwd=self.folder, env={**os.environ, **AS_ROOT})

    def process_of(self, rank):
        """Waits until a rank of this test runs, and returns its process."""
        until = time.time() + 30
        while time.time() < until:
            for one in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    words = (one / "cmdline").read_bytes().split(b"\0")
                    environment = (one / "environ").read_bytes().split(b"\0")
                except OSError:
                    continue
                mine = os.fsencode(self.folder) in b" ".join(words)
                if (words[0] == GRAPHLINE.encode() and mine
                        and b"OMPI_COMM_WORLD_RANK=%d" % rank in environment):
                    return int(one.name)
            time.sleep(0.05)
        self.fail(f"rank {rank} did not start")

    def check_pooled(self, count):
        done = self.run_on(count, "--json", "r.json")
        self.expect(done, 0)
        result = json.loads((self.folder / "r.json").read_text())
        self.assertEqual(result["schema"], "graphline.ranks/1")
        runs = [one["run"] for one in result["record"]["ranks"]]
        self.assertEqual(len(runs), count)
        pooled = [t for run in runs for t in times_of(run)]
        self.assertEqual(len(pooled), 60 * count)
        shown = result["end_to_end"]
        for name, p in (("p50", 50), ("p90", 90), ("p95", 95)):
            self.assertAlmostEqual(shown[name] * 1e6, nearest_rank(pooled, p), delta=1, msg=name)
        self.assertAlmostEqual(shown["mean"] * 1e6, statistics.fmean(pooled), delta=1)
        rates = [one["throughput"] for one in result["ranks"]]
        self.assertAlmostEqual(result["throughput"]["value"], sum(rates), delta=1e-6 * sum(rates))
        self.assertIn("all ranks computed the same outputs", done.stdout)
        return result

    def test_pooled_figures_are_those_of_all_frames(self):
        for count in (2, 4):
            with self.subTest(count):
                self.check_pooled(count)

    def test_clocks_of_one_machine_differ_by_no_more_than_the_error(self):
        for one in self.check_pooled(2)["record"]["ranks"][1:]:
            self.assertEqual(len(one["clock"]), 2)
            for found in one["clock"]:
                self.assertLessEqual(abs(found["offset_ns"]), found["error_ns"])

    def test_report_shows_all_or_one_rank(self):
        path = "r.json"
        self.expect(self.run_on(2, "--json", path, "--html", "r.html"), 0)
        self.assertIn("Ranks: end to end", (self.folder / "r.html").read_text())
        self.expect(self.graphline("report", path), 0, "Ranks: end to end", stream="stdout")
        self.expect(self.graphline("report", path, "--rank", 1, "--trace", "t.json"), 0)
        self.assertIn("pause", (self.folder / "t.json").read_text())
        self.expect(self.graphline("report", path, "--rank", 2), 2, "the run was on ranks 0 to 1")
        self.expect(self.graphline("report", path, "--rank", 1), 0, "replicas (rank 1 of 2) on",
                    stream="stdout")
        self.expect(self.graphline("diff", path, path), 0)

    def graphline(self, *words):
        return subprocess.run([GRAPHLINE, *map(str, words)], capture_output=True, text=True,
                              timeout=60, cwd=self.folder)

    def test_a_mistake_is_said_once(self):
        done = self.run_on(3, text=PIPELINE.replace("conv2d", "conv2dd"))
        self.expect(done, 2, "unknown layer 'conv2dd'")
        self.assertEqual(done.stderr.count("unknown layer"), 1)
        self.assertEqual(done.stdout.strip(), "")

    def test_ranks_with_different_options_are_refused(self):
        path = self.pipeline(PIPELINE, "p.yaml")
        command = [GRAPHLINE, "run", path, "--device", "host"]
        done = self.run_both(command, [*command, "--frames", "30"])
        self.expect(done, 2, "all ranks need the same")
        self.assertRegex(done.stderr, r"rank 1 on .*: it runs 'replicas' \(file and settings ")

    def test_a_full_disk_on_rank_0_is_named(self):
        done = self.run_on(2, "--json", "/dev/full")
        self.expect(done, 1, "/dev/full")
        self.assertIn("Ranks: end to end", done.stdout)

    def test_gates_judge_each_rank(self):
        done = self.run_on(2, "--fail-if", "p50>1us")
        self.expect(done, 4)
        self.assertRegex(done.stdout + done.stderr, r"p50>1us: FAILED, .*: rank [01] on ")
        self.expect(self.run_on(2, "--fail-if", "p50>10s"), 0)

    def test_tensors_are_saved_by_rank(self):
        self.expect(self.run_on(2, "--save-tensors", "t"), 0)
        first, second = ((self.folder / "t" / f"rank.{r}" / "output.y.npy").read_bytes()
                         for r in (0, 1))
        self.assertEqual(first, second)
        self.expect(self.run_on(2, "--reference", "t/rank.0"), 0,
                    "output 'y' differs from the reference by 0 at most", stream="stdout")

    def test_a_killed_rank_ends_all_and_the_others_are_kept(self):
        path = self.folder / "r.json"
        process = self.begin_long("--json", path, mpi=PATIENT)
        os.kill(self.process_of(1), signal.SIGKILL)
        begin = time.time()
        done = self.end(process)
        self.assertLess(time.time() - begin, 10)
        self.assertNotEqual(done.returncode, 0)
        result = json.loads(path.read_text())
        kept, lost = result["record"]["ranks"]
        self.assertGreater(len(kept["run"]["frames"]["end"]), 100)
        self.assertNotIn("run", lost)
        self.assertRegex(lost["lost"], r"^it did not answer when .*, and may have been killed")
        self.assertIn(f"rank 1 on {os.uname().nodename}", done.stdout)

    def test_a_stopped_rank_ends_all(self):
        process = self.begin_long()
        os.kill(self.process_of(1), signal.SIGSTOP)
        begin = time.time()
        done = self.end(process)
        self.assertLess(time.time() - begin, 10)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(" ".join(done.stdout.split()),
                         r"FAILED: rank 1 on \S+ was lost: it has sent no message for 5 s")

    def test_a_stage_that_hangs_ends_all_and_its_frames_are_kept(self):
        path = self.folder / "r.json"
        text = f"""pipeline: hanging
plugins: {PLUGINS / "faulty.so"}
stages:
  - {{name: stuck, kind: test.faulty, how: hang}}
run: {{frames: 10, warmup: 1}}
"""
        begin = time.time()
        done = self.run_on(2, "--json", path, text=text)
        self.assertLess(time.time() - begin, 20)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(" ".join(done.stdout.split()),
                         r"rank [01] on \S+ stage 'stuck' .*frame 3 has not returned for 6 s")

    def test_ctrl_c_keeps_what_all_ranks_measured(self):
        path = self.folder / "r.json"
        process = self.begin_long("--json", path, mpi=PATIENT)
        process.send_signal(signal.SIGINT)
        done = self.end(process)
        self.assertIn("INTERRUPTED", done.stdout)
        for one in json.loads(path.read_text())["record"]["ranks"]:
            self.assertGreater(len(one["run"]["frames"]["end"]), 100)

    def test_one_rank_is_an_ordinary_run(self):
        self.expect(self.run_on(1, "--json", "r.json"), 0)
        self.assertIn('"graphline.run/1"', (self.folder / "r.json").read_text())

    # ---- Pipelines across ranks -----------------------------------------------------------------

    def parts(self, run="strategy: overlap, in_flight: 2", where=("", ", on: rank1", "")):
        """A pipeline from rank 0 to rank 1 and back."""
        first, second, third = where
        return f"""pipeline: parts
inputs: {{x: {{shape: [1, 3, 32, 32]}}}}
stages:
  - {{name: net, kind: network, reads: x, writes: y{first},
     layers: [{{conv2d: {{out_channels: 8, kernel: 3}}}}, relu]}}
  - {{name: middle, kind: network, reads: y, writes: z{second},
     layers: [{{conv2d: {{out_channels: 4, kernel: 3}}}}]}}
  - {{name: work, kind: cpu.spin, duration: 1ms, reads: y{second}}}
  - {{name: last, kind: network, reads: [z], writes: out{third},
     layers: [{{conv2d: {{out_channels: 2, kernel: 3}}}}]}}
run: {{frames: 40, warmup: 2, {run}}}
"""

    def test_a_pipeline_across_ranks_computes_what_one_process_does(self):
        alone = self.pipeline(self.parts(where=("", "", "")), "alone.yaml")
        self.expect(self.graphline("run", alone, "--device", "host", "--save-tensors", "one"), 0)
        expected = (self.folder / "one" / "output.out.npy").read_bytes()
        for run in ("strategy: serial", "strategy: async, in_flight: 2",
                    "strategy: overlap, in_flight: 3, workers: 1"):
            done = self.run_on(2, "--save-tensors", "two", "--json", "r.json",
                               text=self.parts(run))
            self.expect(done, 0)
            found = (self.folder / "two" / "rank.0" / "output.out.npy").read_bytes()
            self.assertEqual(found, expected, run)

    def test_latency_of_a_pipeline_across_ranks_is_that_of_its_last_rank(self):
        # Rank 0 is slower, so rank 1 waits for it.
        text = self.parts(where=("", ", on: rank1", ", on: rank1"))
        slow = text.replace("duration: 1ms, reads: y, on: rank1", "duration: 10ms, reads: y")
        self.expect(self.run_on(2, "--json", "r.json", text=slow), 0)
        result = json.loads((self.folder / "r.json").read_text())
        first, last = result["record"]["ranks"]
        self.assertEqual({s["name"] for s in first["run"]["stages"] if s["kind"] != "copy"},
                         {"net", "work", "send:y@rank1"})
        # Of one machine, the clocks of ranks are one clock.
        def at(run, column):
            return [run["epoch_ns"] + time for time in run["frames"][column]]
        times = [max(ends) - due for due, *ends in zip(
            at(first["run"], "due"), at(first["run"], "end"), at(last["run"], "end"))]
        self.assertEqual(result["end_to_end"]["count"], 40)
        error = max(c["error_ns"] for c in last["clock"])
        self.assertAlmostEqual(result["end_to_end"]["p50"] * 1e6, nearest_rank(times, 50),
                               delta=error + 1000)
        self.assertIn("other-rank wait", self.graphline("report", "r.json", "--rank", 1).stdout)

    def test_a_trace_has_all_ranks_on_one_clock(self):
        self.expect(self.run_on(2, "--trace", "t.json", "--json", "r.json",
                                text=self.parts("strategy: serial")), 0)
        trace = json.loads((self.folder / "t.json").read_text())
        events = trace["traceEvents"]
        names = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
        host = os.uname().nodename
        self.assertEqual([name.split(": ")[0] for name in names.values()],
                         [f"rank 0 on {host}"] * 3 + [f"rank 1 on {host}"] * 3)
        threads = {(e["pid"], e["tid"]) for e in events}
        self.assertEqual(len({tid for _, tid in threads}), len(threads), "threads are unique")
        error = max(one["clock_error_ns"] for one in trace["otherData"]["ranks"]) / 1000
        begins = {}
        for e in events:
            if e["ph"] == "X" and e["name"] in ("send:y@rank1", "receive:y"):
                begins[e["name"], e["args"]["frame"]] = e["ts"]
        self.assertEqual(len(begins), 80)
        for frame in range(40):
            self.assertGreater(begins["receive:y", frame] + 2 * error,
                               begins["send:y@rank1", frame])
        self.expect(self.graphline("report", "r.json", "--trace", "again.json"), 0)
        self.assertEqual((self.folder / "again.json").read_text(),
                         (self.folder / "t.json").read_text())

    def test_a_pipeline_across_ranks_says_how_many_it_needs(self):
        self.expect(self.run_on(3, text=self.parts()), 2,
                    "has stages on ranks 0 to 1, and MPI started 3; use mpirun -n 2")
        path = self.pipeline(self.parts(), "p.yaml")
        self.expect(self.graphline("run", path, "--device", "host"), 2,
                    "only 'mpirun -n 2 graphline run' runs it")
        self.expect(self.graphline("check", path, "--device", "host"), 0,
                    "What ranks send, under mpirun -n 2", stream="stdout")
        self.expect(self.run_on(2, text=self.parts("strategy: serial, max_time: 1s")), 2,
                    "'max_time' does not work in a pipeline on several ranks")
        done = self.end(self.begin(2, "run", "missing.yaml"))
        self.expect(done, 2, "no such file")
        self.assertEqual(done.stderr.count("error: "), 1)

    def test_only_numbers_name_ranks(self):
        for name in ("rank-1", "rank01", "rankone"):
            path = self.pipeline(self.parts(where=("", f", on: {name}", "")), "p.yaml")
            self.expect(self.graphline("check", path, "--device", "host"), 2, "ranks are rank0")

    def test_stages_of_one_name_on_two_ranks_are_kept_apart(self):
        text = """pipeline: copies
devices: {left: host, right: host}
inputs: {x: {shape: [1, 8]}}
stages:
  - {name: a, kind: network, reads: x, on: left, layers: [relu]}
  - {name: b, kind: network, reads: a, on: right, layers: [relu]}
  - {name: c, kind: network, reads: a, on: rank1.right, layers: [relu]}
run: {frames: 5, warmup: 1}
"""
        path = self.pipeline(text, "p.yaml")
        self.expect(self.end(self.begin(2, "run", path, "--json", "r.json")), 0)
        result = json.loads((self.folder / "r.json").read_text())
        names = {stage["name"] for stage in result["stages"]}
        self.assertEqual({stage["name"][-1] == stage["slowest"] for stage in result["stages"]
                          if stage["name"].startswith("copy:a@right@")}, {True})
        ran = [stage["name"] for one in result["record"]["ranks"] for stage in one["run"]["stages"]]
        self.assertEqual(len(names), len(ran), names)

    def test_ctrl_c_ends_a_pipeline_across_ranks(self):
        text = self.parts().replace("frames: 40", "frames: 1000000")
        path = self.pipeline(text, "p.yaml")
        process = self.begin(2, "run", path, "--device", "host", "--save-tensors", "t",
                             "--each-frame", "--json", "r.json", mpi=PATIENT)
        until = time.time() + 60
        while not (self.folder / "t" / "rank.0" / "frame.50").exists():
            self.assertLess(time.time(), until, "no frames")
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        done = self.end(process)
        self.assertIn("INTERRUPTED", done.stdout)
        result = json.loads((self.folder / "r.json").read_text())
        self.assertGreater(result["end_to_end"]["count"], 49)

    def test_gates_judge_the_frames_of_all_ranks(self):
        text = self.parts("strategy: async, arrival: constant, rate: 50, deadline: 15ms",
                          where=("", ", on: rank1", ", on: rank1"))
        done = self.run_on(2, "--fail-if", "p50>15ms", "--fail-if", "late>90%", "--fail-if",
                           "last.p50>15ms", text=text)
        self.expect(done, 0)
        self.expect(self.run_on(2, "--fail-if", "p50>100us", text=text), 4)

    def test_a_sender_is_ahead_by_a_bounded_number_of_frames(self):
        done = self.run_on(2, "--json", "r.json", text="""pipeline: small
stages:
  - {name: first, kind: cpu.random_normal, shape: [4]}
  - {name: slow, kind: cpu.spin, duration: 3ms, reads: first, on: rank1}
run: {frames: 100, warmup: 1, strategy: overlap}
""")
        self.expect(done, 0)
        first, last = (one["run"] for one in json.loads(
            (self.folder / "r.json").read_text())["record"]["ranks"])
        begins = [first["epoch_ns"] + t for t in first["frames"]["begin"]]
        ends = [last["epoch_ns"] + t for t in last["frames"]["end"]]
        for frame, end in enumerate(ends):
            ahead = sum(begin < end for begin in begins) - frame
            # Two buffers on each side, one frame in flight on each.
            self.assertLessEqual(ahead, 7, frame)

    def test_a_stage_that_fails_on_one_rank_ends_a_pipeline_across_ranks(self):
        text = f"""pipeline: failing
plugins: {PLUGINS / "faulty.so"}
stages:
  - {{name: first, kind: cpu.random_normal, shape: [4]}}
  - {{name: bad, kind: test.faulty, how: standard, after: first, on: rank1}}
  - {{name: last, kind: cpu.spin, duration: 1ms, reads: bad}}
run: {{frames: 1000, warmup: 1, strategy: overlap}}
"""
        begin = time.time()
        done = self.run_on(2, text=text)
        self.assertLess(time.time() - begin, 20)
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertRegex(" ".join(done.stdout.split()), r"rank 1 on .*stage 'bad' .*frame 3")

    # ---- compare --------------------------------------------------------------------------------

    def experiment(self, trials, frames=20):
        """Writes an experiment on equal configurations."""
        (self.folder / "paced.yaml").write_text(f"""pipeline: paced
plugins: {PLUGINS / "paced.so"}
params: {{n: 1}}
stages: [{{name: work, kind: test.paced, duration: 2ms}}]
run: {{frames: {frames}, warmup: 1, strategy: serial}}
""")
        path = self.folder / "e.yaml"
        path.write_text(f"experiment: equal\npipeline: paced.yaml\nvary: {{n: [1, 2]}}\n"
                        f"trials: {trials}\n")
        return path

    def compare(self, count, *words, mpi=()):
        return self.begin(count, "compare", self.folder / "e.yaml", "--device", "host", *words,
                          mpi=mpi)

    def slow_second(self, *words):
        """Starts two ranks, of which the second takes 20 % longer."""
        command = [GRAPHLINE, "compare", self.folder / "e.yaml", "--device", "host", *words]
        process = subprocess.Popen(
            [MPIRUN, "--oversubscribe", "-n", "1", *map(str, command), ":", "-n", "1", "env",
             "GRAPHLINE_TEST_PACE=1.2", *map(str, command)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
            env={**os.environ, **AS_ROOT})
        self.addCleanup(process.kill)
        return self.end(process, 120)

    def blocks_by_rank(self, result):
        """Checks that all trials of a block ran on one rank, and returns its blocks by rank."""
        ranks = {}
        for trial in result["record"]["trials"]:
            ranks.setdefault(trial["block"], set()).add(trial["place"]["rank"])
        self.assertTrue(all(len(of_block) == 1 for of_block in ranks.values()), ranks)
        made = {}
        for block, (rank,) in ranks.items():
            made.setdefault(rank, set()).add(block)
        return made

    def stored_trials(self):
        lines = (self.folder / "equal.trials.jsonl").read_text().splitlines()
        return [json.loads(line)["trial"] for line in lines if line.startswith('{"trial"')]

    def test_a_slower_rank_is_not_taken_for_a_slower_configuration(self):
        self.experiment(trials=8)
        path = self.folder / "r.json"
        done = self.slow_second("--json", path)
        self.expect(done, 0)
        result = json.loads(path.read_text())
        self.assertEqual(self.blocks_by_rank(result), {0: {0, 2, 4, 6}, 1: {1, 3, 5, 7}})
        first, second = result["ranks"]
        self.assertEqual((first["blocks"], second["blocks"]), (4, 4))
        self.assertAlmostEqual(second["p50"] / first["p50"], 1.2, delta=0.1)
        p50 = next(one for one in result["comparisons"] if one["figure"] == "p50")
        self.assertAlmostEqual(p50["ratio"], 1, delta=0.05)
        self.assertIn("8 blocks of 2 trials in random order, on 2 ranks", done.stdout)

    def test_an_experiment_goes_on_with_another_number_of_ranks(self):
        self.experiment(trials=4)
        self.expect(self.end(self.compare(2, "--quiet")), 0)
        path = self.folder / "r.json"
        done = self.end(self.compare(3, "--quiet", "--resume", "--trials", "7", "--json", path))
        self.expect(done, 0)
        result = json.loads(path.read_text())
        self.assertEqual(self.blocks_by_rank(result), {0: {0, 2, 4}, 1: {1, 3, 5}, 2: {6}})
        # Without MPI, too.
        alone = self.graphline("compare", self.folder / "e.yaml", "--device", "host", "--quiet",
                               "--resume", "--trials", "8", "--json", path)
        self.expect(alone, 0)
        trials = json.loads(path.read_text())["record"]["trials"]
        self.assertEqual(len(trials), 16)
        self.assertNotIn("place", trials[-1])

    def begin_long_comparison(self, *words, mpi=()):
        """Starts a long experiment on two ranks, and waits until both have trials in the store."""
        self.experiment(trials=10000)
        process = self.compare(2, "--quiet", *words, mpi=mpi)
        until = time.time() + 60
        while not (self.folder / "equal.trials.jsonl").exists() or len(self.stored_trials()) < 8:
            self.assertLess(time.time(), until, "no trials")
            time.sleep(0.05)
        return process

    def check_store_is_whole(self):
        """Checks that the stored trials can be continued."""
        count = len(self.stored_trials())
        self.assertGreaterEqual(count, 8)
        done = self.graphline("compare", self.folder / "e.yaml", "--device", "host", "--quiet",
                              "--resume", "--trials", "2", "--json", "r.json")
        self.expect(done, 0)
        self.assertGreaterEqual(
            len(json.loads((self.folder / "r.json").read_text())["record"]["trials"]), count)

    def test_a_killed_rank_ends_a_comparison_and_its_store_is_whole(self):
        process = self.begin_long_comparison(mpi=PATIENT)
        os.kill(self.process_of(1), signal.SIGKILL)
        begin = time.time()
        done = self.end(process)
        self.assertLess(time.time() - begin, 10)
        self.assertNotEqual(done.returncode, 0)
        self.check_store_is_whole()

    def test_a_stopped_rank_ends_a_comparison(self):
        process = self.begin_long_comparison()
        os.kill(self.process_of(1), signal.SIGSTOP)
        begin = time.time()
        done = self.end(process)
        self.assertLess(time.time() - begin, 12)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertRegex(" ".join(done.stderr.split()), r"rank 1 on \S+: it has sent no message")
        self.assertIn("the same command with --resume continues", done.stderr)
        self.check_store_is_whole()

    def test_a_stage_that_hangs_ends_a_comparison(self):
        (self.folder / "hanging.yaml").write_text(f"""pipeline: hanging
plugins: {PLUGINS / "faulty.so"}
params: {{n: 1}}
stages:
  - {{name: stuck, kind: test.faulty, how: hang}}
run: {{frames: 10, warmup: 1}}
""")
        (self.folder / "e.yaml").write_text(
            "experiment: equal\npipeline: hanging.yaml\nvary: {n: [1, 2]}\ntrials: 9\n")
        begin = time.time()
        done = self.end(self.compare(2))
        self.assertLess(time.time() - begin, 30)
        self.assertNotEqual(done.returncode, 0)
        self.assertRegex(" ".join((done.stdout + done.stderr).split()),
                         r"rank [01] on \S+ stage 'stuck' .*frame 3 has not returned for 6 s")

    def test_a_full_disk_ends_a_comparison_and_its_store_is_whole(self):
        self.experiment(trials=10000)
        words = ["compare", self.folder / "e.yaml", "--device", "host", "--quiet"]
        command = " ".join([GRAPHLINE, *map(str, words)])
        process = subprocess.Popen(
            [MPIRUN, "--oversubscribe", "-n", "1", "bash", "-c", f"ulimit -f 100; exec {command}",
             ":", "-n", "1", GRAPHLINE, *map(str, words)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
            env={**os.environ, **AS_ROOT})
        self.addCleanup(process.kill)
        done = self.end(process)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("equal.trials.jsonl", done.stderr)
        self.assertIn("File too large", done.stderr)
        self.check_store_is_whole()

    def test_ctrl_c_ends_a_comparison_and_its_store_is_whole(self):
        process = self.begin_long_comparison(mpi=PATIENT)
        process.send_signal(signal.SIGINT)
        done = self.end(process)
        self.assertIn("the same command with --resume continues", done.stderr)
        self.check_store_is_whole()

    def test_ranks_with_different_experiments_are_refused(self):
        path = self.experiment(trials=4)
        (other := self.folder / "other").mkdir()
        for name in ("e.yaml", "paced.yaml"):
            text = (self.folder / name).read_text()
            (other / name).write_text(text.replace("2ms", "3ms"))
        command = [GRAPHLINE, "compare", path.name, "--device", "host"]
        done = self.run_both(command, ["-wdir", str(other), *command])
        self.expect(done, 2, "it runs 'equal' (")

    def test_a_check_counts_the_ranks(self):
        self.experiment(trials=6)
        self.expect(self.end(self.compare(2, "--check")), 0, "6 trials each, on 2 ranks: about",
                    stream="stdout")

    def test_other_commands_that_measure_are_refused(self):
        path = self.pipeline(PIPELINE, "p.yaml")
        done = self.end(self.begin(2, "overhead", path))
        self.expect(done, 2, "only 'run' and 'compare' work on several ranks")


class without_library(Case):
    def test_the_remedy_is_said(self):
        alone = self.folder / "graphline"
        shutil.copy(GRAPHLINE, alone)
        done = subprocess.run([alone, "run", PIPELINES / "two_models.yaml"], capture_output=True,
                              text=True, timeout=60,
                              env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2"})
        self.expect(done, 1, "tools/quickstart --mpi")
        self.assertIn("MPI started 2 ranks of this program, which cannot use MPI", done.stderr)


if __name__ == "__main__":
    del sys.argv[1:5]
    unittest.main()
