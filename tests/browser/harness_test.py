"""The harness sees what is wrong with a page."""

import sys

import harness

PAGE = """<!doctype html><html data-ready="true"><meta charset="utf-8">
<style>body {{ color: #000; background: #fff; }} {style}</style><body>{body}</body></html>"""


class harness_test(harness.PageCase):
    def made(self, body, style=""):
        path = self.folder / "made.html"
        path.write_text(PAGE.format(body=body, style=style), encoding="utf-8")
        self.show(path, width=400)
        return path

    def refuses(self, check, *arguments):
        with self.assertRaises(AssertionError):
            check(*arguments)

    def test_takes_a_page_with_nothing_wrong(self):
        path = self.made("<p>Text</p><canvas aria-label='c'></canvas>"
                         "<script>document.querySelector('canvas').getContext('2d')"
                         ".fillRect(0, 0, 50, 50)</script>")
        self.assert_quiet(path)
        self.assert_drawn()
        self.assert_readable()
        self.assert_fits()

    def test_sees_what_the_console_and_the_network_are_asked(self):
        self.refuses(self.assert_quiet, self.made("<script>nothing.here()</script>"))
        self.refuses(self.assert_quiet, self.made("<script>console.error('no')</script>"))
        self.refuses(self.assert_quiet, self.made("<img src='elsewhere.png'>"))
        self.refuses(self.assert_quiet, self.made(
            "<script>fetch('http://127.0.0.1:1/').catch(() => 0)</script>"))

    def test_sees_an_empty_chart_and_a_missing_one(self):
        self.made("<canvas aria-label='empty'></canvas>")
        self.refuses(self.assert_drawn)
        self.made("<p>No chart</p>")
        self.refuses(self.assert_drawn)

    def test_sees_text_that_hardly_stands_out(self):
        self.made("<p>Text</p>", "p { color: #888; }")
        self.refuses(self.assert_readable)
        self.made("<div><p>Text</p></div>", "div { background: #333; }")
        self.refuses(self.assert_readable)
        self.made("<svg><text y='20'>Text</text></svg>", "text { fill: #ddd; }")
        self.refuses(self.assert_readable)
        self.made("<p>Text</p>", "p { color: #888; display: none; }")
        self.assert_readable()

    def test_sees_what_is_wider_than_the_window(self):
        self.made("<p>wide</p>", "p { width: 500px; }")
        self.refuses(self.assert_fits)
        self.made("<div><p>wide</p></div>", "p { width: 500px; } div { overflow: auto; }")
        self.assert_fits()


if __name__ == "__main__":
    harness.main(["-v", *sys.argv[1:]])
