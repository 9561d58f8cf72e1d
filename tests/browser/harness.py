"""A headless browser and checks for tests of HTML reports.

A test program ends with `harness.main(...)`. Without a browser it exits with 77, which ctest shows
as skipped; with CI in the environment that is a failure.
"""

import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SKIPPED = 77

try:
    from selenium import webdriver
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.chrome.service import Service
except ImportError:
    webdriver = None

# Contrast of every visible text against its background (WCAG 2.2, 1.4.3).
CONTRASTS = """
const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const parts = (text) => [...text.match(/[\\d.]+/g).map(Number), 1].slice(0, 4);
const over = (top, under) => [0, 1, 2].map((i) => top[i] * top[3] + under[i] * (1 - top[3]));
function behind(element) {
  const layers = [];
  for (let at = element; at; at = at.parentElement) {
    const color = parts(getComputedStyle(at).backgroundColor);
    if (color[3] > 0) layers.push(color);
    if (color[3] === 1) break;
  }
  return layers.reverse().reduce((under, top) => over(top, under), [255, 255, 255]);
}
const found = [];
for (const element of document.querySelectorAll("body *")) {
  const text = [...element.childNodes].filter((n) => n.nodeType === 3 && n.data.trim());
  if (!text.length || !element.getClientRects().length) continue;
  if (!element.checkVisibility({checkOpacity: true, checkVisibilityCSS: true})) continue;
  const style = getComputedStyle(element);
  const ground = behind(element);
  const ink = over(parts(element instanceof SVGElement ? style.fill : style.color), ground);
  const [high, low] = [luminance(ink), luminance(ground)].sort((a, b) => b - a);
  const words = element.tagName + " " + text[0].data.trim().slice(0, 40);
  found.push([(high + 0.05) / (low + 0.05), words]);
}
return found;
"""

# Fraction of painted pixels of a canvas.
PAINTED = """
const canvas = arguments[0];
const copy = new OffscreenCanvas(canvas.width, canvas.height);
const context = copy.getContext("2d", {willReadFrequently: true});
context.drawImage(canvas, 0, 0);
const {data} = context.getImageData(0, 0, canvas.width, canvas.height);
let painted = 0;
for (let i = 3; i < data.length; i += 4) painted += data[i] > 0;
return painted / (canvas.width * canvas.height);
"""

# Elements beyond the right edge of the window outside a scrolling box.
OVERFLOWING = """
const width = document.documentElement.clientWidth;
const boxes = ["auto", "scroll", "hidden"];
const scrolls = (e) =>
  e && (boxes.includes(getComputedStyle(e).overflowX) || scrolls(e.parentElement));
const wide = [...document.querySelectorAll("body *")].filter((e) =>
  e.getBoundingClientRect().right > width + 1 && e.checkVisibility() && !scrolls(e.parentElement));
const found = wide.map((e) => `${e.tagName}.${e.className} ${e.getBoundingClientRect().right}`);
const all = document.documentElement.scrollWidth;
return all > width ? [...found, `the page ${all}`] : found;
"""


def missing():
    """Why no browser can start, or None."""
    if webdriver is None:
        return "python3-selenium is not installed"
    for program in ("chromium", "chromedriver"):
        if not shutil.which(program):
            return f"{program} is not installed"
    return None


