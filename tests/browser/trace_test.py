"""Traces, as the viewer that they are for reads them.

usage: trace_test.py GRAPHLINE SOURCE_DIR [CLASS ...]
"""

import collections
import decimal
import json
import os
import pathlib
import subprocess
import sys

import harness
import viewers

GRAPHLINE, SOURCE_DIR = sys.argv[1:3]
VIEWERS = pathlib.Path(SOURCE_DIR) / "build" / "trace_viewers"

OVERLOADED = """pipeline: overloaded
stages:
  - {name: work, kind: cpu.spin, duration: 2ms}
run: {arrival: constant, rate: 700, frames: 60, warmup: 2, deadline: 5ms, queue: 3,
      when_full: drop_newest}
"""

Trace = collections.namedtuple("Trace", "slices marks names arrows waits dropped")


def nanoseconds(microseconds):
    return int(decimal.Decimal(microseconds) * 1000)


def read(path):
    """What is in a trace, without anything that draws it."""
    text = path.read_text(encoding="utf-8")
    events = json.loads(text, parse_float=decimal.Decimal)["traceEvents"]
    phases = collections.defaultdict(list)
    for event in events:
        phases[event["ph"]].append(event)
    ends = {event["id"]: event["tid"] for event in phases["f"]}
    return Trace(
        slices=sorted((e["pid"], e["tid"], e["name"], nanoseconds(e["ts"]), nanoseconds(e["dur"]),
                       e["args"]["frame"]) for e in phases["X"]),
        marks=[(e["pid"], e["tid"], e["name"], nanoseconds(e["ts"]), 0, None)
               for e in phases["i"] if e["s"] == "t"],
        names={(e["name"], e["pid"], e["tid"]): e["args"]["name"] for e in phases["M"]
               if e["name"] in ("process_name", "thread_name")},
        arrows=sorted((event["tid"], ends[event["id"]]) for event in phases["s"]),
        waits=sorted(nanoseconds(e["ts"]) for e in phases["b"]),
        dropped=sum(e["name"] == "dropped" for e in phases["i"]))


class TraceCase(harness.PageCase):
    """Loads every trace of `self.folder` with the viewer."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = viewers.Server(viewers=VIEWERS, traces=cls.folder)
        cls.addClassCleanup(cls.server.close)
        cls.make()
        cls.traces = {path.name: read(path) for path in sorted(cls.folder.glob("*.json"))}

    def each(self, check):
        self.assertTrue(self.traces)
        for name, trace in self.traces.items():
            with self.subTest(name):
                check(name, trace)

    def test_perfetto_reads_all_of_it_to_the_nanosecond(self):
        perfetto = viewers.Perfetto(self.browser, self.server)

        def check(name, trace):
            perfetto.load(name)
            self.assertEqual(perfetto.query(
                "select name, value from stats "
                "where severity in ('error', 'data_loss') and value > 0"
            ), [])
            slices = perfetto.query(
                "select pid, tid, slice.name, ts, dur, extract_arg(slice.arg_set_id, 'args.frame')"
                " from slice join thread_track on track_id = thread_track.id"
                " join thread using (utid) join process using (upid)")
            self.assertEqual(sorted(map(tuple, slices)), sorted(trace.slices + trace.marks))
            self.assert_perfetto_names(perfetto, trace)
            arrows = perfetto.query(
                "select a.tid, b.tid from flow join slice x on x.id = slice_out"
                " join slice y on y.id = slice_in join thread_track t on t.id = x.track_id"
                " join thread_track u on u.id = y.track_id join thread a on a.utid = t.utid"
                " join thread b on b.utid = u.utid")
            self.assertEqual(sorted(map(tuple, arrows)), trace.arrows)
            waits = perfetto.query("select ts from slice where name = 'queue wait' order by ts")
            self.assertEqual([ts for ts, in waits], trace.waits)
            dropped = perfetto.query("select count(*) from slice where name = 'dropped'")
            self.assertEqual(dropped, [[trace.dropped]])

        self.each(check)

    def assert_perfetto_names(self, perfetto, trace):
        # Perfetto gives each process a main thread beside these, which it does not show.
        threads = {(pid, tid) for pid, tid, *_ in trace.slices}
        found = perfetto.query("select pid, tid, process.name, thread.name from thread"
                               " join process using (upid)")
        found = [row for row in found if tuple(row[:2]) in threads]
        self.assertEqual(len(found), len(threads))
        processes = {pid: name for (what, pid, _), name in trace.names.items()
                     if what == "process_name"}
        for pid, tid, process, thread in found:
            self.assertEqual(process, processes[pid])
            self.assertEqual(thread, trace.names["thread_name", pid, tid])

    def test_perfetto_nests_layers_and_nothing_else_on_the_device(self):
        perfetto = viewers.Perfetto(self.browser, self.server)

        def check(name, _):
            perfetto.load(name)
            depths = perfetto.query("select distinct category, depth from slice"
                                    " where dur > 0"
                                    " and category in ('part', 'copy', 'launch', 'frame')")
            self.assertLessEqual({tuple(row) for row in depths},
                                 {("part", 1), ("copy", 0), ("launch", 0), ("frame", 0)})

        self.each(check)


class runs(TraceCase):
    """What the program writes, under each timing method, strategy and kind of graphs."""

    @classmethod
    def make(cls):
        overloaded = cls.folder / "overloaded.yaml"
        overloaded.write_text(OVERLOADED, encoding="utf-8")
        two_models, fan_out = (pathlib.Path(SOURCE_DIR) / "pipelines" / f"{name}.yaml"
                               for name in ("two_models", "fan_out"))
        small = [two_models, "--frames", 4, "--set", "side=32"]
        for name, arguments in {
                "overlap": [fan_out, "--strategy", "overlap", "--in-flight", 3, "--frames", 20],
                "layers": [*small, "--strategy", "overlap", "--in-flight", 2, "--timing", "layers"],
                "frame_graph": [*small, "--graphs", "frame", "--in-flight", 2],
                "serial": [*small, "--strategy", "serial", "--timing", "sync"],
                "launches": [*small, "--timing", "host"],
                "frames": [*small, "--timing", "none"],
                "overloaded": [overloaded]}.items():
            subprocess.run([GRAPHLINE, "run", *map(str, arguments), "--device", "host", "--trace",
                            cls.folder / f"{name}.json"], check=True, timeout=120,
                           stdout=subprocess.DEVNULL)

    def test_stages_follow_what_they_wait_for(self):
        for name in ("overlap", "layers", "frame_graph"):
            self.assertTrue(self.traces[f"{name}.json"].arrows, name)


if __name__ == "__main__":
    if not (VIEWERS / "version").exists():
        REASON = f"there is no trace viewer in {VIEWERS}: tools/setup/trace_viewers brings it"
        if os.environ.get("CI"):
            sys.exit(REASON)
        print(f"skipped: {REASON}")
        sys.exit(harness.SKIPPED)
    # Shared by the tests, but none of them.
    del TraceCase
    harness.main(["-v", *sys.argv[3:]])
