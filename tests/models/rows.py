#!/usr/bin/env python3
"""Reads pictures of 0 to 20 lines of text with pipelines/ocr.yaml on `host`, which computes only
the lines that there are: the same strings as with all stages at their fixed extents, under every
strategy and graph mode, and with one and two frames in flight.

usage: rows.py GRAPHLINE
"""

import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile

from published import MODELS, SKIPPED, np, require

try:
    import draw_texts
except ImportError as problem:
    print(f"skipped: {problem}; tools/setup/models brings it for Debian 12's Python")
    sys.exit(SKIPPED)
program = sys.argv[1]
PIPELINE = pathlib.Path(__file__).resolve().parents[2] / "pipelines" / "ocr.yaml"
require(MODELS / "ppocr_v4")
require(draw_texts.FONTS, "Debian's fonts-dejavu-core has it")
CAPACITY = 16
LINES = [16, 1, 20, 0, 6, 3]  # of the pictures; frames leave lines behind for the next ones
SETTINGS = [(strategy, graphs, in_flight)
            for strategy in ("serial", "async", "overlap") for graphs in ("stage", "off")
            for in_flight in (1, 2) if strategy != "serial" or in_flight == 1]
SETTINGS += [("async", "frame", 1), ("async", "frame", 2)]


def run(pipeline, folder, frames, strategy="overlap", graphs="stage", in_flight=2):
    """The texts of the last of the frames, and the lines that each frame has."""
    with tempfile.TemporaryDirectory() as out:
        result = pathlib.Path(out) / "result.json"
        subprocess.run([program, "run", pipeline, "--device", "host", "--set", f"folder={folder}",
                        "--frames", str(frames), "--warmup", "0", "--strategy", strategy,
                        "--graphs", graphs, "--in-flight", str(in_flight), "--save-tensors", out,
                        "--json", result], check=True, stdout=subprocess.DEVNULL)
        record = json.loads(result.read_text())["record"]
        (rows,) = [stage.get("rows") for stage in record["stages"] if stage["name"] == "decode"]
        texts = np.load(pathlib.Path(out) / "output.text.npy")
        return [bytes(row).rstrip(b"\0").decode() for row in texts], rows


wrong = 0
with tempfile.TemporaryDirectory() as scratch:
    work = pathlib.Path(scratch)
    fixed = work / "fixed.yaml"
    text = PIPELINE.read_text().replace("../build", str(MODELS.parent))
    fixed.write_text(re.sub(r"\n +(rows|buckets): .*", "", text))
    expected = {}
    for first in range(len(LINES)):
        folder = work / str(first)
        folder.mkdir()
        for number in range(len(LINES)):
            lines = LINES[(first + number) % len(LINES)]
            picture = draw_texts.draw_lines(random.Random(lines), lines)
            picture.save(folder / f"{number}.jpg", quality=80)
        there = min(LINES[first], CAPACITY)
        expected[LINES[first]] = run(fixed, folder, 1)[0][:there]
    for number, settings in enumerate(SETTINGS):
        first = number % len(LINES)
        folder = work / str(first)
        # The last frame is of a picture that begins the folder, or of the one before it.
        frames = len(LINES) + number % 2
        counts = [LINES[(first + frame) % len(LINES)] for frame in range(frames)]
        wanted = expected[counts[-1]]
        texts, rows = run(PIPELINE, folder, frames, *settings)
        if texts != wanted or rows != counts or not all(wanted):
            wrong += 1
            print(f"{settings}: {texts} of {rows} lines; expected {wanted} of {counts}")
print(f"{len(SETTINGS)} settings: {wrong} come out otherwise")
sys.exit(1 if wrong else 0)
