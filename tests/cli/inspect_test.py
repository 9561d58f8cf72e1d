"""graphline inspect: FLOPs, bytes and parameters.

usage: inspect_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES PLUGINS_DIR
"""

import csv
import io
import json
import pathlib
import sys
import unittest

from cli_test import PIPELINES, Case, graphline

PLUGINS = pathlib.Path(sys.argv[4])  # those of tests/stage/plugins

# Known FLOPs: a convolution, and a product with broadcasting.
KNOWN = """pipeline: known
params:
  bias: false
  side: {cuda: 256, host: 8}
inputs:
  x: {shape: [1, 512, $side, $side]}
  a: {shape: [600, 200, 8, 1, 64]}
  b: {shape: [600, 1, 8, 64, 1]}
stages:
  - name: conv
    kind: network
    reads: x
    writes: y
    layers:
      - conv2d: {out_channels: 512, kernel: 5, padding: 2, bias: $bias, name: known}
      - flatten
  - {name: product, kind: matmul, reads: [a, b], writes: c}
"""

# PyTorch's parameters, running means and variances of norms, and GMACs with the published digits,
# from torchvision's documentation.
PUBLISHED = {
    "mobilenet_v2": (3_504_872, 34_112, "0.30"),
    "resnet50": (25_557_032, 53_120, "4.09"),
    "vgg16": (138_357_544, 0, "15.47"),
}


class inspect(Case):
    def figures(self, *words):
        return self.result_of("inspect", *words)

    def stage(self, result, name):
        return next(stage for stage in result["stages"] if stage["name"] == name)

    def test_known_figures_are_counted_exactly_and_no_device_need_be_there(self):
        result = self.figures(self.pipeline(KNOWN), "--device", "cuda:7")
        conv = self.stage(result, "conv")
        self.assertEqual(conv["flops"], 858_993_459_200)
        self.assertEqual(conv["macs"], 429_496_729_600)
        self.assertEqual([layer["name"] for layer in conv["layers"]], ["known", "1.flatten"])
        self.assertEqual(conv["layers"][0]["output"],
                         "float32 [1, 512, 256, 256]")
        product = self.stage(result, "product")
        self.assertEqual(product["output"], {"c": "float32 [600, 200, 8, 1, 1]"})
        self.assertEqual(product["flops"], 122_880_000)
        self.assertEqual(product["bytes_read"] + product["bytes_written"], 250_828_800)
        self.assertAlmostEqual(product["intensity"], 122_880_000 / 250_828_800)

    def test_networks_that_people_know_have_the_figures_they_know(self):
        for name, (parameters, stored, gmacs) in PUBLISHED.items():
            result = self.figures(PIPELINES / f"{name}.yaml", "--device", "host")
            self.assertEqual(result["total"]["parameters"], parameters + stored, name)
            self.assertEqual(f"{result['total']['macs'] / 1e9:.2f}", gmacs, name)
            # A batch of 32 has the same weights and 32 times the work.
            batch = self.figures(PIPELINES / f"{name}.yaml", "--device", "cuda")
            self.assertEqual(batch["total"]["parameters"], parameters + stored, name)
            self.assertEqual(batch["total"]["macs"], 32 * result["total"]["macs"], name)

    def test_rows_of_csv_are_stages_layers_and_their_sum(self):
        path, saved = self.pipeline(), self.folder / "costs.csv"
        self.expect(graphline("inspect", path, "--csv", saved), 0)
        rows = list(csv.DictReader(io.StringIO(saved.read_text())))
        layers = [row for row in rows if row["level"] == "layer"]
        self.assertEqual([row["layer"] for row in layers], ["0.conv2d", "1.relu"])
        net = next(row for row in rows if row["stage"] == "net" and row["level"] == "stage")
        for figure in ("parameters", "macs", "flops", "bytes_read", "bytes_written"):
            self.assertEqual(int(net[figure]), sum(int(row[figure]) for row in layers))
        self.assertEqual(rows[-1]["level"], "total")
        self.assertEqual(rows[-1]["macs"], net["macs"])

    def test_it_is_a_page_and_a_table_for_a_pull_request_too(self):
        path, page = self.pipeline(KNOWN), self.folder / "costs.html"
        done = graphline("inspect", path, "--html", page, "--markdown", "-")
        self.expect(done, 0, "## known", "| all stages |", stream="stdout")
        self.assertIn('"kind":"inspect"', page.read_text())
        self.assertIn('"all stages"', page.read_text())

    def test_what_is_not_known_is_said_and_left_out_of_the_sum(self):
        done = graphline("inspect", self.pipeline(), "--json", "-")
        self.expect(done, 0, "leaves out the MACs and FLOPs of 'best': not known")
        result = json.loads(done.stdout)
        found, = result["findings"]
        self.assertEqual((found["key"], found["subjects"]), ("flops_not_known", ["best"]))
        self.assertIsNone(self.stage(result, "best")["flops"])
        self.assertEqual(self.stage(result, "pause")["flops"], 0)
        plugged = self.pipeline(f"""pipeline: with_plugin
plugins: [{PLUGINS / "good.so"}]
inputs:
  x: {{shape: [4]}}
stages:
  - {{name: more, kind: test.add, reads: x}}
""")
        result = self.figures(plugged)
        without = {found["key"]: found["subjects"] for found in result["findings"]}
        self.assertIn("more", without["bytes_not_known"])
        self.assertIsNone(self.stage(result, "more")["bytes_read"])

    def test_a_saved_one_is_shown_again_and_compared(self):
        path, saved, smaller = self.pipeline(KNOWN), self.folder / "a.json", self.folder / "b.json"
        shown = graphline("inspect", path, "--json", saved)
        self.expect(shown, 0)
        self.assertEqual(graphline("report", saved).stdout, shown.stdout)
        other = self.pipeline(KNOWN.replace("kernel: 5, padding: 2", "kernel: 3, padding: 1"))
        self.expect(graphline("inspect", other, "--json", smaller), 0)
        self.expect(graphline("diff", saved, smaller), 0, "known", "-64.0", stream="stdout")

    def test_every_shipped_pipeline_can_be_inspected_for_either_device(self):
        for path in sorted(PIPELINES.glob("*.yaml")):
            if "tools/setup/models" in graphline("check", path, "--device", "host").stderr:
                continue  # its models were not downloaded
            for device in ("host", "cuda"):
                result = self.figures(path, "--device", device)
                self.assertEqual(result["schema"], "graphline.inspect/1")
                self.assertGreater(result["total"]["bytes_written"], 0, path)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
