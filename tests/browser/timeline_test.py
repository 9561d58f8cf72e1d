"""The timeline of a frame, as a browser shows it.

usage: timeline_test.py SAMPLE_PAGES [CLASS ...]
"""

import sys

import harness
from frame_pictures import OVERFULL


class timeline(harness.SampleCase):
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
            "return [...document.querySelectorAll('svg.timeline .grid text')]"
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

    def focused(self):
        return self.browser.run("return document.activeElement.getAttribute('aria-label')")

    def setUp(self):
        self.show(self.page("event"))

    def tearDown(self):
        self.assertEqual(self.browser.complaints(), [])

    def test_draws_a_lane_for_each_thread_and_stream_with_what_ran_there(self):
        spans = self.browser.run(
            "return [...document.querySelectorAll('svg.timeline .span:not(.piece)')]"
            ".map((s) => s.getAttribute('aria-label').split(', from')[0])")
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

    def test_labels_stay_within_their_spans(self):
        self.assertEqual(self.browser.run(OVERFULL), [])
        for _ in range(6):
            self.button("Zoom in").click()
            self.browser.settle()
            self.assertEqual(self.browser.run(OVERFULL), [])

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

    def test_the_wheel_scrolls_the_page_until_the_picture_was_clicked(self):
        wheel = ("const box = document.querySelector('svg.timeline').getBoundingClientRect();"
                 "return document.querySelector('svg.timeline').dispatchEvent("
                 "new WheelEvent('wheel', {deltaY: -300, clientX: box.left + 600, "
                 "clientY: box.top + 60, bubbles: true, cancelable: true, "
                 "ctrlKey: arguments[0]}))")
        whole = self.length()
        self.assertTrue(self.browser.run(wheel, False))
        self.assertEqual(self.length(), whole)
        self.assertFalse(self.browser.run(wheel, True))
        zoomed = self.length()
        self.assertLess(zoomed, whole)
        self.browser.run("document.querySelector('svg.timeline').focus()")
        self.assertFalse(self.browser.run(wheel, False))
        self.assertLess(self.length(), zoomed)

    def test_the_wheel_keeps_what_is_under_the_pointer(self):
        at = ("const plot = document.querySelector('svg.timeline');"
              "const [from, to] = [Number(plot.dataset.from), Number(plot.dataset.to)];"
              "const clip = document.querySelector('#timeline-clip rect').getBBox();"
              "return from + (600 - clip.x) / clip.width * (to - from)")
        before = self.browser.run(at)
        self.browser.run(
            "const box = document.querySelector('svg.timeline').getBoundingClientRect();"
            "document.querySelector('svg.timeline').dispatchEvent(new WheelEvent('wheel', "
            "{deltaY: -300, clientX: box.left + 600, clientY: box.top + 60, ctrlKey: true, "
            "bubbles: true, cancelable: true}))")
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

    def test_keys_zoom_and_move(self):
        self.browser.run("document.querySelector('svg.timeline').focus()")
        whole = self.view()
        self.browser.press("+", "+")
        near = self.view()
        self.assertLess(near[1] - near[0], whole[1] - whole[0])
        self.browser.press("arrow_right")
        self.assertGreater(self.view()[0], near[0])
        self.browser.press("arrow_left")
        self.assertAlmostEqual(self.view()[0], near[0], delta=2)
        self.browser.press("0")
        self.assertEqual(self.view(), whole)

    def test_every_span_is_reached_by_keys_and_told(self):
        spans = {label for label in self.browser.run(
            "return [...document.querySelectorAll('svg.timeline .span')]"
            ".map((s) => s.getAttribute('aria-label'))")}
        self.browser.run("document.querySelector('svg.timeline').focus()")
        self.browser.press("arrow_down")
        reached = set()
        # Along each lane to its end, then down to the next one.
        for lane in range(3):
            for _ in spans:
                self.browser.press("arrow_left")
            for _ in spans:
                reached.add(self.focused())
                self.browser.press("arrow_right")
            self.browser.press("arrow_down")
        self.assertEqual(reached, spans)
        self.assertIn(self.focused().split(",")[0], self.browser.text("#timeline .told"))
        self.browser.press("escape")
        self.assertIn("Timeline of frame", self.focused())

    def test_one_span_is_a_stop_of_the_tab_key(self):
        stops = self.browser.all("svg.timeline .span[tabindex='0']")
        self.assertEqual(len(stops), 1)

    def test_tells_what_the_pointer_is_on_to_the_nanosecond(self):
        span = self.browser.one("svg.timeline .span.time-cpu:not(.piece) > rect")
        self.browser.hover(span, 20, 10)
        told = self.browser.text("#timeline .told")
        self.assertRegex(told, r"noise.*CPU stage, thread main")
        self.assertRegex(told, r"\d+\.\d{3} us to \d+\.\d{6} ms")

    def test_median_slowest_number_and_steps_choose_a_frame(self):
        median = self.shown()
        self.button("Slowest").click()
        self.assertNotEqual(self.shown(), median)
        self.button("Median").click()
        self.assertEqual(self.shown(), median)
        field = self.browser.one("#timeline input[type=number]")
        field.clear()
        field.send_keys("41", harness.Keys.ENTER)
        self.assertEqual(self.shown(), "Frame 41")
        self.button("Next frame").click()
        self.assertEqual(self.shown(), "Frame 42")
        self.button("Previous frame").click()
        self.assertEqual(self.shown(), "Frame 41")
        self.choose(0)
        self.assertFalse(self.button("Previous frame").is_enabled())
        self.choose(99999)
        self.assertEqual(self.shown(), "Frame 299")

    def test_another_section_can_choose_the_frame(self):
        self.choose(17)
        self.assertEqual(self.shown(), "Frame 17")
        self.assertIn("frame 17,", self.browser.one("svg.timeline").get_attribute("aria-label"))
        self.assertIn("frame 17", self.browser.text("#timeline caption"))

    def test_lists_frames_of_note(self):
        groups = self.browser.run(
            "return [...document.querySelectorAll('#timeline optgroup')].map((g) => g.label)")
        self.assertEqual(groups, ["Slowest", "Typical"])
        self.browser.run(
            "const s = document.querySelector('#timeline select');"
            "s.selectedIndex = 3; s.dispatchEvent(new Event('change'))")
        chosen = self.browser.run(
            "return document.querySelector('#timeline select').selectedOptions[0].textContent")
        self.assertTrue(chosen.startswith(self.shown().lower()), chosen)

    def test_edges_and_other_frames_can_be_hidden(self):
        edges = self.browser.one("svg.timeline .edges")
        self.assertGreater(len(self.browser.all("svg.timeline .edges path")), 0)
        self.assertGreater(len(self.browser.all("svg.timeline .beside rect")), 0)
        for box in self.browser.all("#timeline input[type=checkbox]"):
            box.click()
        self.assertEqual(edges.value_of_css_property("display"), "none")
        for rect in self.browser.all("svg.timeline .beside rect"):
            self.assertEqual(rect.value_of_css_property("display"), "none")

    def test_shows_the_error_of_the_clocks_where_it_can_be_seen(self):
        self.assertIn("80 ns", self.browser.text("#timeline figcaption"))
        self.assertEqual(self.browser.all("svg.timeline .errors path"), [])
        self.browser.run("document.querySelector('svg.timeline').focus()")
        self.browser.press("arrow_down")
        for _ in range(30):
            self.browser.press("+")
        self.assertGreater(len(self.browser.all("svg.timeline .errors path")), 0)

    def test_has_a_table_of_the_path_and_one_of_all_spans(self):
        captions = self.browser.run(
            "return [...document.querySelectorAll('#timeline caption')].map((c) => c.textContent)")
        self.assertEqual(len(captions), 2)
        rows = self.browser.all("#timeline table:last-of-type tbody tr")
        spans = self.browser.all("svg.timeline .span")
        self.assertEqual(len(rows), len(spans))

    def test_says_when_a_frame_is_late(self):
        self.show(self.page("schedule"))
        self.button("Slowest").click()
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

    def test_shows_the_nearest_frame_where_one_is_not_kept(self):
        self.show(self.page("long"))
        kept = set(self.browser.run(
            "return JSON.parse(document.querySelector('#timeline script').textContent)"
            ".frames.map((f) => f[0])"))
        self.assertLess(len(kept), 100_000)
        wanted = next(n for n in range(5_000, 100_000) if n not in kept)
        self.choose(wanted)
        self.assertNotEqual(self.shown(), f"Frame {wanted}")
        self.assertIn(f"Frame {wanted} is not kept in this file",
                      self.browser.text("#timeline .missing"))
        self.assertIn(f"--frame {wanted}", self.browser.text("#timeline .missing"))
        self.choose(min(kept))
        self.assertFalse(self.browser.one("#timeline .missing").is_displayed())


if __name__ == "__main__":
    harness.main(["-v", *sys.argv[2:]])
