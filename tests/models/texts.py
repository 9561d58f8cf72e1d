#!/usr/bin/env python3
"""Reads the texts of drawn pictures with pipelines/ocr.yaml on `host`, and with RapidOCR, which has
the same models: the same strings in the same order.

RapidOCR pads the lines of a picture to the longest of them, or to 320 pixels; the pipeline pads to
`width`, which is set to the same.

usage: texts.py GRAPHLINE [COUNT]
"""

import pathlib
import subprocess
import sys
import tempfile

from published import MODELS, SKIPPED, np, require

try:
    from rapidocr_onnxruntime import RapidOCR

    import draw_texts
except ImportError as problem:
    print(f"skipped: {problem}; tools/setup/models brings it for Debian 12's Python")
    sys.exit(SKIPPED)
program = sys.argv[1]
count = int(sys.argv[2]) if len(sys.argv) > 2 else 20
PIPELINE = pathlib.Path(__file__).resolve().parents[2] / "pipelines" / "ocr.yaml"
require(MODELS / "ppocr_v4")
require(draw_texts.FONTS, "Debian's fonts-dejavu-core has it")


def texts_of(picture, width, work):
    """What the pipeline reads from a picture."""
    folder = work / picture.stem
    folder.mkdir()
    (folder / picture.name).symlink_to(picture)
    subprocess.run([program, "run", PIPELINE, "--device", "host", "--set", f"folder={folder}",
                    "--set", "lines=6", "--set", f"width={width}", "--frames", "1", "--warmup", "0",
                    "--graphs", "off", "--save-tensors", folder],
                   check=True, stdout=subprocess.DEVNULL)
    texts = [bytes(row).rstrip(b"\0").decode() for row in np.load(folder / "output.text.npy")]
    return [text for text in texts if text]


wrong = total = 0
reference = RapidOCR()
widths = []  # of the lines that RapidOCR reads
resized = reference.text_rec.resize_norm_img


def noting_width(line, longest):
    image = resized(line, longest)
    widths.append(image.shape[2])
    return image


reference.text_rec.resize_norm_img = noting_width
with tempfile.TemporaryDirectory() as scratch:
    work = pathlib.Path(scratch)
    draw_texts.draw_pictures(work / "all", count)
    for path in sorted((work / "all").glob("*.jpg")):
        widths.clear()
        expected = [line[1] for line in reference(path)[0] or []]
        (width,) = set(widths)
        given = texts_of(path, width, work)
        total += len(expected)
        if given != expected:
            wrong += 1
            print(f"{path.name}: {given} where RapidOCR reads {expected}")
print(f"{count} pictures with {total} texts: {wrong} pictures come out otherwise")
sys.exit(1 if wrong or not total else 0)
