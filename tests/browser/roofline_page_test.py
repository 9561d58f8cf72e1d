"""The page of a roofline as a browser shows it.

usage: roofline_page_test.py SAMPLE_ROOFLINES [CLASS ...]
"""

import math
import re
import sys

import harness

PAGES = ("processor", "gpu", "deep", "odd", "uncalibrated", "empty", "run")
DRAWN = ("processor", "gpu", "deep", "odd")

# The chart as it is drawn from: {bandwidth, ceilings, points, without}.
DATA = "return JSON.parse(document.querySelector('#roofline script').textContent)"

# Each point that is drawn: its words, the middle and half the height of its mark, and the upper end
# of the line to where its least time would put it.
POINTS = """
return [...document.querySelectorAll("#roofline .marks .piece")]
  .map((piece) => {
    const dot = piece.querySelector(".dot").getBBox();
    const [, , , top] = piece.querySelector(".gap").getAttribute("d").split(/[MV ]/);
    return {words: piece.getAttribute("aria-label"), stage: piece.matches(".stage"),
            x: dot.x + dot.width / 2, y: dot.y + dot.height / 2, reach: dot.height / 2,
            top: Number(top.split("M")[0])};
  });
"""

# Powers of ten beside the axes: [text, x, y].
TICKS = """
return [...document.querySelectorAll("#roofline .grid text")].map((text) =>
  [text.textContent, Number(text.getAttribute("x")), Number(text.getAttribute("y"))]);
"""

RIDGES = """
return [...document.querySelectorAll("#roofline .lines .ridge")].map((ridge) =>
  [Number(ridge.getAttribute("cx")), Number(ridge.getAttribute("cy"))]);
"""

# Words of the picture that cover each other, those on the slope aside.
COVERED = """
const texts = [...document.querySelectorAll(
  "#roofline .marks ~ .words text, #roofline .lines text")]
  .filter((text) => !text.hasAttribute("transform"));
const boxes = texts.map((text) => [text.textContent, text.getBoundingClientRect()]);
const found = [];
boxes.forEach(([a, one], i) => boxes.slice(i + 1).forEach(([b, other]) => {
  const x = Math.min(one.right, other.right) - Math.max(one.left, other.left);
  const y = Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top);
  if (x > 2 && y > 5) found.push(`${a} | ${b}`);
}));
return found;
"""

# What stands out of the picture.
OUTSIDE = """
const {left, right, top, bottom} =
  document.querySelector("#roofline svg.roofline-chart").getBoundingClientRect();
return [...document.querySelectorAll("#roofline .roofline .dot, #roofline .roofline text")]
  .filter((drawn) => {
    const box = drawn.getBoundingClientRect();
    return box.left < left - 1 || box.right > right + 1 || box.top < top - 1 ||
      box.bottom > bottom + 1;
  }).map((drawn) => drawn.textContent || drawn.getAttribute("d"));
"""

# The contrast of marks against the page (WCAG 2.2, 1.4.11).
TONES = """
const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const luminance = (color) => {
  const [r, g, b] = color.match(/[\\d.]+/g).map(Number);
  return 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
};
const ground = luminance(getComputedStyle(document.body).backgroundColor);
const lines = document.querySelectorAll("#roofline .roofline .gap, #roofline .roofline .ceiling");
return [...lines].map((drawn) => {
  const ink = luminance(getComputedStyle(drawn).stroke);
  return (Math.max(ink, ground) + 0.05) / (Math.min(ink, ground) + 0.05);
});
"""

ROWS = """
return [...document.querySelectorAll(arguments[0] + " tbody tr")]
  .map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
"""


def name_of(point):
    return f"{point['stage']}, {point['part']}" if point["part"] else point["stage"]


class RooflineCase(harness.SampleCase):
    def rows(self, selector):
        return self.browser.run(ROWS, selector)

    def told(self):
        return self.browser.text("#roofline .told")

    def points(self):
        """By the name that each has: "product", "backbone, 5.max_pool2d"."""
        names = list(map(name_of, self.browser.run(DATA)["points"]))
        found = {}
        for point in self.browser.run(POINTS):
            own = [name for name in names if point["words"].startswith(name + ", ")]
            found[max(own, key=len)] = point
        return found

    def open_all(self):
        self.browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        self.browser.settle()


