"""ONNX models as stages.

usage: onnx_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES
"""

import json
import re
import struct
import sys
import unittest

from cli_test import Case, floats, graphline

PIPELINE = """pipeline: small
inputs:
  image: {shape: [2, 1, 2, 3], fill: normal}
stages:
  - {name: model, kind: onnx, model: model.onnx, reads: image, writes: [scores, sum]}
run: {frames: 3, warmup: 1}
"""


def number(field, value):
    """A protobuf field with an integer of up to seven bits."""
    return bytes([field << 3, value])


def text(field, value):
    value = value.encode() if isinstance(value, str) else value
    length = len(value)
    size = bytes([length]) if length < 128 else bytes([length & 127 | 128, length >> 7])
    return bytes([field << 3 | 2]) + size + value


def tensor(name, extents, values):
    return (b"".join(number(1, extent) for extent in extents) + number(2, 1) + text(8, name)
            + text(9, struct.pack(f"<{len(values)}f", *values)))


def value(name, extents):
    shape = b"".join(text(1, number(1, extent) if isinstance(extent, int) else text(2, extent))
                     for extent in extents)
    return text(1, name) + text(2, text(1, number(1, 1) + text(2, shape)))


def node(operator, inputs, outputs, name):
    return (b"".join(text(1, i) for i in inputs) + b"".join(text(2, o) for o in outputs)
            + text(3, name) + text(4, operator))


def model(last="Add", extents=("batch", 1, 2, 3)):
    """A 1x1 convolution with weight 2, relu, and an operator `last` with 1."""
    graph = (text(1, node("Conv", ["x", "w"], ["c"], "conv1"))
             + text(1, node("Relu", ["c"], ["scores"], "relu1"))
             + text(1, node(last, ["scores", "one"], ["sum"], "last1"))
             + text(2, "small")
             + text(5, tensor("w", [1, 1, 1, 1], [2.0])) + text(5, tensor("one", [1], [1.0]))
             + text(11, value("x", extents))
             + text(12, value("scores", ["batch", 1, 2, 3]))
             + text(12, value("sum", ["batch", 1, 2, 3])))
    return number(1, 8) + text(8, number(2, 17)) + text(7, graph)


# ONNX's number and struct's letter of each type.
INTEGERS = {"int32": (6, "i"), "int64": (7, "q"), "uint8": (2, "B")}


def model_of_integers(dtype, operator):
    """An operator on integers and 1, and the same in float32."""
    number_of_type, letter = INTEGERS[dtype]
    one = (number(1, 1) + number(2, number_of_type) + text(8, "one")
           + text(9, struct.pack(letter, 1)))
    to_float = text(5, text(1, "to") + number(3, 1) + bytes([20 << 3 & 127 | 128, 20 >> 4, 2]))
    shape = text(1, number(1, 3))
    whole = text(2, text(1, number(1, number_of_type) + text(2, shape)))
    read = text(1, "x") + whole
    graph = (text(1, node(operator, ["x", "one"], ["one_or_not"], "first"))
             + text(1, node("Cast", ["one_or_not"], ["scores"], "second") + to_float)
             + text(2, "integers") + text(5, one) + text(11, read) + text(12, value("scores", [3]))
             + text(12, text(1, "one_or_not") + whole))
    return number(1, 8) + text(8, number(2, 17)) + text(7, graph)


