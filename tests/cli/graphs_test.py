"""Graphs and what is in them, as a user of the graphline program meets them.

usage: graphs_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import sys
import unittest

from cli_test import Case, graphline


class graphs(Case):
    def test_a_frames_graph_refuses_what_the_host_would_do_between_stages(self):
        path = self.pipeline()
        for words in (["--timing", "sync"], ["--timing", "host"], ["--strategy", "serial"]):
            self.expect(graphline("run", path, "--graphs", "frame", *words), 2, "graphs: frame",
                        words[1])

    def test_operations_are_traced_after_the_frames_and_leave_the_outputs_alone(self):
        path, tensors = self.pipeline(), self.folder / "tensors"
        plain = graphline("run", path, "--save-tensors", tensors)
        self.expect(plain, 0)
        saved = {f.name: f.read_bytes() for f in tensors.iterdir()}
        done = graphline("run", path, "--kernels", "--json", "-", "--save-tensors", tensors)
        self.expect(done, 0, "traced in 10 runs of each stage alone (tracing slows it)")
        self.assertEqual({f.name: f.read_bytes() for f in tensors.iterdir()}, saved)
        operations = json.loads(done.stdout)["operations"]
        self.assertIn("net", {operation["stage"] for operation in operations})
        self.assertNotIn("pause", {operation["stage"] for operation in operations})
        for operation in operations:
            self.assertGreaterEqual(operation["calls_per_frame"], 1)
            self.assertGreaterEqual(operation["together"], operation["median"])

    def test_graphs_tell_what_they_cost(self):
        done = graphline("run", self.pipeline(), "--graphs", "frame", "--json", "-")
        self.expect(done, 0, "graphs ")
        graph, = json.loads(done.stdout)["graphs"]
        self.assertEqual(graph["name"], "frame")
        self.assertGreater(graph["capture"], 0)
        off = graphline("run", self.pipeline(), "--graphs", "off", "--json", "-")
        self.assertEqual(json.loads(off.stdout)["graphs"], [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
