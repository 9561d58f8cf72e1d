"""The report of a run as a browser shows it.

usage: run_page_test.py SAMPLE_PAGES [CLASS ...]
"""

import re
import sys

import harness

# The colors of every point of a canvas that something was drawn on, as one text.
CONTENT = "return arguments[0].toDataURL()"

# What was said of the frames that were chosen.
LISTEN = """
window.chosen = [];
document.addEventListener("graphline:frame", (event) => window.chosen.push(event.detail.frame));
"""


class Page(harness.SampleCase):
    def content(self, selector):
        return self.browser.run(CONTENT, self.browser.one(selector))

    def said(self):
        return self.browser.text("#said")

    def set(self, words, ticked=True, section=""):
        """Ticks a box by the words beside it."""
        for label in self.browser.all(f"{section} label"):
            if words in label.text:
                box = label.find_element(harness.By.CSS_SELECTOR, "input")
                if box.is_selected() != ticked:
                    box.click()
                self.browser.settle()
                return
        self.fail(f"no box is called {words}")


class every_page(Page):
    def test_opens_without_a_complaint_and_asks_for_nothing(self):
        for path in sorted(self.folder.glob("*.html")):
            for dark in (False, True):
                with self.subTest(path.stem, dark=dark):
                    self.show(path, dark=dark)
                    self.assert_quiet(path)

    def test_can_be_read_in_light_and_dark(self):
        colors = {}
        for name in ("schedule", "detail", "odd", "failed", "empty"):
            for dark in (False, True):
                with self.subTest(name, dark=dark):
                    self.show(self.page(name), dark=dark)
                    self.browser.run(
                        "document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                    self.assert_readable()
                    colors[dark] = self.browser.run(
                        "return getComputedStyle(document.body).backgroundColor")
        self.assertNotEqual(colors[False], colors[True])

    def test_fits_a_phone(self):
        for name in ("schedule", "detail", "odd", "crowded", "failed", "empty", "none", "long"):
            with self.subTest(name):
                self.show(self.page(name), width=360, height=740)
                self.assert_fits()
                self.browser.run(
                    "document.querySelectorAll('details').forEach((d) => { d.open = true; })")
                self.browser.settle()
                self.assert_fits()
                self.assertLessEqual(self.browser.run(
                    "return Math.max(0, ...[...document.querySelectorAll('canvas')]"
                    ".map((c) => c.clientWidth))"), 360)

    def test_prints_light_and_whole(self):
        self.show(self.page("detail"), dark=True)
        before = self.content("#frame_times canvas")
        self.browser.run(
            "window.printed = [];"
            "addEventListener('beforeprint', () => window.printed.push("
            "  getComputedStyle(document.body).backgroundColor,"
            "  document.querySelectorAll('details:not([open]):not(.tabled)').length,"
            "  Math.max(...[...document.querySelectorAll('canvas')].map((c) => c.clientWidth))));")
        document = self.browser.pdf(paperWidth=8.27, paperHeight=11.69)
        self.assertTrue(document.startswith(b"%PDF-"))
        self.assertGreaterEqual(len(re.findall(rb"/Type\s*/Page\b", document)), 2)
        ground, folded, widest = self.browser.run("return window.printed")
        self.assertEqual(ground, "rgb(255, 255, 255)")
        self.assertEqual(folded, 0)
        self.assertLessEqual(widest, 690)  # A4 between its margins
        self.browser.settle()
        self.assertEqual(self.content("#frame_times canvas"), before)

    def test_changes_its_charts_with_the_color_scheme(self):
        self.show(self.page("event"))
        light = self.content("#frame_times canvas")
        self.browser.look(dark=True)
        self.browser.settle()
        self.assertNotEqual(self.content("#frame_times canvas"), light)
        self.assert_drawn()


class keyboard(Page):
    def test_reaches_every_control_and_shows_where_it_is(self):
        self.show(self.page("detail"))
        self.browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        self.browser.settle()
        stops = self.browser.tab_stops()
        self.assertEqual([stop for stop in stops if not stop["visible"]], [])
        wanted = self.browser.run(
            "return document.querySelectorAll('a, button, select, input, summary, canvas, pre')"
            ".length")
        reached = [stop for stop in stops
                   if stop["tag"] in ("a", "button", "select", "input", "summary", "canvas", "pre")]
        self.assertEqual(len(reached), wanted)
        sections = [stop["section"] for stop in stops if stop["section"]]
        self.assertEqual(sections, sorted(sections, key=sections.index))  # in the order of the page
        names = [stop["name"] for stop in stops]
        self.assertEqual([name for name in names if not name], [])

    def test_moves_from_frame_to_frame_and_chooses_one(self):
        self.show(self.page("event"))
        self.browser.run(LISTEN)
        self.browser.run("document.querySelector('#frame_times canvas').focus()")
        blank = self.content("#frame_times canvas")
        self.browser.press("arrow_right")
        self.assertRegex(self.said(), r"^frame 0,  end to end: [\d.]+ ms$")
        self.assertNotEqual(self.content("#frame_times canvas"), blank)
        self.browser.press("arrow_right", "arrow_right", "enter")
        self.assertEqual(self.browser.run("return window.chosen"), [2])
        self.browser.press("end", "enter", "arrow_left", "enter", "home", "enter")
        self.assertEqual(self.browser.run("return window.chosen"), [2, 299, 298, 0])
        self.browser.press("escape", "enter")
        self.assertEqual(len(self.browser.run("return window.chosen")), 4)

    def test_reads_the_histogram(self):
        self.show(self.page("event"))
        self.browser.run("document.querySelector('#distribution canvas').focus()")
        self.browser.press("arrow_right")
        self.assertRegex(self.said(), r"^[\d.]+ to [\d.]+ ms, \d+ frames?, [\d.]+ %$")


class charts(Page):
    def test_are_all_drawn(self):
        for name in ("event", "none", "schedule", "detail", "odd", "failed", "long"):
            with self.subTest(name):
                self.show(self.page(name))
                self.assert_drawn()

    def test_a_bin_without_frames_has_no_bar(self):
        self.show(self.page("two_kinds"))
        bars = self.browser.run(
            "const chart = Chart.getChart(document.querySelector('#distribution canvas'));"
            "return chart.getDatasetMeta(0).data.map((bar, i) =>"
            "  [chart.data.datasets[0].data[i].y, bar.base - bar.y]);")
        empty = [height for frames, height in bars if not frames]
        self.assertTrue(empty)
        self.assertEqual(set(empty), {0})
        self.assertGreaterEqual(min(height for frames, height in bars if frames), 2)

    def test_tell_frame_and_time_under_the_pointer_and_choose_a_frame(self):
        self.show(self.page("event"))
        self.browser.run(LISTEN)
        canvas = self.browser.one("#frame_times canvas")
        blank = self.content("#frame_times canvas")
        self.browser.hover(canvas, 400, 120)
        self.assertNotEqual(self.content("#frame_times canvas"), blank)
        self.browser.click(canvas, 400, 120)
        (frame,) = self.browser.run("return window.chosen")
        self.assertTrue(0 < frame < 299)

    def test_keep_a_name_from_right_to_left_apart_from_what_follows_it(self):
        self.show(self.page("odd"))
        options = self.browser.run("return [...document.querySelectorAll('option')]"
                                   ".map((option) => option.textContent)")
        self.assertIn("\u2068שלב אחרון 最后 \ufffd(\u2069, device", options)
        self.assertIn("quote\" 'and' new line, cpu", options)

    def test_tell_long_names_apart(self):
        self.show(self.page("crowded"))
        for selector in ("#frame_times option", "#distribution option"):
            names = self.browser.run(
                "return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)",
                selector)
            self.assertGreaterEqual(len(names), 60)
            self.assertEqual(len(set(names)), len(names))
            self.assertLess(max(map(len, names)), 90)

    def test_show_the_spread_of_what_is_chosen(self):
        self.show(self.page("schedule"))
        seen = {self.content("#distribution canvas")}
        select = self.browser.one("#distribution select")
        options = select.find_elements(harness.By.TAG_NAME, "option")
        self.assertEqual([option.text for option in options],
                         ["end to end", "queue wait", "backbone, device", "backbone, enqueue",
                          "noise, cpu", "head, device", "head, enqueue"])
        for option in options[1:]:
            option.click()
            self.browser.settle()
            seen.add(self.content("#distribution canvas"))
            self.assertIn(option.text, self.browser.run(
                "return document.querySelector('#distribution caption').textContent"))
            self.assert_drawn("#distribution canvas")
        self.assertEqual(len(seen), len(options))
        self.set("Logarithmic", section="#distribution")
        self.assertNotIn(self.content("#distribution canvas"), seen)
        self.assert_quiet(self.page("schedule"))

    def test_say_what_they_thin_and_cut_off(self):
        self.show(self.page("long"))
        self.assertRegex(self.browser.text("#frame_times figcaption"),
                         r"1,9\d\d points of 100,000 are drawn")
        self.assertRegex(
            self.browser.text("#distribution figcaption"),
            r"^100,000 frames in bins of.* right: \d+ frames from [\d.]+ ms, 135 ms at most")


class tables(Page):
    def rows(self, selector):
        return self.browser.run(
            "return [...document.querySelectorAll(arguments[0] + ' tbody tr')]"
            ".map((row) => [...row.children].map((cell) => cell.textContent))", selector)

    def test_stand_beside_the_charts(self):
        self.show(self.page("event"))
        bins = self.rows("#distribution")
        self.assertEqual(sum(int(row[1]) for row in bins), 300)

    def test_keep_their_captions_in_sight_on_a_phone(self):
        self.show(self.page("detail"), width=360, height=740)
        self.browser.run("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        beyond = self.browser.run(
            "return [...document.querySelectorAll('.tabled caption')].filter((caption) => {"
            "  const range = document.createRange();"
            "  range.selectNodeContents(caption);"
            "  return caption.checkVisibility() && range.getBoundingClientRect().right >"
            "    caption.closest('.scroll').getBoundingClientRect().right;"
            "}).map((caption) => caption.textContent)")
        self.assertEqual(beyond, [])

    def test_have_a_row_for_each_stage_part_operation_and_output(self):
        self.show(self.page("detail"))
        words = self.browser.text("main")
        for text in ("backbone", "cpu.random_normal", "0.conv2d+1.gelu", "traced in 10 runs",
                     "gelu", "00c0ffee00c0ffee", "breaks even after"):
            self.assertIn(text, words)

    def test_hold_names_as_they_are(self):
        self.show(self.page("odd"))
        names = self.browser.run(
            "return [...document.querySelectorAll('tbody th .name')]"
            ".map((name) => name.textContent)")
        self.assertIn("<img src=x onerror=alert(1)>", names)
        self.assertIn("quote\" 'and'\nnew line", names)
        self.assertIn("שלב אחרון 最后 \ufffd(", names)
        self.assertIn("score</script><script>alert(2)</script>", names)
        self.assertEqual(self.browser.text("h1"), "<b>\"odd\" & 'names'</b></script><!--")
        self.assertEqual(self.browser.all("img"), [])

    def test_hold_the_file_line_by_line(self):
        self.show(self.page("odd"))
        self.assertEqual(self.browser.text("#origin pre"),
                         "pipeline: \"<b>\"\n# </script><!-- <script>\nstages:\n  - name: שלב\n")
        self.assertEqual(len(self.browser.all("#origin .line")), 4)

    def test_what_went_wrong_stands_first(self):
        self.show(self.page("failed"))
        self.assertEqual(self.browser.one(".notice").text,
                         "FAILED after 7 of 45 frames: stage 'head': the device has no memory "
                         "left.")
        self.show(self.page("empty"))
        self.assertIn("No frame was measured.", self.browser.text("main"))
        self.assertEqual(self.browser.all("canvas"), [])


if __name__ == "__main__":
    harness.main(["-v", *sys.argv[2:]])