class every_page(RooflineCase):
    def test_opens_without_a_complaint_and_asks_for_nothing(self):
        for name in PAGES:
            for look in ({}, {"dark": True}, {"width": 360, "height": 740}):
                with self.subTest(name, **look):
                    self.show(self.page(name), **look)
                    self.assert_quiet(self.page(name))

    def test_can_be_read_in_light_and_dark(self):
        for name in PAGES:
            for dark in (False, True):
                with self.subTest(name, dark=dark):
                    self.show(self.page(name), dark=dark)
                    self.open_all()
                    self.assert_readable()

    def test_fits_a_phone(self):
        for name in PAGES:
            with self.subTest(name):
                self.show(self.page(name), width=360, height=740)
                self.assert_fits()
                self.open_all()
                self.assert_fits()

    def test_prints_light_and_whole(self):
        self.show(self.page("gpu"), dark=True)
        self.browser.run(
            "addEventListener('beforeprint', () => { window.printed = ["
            "  getComputedStyle(document.body).backgroundColor,"
            "  document.querySelectorAll('details:not([open])').length]; });")
        document = self.browser.pdf(paperWidth=8.27, paperHeight=11.69)
        self.assertGreaterEqual(len(re.findall(rb"/Type\s*/Page\b", document)), 2)
        self.assertEqual(self.browser.run("return window.printed"), ["rgb(255, 255, 255)", 0])

    def test_has_no_column_cut_off_on_paper(self):
        for name in ("processor", "gpu", "run"):
            self.show(self.page(name), width=690)  # A4 between its margins
            self.browser.command("Emulation.setEmulatedMedia", media="print", features=[])
            self.browser.run("dispatchEvent(new Event('beforeprint'))")
            self.browser.settle()
            widest = self.browser.run(
                "return Math.max(...[...document.querySelectorAll('table, svg.roofline-chart')]"
                ".map((e) => e.getBoundingClientRect().right))")
            self.assertLessEqual(widest, 690)

    def test_has_its_sections(self):
        sections = "return [...document.querySelectorAll('main section')].map((s) => s.id)"
        self.show(self.page("gpu"))
        self.assertEqual(self.browser.run(sections),
                         ["findings", "stages", "totals", "roofline", "ceilings", "origin"])
        self.assertEqual(self.browser.text(".kind"), "graphline roofline")
        self.show(self.page("uncalibrated"))
        self.assertEqual(self.browser.run(sections), ["origin"])
        self.assertIn("no calibration", self.browser.one(".notice.bad").text)


class keyboard(RooflineCase):
    def test_reaches_every_control_and_shows_where_it_is(self):
        self.show(self.page("gpu"))
        self.open_all()
        stops = self.browser.tab_stops()
        self.assertEqual([stop for stop in stops if not stop["visible"] or not stop["name"]], [])
        wanted = self.browser.run(
            "return document.querySelectorAll('a, button, select, input, summary, pre').length")
        reached = [stop for stop in stops
                   if stop["tag"] in ("a", "button", "select", "input", "summary", "pre")]
        self.assertEqual(len(reached), wanted)
        # The picture is one stop, however many points it has.
        self.assertEqual(len([stop for stop in stops
                              if stop["section"] == "roofline" and stop["tag"] == "g"]), 1)

    def test_moves_from_point_to_point(self):
        self.show(self.page("gpu"))
        names = list(self.points())
        self.browser.one("#roofline input").send_keys("\t")
        self.browser.settle()
        self.assertTrue(self.told().startswith("backbone"), self.told())
        seen = []
        for key in ("arrow_right", "arrow_down", "arrow_left", "end", "arrow_right", "home"):
            self.browser.press(key)
            seen.append(self.told())
        starts = ["backbone, 0.conv2d", "backbone, 1.conv2d", "backbone, 0.conv2d", "head", "head",
                  "backbone540"]
        for text, start in zip(seen, starts):
            self.assertTrue(text.startswith(start), (text, start))
        self.assertGreater(len(names), 12)

    def test_comes_back_to_the_point_it_left(self):
        self.show(self.page("gpu"))
        self.browser.one("#roofline input").send_keys("\t")
        self.browser.press("end")
        self.browser.press("tab")
        self.assertTrue(self.told().startswith("Point at"), self.told())
        self.browser.run("document.querySelector('#roofline input').focus()")
        self.browser.press("tab")
        self.assertTrue(self.told().startswith("head"), self.told())


