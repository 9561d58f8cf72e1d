"""The JSON Schemas of pipelines and experiments say what the reader says: they accept the files
that come with the project, and refuse the same keys, words and numbers.

usage: schema_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES PLUGINS_DIR
"""

import json
import pathlib
import re
import shutil
import sys
import unittest

import jsonschema
import yaml

from cli_test import Case, SOURCE, graphline

PLUGINS = pathlib.Path(sys.argv[4])  # those of tests/stage/plugins


class core(yaml.SafeLoader):
    """YAML 1.2, as editors and the reader have it: 'off' is a word."""
    yaml_implicit_resolvers = {}


for tag, pattern, first in (("bool", r"true|false", "tf"), ("null", r"~|null|", ["~", "n", ""]),
                            ("int", r"-?(0|[1-9][0-9]*)", "-0123456789"),
                            ("float", r"-?([0-9]+\.?[0-9]*|\.[0-9]+)(e[-+]?[0-9]+)?",
                             "-.0123456789"), ("merge", "<<", "<")):
    core.add_implicit_resolver(f"tag:yaml.org,2002:{tag}", re.compile(f"^({pattern})$"), first)


def schema_of(*words):
    done = graphline("schema", *words)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


PIPELINE, EXPERIMENT = schema_of("pipeline"), schema_of("experiment")


def refused(text, schema):
    """What the schema has against a file, as texts."""
    document = yaml.load(text, core)
    return [f"{list(e.absolute_path)}: {e.message}"
            for e in jsonschema.Draft7Validator(schema).iter_errors(document)]


def shipped():
    """Path and schema of each file that comes with the project."""
    for path in sorted((SOURCE / "pipelines").rglob("*.yaml")):
        yield path, EXPERIMENT if path.parent.name == "experiments" else PIPELINE
    for path in sorted((SOURCE / "examples").rglob("*.yaml")):
        yield path, PIPELINE


class schema_command(Case):
    def test_prints_a_schema_that_is_one(self):
        for schema in (PIPELINE, EXPERIMENT):
            jsonschema.Draft7Validator.check_schema(schema)
            self.assertEqual(schema["$schema"], "http://json-schema.org/draft-07/schema#")

    def test_wrong_command_lines_are_refused(self):
        self.expect(graphline("schema"), 2, "error: FILE is required\n")
        self.expect(graphline("schema", "pipelines"), 2,
                    "error: there is no schema of 'pipelines' (did you mean 'pipeline'?)\n")
        self.expect(graphline("schema", "pipeline", "experiment"), 2, "was not expected")
        self.expect(graphline("schema", "pipeline", "--plugin", self.folder / "gone.so"), 2,
                    "gone.so' is not there")
        self.expect(graphline("schema", "--help"), 0, "pipeline|experiment", stream="stdout")

    def test_describes_the_kinds_of_plugins_that_are_named(self):
        schema = schema_of("pipeline", "--plugin", PLUGINS / "good.so")
        self.assertIn("kind_test.add", schema["definitions"])
        text = "pipeline: p\nplugins: good.so\nstages:\n  - {name: s, kind: test.add, amuont: 1}\n"
        self.assertEqual(refused(text, PIPELINE), [])  # may be what the plug-in takes
        self.assertIn("'amuont' was unexpected", "\n".join(refused(text, schema)))
        self.assertNotEqual(refused(text.replace("plugins: good.so\n", ""), PIPELINE), [])

    def test_every_key_says_what_it_is(self):
        def look(schema, where):
            for key, value in schema.get("properties", {}).items():
                if value is True or value is False or "$ref" in value or "title" in value:
                    continue
                self.assertRegex(value.get("description", ""), r"^\S.*\.$", f"{where} {key}")
                self.assertTrue(value.get("$comment"), f"{where} {key}")

        for schema in (PIPELINE, EXPERIMENT):
            look(schema, "top")
            for name, definition in schema["definitions"].items():
                if name != "mapping_of_values" and name != "mapping_to_lists_of_values" \
                        and name != "value_of_a_parameter" and name != "configuration":
                    look(definition, name)

    def test_every_default_is_a_value_that_the_schema_takes(self):
        for schema in (PIPELINE, EXPERIMENT):
            mappings = [schema, *schema["definitions"].values()]
            defaults = [value for m in mappings for value in m.get("properties", {}).values()
                        if isinstance(value, dict) and "default" in value]
            self.assertGreaterEqual(len(defaults), 5)
            for value in defaults:
                jsonschema.validate(value["default"], {**value, "definitions":
                                                       schema["definitions"]})


