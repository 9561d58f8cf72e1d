"""The report of a run as a browser shows it.

usage: run_page_test.py SAMPLE_PAGES [CLASS ...]
"""

import sys

import harness


class run(harness.SampleCase):
    kind = "run"

    def content(self, selector):
        """The colors of every point of a canvas, as one text."""
        return self.browser.run("return arguments[0].toDataURL()", self.browser.one(selector))

    def test_every_page_opens_without_a_complaint_and_can_be_read_by_everybody(self):
        self.check_every_page()

    def test_changes_its_charts_with_the_color_scheme(self):
        self.show(self.page("event"))
        light = self.content("#frame_times canvas")
        self.browser.look(dark=True)
        self.browser.settle()
        self.assertNotEqual(self.content("#frame_times canvas"), light)
        self.assert_drawn()

    def test_charts_are_all_drawn(self):
        for name in ("event", "none", "schedule", "detail", "odd", "failed", "long", "single"):
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

    def test_tells_frame_and_time_under_the_pointer_and_chooses_a_frame(self):
        self.show(self.page("event"))
        self.browser.run(
            "document.addEventListener('graphline:frame',"
            "  ({detail}) => { window.chosen = detail.frame; });")
        canvas = self.browser.one("#frame_times canvas")
        blank = self.content("#frame_times canvas")
        self.browser.hover(canvas, 400, 120)
        self.assertNotEqual(self.content("#frame_times canvas"), blank)
        self.browser.click(canvas, 400, 120)
        frame = self.browser.run("return window.chosen")
        self.assertTrue(0 < frame < 299)
        self.assertEqual(self.browser.text("#timeline .headline strong"), f"Frame {frame}")

    def test_shows_the_spread_of_what_is_chosen(self):
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
            self.assert_drawn("#distribution canvas")
        self.assertEqual(len(seen), len(options))
        self.assert_quiet(self.page("schedule"))

    def test_says_what_charts_thin_and_cut_off(self):
        self.show(self.page("long"))
        self.assertRegex(self.browser.text("#frame_times figcaption"),
                         r"1,9\d\d points of 100,000 are drawn")
        self.assertRegex(
            self.browser.text("#distribution figcaption"),
            r"^100,000 frames in bins of.* right: \d+ frames from [\d.]+ ms, 135 ms at most")

    def test_has_a_row_for_each_stage_part_operation_and_output(self):
        self.show(self.page("detail"))
        words = self.browser.text("main")
        for text in ("backbone", "cpu.random_normal", "0.conv2d+1.gelu", "traced in 10 runs",
                     "gelu", "00c0ffee00c0ffee", "breaks even after"):
            self.assertIn(text, words)

    def test_a_calibrated_device_adds_bounds(self):
        self.show(self.page("calibrated"))
        titles = self.browser.run("return [...document.querySelectorAll('#stages th[scope=col]')]"
                                  ".map((title) => title.textContent)")
        self.assertEqual([titles.count(title) for title in ("bound", "ratio")], [1, 1])

    def test_shows_names_and_files_as_they_are(self):
        self.show(self.page("odd"))
        names = self.browser.run(
            "return [...document.querySelectorAll('tbody th .name')]"
            ".map((name) => name.textContent)")
        for name in ("<img src=x onerror=alert(1)>", "quote\" 'and'\nnew line",
                     "שלב אחרון 最后 \ufffd(", "score</script><script>alert(2)</script>"):
            self.assertIn(name, names)
        self.assertEqual(self.browser.text("h1"), "<b>\"odd\" & 'names'</b></script><!--")
        self.assertEqual(self.browser.all("img"), [])
        self.assertEqual(self.browser.text("#origin pre"),
                         "pipeline: \"<b>\"\n# </script><!-- <script>\nstages:\n  - name: שלב\n")

    def test_joins_parts_into_sections_that_end_with_what_made_it(self):
        self.show(self.page("small"))
        self.assertEqual(self.sections(), ["findings", "figures", "stages", "more", "origin"])
        self.assertEqual(self.browser.run("return document.title"), "small")
        self.assertEqual(self.browser.text("#figures"), "Figuresone1two2unit")
        self.assertEqual(self.browser.text("#stages thead"), "stage (ms)words")
        rows = self.browser.run("return [...document.querySelectorAll('#stages tr')]"
                                ".map((row) => `${row.parentNode.tagName} ${row.className} "
                                "${row.textContent}`)")
        self.assertEqual(rows[1:], ["TBODY  anet1.50", "TBODY inner b-", "TFOOT  all2.00"])
        self.assertEqual(self.browser.text("#stages .notes"), "words: what it took")
        self.assertEqual(self.browser.run(
            "return document.querySelector('#stages > .note').innerHTML"), "a note<br>of two lines")
        self.assertEqual(self.browser.text("#more"), "Keptkept inx.json")

    def test_says_without_scripts_that_it_needs_them(self):
        self.browser.command("Emulation.setScriptExecutionDisabled", value=True)
        self.addCleanup(self.browser.command, "Emulation.setScriptExecutionDisabled", value=False)
        self.browser.driver.get(self.page("event").resolve().as_uri())
        self.assertIn("needs JavaScript", self.browser.one("noscript").text)

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
