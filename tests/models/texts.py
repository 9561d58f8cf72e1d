#!/usr/bin/env python3
"""Reads the texts of drawn pictures with pipelines/ocr.yaml on `host`, and with RapidOCR, which has
the same models: as many strings, in the same order, and all but a few the same.

Crops differ a little, since RapidOCR interpolates and rounds twice, so that a string can come out
otherwise where the model wavers between a space and none, or I and l. At most one in twenty may,
and none may be further from what was drawn than RapidOCR's.

usage: texts.py GRAPHLINE [COUNT]
"""

import pathlib
import subprocess
import sys
import tempfile

from published import MODELS, SKIPPED, np

try:
    from rapidocr_onnxruntime import RapidOCR

    import draw_texts
except ImportError as problem:
    print(f"skipped: {problem}; tools/setup/models brings it for Debian 12's Python")
    sys.exit(SKIPPED)
program = sys.argv[1]
count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
PIPELINE = pathlib.Path(__file__).resolve().parents[2] / "pipelines" / "ocr.yaml"
for needed, remedy in [(MODELS / "ppocr_v4", "tools/setup/models brings it"),
                       (draw_texts.FONTS, "Debian's fonts-dejavu-core has it")]:
    if not needed.exists():
        print(f"skipped: no {needed}; {remedy}")
        sys.exit(SKIPPED)


def texts_of(folder, work):
    """What the pipeline reads from the pictures of a folder, by picture."""
    pictures = len(list(folder.glob("*.jpg")))
    subprocess.run([program, "run", PIPELINE, "--device", "host", "--set",
                    f"folder={folder}", "--set", f"batch={pictures}", "--set", "lines=6",
                    "--frames", "1", "--warmup", "0", "--save-tensors", work],
                   check=True, stdout=subprocess.DEVNULL)
    rows = np.load(work / "output.text.npy").reshape(pictures, 6, -1)
    texts = [[row.tobytes().rstrip(b"\0").decode() for row in picture] for picture in rows]
    return [[text for text in picture if text] for picture in texts]


def distance(a, b):
    """How many characters must be put in, taken out or replaced to make b of a."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        row, above = [i], row
        for j, y in enumerate(b, 1):
            row.append(min(above[j] + 1, row[j - 1] + 1, above[j - 1] + (x != y)))
    return row[-1]


def from_drawn(text):
    return min(distance(text, line) for line in draw_texts.LINES)


wrong = other = total = 0
reference = RapidOCR()
with tempfile.TemporaryDirectory() as scratch:
    work = pathlib.Path(scratch)
    draw_texts.draw_pictures(work / "all", count)
    paths = sorted((work / "all").glob("*.jpg"))
    for start in range(0, count, 5):  # a few at a time, for the sake of memory
        part = work / f"part_{start}"
        part.mkdir()
        for path in paths[start:start + 5]:
            (part / path.name).symlink_to(path)
        texts = texts_of(part, work / "tensors")
        for path, given in zip(paths[start:start + 5], texts, strict=True):
            expected = [line[1] for line in reference(path)[0] or []]
            total += len(expected)
            if len(given) != len(expected):
                wrong += 1
                print(f"{path.name}: WRONG: {given} where RapidOCR reads {expected}")
                continue
            for ours, theirs in zip(given, expected, strict=True):
                further = from_drawn(ours) > from_drawn(theirs)
                wrong += further
                other += ours != theirs
                if ours != theirs:
                    print(f"{path.name}: {'WRONG: ' if further else ''}'{ours}' where RapidOCR "
                          f"reads '{theirs}'")
print(f"{count} pictures with {total} texts: {other} come out otherwise, {wrong} are wrong")
sys.exit(1 if wrong or other * 20 > total or not total else 0)
