"""Tests of the links check, on made-up texts."""

import pathlib
import tempfile
import unittest

import links

TEXT = """# A title, with `code`

[there](docs/other.md) and [its part](docs/other.md#how-it-is-done), [here](#a-title-with-code)
<img src="docs/picture.png"> [elsewhere](https://example.org/gone)

    [code](gone.md)

```
# no heading
[code](gone.md)
```

"""


class Links(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="graphline_links_")
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        (self.root / "docs").mkdir()
        (self.root / "docs" / "picture.png").write_bytes(b"")
        (self.root / "docs" / "other.md").write_text("## How it is done\n\n## Again\n\n## Again\n")

    def dead(self, text):
        (self.root / "README.md").write_text(TEXT + text)
        return [message.split(": error: ") for message in links.dead_links(self.root, "README.md")]

    def test_links_that_lead_somewhere_and_code_are_passed_over(self):
        self.assertEqual(self.dead("[twice](docs/other.md#again-1)"), [])
        self.assertEqual(links.texts(self.root), ["README.md", "docs/other.md"])

    def test_a_missing_file_heading_or_picture_is_named_with_its_line(self):
        for text, why in (("[a](docs/gone.md)", "docs/gone.md: there is no such file"),
                          ("[a](docs/other.md#b)", "docs/other.md#b: there is no such heading"),
                          ("[a](#no-heading)", "#no-heading: there is no such heading"),
                          ("<source srcset=\"gone.png\">", "gone.png: there is no such file")):
            self.assertEqual(self.dead(text), [["README.md:13", why]])


if __name__ == "__main__":
    unittest.main()
