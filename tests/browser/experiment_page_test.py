"""The report of an experiment as a browser shows it.

usage: experiment_page_test.py SAMPLE_EXPERIMENTS [CLASS ...]
"""

import sys

import harness

# What a chart of Chart.js shows: [label, count of points] of each configuration.
DATASETS = """
const chart = Chart.getChart(document.querySelector(arguments[0]));
return chart.data.datasets.filter((_, i) => chart.isDatasetVisible(i))
                          .map(({label, data}) => [label, data.length]);
"""

AXES = """
const {x, y} = Chart.getChart(document.querySelector(arguments[0])).scales;
return [x.type, y.type, x.options.title.text, y.options.title.text];
"""

CHOOSE = """
const label = [...document.querySelectorAll(arguments[0] + " label")]
  .find((one) => one.firstChild.textContent === arguments[1]);
const control = label.control;
control.value = arguments[2];
if (control.value !== arguments[2]) throw new Error("there is no " + arguments[2]);
control.dispatchEvent(new Event("change"));
"""

CHARTS = ["comparisons_chart", "trials_chart"]


class ExperimentCase(harness.SampleCase):
    def choose(self, section, label, value):
        self.browser.run(CHOOSE, f"#{section}", label, value)
        self.browser.settle()

    def sections(self):
        return self.browser.run(
            "return [...document.querySelectorAll('main section')].map((s) => s.id)")

    def points(self):
        return self.browser.run(
            "return [...document.querySelectorAll('#comparisons_chart .point')]"
            ".map((point) => [point.getAttribute('aria-label'), point.getAttribute('class')])")


class every_page(ExperimentCase):
    def test_opens_without_a_complaint_and_asks_for_nothing(self):
        for path in sorted(self.folder.glob("*.html")):
            for look in ({}, {"dark": True}, {"width": 360, "height": 740}):
                with self.subTest(path.stem, **look):
                    self.show(path, **look)
                    self.assert_quiet(path)
                    self.assert_fits()
                    self.assert_readable()

    def test_draws_its_charts(self):
        for name in ("strategies", "drifting", "together", "many", "odd"):
            with self.subTest(name):
                self.show(self.page(name))
                shown = self.sections()
                for section in ("answer", *CHARTS, "origin"):
                    self.assertIn(section, shown)
                self.assert_drawn()
                self.assertGreater(len(self.points()), 0)

    def test_without_trials_says_what_happened(self):
        self.show(self.page("empty"))
        self.assertEqual(self.sections(), ["origin"])
        self.assertIn("there is no memory for it", self.browser.text("header"))
        self.assertIn("No trial was measured.", self.browser.text("header"))

    def test_shows_names_as_they_are(self):
        self.show(self.page("odd"))
        self.assertEqual(self.browser.text("h1"), "<b>\"odd\" & 'names'</b></script><!--")
        self.assertEqual(self.browser.all("main img, main u, header b, main i"), [])


class comparisons(ExperimentCase):
    def test_each_metric_has_its_own_intervals_and_verdicts(self):
        self.show(self.page("strategies"))
        shown = {}
        for metric in ("p50", "p95", "throughput"):
            self.choose("comparisons_chart", "Metric", metric)
            shown[metric] = self.points()
            self.assertEqual(len(shown[metric]), 2)
            for words, style in shown[metric]:
                self.assertRegex(words, r"^strategy=\w+: .*95 % interval.*: faster$")
                self.assertIn("good", style)
        self.assertIn(", -", shown["p50"][0][0])
        self.assertIn(", +", shown["throughput"][0][0])

    def test_pipelines_of_several_at_once_stand_below_what_they_are_compared_with(self):
        self.show(self.page("together"))
        groups = [text.text for text in self.browser.all("#comparisons_chart text.group")]
        self.assertEqual(len(groups), len(set(groups)))
        self.assertTrue(all(text.startswith("against ") for text in groups), groups)