class picture(RooflineCase):
    def scales(self):
        """Functions from an intensity and a rate to pixels, by the ticks of the axes."""
        sizes = {"": 1, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15}
        across, up = [], []
        for text, x, y in self.browser.run(TICKS):
            found = re.fullmatch(r"([\d.]+)(?: ([kMGTP]))?", text)
            if found:
                value = math.log10(float(found[1]) * sizes[found[2] or ""])
                (across if x > 46 else up).append((value, x if x > 46 else y - 4))
        self.assertGreaterEqual(min(len(across), len(up)), 2)

        def between(ticks):
            (a, at_a), (b, at_b) = ticks[0], ticks[-1]
            return lambda value: at_a + (math.log10(value) - a) / (b - a) * (at_b - at_a)
        return between(across), between(up)

    def test_has_each_point_where_its_figures_put_it(self):
        for name in ("processor", "gpu"):
            for width in (1280, 360):
                with self.subTest(name, width=width):
                    self.show(self.page(name), width=width)
                    across, up = self.scales()
                    data = self.browser.run(DATA)
                    points = self.points()
                    self.assertEqual(set(points), set(map(name_of, data["points"])))
                    for point in data["points"]:
                        drawn = points[name_of(point)]
                        self.assertAlmostEqual(drawn["x"], across(point["intensity"]), delta=0.5)
                        self.assertAlmostEqual(drawn["y"], up(point["rate"]), delta=0.5)
                        self.assertAlmostEqual(drawn["top"], up(point["bound_rate"]), delta=0.5)
                    ridges = self.browser.run(RIDGES)
                    self.assertEqual(len(ridges), len(data["ceilings"]))
                    for ceiling, (x, y) in zip(data["ceilings"], ridges):
                        self.assertAlmostEqual(x, across(ceiling["ridge_point"]), delta=0.5)
                        self.assertAlmostEqual(y, up(ceiling["rate"]), delta=0.5)

    def test_leaves_out_what_has_no_place_and_names_it(self):
        self.show(self.page("gpu"))
        points = self.points()
        for name in ("upload", "boxes"):
            self.assertNotIn(name, points)
        caption = self.browser.text("#roofline figcaption")
        self.assertIn("Without FLOPs or a time: upload.", caption)

    def test_makes_marks_the_larger_the_more_of_the_path_they_are(self):
        self.show(self.page("gpu"))
        points = self.points()
        self.assertGreater(points["product"]["reach"], points["backbone"]["reach"])
        self.assertGreater(points["backbone"]["reach"], points["head"]["reach"])

    def test_names_stages_and_ceilings_so_that_no_words_cover_others(self):
        for name in DRAWN:
            for width in (1280, 800, 360):
                with self.subTest(name, width=width):
                    self.show(self.page(name), width=width)
                    self.assertEqual(self.browser.run(COVERED), [])
                    self.assertEqual(self.browser.run(OUTSIDE), [])
        self.show(self.page("gpu"))
        words = self.browser.one("#roofline svg.roofline-chart").text
        for text in ("product 66.0x", "head 81.6x", "backbone 2.18x", "float16 735 TFLOP/s",
                     "tf32 410 TFLOP/s", "float32 51.0 TFLOP/s", "memory 4.21 TB/s", "ridge 12.1"):
            self.assertIn(text, words)

    def test_stands_out_in_light_and_dark(self):
        for dark in (False, True):
            self.show(self.page("gpu"), dark=dark)
            self.assertGreaterEqual(min(self.browser.run(TONES)), 3)

    def test_tells_the_figures_under_the_pointer(self):
        self.show(self.page("gpu"))
        self.assertTrue(self.told().startswith("Point at"))
        point = self.points()["product"]
        self.browser.hover(self.browser.one("#roofline svg.roofline-chart"), point["x"], point["y"])
        for text in ("product", "123 MFLOP in float32", "251 MB", "0.49 FLOP/B", "GFLOP/s",
                     "3.94 ms measured", "59.7 us roofline time", "66.0x roofline",
                     "memory-bound", "% of the critical path"):
            self.assertIn(text, self.told())

    def test_says_of_a_point_above_its_ceiling_that_something_is_wrong(self):
        self.show(self.page("processor"))
        self.assertIn("below its roofline", self.points()["head"]["words"])
        self.assertNotIn("below its roofline", self.points()["backbone"]["words"])

    def test_can_do_without_parts(self):
        self.show(self.page("deep"))
        self.assertGreater(len(self.points()), 60)
        self.browser.one("#roofline input").click()
        self.browser.settle()
        self.assertEqual(list(self.points()), ["backbone", "product", "head"])
        self.browser.one("#roofline input").click()
        self.browser.settle()
        self.assertGreater(len(self.points()), 60)

    def test_is_drawn_anew_for_another_width(self):
        self.show(self.page("gpu"))
        wide = self.points()["product"]
        self.browser.look(width=500)
        self.browser.settle()
        self.browser.settle()
        self.assertNotEqual(self.points()["product"]["x"], wide["x"])
        self.assert_fits()

    def test_has_ceilings_where_nothing_was_measured(self):
        self.show(self.page("empty"))
        self.assertEqual(self.points(), {})
        self.assertEqual(len(self.browser.run(RIDGES)), 1)
        self.assertEqual(self.told(), "No device stage has both FLOPs and a measured time.")


