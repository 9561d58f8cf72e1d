"""Where the time of frames goes, and the pipeline, as a browser shows them.

usage: frames_test.py SAMPLE_PAGES [CLASS ...]
"""

import sys

import harness
from frame_pictures import CLASHING, OVERFULL


class critical_path(harness.SampleCase):
    def setUp(self):
        self.show(self.page("event"))

    def test_has_a_bar_for_all_typical_and_slowest_frames_that_their_pieces_fill(self):
        tracks = self.browser.run(
            "return [...document.querySelectorAll('#critical_path .track:not(.low)')].map((t) =>"
            "  [...t.children].reduce((sum, c) => sum + c.getBoundingClientRect().width, 0) /"
            "  t.getBoundingClientRect().width)")
        self.assertEqual(len(tracks), 3)
        self.assertGreater(max(tracks), 0.97)
        self.assertTrue(all(0.5 < part <= 1.001 for part in tracks), tracks)

    def test_can_be_told_by_stage(self):
        titles = ("return [...document.querySelectorAll('#critical_path .track:not(.low) > *')]"
                  ".map((e) => e.title)")
        self.assertTrue(any(title.startswith("device: ") for title in self.browser.run(titles)))
        self.browser.one("#critical_path input[type=checkbox]").click()
        told = self.browser.run(titles)
        self.assertTrue(any(title.startswith("backbone: device: ") for title in told), told)
        self.assertFalse(any(title.startswith("device: ") for title in told), told)

    def test_compares_with_the_lower_bound(self):
        widths = self.browser.run(
            "return [...document.querySelectorAll('#critical_path .bars')][1]"
            ".querySelectorAll('.track > .time').length")
        self.assertEqual(widths, 3)
        self.assertIn("no frame of this schedule takes less than",
                      self.browser.text("#critical_path"))

    def test_sets_nothing_beside_the_only_frame(self):
        self.show(self.page("single"))
        self.assertEqual(len(self.browser.all("#critical_path .track:not(.low)")), 1)
        self.assertNotIn("slowest", self.browser.text("#critical_path"))


class pipeline(harness.SampleCase):
    def test_draws_every_stage_input_and_output_apart(self):
        for page in ("event", "odd", "detail", "none"):
            for width in (1280, 360):
                with self.subTest(page, width=width):
                    self.show(self.page(page), width=width)
                    self.assertEqual(len(self.browser.all("svg.pipeline .node")), 6)
                    self.assertEqual(len(self.browser.all("svg.pipeline .edge")), 4)
                    self.assertEqual(self.browser.run(CLASHING), [])

    def test_tells_what_an_edge_hands_over(self):
        self.show(self.page("event"))
        self.browser.run(
            "[...document.querySelectorAll('svg.pipeline .edge')]"
            ".find((e) => e.getAttribute('aria-label').startsWith('backbone')).focus()")
        told = self.browser.text("#pipeline .told")
        self.assertIn("backbone → head", told)
        self.assertIn("features float32 [1, 1024, 28, 28]", told)
        self.assertIn("by the order of their stream", told)

    def test_begins_where_the_pipeline_begins_if_it_is_wider_than_the_window(self):
        self.show(self.page("crowded"), width=360, height=740)
        inside = self.browser.run(
            "const frame = document.querySelector('#pipeline .graph');"
            "const [from, to] = [frame, frame.querySelector('.node')]"
            "  .map((e) => e.getBoundingClientRect());"
            "return [frame.scrollWidth / frame.clientWidth, to.left - from.left,"
            "        from.right - to.right]")
        self.assertGreater(inside[0], 2)
        self.assertGreaterEqual(min(inside[1:]), -1)

    def test_stands_without_times(self):
        self.show(self.page("none"))
        self.assertIn("--timing event", self.browser.text("#pipeline .note"))
        self.assertEqual(self.browser.all("#timeline, #critical_path"), [])


class looks(harness.SampleCase):
    def test_names_come_out_as_they_are(self):
        self.show(self.page("odd"))
        self.assert_quiet(self.page("odd"))
        names = ["<img src=x onerror=alert(1)>", "quote\" 'and'\nnew line", "שלב אחרון 最后 \ufffd("]
        for section, shown in (("timeline", names), ("critical_path", names),
                               ("pipeline", ["<img src=x…=alert(1)>", *names[1:]])):
            for name in shown:
                self.assertIn(name, self.browser.text(f"#{section}"), section)
        self.assertEqual(self.browser.run(OVERFULL), [])
        self.assertEqual(self.browser.all("img"), [])

    def test_fits_a_phone_and_can_be_read_in_light_and_dark(self):
        for page in ("event", "odd", "schedule", "detail"):
            for dark in (False, True):
                with self.subTest(page, dark=dark):
                    self.show(self.page(page), width=360, height=740, dark=dark)
                    self.assert_fits()
                    self.assert_readable()
                    self.assertEqual(self.browser.run(OVERFULL), [])

    def test_widening_the_window_draws_anew(self):
        self.show(self.page("event"), width=360, height=740)
        narrow = self.browser.one("svg.timeline").size
        self.browser.look(width=1280)
        self.browser.settle()
        wide = self.browser.one("svg.timeline").size
        self.assertGreater(wide["width"], 2 * narrow["width"])
        self.assertLess(wide["height"], narrow["height"])
        self.assert_fits()


if __name__ == "__main__":
    harness.main(["-v", *sys.argv[2:]])
