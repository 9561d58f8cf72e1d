"""The JSON Schemas of pipelines and experiments say what the reader says: they accept the files
that come with the project, and have the same keys.

usage: schema_test.py GRAPHLINE SOURCE_DIR MAKE_IMAGES PLUGINS_DIR
"""

import json
import pathlib
import re
import sys
import unittest

import jsonschema
import yaml

from cli_test import Case, SOURCE, graphline

PLUGINS = pathlib.Path(sys.argv[4])  # those of tests/stage/plugins


class core(yaml.SafeLoader):
    """YAML 1.2, like editors and the reader: 'off' is a word."""
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
    """Errors of a file against a schema."""
    document = yaml.load(text, core)
    return [f"{list(e.absolute_path)}: {e.message}"
            for e in jsonschema.Draft7Validator(schema).iter_errors(document)]


def shipped():
    """Path and schema of each shipped file."""
    for path in sorted((SOURCE / "pipelines").rglob("*.yaml")):
        yield path, EXPERIMENT if path.parent.name == "experiments" else PIPELINE
    for path in sorted((SOURCE / "examples").rglob("*.yaml")):
        yield path, PIPELINE


class schema_command(Case):
    def test_prints_a_schema_that_is_one(self):
        for schema in (PIPELINE, EXPERIMENT):
            jsonschema.Draft7Validator.check_schema(schema)
            self.assertEqual(schema["$schema"], "http://json-schema.org/draft-07/schema#")

    def test_describes_the_kinds_of_plugins_that_are_named(self):
        schema = schema_of("pipeline", "--plugin", PLUGINS / "good.so")
        self.assertIn("kind_test.add", schema["definitions"])
        text = "pipeline: p\nplugins: good.so\nstages:\n  - {name: s, kind: test.add, amuont: 1}\n"
        self.assertEqual(refused(text, PIPELINE), [])  # may be what the plug-in takes
        self.assertIn("'amuont' was unexpected", "\n".join(refused(text, schema)))

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

    def test_refuses_a_misspelt_key_or_word_where_it_stands(self):
        text = ("pipeline: p\ninputs: {x: {shape: [1, 8]}}\nstages:\n  - {name: net, "
                "kind: network, reads: x, layers: [linear: {out_features: 2}]}\n"
                "run: {strategy: async}\n")
        self.assertEqual(refused(text, PIPELINE), [])
        for word in ("inputs", "shape", "reads", "linear", "out_features", "strategy", "async"):
            self.assertNotEqual(refused(text.replace(word, word + "x", 1), PIPELINE), [], word)

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
            # The reader does not check the keys of their kinds.
            self.assertEqual([f for f in found if not f.startswith("['stages'")], [], path)


# A file with one mapping to fill in, by the name of its definition in the schema.
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
        """Messages of the reader on a mapping with these keys."""
        there = {line.split(":")[0] for line in template.splitlines()}
        top = "\n%s\n" in template
        written = ("\n" if top else ", ").join(f"{k}: 1" for k in keys if k not in there or not top)
        return graphline(command, self.pipeline(template % written)).stderr

    def expect_keys(self, template, keys, command, others=()):
        said = self.asked(template, ["qqqqqqqq"], command)
        known = re.search(r"unknown key 'qqqqqqqq' in [^\n]*?(?: \(known: ([^)]*)\))?\n", said)
        self.assertTrue(known, said)
        self.assertEqual(set(filter(None, (known[1] or "").split(", "))), {*keys, *others})
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
                    self.expect_keys(template, own, "check", stage_keys)
                    kinds += 1
                elif name.startswith("layer_"):
                    template = ("pipeline: p\ninputs: {x: {shape: [1, 3, 8, 8]}}\nstages: [{name: "
                                "s, kind: network, reads: x, "
                                f"layers: [{{{name[6:]}: {{%s}}}}]}}]\n")
                    self.expect_keys(template, definition["properties"], "check")
                    layers += 1
        self.assertGreater(kinds, 8)
        self.assertGreater(layers, 15)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
