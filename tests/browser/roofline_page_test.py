"""The page of a roofline as a browser shows it.

usage: roofline_page_test.py SAMPLE_PAGES [CLASS ...]
"""

import sys

import harness

# The chart as it is drawn from: {bandwidth, ceilings, points, without}.
DATA = "return document.querySelector('#roofline figure').data"

# What Chart.js draws: for each dataset its points in the units of the axes, with pixels and radius.
DRAWN = """
const chart = Chart.getChart(document.querySelector("#roofline canvas"));
return chart.data.datasets.map(({data}, i) => data.map(({x, y, of}, j) => {
  const {x: left, y: top, options} = chart.getDatasetMeta(i).data[j];
  return {x, y, name: of && (of.part ? `${of.stage}, ${of.part}` : of.stage), left, top,
          reach: options.radius};
}));
"""

AXES = """
const {x, y} = Chart.getChart(document.querySelector("#roofline canvas")).scales;
return [[x.type, x.options.title.text], [y.type, y.options.title.text]];
"""

ROWS = """
return [...document.querySelectorAll(arguments[0] + " tbody tr")]
  .map((row) => [...row.cells].map((cell) => cell.textContent.trim()));
"""


def name_of(point):
    return f"{point['stage']}, {point['part']}" if point["part"] else point["stage"]


class roofline(harness.SampleCase):
    kind = "roofline"

    def rows(self, selector):
        return self.browser.run(ROWS, selector)

    def points(self):
        """By the name that each has: "product", "backbone, 5.max_pool2d"."""
        return {point["name"]: point for point in self.browser.run(DRAWN)[0]}

    def test_every_page_opens_without_a_complaint_and_can_be_read_by_everybody(self):
        self.check_every_page()

    def test_has_its_sections(self):
        self.show(self.page("gpu"))
        self.assertEqual(self.sections(),
                         ["findings", "stages", "totals", "roofline", "ceilings", "origin"])
        self.assertEqual(self.browser.text(".kind"), "graphline roofline")
        self.show(self.page("uncalibrated"))
        self.assertEqual(self.sections(), ["origin"])
        self.assertIn("no calibration", self.browser.one(".notice.bad").text)

    def test_has_each_point_where_its_figures_put_it_and_each_ceiling(self):
        for name in ("processor", "gpu", "deep", "odd"):
            with self.subTest(name):
                self.show(self.page(name))
                data = self.browser.run(DATA)
                points, memory, *flat = self.browser.run(DRAWN)
                self.assertEqual([(point["name"], point["x"], point["y"]) for point in points],
                                 [(name_of(point), point["intensity"], point["rate"])
                                  for point in data["points"]])
                for end in memory:
                    self.assertAlmostEqual(end["y"] / (end["x"] * data["bandwidth"]), 1)
                for ceiling, (left, right) in zip(data["ceilings"], flat, strict=True):
                    self.assertEqual((left["x"], left["y"], right["y"]),
                                     (ceiling["ridge_point"], ceiling["rate"], ceiling["rate"]))
        self.assertEqual(self.browser.run(AXES), [
            ["logarithmic", "FLOPs for each byte moved (FLOP/B)"], ["logarithmic", "FLOP/s"]])

    def test_names_stages_and_ceilings_and_what_has_no_place(self):
        self.show(self.page("gpu"))
        legend = self.browser.text("#roofline .legend")
        for text in ("product", "head", "backbone", "float16 735 TFLOP/s", "tf32 410 TFLOP/s",
                     "float32 51.0 TFLOP/s", "memory 4.21 TB/s", "ridge 12.1"):
            self.assertIn(text, legend)
        self.assertNotIn("upload", self.points())
        self.assertIn("Without FLOPs or a time: upload.",
                      self.browser.text("#roofline figcaption"))

    def test_makes_marks_the_larger_the_more_of_the_path_they_are(self):
        self.show(self.page("gpu"))
        points = self.points()
        self.assertGreater(points["product"]["reach"], points["backbone"]["reach"])
        self.assertGreater(points["backbone"]["reach"], points["head"]["reach"])

    def test_tells_the_figures_under_the_pointer(self):
        self.show(self.page("gpu"))
        canvas = self.browser.one("#roofline canvas")
        point = self.points()["product"]
        self.browser.hover(canvas, point["left"], point["top"])
        shown = self.browser.run(
            "const {tooltip} = Chart.getChart(document.querySelector('#roofline canvas'));"
            "return [...tooltip.title, ...tooltip.body.flatMap(({lines}) => lines)].join(' · ');")
        for text in ("product", "123 MFLOP in float32", "0.49 FLOP/B", "GFLOP/s",
                     "3.94 ms measured", "66.0x roofline"):
            self.assertIn(text, shown)

    def test_has_ceilings_where_nothing_was_measured(self):
        self.show(self.page("empty"))
        self.assertEqual(list(map(len, self.browser.run(DRAWN))), [0, 2, 2])

    def test_have_a_row_for_each_stage_and_part(self):
        self.show(self.page("gpu"))
        rows = self.rows("#stages")
        self.assertEqual(len(rows), 5 + 12)
        self.assertEqual(rows[14][:8], ["productgemv · float32", "123 M", "251 MB", "0.49",
                                        "memory", "59.7", "3937", "66.0x"])

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

    def test_hold_names_as_they_are(self):
        self.show(self.page("odd"))
        names = self.browser.run("return [...document.querySelectorAll('#stages .name')]"
                                 ".map((name) => name.textContent)")
        for text in ("<img src=x onerror=alert(1)>", "quote\" 'and'\nnew line",
                     "0.<b>conv</b>\n+\ufffd"):
            self.assertIn(text, names)
        self.assertIn("<i>driver</i> was \"1\", is 2", self.browser.text("header"))
        self.assertEqual(self.browser.all("main img, main b, main i"), [])


if __name__ == "__main__":
    harness.main(["-v", *sys.argv[2:]])