class model_alone(Case):
    """A model in place of a pipeline."""

    def model(self, *extents):
        path = self.folder / "it's a.model.onnx"
        path.write_bytes(model(extents=extents or ("batch", 1, 2, 3)))
        return path

    def test_it_runs_like_a_pipeline_with_one_stage(self):
        result = self.result_of("run", self.model(), "--set", "batch=3")
        self.assertEqual(result["pipeline"], "it_s_a.model")
        self.assertEqual([one["shape"] for one in result["outputs"]], [[3, 1, 2, 3]] * 2)
        result = self.result_of("run", self.model())
        self.assertEqual(result["outputs"][0]["shape"], [1, 1, 2, 3])
        self.expect(graphline("inspect", self.model()), 0, "conv1", stream="stdout")

    def test_outputs_whose_names_are_not_valid_are_renamed(self):
        path = self.model()
        path.write_bytes(path.read_bytes().replace(b"sum", b"a:b"))
        self.assertEqual([one["tensor"] for one in self.result_of("run", path)["outputs"]],
                         ["it_s_a.model.scores", "it_s_a.model.a_b"])

    def test_dimensions_without_a_value_are_named(self):
        path = self.model("batch", 1, "high", 3)
        done = graphline("run", path)
        self.expect(done, 2, "leaves dimension 2 of 'x' open; give a value: --set high=VALUE")
        self.expect(graphline("run", path, "--set", "high=2"), 0)
        self.expect(graphline("run", path, "--set", "high=2", "--set", "hihg=3"), 2, "'hihg'")

    def test_inputs_with_a_value_are_constants(self):
        graph = (text(1, node("Mul", ["x", "by"], ["scaled"], "mul"))
                 + text(1, node("Expand", ["scaled", "shape"], ["y"], "expand"))
                 + text(2, "scaled") + text(11, value("x", [3])) + text(11, value("by", []))
                 + text(11, text(1, "shape")
                        + text(2, text(1, number(1, 7) + text(2, text(1, number(1, 2))))))
                 + text(12, value("y", ["rows", 3])))
        path = self.folder / "scaled.onnx"
        path.write_bytes(number(1, 8) + text(8, number(2, 17)) + text(7, graph))
        self.expect(graphline("run", path), 2, "needs a constant as its input 1", "fixed_inputs")
        tensors = self.folder / "tensors"
        self.expect(graphline("run", path, "--set", "shape=[2, 1]", "--set", "by=0.5",
                              "--save-tensors", tensors), 0)
        x = floats(tensors / "input.x.npy")
        self.assertEqual(floats(tensors / "output.scaled.npy"), [one / 2 for one in x] * 2)
        self.expect(graphline("run", path, "--set", "shape=[2, 1, 1]"), 2,
                    "'fixed_inputs.shape' has 3 numbers, but the input takes [2]")
        self.expect(graphline("run", path, "--set", "shape=[]"), 2, "has 0 numbers")
        self.expect(graphline("run", path, "--set", "shape=0.5"), 2, "fixed_inputs.shape", "0.5")
        self.expect(graphline("run", path, "--set", "shpae=2"), 2, "shpae")

    def test_a_constant_input_has_the_numbers_of_its_type(self):
        def fixed(kind, extents, numbers):
            shape = b"".join(text(1, number(1, one)) for one in extents)
            read = text(1, "k") + text(2, text(1, number(1, kind) + text(2, shape)))
            graph = (text(1, node("Cast", ["k"], ["f"], "cast") + text(5, text(1, "to")
                          + number(3, 1) + bytes([20 << 3 & 127 | 128, 20 >> 4, 2])))
                     + text(1, node("Add", ["x", "f"], ["y"], "add")) + text(2, "typed")
                     + text(11, value("x", [1])) + text(11, read) + text(12, value("y", [1])))
            path = self.folder / "typed.onnx"
            path.write_bytes(number(1, 8) + text(8, number(2, 17)) + text(7, graph))
            return graphline("run", path, "--set", f"k={numbers}")

        uint8, boolean = 2, 9
        self.expect(fixed(uint8, [1], 255), 0)
        self.expect(fixed(uint8, [1], 256), 2, "'fixed_inputs.k' has 256, which is not uint8")
        self.expect(fixed(boolean, [1], 2), 2, "'fixed_inputs.k' has 2, which is not bool")
        self.expect(fixed(uint8, [127] * 4, 1), 2, "too many for a constant")

    def test_its_pipeline_is_written_to_go_on_with(self):
        folder = self.folder / "elsewhere"
        folder.mkdir()
        path = folder / "made.yaml"
        self.expect(graphline("check", self.model(), "--set", "batch=2", "--pipeline", path), 0)
        self.assertIn("params: {batch: 2}\n", path.read_text())
        result = self.result_of("run", path)
        self.assertEqual(result["outputs"][0]["shape"], [2, 1, 2, 3])
        self.expect(graphline("check", path, "--pipeline", "-"), 2, "is not an ONNX model")
        self.expect(graphline("search", self.model()), 2, "graphline check ", "--pipeline FILE")


