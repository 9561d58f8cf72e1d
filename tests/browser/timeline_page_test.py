"""The timeline of a frame, as a browser shows it.

usage: timeline_page_test.py SAMPLE_PAGES [CLASS ...]
"""

import sys

import harness

class timeline(harness.SampleCase):
    kind = "run"

    def shown(self):
        """The frame that is shown, by its headline."""
        return self.browser.text("#timeline .headline strong")

    def view(self):
        """What stretch of time is seen, in nanoseconds since the frame was due."""
        return [int(self.browser.one("svg.timeline").get_attribute(f"data-{end}"))
                for end in ("from", "to")]

    def length(self):
        from_, to = self.view()
        return to - from_

    def axis(self):
        return self.browser.run(
            "return [...document.querySelectorAll('svg.timeline .grid text:not([data-mark])')]"
            ".map((t) => t.textContent)")

    def button(self, title):
        for button in self.browser.all("#timeline button"):
            if title in (button.text, button.get_attribute("aria-label")):
                return button
        raise AssertionError(f"there is no button {title}")

    def choose(self, frame):
        self.browser.run("document.dispatchEvent(new CustomEvent('graphline:frame', "
                         "{detail: {frame: arguments[0]}}))", frame)
        self.browser.settle()

    def setUp(self):
        self.show(self.page("event"))

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def test_draws_a_lane_for_each_thread_and_stream_with_what_ran_there(self):
        spans = self.browser.run(
            "return [...document.querySelectorAll('svg.timeline .span:not(.piece)')]"
            ".map((s) => s.getAttribute('aria-label').split(', ').slice(0, 3).join(', '))")
        self.assertEqual(sorted(spans), [
            "backbone, device stage, stream main", "backbone, enqueue, thread main",
            "head, device stage, stream main", "head, enqueue, thread main",
            "noise, CPU stage, thread main"])
        widths = self.browser.run(
            "return [...document.querySelectorAll('svg.timeline .span > rect')]"
            ".map((r) => r.getBBox().width)")
        self.assertTrue(all(width > 0 for width in widths), widths)

    def test_has_a_path_without_gaps_from_due_to_end(self):
        pieces = self.browser.run(
            "return [...document.querySelectorAll('svg.timeline .piece > rect')]"
            ".map((r) => [r.getBBox().x, r.getBBox().x + r.getBBox().width])")
        self.assertGreater(len(pieces), 2)
        for (_, end), (begin, _) in zip(pieces, pieces[1:]):
            self.assertAlmostEqual(end, begin, delta=1.1)

    def test_buttons_zoom_and_fit(self):
        whole, axis = self.view(), self.axis()
        self.button("Zoom in").click()
        self.assertLess(self.length(), (whole[1] - whole[0]) * 0.7)
        self.assertNotEqual(self.axis(), axis)
        self.button("Zoom out").click()
        self.button("Zoom out").click()
        self.assertGreater(self.length(), whole[1] - whole[0])
        self.button("Fit").click()
        self.assertEqual(self.view(), whole)

    def test_zooms_in_until_nanoseconds_can_be_told_apart(self):
        for _ in range(60):
            self.button("Zoom in").click()
        self.browser.settle()
        self.assertGreaterEqual(self.length(), 19)
        self.assertLess(self.length(), 100)
        labels = self.axis()
        self.assertEqual(len(labels), len(set(labels)), labels)

    def test_the_wheel_zooms_with_ctrl_and_keeps_what_is_under_the_pointer(self):
        at = ("const plot = document.querySelector('svg.timeline');"
              "const [from, to] = [Number(plot.dataset.from), Number(plot.dataset.to)];"
              "const within = plot.querySelector('.spans').parentNode;"
              "return from + (600 - within.getAttribute('x')) / within.getAttribute('width') *"
              "  (to - from)")
        wheel = ("const plot = document.querySelector('svg.timeline');"
                 "const box = plot.getBoundingClientRect();"
                 "return plot.dispatchEvent(new WheelEvent('wheel', {deltaY: -300,"
                 "clientX: box.left + 600, clientY: box.top + 60, ctrlKey: arguments[0],"
                 "bubbles: true, cancelable: true}))")
        whole, before = self.length(), self.browser.run(at)
        self.assertTrue(self.browser.run(wheel, False))  # the page scrolls
        self.assertEqual(self.length(), whole)
        self.assertFalse(self.browser.run(wheel, True))
        self.assertLess(self.length(), whole)
        self.assertAlmostEqual(self.browser.run(at), before, delta=self.length() / 500)

    def test_dragging_moves_the_view(self):
        picture = self.browser.one("svg.timeline")
        before = self.view()
        self.browser.hover(picture, 500, 8)
        chain = harness.ActionChains(self.browser.driver)
        chain.click_and_hold().move_by_offset(-200, 0).release().perform()
        self.browser.settle()
        after = self.view()
        self.assertGreater(after[0], before[0])
        self.assertAlmostEqual(after[1] - after[0], before[1] - before[0], delta=2)

    def test_tells_what_the_pointer_is_on_to_the_nanosecond(self):
        span = self.browser.one("svg.timeline .span.time-cpu:not(.piece) > rect")
        self.browser.hover(span, 20, 10)
        told = self.browser.text("#timeline .told")
        self.assertRegex(told, r"noise.*CPU stage, thread main")
        self.assertRegex(told, r"\d+\.\d{3} us to \d+\.\d{6} ms")

    def test_median_slowest_and_number_choose_a_frame(self):
        median = self.shown()
        choose = ("const list = document.querySelector('#timeline select');"
                  "list.selectedIndex = arguments[0]; list.dispatchEvent(new Event('change'));"
                  "return list.selectedOptions[0].textContent")
        self.assertTrue(self.browser.run(choose, 1).startswith(self.shown().lower()))
        self.assertNotEqual(self.shown(), median)
        self.assertTrue(self.browser.run(choose, 0).endswith(", the median"))
        self.assertEqual(self.shown(), median)
        field = self.browser.one("#timeline input[type=number]")
        field.clear()
        field.send_keys("41", harness.Keys.ENTER)
        self.assertEqual(self.shown(), "Frame 41")
        self.choose(99999)
        self.assertEqual(self.shown(), "Frame 299")

    def test_another_section_can_choose_the_frame(self):
        self.choose(17)
        self.assertEqual(self.shown(), "Frame 17")
        self.assertIn("frame 17,", self.browser.one("svg.timeline").get_attribute("aria-label"))

    def test_draws_the_frames_beside(self):
        self.assertGreater(len(self.browser.all("svg.timeline .beside rect")), 0)

    def test_states_the_error_of_the_clocks(self):
        self.assertIn("80 ns", self.browser.text("#timeline figcaption"))

    def test_says_when_a_frame_is_late(self):
        self.show(self.page("schedule"))
        self.browser.run("const list = document.querySelector('#timeline select');"
                         "list.selectedIndex = 1; list.dispatchEvent(new Event('change'))")
        headline = self.browser.text("#timeline .headline")
        self.assertIn("in the queue", headline)
        self.assertIn("Missed its deadline of 80.0 ms by", headline)

    def test_nests_parts_in_their_stage(self):
        self.show(self.page("detail"))
        inside = self.browser.run(
            "const box = (e) => e.querySelector('rect').getBBox();"
            "const spans = [...document.querySelectorAll('svg.timeline .span')];"
            "const stage = box(spans.find((s) => s.getAttribute('aria-label')"
            "  .startsWith('backbone, device stage')));"
            "return spans.filter((s) => s.classList.contains('part')).map(box).map((b) =>"
            "  b.x >= stage.x - .5 && b.x + b.width <= stage.x + stage.width + .5 &&"
            "  b.y >= stage.y && b.y + b.height <= stage.y + stage.height + .5)")
        self.assertEqual(inside, [True, True])

    def test_marks_a_stage_that_did_not_run(self):
        self.show(self.page("skips"))
        marks = ("return [...document.querySelectorAll('svg.timeline .span.time-skipped')]"
                 ".map((s) => [s.getAttribute('aria-label'), s.getBBox().width])")
        self.choose(0)
        self.assertEqual(self.browser.run(marks), [])
        self.choose(1)
        labels, widths = zip(*self.browser.run(marks))
        self.assertEqual(labels, ("recognize, skipped, thread main, at 110.000 us",
                                  "decode, skipped, thread main, at 120.000 us",
                                  "notify, skipped, thread main, at 130.000 us"))
        self.assertTrue(all(2 < width < 5 for width in widths), widths)
        self.choose(2)
        self.assertIn("decode, no rows, thread main", self.browser.run(marks)[1][0])
        self.assertIn("not run", self.browser.text("#timeline .legend"))

    def test_marks_starts_that_the_policy_decided(self):
        self.show(self.page("decided"))
        marked = ("return [...document.querySelectorAll('svg.timeline .span:has(.choice)')]"
                  ".map((s) => s.getAttribute('aria-label').split(', ').pop())")
        self.choose(3)
        self.assertEqual(self.browser.run(marked), [])
        self.choose(4)
        self.assertEqual(sorted(self.browser.run(marked)),
                         ["held back by the policy", "instead of a stage of another pipeline",
                          "instead of head"])
        self.assertIn("A triangle marks", self.browser.text("#timeline figcaption"))

    def test_shows_the_nearest_frame_where_one_is_not_kept(self):
        self.show(self.page("long"))
        kept = set(self.browser.run(
            "return document.querySelector('#timeline figure').data.frames.map((f) => f[0])"))
        self.assertLess(len(kept), 100_000)
        wanted = next(n for n in range(5_000, 100_000) if n not in kept)
        self.choose(wanted)
        self.assertNotEqual(self.shown(), f"Frame {wanted}")
        self.assertIn(f"Frame {wanted} is not kept in this file",
                      self.browser.text("#timeline .headline"))


if __name__ == "__main__":
    harness.main(["-v", *sys.argv[2:]])