class Browser:
    """A headless Chromium. Pages are files that must not request anything else."""

    def __init__(self):
        self.profile = tempfile.TemporaryDirectory(prefix="graphline_browser_")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu",
                         "--disable-dev-shm-usage", "--hide-scrollbars",
                         "--force-device-scale-factor=1", f"--user-data-dir={self.profile.name}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        service = Service(shutil.which("chromedriver"))
        self.driver = webdriver.Chrome(service=service, options=options)
        self.driver.set_page_load_timeout(60)
        self.driver.set_script_timeout(60)

    def close(self):
        self.driver.quit()
        self.profile.cleanup()

    def command(self, name, **parameters):
        """A command of the DevTools protocol."""
        return self.driver.execute_cdp_cmd(name, parameters)

    def look(self, width=1280, height=900, dark=False, still=True, scale=1):
        """Sets window, color scheme and reduced motion for this and later pages."""
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height,
                     deviceScaleFactor=scale, mobile=False)
        self.command("Emulation.setEmulatedMedia", media="", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce" if still else "no-preference"}])

    def open(self, path):
        """Opens a file, waits until its scripts are done, and clears earlier logs."""
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get("about:blank")
        self.driver.get(pathlib.Path(path).resolve().as_uri())
        self.command("Page.bringToFront")  # what is behind gets no focus
        self.settle()

    def run(self, script, *arguments):
        """Runs a script and returns its result."""
        return self.driver.execute_script(script, *arguments)

    def settle(self):
        """Waits until pending changes are drawn."""
        self.driver.execute_async_script(
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));")

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def one(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.run("return document.querySelector(arguments[0]).textContent", selector)

    def hover(self, element, x, y):
        """Moves the pointer over an element, in pixels from its upper left corner."""
        ActionChains(self.driver).scroll_to_element(element).perform()
        box = element.rect
        ActionChains(self.driver).move_to_element_with_offset(
            element, int(x - box["width"] / 2), int(y - box["height"] / 2)).perform()
        self.settle()

    def click(self, element, x, y):
        self.hover(element, x, y)
        ActionChains(self.driver).click().perform()
        self.settle()

    def complaints(self):
        """Console errors and warnings since the page was opened."""
        return [entry["message"] for entry in self.driver.get_log("browser")
                if entry["level"] in ("SEVERE", "WARNING")]

    def requests(self):
        """Addresses requested since the last call, except data URLs and the browser's own pages."""
        events = (json.loads(entry["message"])["message"]
                  for entry in self.driver.get_log("performance"))
        asked = [event["params"]["request"]["url"] for event in events
                 if event["method"] == "Network.requestWillBeSent"]
        return [url for url in asked if not url.startswith(("data:", "about:", "blob:", "chrome:"))]

    def painted(self, canvas):
        return self.run(PAINTED, canvas)

    def contrasts(self):
        """[contrast, text] of every visible text."""
        return self.run(CONTRASTS)

    def overflowing(self):
        """Descriptions of elements wider than the window."""
        return self.run(OVERFLOWING)

    def screenshot(self, path, selector=None, margin=0):
        """The whole page, or an element of it with `margin` pixels around it, as a PNG file; at the
        top, where nothing sticks."""
        self.run("window.scrollTo({top: 0, behavior: 'instant'})")
        self.settle()
        area = self.run(
            "const e = document.querySelector(arguments[0] ?? 'html');"
            "const r = e.getBoundingClientRect();"
            "return arguments[0] ? [r.left + scrollX, r.top + scrollY, r.width, r.height]"
            "                    : [0, 0, innerWidth, e.scrollHeight];", selector)
        left, top, width, height = area
        clip = {"x": left - margin, "y": top - margin, "width": width + 2 * margin,
                "height": height + 2 * margin, "scale": 1}
        picture = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True,
                               clip=clip)
        pathlib.Path(path).write_bytes(base64.b64decode(picture["data"]))

class PageCase(unittest.TestCase):
    """Tests that share one browser, `self.browser`."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        folder = tempfile.TemporaryDirectory(prefix="graphline_page_")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)

    def show(self, path, **look):
        self.browser.look(**look)
        self.browser.open(path)
        self.assertEqual(self.browser.run("return document.documentElement.dataset.ready"), "true")

    def assert_quiet(self, path):
        """The console is empty, and the page requested only its file."""
        self.assertEqual(self.browser.complaints(), [])
        allowed = {pathlib.Path(path).resolve().as_uri()}
        self.assertEqual(set(self.browser.requests()) - allowed, set())

    def assert_drawn(self, selector="canvas"):
        """Such canvases exist, and all are painted."""
        canvases = self.browser.all(selector)
        self.assertTrue(canvases, f"there is no {selector}")
        for canvas in canvases:
            if canvas.is_displayed():
                self.assertGreater(self.browser.painted(canvas), 0.002,
                                   canvas.get_attribute("aria-label"))

    def assert_readable(self):
        """All texts have enough contrast."""
        poor = [entry for entry in self.browser.contrasts() if entry[0] < 4.5]
        self.assertEqual(poor, [])

    def assert_fits(self):
        self.assertEqual(self.browser.overflowing(), [])


class SampleCase(PageCase):
    """Tests of pages of one kind, written by the program in the test's first argument."""

    kind = None

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([sys.argv[1], cls.folder], check=True, timeout=120)

    def page(self, name):
        return self.folder / self.kind / f"{name}.html"

    def sections(self):
        return self.browser.run(
            "return [...document.querySelectorAll('main section')].map((s) => s.id)")

    def check_every_page(self):
        """All pages are quiet, readable and within the window: light, dark and on a phone."""
        for path in sorted((self.folder / self.kind).glob("*.html")):
            for look in ({}, {"dark": True}, {"width": 360, "height": 740}):
                with self.subTest(path.stem, **look):
                    self.show(path, **look)
                    self.browser.run("for (const fold of document.querySelectorAll('details'))"
                                     "  fold.open = true;")
                    self.browser.settle()
                    self.assert_quiet(path)
                    self.assert_readable()
                    self.assert_fits()


def main(arguments):
    """Runs the tests of the calling program; `arguments` are unittest's."""
    reason = missing()
    if reason and not os.environ.get("CI"):
        print(f"skipped: {reason}")
        sys.exit(SKIPPED)
    if reason:
        sys.exit(f"{reason}: see tools/setup/packages.test")
    unittest.main(module="__main__", argv=[sys.argv[0], *arguments])
