"""Reported times of the graphline program against known ones.

usage: truth_test.py GRAPHLINE KNOWN_STAGE [CLASS ...]

What must hold whatever else the machine does is asserted of every run. What a busy machine can
break (that nothing took longer than it should) is tried again, a few times, until the machine is
quiet enough; where it never was, by the scheduler's own figures, the test is skipped and says so.
"""

import itertools
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import unittest

GRAPHLINE, KNOWN_STAGE = sys.argv[1:3]


disturbances = []  # of the latest run, from its result


def run(folder, text, *options):
    """The result of `graphline run` on a pipeline of this text, on `host` with one thread."""
    path = pathlib.Path(folder, "pipeline.yaml")
    path.write_text(f"pipeline: known\nplugins: {KNOWN_STAGE}\n{text}")
    done = subprocess.run([GRAPHLINE, "run", path, "--device", "host", "--threads", "1",
                           "--json", "-", *map(str, options)],
                          capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise AssertionError(f"exit status {done.returncode}: {done.stderr}\n{text}")
    result = json.loads(done.stdout)
    disturbances[:] = [w for w in result["warnings"] if w.startswith("disturbed")]
    return result


def stages(result):
    return {stage["name"]: stage for stage in result["stages"]}


def ms(column, key="p50"):
    assert column["unit"] == "ms"
    return column[key]


class Case(unittest.TestCase):
    maxDiff = None
    tries = 6

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="graphline_truth_")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def until_quiet(self, attempt):
        """Calls `attempt()` until it raises no assertion; the last assertion fails the test."""
        for number in range(self.tries):
            try:
                return attempt()
            except AssertionError as problem:
                if number + 1 == self.tries:
                    self.skip_if_disturbed()
                    raise
                print(f"{self.id()}: tried again: {str(problem).splitlines()[0]}")
                time.sleep(0.5)

    def skip_if_disturbed(self):
        if disturbances:
            self.skipTest(f"the machine was never quiet: {disturbances[0]}")


class durations(Case):
    def test_of_cpu_and_device_stages(self):
        text = """stages:
  - {name: short, kind: cpu.spin, duration: 1ms, clock: wall}
  - {name: device, kind: known, duration: 3ms, operations: 3}
  - {name: long, kind: cpu.spin, duration: 5ms, clock: wall}
run: {frames: 30, warmup: 2, timing: event}
"""
        for strategy in ("serial", "async", "overlap"):
            def attempt():
                of = stages(run(self.folder, text, "--strategy", strategy))
                for name, key, known in (("short", "cpu_time", 1), ("long", "cpu_time", 5),
                                         ("device", "device_time", 3)):
                    self.assertGreaterEqual(ms(of[name][key], "min"), known)
                    self.assertLessEqual(ms(of[name][key]), 1.03 * known)
            self.until_quiet(attempt)

    def test_device_time_holds_no_other_streams_work(self):
        text = """stages:
  - {name: left, kind: known, duration: 3ms, operations: 6}
  - {name: right, kind: known, duration: 3ms, operations: 6}
run: {frames: 30, warmup: 2, strategy: async, timing: event}
"""
        for more in ([], ["--strategy", "overlap"], ["--graphs", "off"], ["--graphs", "frame"],
                     ["--in-flight", "2"]):
            def attempt():
                result = run(self.folder, text, *more)
                of = stages(result)
                spans = [ms(of[name]["device_span"]) for name in of]
                if "frame" not in more:  # which runs them in order
                    # One of them waited for the other.
                    self.assertGreaterEqual(max(spans), 5)
                for stage in of.values():
                    self.assertGreaterEqual(ms(stage["device_time"], "min"), 3)
                    self.assertLessEqual(ms(stage["device_time"]), 1.05 * 3)
                attribution = result["attribution"]
                on_device = sum(row["mean"] for row in attribution
                                if row["what"] in ("device", "stream_wait", "queue_wait"))
                if not more:
                    self.assertGreaterEqual(on_device, 0.99 * 6)
                    self.assertLessEqual(
                        sum(row["mean"] for row in attribution if row["what"] == "device"),
                        1.05 * 6)
            self.until_quiet(attempt)