class charts(ExperimentCase):
    def test_configurations_are_switched_off_and_on(self):
        self.show(self.page("many"))
        chart = "#trials_chart canvas"
        self.assertEqual(len(self.browser.run(DATASETS, chart)), 60)
        first, *_ = self.browser.all("#trials_chart .switches button")
        for count, pressed in ((59, "false"), (60, "true")):
            self.browser.run("arguments[0].click()", first)
            self.assertEqual(len(self.browser.run(DATASETS, chart)), count)
            self.assertEqual(first.get_attribute("aria-pressed"), pressed)

    def test_trials_are_shown_over_time(self):
        self.show(self.page("drifting"))
        drawn = self.browser.run(DATASETS, "#trials_chart canvas")
        self.assertEqual([count for _, count in drawn], [12, 12, 12])
        self.assertEqual(self.browser.run(AXES, "#trials_chart canvas")[2:],
                         ["began after, s", "median, against its median trial, %"])


class sweeps(ExperimentCase):
    POINTS = """
      const chart = Chart.getChart(document.querySelectorAll("#sweep_chart canvas")[arguments[0]]);
      return chart.data.datasets.map(({label, data}) => [label, data.map(({x, y}) => [x, y])]);
    """
    AXES = """
      const canvas = document.querySelectorAll("#sweep_chart canvas")[arguments[0]];
      const {x, y} = Chart.getChart(canvas).scales;
      const labels = x.ticks.map(({label}) => label).join(" ");
      return [x.options.title.text, y.options.title.text, labels];
    """

    def test_intensity_and_time_stand_over_the_parameter(self):
        self.show(self.page("kernels"))
        (_, intensity), = self.browser.run(self.POINTS, 0)
        self.assertEqual([x for x, _ in intensity], [1, 3, 5, 7, 9, 11])
        self.assertAlmostEqual(intensity[1][1], 169869312 / 1347456)
        (label, times), = self.browser.run(self.POINTS, 1)
        self.assertEqual(label, "p50")
        self.assertEqual(times, sorted(times, key=lambda point: point[1]))
        self.assertEqual(self.browser.run(self.AXES, 0),
                         ["kernel, logarithmic", "FLOP/B, logarithmic", "1 3 5 7 9 11"])
        self.assertEqual(self.browser.run(self.AXES, 1)[1], "p50 ms, logarithmic")
        self.assert_drawn("#sweep_chart canvas")

    def test_a_calibration_adds_the_roofline_time(self):
        self.show(self.page("calibrated"))
        measured, least = self.browser.run(self.POINTS, 1)
        self.assertEqual(least[0], "roofline time")
        for (x, time), (same, floor) in zip(measured[1], least[1], strict=True):
            self.assertEqual(x, same)
            self.assertGreater(time, floor)

    def test_is_read_out_by_the_arrows(self):
        self.show(self.page("calibrated"))
        self.browser.run("document.querySelectorAll('#sweep_chart canvas')[1].focus()")
        self.browser.press("arrow_right", "arrow_right")
        self.assertRegex(self.browser.text("#said"), r"^kernel 3, p50 1\.\d+")


class by_keyboard(ExperimentCase):
    def test_everything_that_works_is_reached_and_seen(self):
        self.show(self.page("drifting"))
        stops = self.browser.tab_stops()
        self.assertEqual([stop for stop in stops if not stop["visible"]], [])
        tags = {stop["tag"] for stop in stops if stop["section"] == "comparisons_chart"}
        self.assertIn("select", tags)
        self.assertEqual(len([stop for stop in stops if stop["tag"] == "canvas"]), 1)

    def test_the_arrows_read_a_chart_out(self):
        self.show(self.page("drifting"))
        self.browser.run("document.querySelector('#trials_chart canvas').focus()")
        self.browser.press("arrow_right", "arrow_right")
        self.assertRegex(self.browser.text("#said"),
                         r"^strategy=serial, block 2: \d\d\.\d ms \([-+]\d.* %\)$")


class on_paper(ExperimentCase):
    def test_all_is_there_and_nothing_to_press(self):
        self.show(self.page("many"), width=718, height=1047)  # A4 less the margins
        self.browser.command("Emulation.setEmulatedMedia", media="print")
        self.browser.run("dispatchEvent(new Event('beforeprint'))")
        self.browser.settle()
        self.assert_fits()
        self.assertEqual([one for one in self.browser.all("select, input") if one.is_displayed()],
                         [])
        self.assertEqual(len([one for one in self.browser.all("#trials_chart .switches button")
                              if one.is_displayed()]), 60)
        self.assert_drawn()


if __name__ == "__main__":
    harness.main(["-v", *sys.argv[2:]])
