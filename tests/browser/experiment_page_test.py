"""The report of an experiment as a browser shows it.

usage: experiment_page_test.py SAMPLE_EXPERIMENTS [CLASS ...]
"""

import sys

import harness

# The texts of a table's rows: names, figures and verdicts as they are read.
ROWS = """
return [...document.querySelectorAll(arguments[0] + " tbody tr")]
  .filter((row) => row.checkVisibility())
  .map((row) => [...row.cells].filter((cell) => !cell.matches(".picture"))
                              .map((cell) => cell.textContent.trim()));
"""

# What a chart of Chart.js draws: [label, count of points] of each configuration.
DATASETS = """
const chart = Chart.getChart(document.querySelector(arguments[0]));
return chart.data.datasets.map(({label, data}) => [label, data.length]);
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
control.dispatchEvent(new Event(control.tagName === "SELECT" ? "change" : "input"));
"""

SECTIONS = ["findings", "configurations", "comparisons", "stages", "trials", "distributions",
            "settings", "origin"]


class ExperimentCase(harness.SampleCase):
    def rows(self, selector):
        return self.browser.run(ROWS, selector)

    def choose(self, section, label, value):
        self.browser.run(CHOOSE, f"#{section}", label, value)
        self.browser.settle()

    def sections(self):
        return self.browser.run(
            "return [...document.querySelectorAll('main section')].map((s) => s.id)")


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
                self.assertEqual(self.sections(), SECTIONS)
                self.assert_drawn()
                self.assertGreater(len(self.browser.all("#comparisons svg .point")), 0)
                self.assertGreater(len(self.browser.all("#configurations svg .trial")), 0)

    def test_without_trials_says_what_happened(self):
        self.show(self.page("empty"))
        self.assertEqual(self.sections(), ["origin"])
        self.assertIn("there is no memory for it", self.browser.text("header"))
        self.assertIn("No trial was measured.", self.browser.text("header"))

    def test_shows_names_as_they_are(self):
        self.show(self.page("odd"))
        self.assertEqual(self.browser.text("h1"), "<b>\"odd\" & 'names'</b></script><!--")
        names = [row[1] for row in self.rows("#configurations .strips")]
        self.assertEqual(names, ["<img src=x onerror=alert(1)>", "quote\" 'and'\nnew line \ufffd",
                                 "שלב אחרון 最后"])
        self.assertEqual(self.browser.all("main img, main u, header b, main i"), [])


class comparisons(ExperimentCase):
    def test_each_figure_has_its_own_intervals_and_verdicts(self):
        self.show(self.page("strategies"))
        shown = {}
        for figure in ("p50", "tail", "throughput"):
            self.choose("comparisons", "Figure", figure)
            shown[figure] = self.rows("#comparisons .strips")
            self.assertEqual([row[0] for row in shown[figure]],
                             ["against strategy=serial", "serial", "async", "overlap"])
            self.assertEqual(shown[figure][1][2], "baseline")
            for row in shown[figure][2:]:
                self.assertTrue(row[4].endswith("faster"), row)
        self.assertTrue(shown["p50"][2][2].startswith("-"))
        self.assertTrue(shown["throughput"][2][2].startswith("+"))
        self.assertNotEqual(shown["p50"], shown["tail"])

    def test_differences_are_shown_as_amounts_too(self):
        self.show(self.page("strategies"))
        self.assertTrue(self.browser.all("#comparisons .margin"))
        self.choose("comparisons", "Differences", "difference")
        change = self.rows("#comparisons .strips")[2][2]
        self.assertRegex(change, r"^-1\d\.\d ms$")
        # The margin is a part of each reference, not an amount.
        self.assertEqual(self.browser.all("#comparisons .margin"), [])

    def test_undecided_ones_say_how_many_more_trials(self):
        self.show(self.page("many"))
        undecided = [row for row in self.rows("#comparisons .strips")
                     if "undecided" in "".join(row)]
        self.assertTrue(undecided)
        self.assertTrue(any(row[-1].startswith("+") for row in undecided), undecided)

    def test_stages_have_a_forest_each(self):
        self.show(self.page("strategies"))
        before = self.rows("#stages .strips")
        self.choose("stages", "Intervals of", "1")
        after = self.rows("#stages .strips")
        self.assertEqual([row[0] for row in before], [row[0] for row in after])
        self.assertNotEqual(before, after)
        self.assertIn("noise", self.browser.text("#stages .strips caption"))

    def test_pipelines_of_several_at_once_stand_apart(self):
        self.show(self.page("together"))
        self.assertEqual(len(self.browser.all("#distributions canvas")), 2)
        second = self.browser.run(DATASETS, "#distributions figure:nth-of-type(2) canvas")
        self.assertEqual(second[0][0], "'batch alone'")
        self.assertEqual([row[0] for row in self.rows("#comparisons .strips")],
                         ["against 'camera alone'", "camera", "camera",
                          "against 'batch alone'", "batch", "batch"])


    def test_words_of_names_are_not_broken(self):
        self.show(self.page("together"))
        for text in ("camera", "together", "pipeline", "configuration"):
            cells = [cell for cell in self.browser.all("#comparisons th .name")
                     if cell.text == text]
            self.assertTrue(cells, text)
            for cell in cells:
                self.assertLess(cell.size["height"], 30, text)