class Onnx(Case):
    def setUp(self):
        super().setUp()
        self.pipeline = self.folder / "small.yaml"
        self.pipeline.write_text(PIPELINE)
        (self.folder / "model.onnx").write_bytes(model())

    def test_a_model_runs_as_a_stage_and_gives_its_outputs(self):
        tensors = self.folder / "tensors"
        done = graphline("run", self.pipeline, "--device", "host", "--save-tensors", tensors)
        self.assertEqual(done.returncode, 0, done.stderr)
        image = floats(tensors / "input.image.npy")
        scores = floats(tensors / "output.scores.npy")
        self.assertEqual(len(image), 12)
        self.assertEqual(scores, [max(2 * x, 0) for x in image])
        for given, score in zip(floats(tensors / "output.sum.npy"), scores, strict=True):
            self.assertAlmostEqual(given, score + 1, places=5)

    def test_values_inside_the_model_are_written_on_request(self):
        wanted = PIPELINE.replace("reads: image", "reads: image, outputs: [c, scores]")
        self.pipeline.write_text(wanted.replace("[scores, sum]", "[c, scores]"))
        tensors = self.folder / "tensors"
        self.expect(graphline("run", self.pipeline, "--save-tensors", tensors), 0)
        image = floats(tensors / "input.image.npy")
        self.assertEqual(floats(tensors / "output.c.npy"), [2 * x for x in image])
        self.assertEqual(floats(tensors / "output.scores.npy"), [max(2 * x, 0) for x in image])
        self.assertFalse((tensors / "output.sum.npy").exists())
        self.pipeline.write_text(wanted.replace("[c, scores]", "scoers", 1))
        self.refused("computes no value 'scoers' (did you mean 'scores'?)")
        self.pipeline.write_text(wanted.replace("[c, scores]", "[c, c]", 1))
        self.refused("'outputs' names 'c' twice")

    def test_nodes_that_no_output_needs_may_be_unsupported(self):
        (self.folder / "model.onnx").write_bytes(model("Frobnicate"))
        self.pipeline.write_text(PIPELINE.replace("reads: image", "reads: image, outputs: scores")
                                 .replace("[scores, sum]", "scores"))
        tensors = self.folder / "tensors"
        self.expect(graphline("run", self.pipeline, "--save-tensors", tensors), 0)
        image = floats(tensors / "input.image.npy")
        self.assertEqual(floats(tensors / "output.scores.npy"), [max(2 * x, 0) for x in image])

    def test_nodes_are_named_where_layers_are(self):
        done = graphline("inspect", self.pipeline, "--json", "-")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("conv1", done.stdout)
        self.assertIn("last1", done.stdout)
        done = graphline("run", self.pipeline, "--device", "host", "--timing", "layers")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("conv1+relu1", done.stdout)

    def refused(self, *wanted):
        done = graphline("check", self.pipeline, "--device", "host")
        self.assertEqual(done.returncode, 2, done.stdout)
        for words in wanted:
            self.assertIn(words, done.stderr)

    def test_a_node_that_is_not_supported_is_named(self):
        (self.folder / "model.onnx").write_bytes(model("Frobnicate"))
        self.refused("small.yaml:5:38: error: node 'last1' (Frobnicate) is not supported")

    def test_a_model_computes_with_integers_and_gives_them(self):
        for dtype in INTEGERS:
            with self.subTest(dtype):
                self.pipeline.write_text(
                    PIPELINE.replace("[2, 1, 2, 3]", f"[3], dtype: {dtype}")
                    .replace("normal", "ones").replace("[scores, sum]", "[scores, whole]"))
                for operator, result, letter in (
                        ("Equal", 1, "B"), ("Add", 2, INTEGERS[dtype][1])):
                    (self.folder / "model.onnx").write_bytes(model_of_integers(dtype, operator))
                    done = graphline("run", self.pipeline, "--device", "host",
                                     "--save-tensors", self.folder)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(floats(self.folder / "output.scores.npy"), 3 * [result])
                    whole = (self.folder / "output.whole.npy").read_bytes()
                    size = struct.calcsize("<3" + letter)
                    self.assertEqual(struct.unpack("<3" + letter, whole[-size:]), 3 * (result,))
                (self.folder / "model.onnx").write_bytes(model_of_integers(dtype, "PRelu"))
                self.refused(f"node 'first' (PRelu) computes with {dtype}, which is not supported")
        self.pipeline.write_text(self.pipeline.read_text().replace("dtype: uint8, ", ""))
        self.refused("input 'x' of model", "is uint8 but reads float32 [3]")

    def test_an_index_beyond_a_table_ends_the_run(self):
        """The index is that of the greatest of eight random numbers, and the table has six rows."""
        index = number(1, 7) + text(2, text(1, number(1, 1)))  # int64 [1]
        graph = (text(1, node("Gather", ["table", "index"], ["row"], "look_up"))
                 + text(5, tensor("table", [6, 2], list(range(12))))
                 + text(11, text(1, "index") + text(2, text(1, index)))
                 + text(12, value("row", [1, 2])))
        (self.folder / "model.onnx").write_bytes(
            number(1, 8) + text(8, number(2, 17)) + text(7, graph))
        self.pipeline.write_text(
            "pipeline: words\nstages:\n"
            "  - {name: draw, kind: cpu.random_normal, shape: [8]}\n"
            "  - {name: pick, kind: cpu.top_k, reads: draw, k: 1, writes: {indices: index}}\n"
            "  - {name: model, kind: onnx, model: model.onnx, reads: index}\n")
        given = {}
        for way in ["serial", "async --in-flight 2", "overlap --in-flight 3",
                    "async --in-flight 3 --graphs frame"]:
            with self.subTest(way):
                run = ["run", self.pipeline, "--device", "host", "--warmup", "0", "--json",
                       self.folder / "run.json", "--strategy", *way.split()]
                done = graphline(*run, "--frames", "60")
                self.assertEqual(done.returncode, 1, done.stdout)
                said = re.search(r"stage 'model' \(onnx\), frame (\d+): 'look_up' reads row (\d) "
                                 r"of a table of 6 rows", done.stderr)
                self.assertIsNotNone(said, done.stderr)
                frame, row = map(int, said.groups())
                self.assertIn(row, [6, 7])
                given[way] = frame, row
                frames = json.loads((self.folder / "run.json").read_text())["record"]["frames"]
                self.assertEqual(len(frames["begin"]), frame)
                self.assertEqual(graphline(*run, "--frames", frame).returncode, 0)
        self.assertEqual(len(set(given.values())), 1, given)
        self.assertGreater(next(iter(given.values()))[0], 0)

    def test_what_is_no_model_is_refused(self):
        (self.folder / "model.onnx").write_bytes(model()[:40])
        self.refused("model.onnx")
        (self.folder / "model.onnx").unlink()
        self.refused("model.onnx")

    def test_tensors_must_fit_the_model(self):
        self.pipeline.write_text(PIPELINE.replace("[2, 1, 2, 3]", "[2, 1, 2, 4]"))
        self.refused("input 'x' of model", "has the shape [batch, 1, 2, 3] but reads [2, 1, 2, 4]")
        self.pipeline.write_text(PIPELINE.replace("writes: [scores, sum]", "writes: scores"))
        self.refused("names 1 tensor to write, but kind 'onnx' writes 2: scores, sum")
        self.pipeline.write_text(PIPELINE.replace("reads: image", "reads: [image, image]"))
        self.refused("reads 2 tensors, but kind 'onnx' reads 1: x")

    def test_dimensions_of_one_name_are_told_of_where_they_differ(self):
        graph = (text(1, node("Add", ["x", "y"], ["sum"], "add"))
                 + text(11, value("x", ["batch", 3])) + text(11, value("y", ["batch", 3]))
                 + text(12, value("sum", ["batch", 3])))
        (self.folder / "model.onnx").write_bytes(
            number(1, 8) + text(8, number(2, 17)) + text(7, graph))
        self.pipeline.write_text(
            "pipeline: two\ninputs: {a: {shape: [2, 3]}, b: {shape: [1, 3]}}\nstages:\n"
            "  - {name: net, kind: onnx, model: model.onnx, reads: [a, b]}\n")
        done = graphline("check", self.pipeline, "--device", "host")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("warning: the model's dimension 'batch' is 2 in input 'x' and 1 in input 'y'",
                      done.stderr)

    def test_inputs_and_outputs_have_the_models_names(self):
        self.pipeline.write_text(PIPELINE.replace("reads: image", "reads: {x: image}")
                                 .replace("writes: [scores, sum]", "writes: {sum: total}"))
        done = graphline("check", self.pipeline, "--device", "host")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"total +\[2, 1, 2, 3\]")
        self.assertRegex(done.stdout, r"model\.scores +\[2, 1, 2, 3\]")
        self.pipeline.write_text(PIPELINE.replace("reads: image", "reads: {y: image}"))
        self.refused("small.yaml:5:58: error: stage 'model' has no input 'y' (known: x)")

    def test_a_model_that_a_script_downloads_is_missed_with_the_script_named(self):
        self.pipeline.write_text(PIPELINE.replace("model.onnx", "build/models/small.onnx"))
        self.refused("does not exist; tools/setup/models downloads it")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "-v"])