class tables(RooflineCase):
    def test_have_a_row_for_each_stage_and_part(self):
        self.show(self.page("gpu"))
        rows = self.rows("#stages")
        self.assertEqual(len(rows), 5 + 12)
        self.assertEqual(rows[0][:8], ["uploadcopy · float32", "0", "38.6 MB", "-", "transfer",
                                       "349", "412", "1.18x"])
        self.assertEqual(rows[14][:8], ["productgemv · float32", "123 M", "251 MB", "0.49",
                                        "memory", "59.7", "3937", "66.0x"])
        self.assertEqual(rows[8][:3], ["6.conv2d+relucuDNN engine 8, workspace 2 MiB · float16",
                                       "63.0 G", "58.0 MB"])
        self.assertEqual(rows[16][:8], ["boxescpu.nms", "-", "-", "-", "-", "-", "222", "-"])

    def test_can_be_sorted_with_parts_below_their_stages(self):
        self.show(self.page("gpu"))
        sort = self.browser.all("#stages thead button")[7]  # ratio
        names = lambda: [row[0].split("·")[0] for row in self.rows("#stages")]
        planned = names()
        sort.click()
        self.browser.settle()
        self.assertEqual([names()[0], names()[1]], ["headnetwork ", "productgemv "])
        self.assertEqual(names()[2:15], planned[1:14])  # backbone and its parts
        self.assertEqual(names()[-1], "boxescpu.nms")
        sort.click()
        self.browser.settle()
        self.assertEqual((names()[0], names()[-1]), ("uploadcopy ", "boxescpu.nms"))
        sort.click()
        self.browser.settle()
        self.assertEqual(names(), planned)

    def test_have_the_ceilings_and_why_they_may_not_hold(self):
        self.show(self.page("gpu"))
        rows = [[row[0], row[1], *row[-2:]] for row in self.rows("#ceilings")]
        self.assertIn(["matrix product, float16", "735 TFLOP/s", "713 TFLOP/s", "750 TFLOP/s"],
                      rows)
        self.assertIn("driver was 570.1, is 580.2; it is 200 days old",
                      self.browser.text("header .notice.warning"))
        self.show(self.page("processor"))
        self.assertEqual([notice for notice in self.browser.all("header .notice")
                          if "no longer hold" in notice.text], [])

    def test_say_what_to_look_at_first(self):
        self.show(self.page("gpu"))
        findings = self.browser.one("#findings .findings").text
        self.assertIn("Look at 'product' first: measured 3.94 ms, memory bound 59.7 us", findings)
        self.assertIn("4.21 TB/s", " ".join(self.browser.text("#totals").split()))

    def test_hold_names_as_they_are(self):
        self.show(self.page("odd"))
        names = self.browser.run("return [...document.querySelectorAll('#stages .name')]"
                                 ".map((name) => name.textContent)")
        for text in ("<img src=x onerror=alert(1)>", "quote\" 'and'\nnew line",
                     "0.<b>conv</b>\n+\ufffd"):
            self.assertIn(text, names)
        self.assertIn("<i>driver</i> was \"1\", is 2", self.browser.text("header"))
        self.assertEqual(self.browser.all("main img, main b, main i"), [])

    def test_have_floors_in_the_report_of_a_run_too(self):
        self.show(self.page("run"))
        titles = self.browser.run("return [...document.querySelectorAll('#stages th[scope=col]')]"
                                  ".map((title) => title.textContent)")
        self.assertEqual([titles.count(title) for title in ("bound", "ratio")], [1, 1])
        rows = [row for row in self.rows("#stages") if row[0].startswith(("backbone", "2.linear"))]
        self.assertIn("1.12x", rows[0])
        self.assertIn("1.28x", rows[1])


if __name__ == "__main__":
    harness.main(["-v", *sys.argv[2:]])