class shipped_files(Case):
    def test_are_accepted(self):
        files = list(shipped())
        self.assertGreater(len(files), 20)
        for path, schema in files:
            self.assertEqual(refused(path.read_text(), schema), [], path)

    def test_good_files_of_the_readers_tests_are_accepted(self):
        for path in sorted((SOURCE / "tests/spec/good").glob("*.yaml")):
            if path.name == "plugins.yaml":
                continue
            found = refused(path.read_text(), PIPELINE)
            # Their stages are for the reader, which does not look at what their kinds take.
            self.assertEqual([f for f in found if not f.startswith("['stages'")], [], path)

    def test_are_refused_by_both_with_a_misspelt_key_or_a_wrong_word(self):
        shutil.copytree(SOURCE / "pipelines", self.folder / "pipelines")
        shutil.copytree(SOURCE / "examples", self.folder / "examples")
        tried = 0
        for path, schema in shipped():
            text = path.read_text()
            copy = self.folder / path.relative_to(SOURCE)
            command = "compare" if schema is EXPERIMENT else "check"
            for what, mutant, word in mutants(text, schema):
                if "plugins:" in text and " kind " in what:
                    continue  # the schema lets a file that names plug-ins use any kind
                self.assertNotEqual(refused(mutant, schema), [], f"{path}: {what}")
                copy.write_text(mutant)
                missing = word in ("namex", "kindx")  # of a stage, which needs it
                self.expect(graphline(command, copy), 2, word[:-1] if missing else word)
                tried += 1
            copy.write_text(text)
        self.assertGreater(tried, 200)


def words_of(schema):
    """The keys whose values are words of a list."""
    def is_word(value):
        return isinstance(value, dict) and ("enum" in value or
                                            any("enum" in v for v in value.get("anyOf", [])))
    return {key for m in [schema, *schema["definitions"].values()]
            for key, value in m.get("properties", {}).items() if is_word(value)}


def mutants(text, schema):
    """The file with one key or one word misspelt: what it was, the text, the wrong word. Of keys
    that stand in the same kind of mapping several times, the first."""
    words = words_of(schema)
    seen = set()

    def misspelt(node, level, wrong):
        if (level, node.value) in seen or node.value.startswith(("x-", "$")):
            return
        seen.add((level, node.value))
        start, end = node.start_mark.index, node.end_mark.index
        yield f"{level} {node.value}", text[:start] + wrong + text[end:], wrong

    def mapping(node, level, closed=True):
        for key, value in node.value:
            if closed:
                yield from misspelt(key, level, key.value + "x")
            values = value.value if isinstance(value, yaml.SequenceNode) else [value]
            if key.value in words and isinstance(values[0], yaml.ScalarNode):
                yield from misspelt(values[0], f"{level} {key.value}", values[0].value + "x")

    def member(node, name):
        return next((value for key, value in node.value if key.value == name), None)

    def items(node, name):
        found = member(node, name)
        return [] if found is None else found.value

    root = yaml.compose(text, core)
    yield from mapping(root, "top")
    if member(root, "run") is not None:
        yield from mapping(member(root, "run"), "run")
    for _, value in items(root, "inputs"):
        yield from mapping(value, "input")
    kinds = PIPELINE["definitions"]
    for stage in items(root, "stages"):
        kind = member(stage, "kind").value
        yield from mapping(stage, f"stage {kind}", closed=f"kind_{kind}" in kinds)
        for layer in items(stage, "layers"):
            if isinstance(layer, yaml.ScalarNode):
                yield from misspelt(layer, "layer", layer.value + "x")
                continue
            (name, parameters), = layer.value
            yield from misspelt(name, "layer", name.value + "x")
            if isinstance(parameters, yaml.MappingNode):
                yield from mapping(parameters, f"layer {name.value}")
    for one in items(root, "together"):
        yield from mapping(one, "member")
        yield from mapping(member(one, "run"), "member run")
    for name in ("vary", "baseline"):
        if isinstance(member(root, name), yaml.MappingNode) and name == "vary":
            yield from mapping(member(root, name), name, closed=False)
    for one in items(root, "configurations"):
        yield from mapping(one, "configuration", closed=False)


# A file with one mapping left to fill in: the schema's definition of it, and the file.
IN_A_PIPELINE = {
    "": "pipeline: p\nstages: [{name: s, kind: cpu.spin}]\n%s\n",
    "input": "pipeline: p\ninputs: {x: {%s}}\nstages: [{name: s, kind: cpu.spin}]\n",
    "mapping_of_settings": "pipeline: p\nstages: [{name: s, kind: cpu.spin}]\nrun: {%s}\n"}
IN_AN_EXPERIMENT = {
    "": "experiment: e\nvary: {timing: [none]}\npipeline: p.yaml\n%s\n",
    "member": "experiment: e\ntogether: [{%s}, {pipeline: p.yaml}]\n",
    "mapping_of_settings":
        "experiment: e\ntogether: [{pipeline: p.yaml, run: {%s}}, {pipeline: p.yaml}]\n"}