class many_configurations(ExperimentCase):
    def test_a_text_filters_all_sections(self):
        self.show(self.page("many"))
        self.assertEqual(len(self.rows("#configurations .strips")), 60)
        self.choose("configurations", "Only with", "overlap batch=12")
        self.assertEqual(self.browser.text("#configurations .controls [role=status]"),
                         "1 of 60 shown")
        self.assertEqual([row[:3] for row in self.rows("#configurations .strips")],
                         [["c47", "overlap", "12"]])
        # A group's title and what it is compared with stay.
        self.assertEqual(len(self.rows("#comparisons .strips")), 3)
        self.assertEqual(len(self.rows("#stages figure table")), 1)
        self.choose("configurations", "Only with", "nothing has this")
        self.assertIn("nothing has this", self.browser.text(
            "#configurations .note[role=status]:not(.controls *)"))
        self.choose("configurations", "Only with", "c4")  # and not c40
        self.assertEqual([row[0] for row in self.rows("#configurations .strips")], ["c4"])
        self.choose("configurations", "Only with", "")
        self.assertEqual(len(self.rows("#configurations .strips")), 60)

    def test_are_sorted_by_a_figure(self):
        self.show(self.page("many"))
        for figure, column, down in (("p50", 3, False), ("throughput", 5, True)):
            self.choose("configurations", "Sorted by", figure)
            figures = [float(row[column]) for row in self.rows("#configurations .strips")]
            self.assertEqual(figures, sorted(figures, reverse=down))
        self.choose("configurations", "Sorted by", "written")
        self.assertEqual(self.rows("#configurations .strips")[0][:3],
                         ["c1", "serial", "1"])

    def test_are_switched_off_and_on_in_a_chart(self):
        self.show(self.page("many"))
        chart = "#distributions canvas"
        self.assertEqual(len(self.browser.run(DATASETS, chart)), 60)
        press = "arguments[0].click()"
        # Before the others, of which not all are in sight.
        everything, none, first, *_ = self.browser.all("#distributions .switches button")
        self.browser.run(press, first)
        self.assertEqual(len(self.browser.run(DATASETS, chart)), 59)
        self.assertEqual(first.get_attribute("aria-pressed"), "false")
        self.browser.run(press, none)
        self.assertEqual(self.browser.run(DATASETS, chart), [])
        self.browser.run(press, first)
        self.assertEqual([label for label, _ in self.browser.run(DATASETS, chart)],
                         ["c1"])
        self.browser.run(press, everything)
        self.assertEqual(len(self.browser.run(DATASETS, chart)), 60)


class charts(ExperimentCase):
    def test_trials_are_shown_in_time_and_by_their_change(self):
        self.show(self.page("drifting"))
        drawn = self.browser.run(DATASETS, "#trials canvas")
        self.assertEqual([count for _, count in drawn], [12, 12, 12])
        self.assertEqual(self.browser.run(AXES, "#trials canvas")[2:],
                         ["began after, s", "against its median trial, %"])
        self.choose("trials", "Medians of trials", "time")
        self.assertEqual(self.browser.run(AXES, "#trials canvas")[3], "median, ms")
        self.assertIn("the machine was not itself", self.browser.text("#trials figcaption"))

    def test_distributions_show_the_tail(self):
        self.show(self.page("drifting"))
        chart = "#distributions canvas"
        self.assertEqual(self.browser.run(AXES, chart)[:2], ["linear", "linear"])
        self.choose("distributions", "Frames", "longer")
        self.choose("distributions", "Time", "log")
        self.assertEqual(self.browser.run(AXES, chart)[:2], ["logarithmic", "logarithmic"])
        self.assert_drawn(chart)
        self.assert_quiet(self.page("drifting"))

    def test_follow_the_colour_scheme(self):
        self.show(self.page("strategies"))
        tone = ("return Chart.getChart(document.querySelector('#trials canvas'))"
                ".data.datasets[0].borderColor")
        light = self.browser.run(tone)
        self.browser.look(dark=True)
        self.browser.settle()
        self.assertNotEqual(self.browser.run(tone), light)