class Drawn:
    """A random pipeline of CPU and device stages that take known times, in ms."""

    def __init__(self, seed):
        draw = random.Random(seed)
        self.stages = []  # name, on the device, time, what it waits for
        for index in range(draw.randint(3, 6)):
            after = [i for i in range(index) if draw.random() < 0.35]
            self.stages.append((f"s{index}", draw.random() < 0.4, draw.randint(3, 8), after))

    def text(self):
        lines = ["stages:"]
        for name, on_device, duration, after in self.stages:
            kind = "known" if on_device else "cpu.spin, clock: wall"
            waits = f", after: [{', '.join(f's{i}' for i in after)}]" if after else ""
            lines.append(f"  - {{name: {name}, kind: {kind}, duration: {duration}ms{waits}}}")
        return "\n".join(lines) + "\nrun: {frames: 6, warmup: 1, timing: event}\n"

    def shortest(self, cores):
        """The shortest schedule on some cores and one device, by trying every order."""
        best = None
        for order in itertools.permutations(range(len(self.stages))):
            end, free, device, possible = {}, [0] * cores, [0], True
            for s in order:
                _, on_device, duration, after = self.stages[s]
                possible = all(earlier in end for earlier in after)
                if not possible:
                    break
                places = device if on_device else free
                place = places.index(min(places))
                begin = max([places[place]] + [end[earlier] for earlier in after])
                places[place] = end[s] = begin + duration
            if possible:
                last = max(end.values())
                best = last if best is None else min(best, last)
        return best


class contention(Case):
    """Pipelines that share one CPU."""

    SPIN = """stages:
  - {name: work, kind: cpu.spin, duration: 4ms%s}
run: {frames: 25, warmup: 1}
"""
    TOGETHER = """experiment: beside
together:
  - {name: one, pipeline: pipeline.yaml, run: {frames: 25}}
  - {name: other, pipeline: pipeline.yaml, run: {frames: 25}}
trials: 1
"""

    def setUp(self):
        super().setUp()
        before = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(before)})
        self.addCleanup(os.sched_setaffinity, 0, before)

    def frames_of_both(self):
        """Begins and ends of all frames of a trial with both pipelines, in ns."""
        path = pathlib.Path(self.folder, "beside.yaml")
        path.write_text(self.TOGETHER)
        saved = pathlib.Path(self.folder, "r.json")
        subprocess.run([GRAPHLINE, "compare", path, "--device", "host", "--json", saved],
                       check=True, capture_output=True, timeout=120)
        result = json.loads(saved.read_text())
        trial = next(t for t in result["record"]["trials"] if len(t["members"]) == 2)
        return [(begin, end) for member in trial["members"] for begin, end in
                zip(member["frames"]["begin"], member["frames"]["end"])]

    def test_lengthens_what_takes_cpu_time(self):
        result = run(self.folder, self.SPIN % "")
        self.assertGreaterEqual(ms(stages(result)["work"]["cpu_time"], "min"), 4)
        frames = self.frames_of_both()
        passed = max(end for _, end in frames) - min(begin for begin, _ in frames)
        self.assertGreaterEqual(passed, len(frames) * 4e6)

    def test_does_not_show_in_what_takes_wall_time(self):
        run(self.folder, self.SPIN % ", clock: wall")
        for begin, end in self.frames_of_both():
            self.assertGreaterEqual(end - begin, 4e6)


class bounds(Case):
    def test_of_random_pipelines_lie_below_what_was_measured_and_near_the_shortest_schedule(self):
        optimal = near = bounded = 0
        for seed in range(16):
            pipeline = Drawn(seed)
            for strategy, in_flight in (("serial", 1), ("async", 1), ("async", 2), ("overlap", 1),
                                        ("overlap", 2)):
                result = run(self.folder, pipeline.text(), "--strategy", strategy, "--in-flight",
                             in_flight)
                found = result["lower_bound"]
                where = f"seed {seed}, {strategy}, {in_flight} in flight: {found}"
                self.assertLessEqual(found["any_schedule"], found["this_schedule"] + 1e-6, where)
                self.assertLessEqual(found["this_schedule"], found["running"] + 1e-6, where)
                shortest = pipeline.shortest(result["record"]["cpu_cores"])
                bounded += found["any_schedule"] >= 0.97 * shortest
                near += 1
                if in_flight == 1 and found["running"] <= 1.03 * shortest:
                    optimal += 1
                    self.assertGreaterEqual(found["any_schedule"], 0.97 * found["running"], where)
        self.assertGreaterEqual(bounded, 0.95 * near)
        print(f"{optimal} runs were as short as any schedule")
        if optimal == 0:
            self.skip_if_disturbed()
        self.assertGreater(optimal, 0)