class the_reader(Case):
    """Its keys are the schema's."""

    def asked(self, template, keys, command="check"):
        """What the reader says of a mapping with these keys."""
        there = {line.split(":")[0] for line in template.splitlines()}
        top = "\n%s\n" in template
        written = ("\n" if top else ", ").join(f"{k}: 1" for k in keys if k not in there or not top)
        return graphline(command, self.pipeline(template % written)).stderr

    def expect_keys(self, template, keys, command):
        said = self.asked(template, ["qqqqqqqq"], command)
        known = re.search(r"unknown key 'qqqqqqqq' in [^\n]*?(?: \(known: ([^)]*)\))?\n", said)
        self.assertTrue(known, said)
        self.assertEqual(set(filter(None, (known[1] or "").split(", "))), set(keys))
        self.assertNotIn("unknown key", self.asked(template, keys, command))
        said = self.asked(template, [k + "q" for k in keys], command)
        for key in keys:
            self.assertIn(f"unknown key '{key}q'", said)

    def test_takes_the_keys_of_the_schema_and_no_others(self):
        self.pipeline("pipeline: p\nstages: [{name: s, kind: cpu.spin}]\n", "p.yaml")
        for schema, templates, command in ((PIPELINE, IN_A_PIPELINE, "check"),
                                           (EXPERIMENT, IN_AN_EXPERIMENT, "compare")):
            for name, template in templates.items():
                with self.subTest(command=command, mapping=name):
                    mapping = schema["definitions"][name] if name else schema
                    self.expect_keys(template, mapping["properties"], command)

    def test_takes_the_parameters_of_the_schema_for_each_kind_and_layer(self):
        stage_keys = PIPELINE["definitions"]["stage"]["properties"]
        kinds = layers = 0
        for name, definition in PIPELINE["definitions"].items():
            with self.subTest(definition=name):
                if name.startswith("kind_"):
                    template = f"pipeline: p\nstages: [{{name: s, kind: {name[5:]}, %s}}]\n"
                    own = definition["properties"].keys() - stage_keys
                    self.expect_keys(template, own, "check")
                    kinds += 1
                elif name.startswith("layer_"):
                    template = ("pipeline: p\ninputs: {x: {shape: [1, 3, 8, 8]}}\nstages: [{name: "
                                "s, kind: network, reads: x, "
                                f"layers: [{{{name[6:]}: {{%s}}}}]}}]\n")
                    self.expect_keys(template, definition["properties"], "check")
                    layers += 1
        self.assertGreater(kinds, 8)
        self.assertGreater(layers, 15)

    def test_takes_the_values_of_settings_that_the_schema_takes(self):
        self.pipeline("pipeline: p\nstages: [{name: s, kind: cpu.spin}]\n", "p.yaml")
        settings = PIPELINE["definitions"]["mapping_of_settings"]["properties"]
        own = {k: v for k, v in EXPERIMENT["properties"].items()
               if k not in ("experiment", "description", "pipeline", "params", "run", "vary",
                            "baseline", "configurations", "exclude", "together")}
        values = {"0", "1", "-1", "1.5", "20ms", "0.5 s", "20 parsecs", "1%", "abc", "on", "off",
                  "true", "[1]", "{a: 1}", "'1'", "-2ms", "null"}
        for value in (settings | own).values():
            for part in [value, *value.get("anyOf", [])]:
                values |= {str(word) for word in part.get("enum", []) if word not in (True, False)}
                for end in ("minimum", "maximum"):
                    if end in part:
                        values |= {str(part[end]), str(part[end] - 1), str(part[end] + 1)}
        for schema, keys, command, head, indent in (
                (PIPELINE, settings, "check",
                 "pipeline: p\nstages: [{name: s, kind: cpu.spin, duration: 1us}]\nrun:\n", "  "),
                (EXPERIMENT, own, "compare",
                 "experiment: e\npipeline: p.yaml\nvary: {timing: [bad]}\n", "")):
            for value in sorted(values):
                text = head + "".join(f"{indent}{key}: {value}\n" for key in keys)
                said = graphline(command, self.pipeline(text)).stderr
                document = yaml.load(text, core)
                by_schema = {str(e.absolute_path[-1]) for e in
                             jsonschema.Draft7Validator(schema).iter_errors(document)
                             if e.absolute_path and e.absolute_path[0] != "vary"}
                first = head.count("\n") + 1
                lines = {int(n) for n in re.findall(r"small\.yaml:(\d+):\d+: error: '|"
                                                    r"small\.yaml:(\d+):\d+: error: unknown value",
                                                    said) for n in n if n}
                by_reader = {key for n, key in enumerate(keys, first) if n in lines}
                self.assertEqual(by_schema, by_reader, f"{value}\n{said}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
