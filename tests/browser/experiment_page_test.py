"""The report of an experiment as a browser shows it.

usage: experiment_page_test.py SAMPLE_PAGES [CLASS ...]
"""

import sys

import harness

# What a chart of Chart.js shows: [label, points] of each dataset.
DATASETS = """
const chart = Chart.getChart(document.querySelectorAll(arguments[0])[arguments[1] ?? 0]);
return chart.data.datasets.map(({label, data}) => [label ?? null, data]);
"""

# The titles of its axes, and what the ticks of the first one say.
AXES = """
const {x, y} = Chart.getChart(document.querySelectorAll(arguments[0])[arguments[1] ?? 0]).scales;
return [x.options.title.text, y.options.title.text, x.ticks.map(({label}) => label).join(" ")];
"""

# The tooltip of the last point of the first dataset.
TOOLTIP = """
const chart = Chart.getChart(document.querySelector(arguments[0]));
const index = chart.data.datasets[0].data.length - 1;
chart.tooltip.setActiveElements([{datasetIndex: 0, index}], {x: 0, y: 0});
chart.update();
return [chart.tooltip.title[0], chart.tooltip.body[0].lines[0]];
"""

FRONT = "#front_chart canvas"
COMPARISONS = "#comparisons_chart canvas"
SWEEP = "#sweep_chart canvas"


class experiment(harness.SampleCase):
    kind = "experiment"

    def choose(self, section, value):
        self.browser.run("const control = document.querySelector(`#${arguments[0]} select`);"
                         "control.value = arguments[1];"
                         "control.dispatchEvent(new Event('change'))", section, value)
        self.browser.settle()

    def test_every_page_opens_without_a_complaint_and_can_be_read_by_everybody(self):
        self.check_every_page()

    def test_draws_its_charts(self):
        for name in ("strategies", "drifting", "together", "many", "odd"):
            with self.subTest(name):
                self.show(self.page(name))
                for section in ("answer", "comparisons_chart", "trials_chart", "origin"):
                    self.assertIn(section, self.sections())
                self.assert_drawn()

    def test_without_trials_says_what_happened(self):
        self.show(self.page("empty"))
        self.assertEqual(self.sections(), ["origin"])
        self.assertIn("there is no memory for it", self.browser.text("header"))
        self.assertIn("No trial was measured.", self.browser.text("header"))

    def test_shows_names_as_they_are(self):
        self.show(self.page("odd"))
        self.assertEqual(self.browser.text("h1"), "<b>\"odd\" & 'names'</b></script><!--")
        self.assertEqual(self.browser.all("main img, main u, header b, main i"), [])

    def test_each_metric_has_its_own_changes_and_intervals(self):
        self.show(self.page("strategies"))
        shown = {}
        for metric in ("p50", "p95", "throughput"):
            self.choose("comparisons_chart", metric)
            (_, changes), (_, intervals) = self.browser.run(DATASETS, COMPARISONS)
            self.assertEqual(len(changes), 2)
            for change, (low, high) in zip(changes, intervals, strict=True):
                self.assertTrue(low <= change <= high)
            shown[metric] = changes
        self.assertLess(max(shown["p50"]), 0)
        self.assertGreater(min(shown["throughput"]), 0)

    def test_pipelines_of_several_at_once_name_what_they_are_compared_with(self):
        self.show(self.page("together"))
        labels = self.browser.run(
            f"return Chart.getChart(document.querySelector('{COMPARISONS}')).data.labels")
        self.assertEqual(len(labels), 2)
        for _, against in labels:
            self.assertRegex(against, "^against .* alone")

    def test_trials_are_shown_over_time(self):
        self.show(self.page("drifting"))
        drawn = self.browser.run(DATASETS, "#trials_chart canvas")
        self.assertEqual([len(points) for _, points in drawn], [12, 12, 12])
        self.assertEqual(self.browser.run(AXES, "#trials_chart canvas")[:2],
                         ["began after, s", "median, against its median trial, %"])

    def test_intensity_and_time_stand_over_the_parameter(self):
        self.show(self.page("kernels"))
        (_, intensity), = self.browser.run(DATASETS, SWEEP)
        self.assertEqual([point["x"] for point in intensity], [1, 3, 5, 7, 9, 11])
        self.assertAlmostEqual(intensity[1]["y"], 169869312 / 1347456)
        (label, times), = self.browser.run(DATASETS, SWEEP, 1)
        self.assertEqual(label, "p50")
        self.assertEqual(times, sorted(times, key=lambda point: point["y"]))
        self.assertEqual(self.browser.run(AXES, SWEEP),
                         ["kernel, logarithmic", "FLOP/B, logarithmic", "1 3 5 7 9 11"])
        self.assertEqual(self.browser.run(AXES, SWEEP, 1)[1], "p50 ms, logarithmic")
        self.assert_drawn(SWEEP)

    def test_a_calibration_adds_the_roofline_time(self):
        self.show(self.page("calibrated"))
        (_, measured), (label, least) = self.browser.run(DATASETS, SWEEP, 1)
        self.assertEqual(label, "roofline time")
        for took, floor in zip(measured, least, strict=True):
            self.assertEqual(took["x"], floor["x"])
            self.assertGreater(took["y"], floor["y"])

    def test_a_search_draws_throughput_over_latency_of_what_it_measured(self):
        self.show(self.page("search"))
        (_, front), (_, others) = self.browser.run(DATASETS, FRONT)
        self.assertEqual([(point["x"], point["y"]) for point in front], [(60, 16), (150, 30)])
        self.assertEqual([(point["x"], point["y"]) for point in others], [(80, 12), (90, 15)])
        self.assertEqual(self.browser.run(AXES, FRONT)[:2], ["p50 ms", "frame/s"])
        self.assertEqual(self.browser.run(TOOLTIP, FRONT), [
            "in_flight=4, device memory 839 MB", "frame/s 30.0"])
        self.assert_drawn(FRONT)


if __name__ == "__main__":
    harness.main(["-v", *sys.argv[2:]])