class arrivals(Case):
    def test_are_dropped_as_an_exact_queue_drops_them(self):
        # One server of 10 ms, an arrival every 6 ms, a queue of one.
        text = """stages:
  - {name: serve, kind: cpu.spin, duration: 10ms, clock: wall}
run: {frames: 120, warmup: 2, arrival: constant, rate: 166.6666667, queue: 1,
      when_full: drop_newest}
"""
        free, waiting, dropped = 0.0, [], 0
        for i in range(120):
            at = 6.0 * i
            while waiting and free <= at:
                waiting.pop(0)
                free += 10
            if free <= at:
                free = at + 10
            elif waiting:
                dropped += 1
            else:
                waiting.append(at)

        def attempt():
            load = run(self.folder, text)["load"]
            self.assertEqual(load["due"], 120)
            self.assertLessEqual(abs(load["dropped"] - dropped), 2)
        self.until_quiet(attempt)

    SERVE = """stages:
  - {{name: serve, kind: cpu.spin, duration: 5ms, clock: wall}}
run: {{frames: {frames}, warmup: 2, arrival: constant, rate: {rate}}}
"""

    def test_a_rate_above_what_is_served_is_overload_however_long_the_run_is(self):
        for frames in (150, 300):
            result = run(self.folder, self.SERVE.format(frames=frames, rate=220))
            self.assertEqual(result["findings"][0]["key"], "overloaded")
            self.assertIsNone(result["end_to_end"]["p50"])
            self.assertEqual(result["end_to_end"]["count"], frames)
            # A core completes at most 200 frames a second.
            self.assertLessEqual(result["throughput"]["value"], 200.5)

        def attempt():
            quiet = run(self.folder, self.SERVE.format(frames=150, rate=120))
            self.assertEqual([f for f in quiet["findings"] if f["key"] == "overloaded"], [])
            self.assertGreaterEqual(quiet["end_to_end"]["p50"], 5)
        self.until_quiet(attempt)


def nearest_rank(values, percent):
    """The nearest-rank percentile."""
    return sorted(values)[-(-percent * len(values) // 100) - 1]


class percentiles(Case):
    POISSON = """stages:
  - {name: serve, kind: cpu.spin, duration: 5ms, clock: wall}
run: {frames: 600, warmup: 2, timing: event, arrival: poisson, rate: 130}
"""

    def test_are_those_of_an_exact_queue_with_the_same_arrivals(self):
        def attempt():
            result = run(self.folder, self.POISSON)
            due = [frame / 1e6 for frame in result["record"]["frames"]["due"]]
            free, exact = 0.0, []
            for at in due:  # one server, first come, first served (Lindley)
                free = max(free, at) + 5
                exact.append(free - at)
            for key, percent in (("p50", 50), ("p90", 90), ("p95", 95)):
                known, told = nearest_rank(exact, percent), result["end_to_end"][key]
                self.assertIsNotNone(told, "the machine did not keep up with the rate")
                self.assertGreaterEqual(told, known - 1e-6, key)  # no frame is served faster
                self.assertLessEqual(told, 1.05 * known, key)
        self.until_quiet(attempt)


class attribution(Case):
    def test_of_random_pipelines_sums_to_the_frame_and_gives_each_stage_no_more_than_it_took(self):
        for seed in range(8):
            pipeline = Drawn(seed)
            took = {name: time for name, _, time, _ in pipeline.stages}
            for strategy in ("serial", "async", "overlap"):
                def attempt():
                    result = run(self.folder, pipeline.text(), "--strategy", strategy)
                    found = result["attribution"]
                    where = f"seed {seed}, {strategy}"
                    total = sum(row["mean"] for row in found)
                    total += result["attributed"]["residual_mean"]
                    self.assertAlmostEqual(total, result["end_to_end"]["mean"], delta=2e-3,
                                           msg=where)
                    worked = {name: 0 for name in took}
                    for row in found:
                        if row["what"] in ("cpu", "device"):
                            worked[row["stage"]] += row["mean"]
                    for name, on_path in worked.items():
                        self.assertLessEqual(on_path, 1.05 * took[name] + 0.2, (where, name))
                    if strategy == "serial":  # in order, so each is completely on the path
                        for name, on_path in worked.items():
                            self.assertGreaterEqual(on_path, 0.97 * took[name], (where, name))
                    else:  # at least the longest chain
                        self.assertGreaterEqual(sum(worked.values()), 0.97 * max(took.values()))
                self.until_quiet(attempt)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v", *sys.argv[3:]])