class sweeps(ExperimentCase):
    POINTS = """
      const chart = Chart.getChart(document.querySelectorAll("#sweep canvas")[arguments[0]]);
      return chart.data.datasets.map(({label, data}) => [label, data.map(({x, y}) => [x, y])]);
    """
    AXES = """
      const canvas = document.querySelectorAll("#sweep canvas")[arguments[0]];
      const {x, y} = Chart.getChart(canvas).scales;
      const labels = x.ticks.map(({label}) => label).join(" ");
      return [x.options.title.text, y.options.title.text, labels];
    """

    def test_intensity_and_time_stand_over_the_parameter(self):
        self.show(self.page("kernels"))
        self.assertEqual(self.sections(), [*SECTIONS[:3], "sweep", *SECTIONS[3:]])
        (label, intensity), = self.browser.run(self.POINTS, 0)
        self.assertEqual([x for x, _ in intensity], [1, 3, 5, 7, 9, 11])
        self.assertAlmostEqual(intensity[1][1], 169869312 / 1347456)
        (label, times), = self.browser.run(self.POINTS, 1)
        self.assertEqual(label, "measured, device stages")
        self.assertEqual(times, sorted(times, key=lambda point: point[1]))
        self.assertEqual(self.browser.run(self.AXES, 0),
                         ["kernel, logarithmic", "FLOP/B, logarithmic", "1 3 5 7 9 11"])
        self.assertEqual(self.browser.run(self.AXES, 1)[1], "p50 in ms, logarithmic")
        self.assert_drawn("#sweep canvas")

    def test_every_line_of_a_logarithmic_axis_has_its_figure(self):
        self.show(self.page("calibrated"))
        for chart in (0, 1):
            figures = self.browser.run(
                "const {y} = Chart.getChart(document.querySelectorAll('#sweep canvas')"
                "[arguments[0]]).scales; return y.ticks.map(({label}) => label);", chart)
            self.assertGreaterEqual(len(figures), 3)
            for figure in figures:
                self.assertRegex(figure, r"^(0\.0*)?[125]0*$")

    def test_a_calibration_adds_the_least_time(self):
        self.show(self.page("calibrated"))
        measured, least = self.browser.run(self.POINTS, 1)
        self.assertEqual(least[0], "least, as calibrated")
        for (x, time), (same, floor) in zip(measured[1], least[1], strict=True):
            self.assertEqual(x, same)
            self.assertGreater(time, floor)
        heading = [cell.text for cell in self.browser.all("#sweep thead th")]
        self.assertEqual(heading[-3:], ["least ms", "bound", "ratio"])
        rows = self.rows("#sweep table")
        self.assertEqual([row[0] for row in rows], ["1", "3", "5", "7", "9", "11"])
        self.assertEqual([row[7] for row in rows], ["memory"] + 5 * ["compute"])

    def test_is_read_out_by_the_arrows(self):
        self.show(self.page("calibrated"))
        self.browser.run("document.querySelectorAll('#sweep canvas')[1].focus()")
        self.browser.press("arrow_right", "arrow_right")
        self.assertRegex(self.browser.text("#said"),
                         r"^kernel 3, 1\.\d+ ms, 1\.\d+ times its least time \(compute\)$")

    def test_pages_without_one_have_no_section(self):
        self.show(self.page("strategies"))
        self.assertEqual(self.browser.all("#sweep"), [])


class by_keyboard(ExperimentCase):
    def test_everything_that_works_is_reached_and_seen(self):
        self.show(self.page("drifting"))
        stops = self.browser.tab_stops()
        self.assertEqual([stop for stop in stops if not stop["visible"]], [])
        for section in ("configurations", "comparisons", "stages", "trials", "distributions"):
            tags = {stop["tag"] for stop in stops if stop["section"] == section}
            self.assertIn("select", tags, section)
        self.assertEqual(len([stop for stop in stops if stop["tag"] == "canvas"]), 2)

    def test_the_arrows_read_a_chart_out(self):
        self.show(self.page("drifting"))
        for section, said in (
                ("trials", r"^strategy=serial, block 2: \d\d\.\d ms \([-+]\d.* %\)$"),
                ("distributions",
                 r"^strategy=serial: 0\.\d+ % of frames took at most 8\d\.\d ms$")):
            self.browser.run("document.querySelector(arguments[0]).focus()", f"#{section} canvas")
            self.browser.press("arrow_right", "arrow_right")
            self.assertRegex(self.browser.text("#said"), said)

    def test_a_switch_of_a_chart_is_pressed(self):
        self.show(self.page("strategies"))
        self.browser.run("document.querySelector('#trials .switches button').focus()")
        self.browser.press("space")
        self.assertEqual([label for label, _ in self.browser.run(DATASETS, "#trials canvas")],
                         ["strategy=async", "strategy=overlap"])


class on_paper(ExperimentCase):
    def test_all_is_there_and_nothing_to_press(self):
        self.show(self.page("many"), width=718, height=1047)  # A4 less the margins
        self.browser.command("Emulation.setEmulatedMedia", media="print")
        self.browser.run("dispatchEvent(new Event('beforeprint'))")
        self.browser.settle()
        self.assert_fits()
        hidden = [box.get_attribute("aria-label") for box in self.browser.all(".scroll")
                  if self.browser.run(
                      "const [box] = arguments;"
                      "return box.scrollHeight > box.clientHeight + 1 &&"
                      "  getComputedStyle(box).overflowY !== 'visible'", box)]
        self.assertEqual(hidden, [])
        self.assertEqual([one for one in self.browser.all("select, input") if one.is_displayed()],
                         [])
        self.assertEqual(len([one for one in self.browser.all("#distributions .switches button")
                              if one.is_displayed()]), 60)
        self.assert_drawn()


if __name__ == "__main__":
    harness.main(["-v", *sys.argv[2:]])
