#!/usr/bin/env python3
"""Times pipelines/ocr.yaml on `host` with one compute thread: with the lines that each picture has,
with all stages at their fixed extents, and RapidOCR, which has the same models and batches lines,
with one thread.

They take turns: a round is one pass of each over the pictures, after one pass that does not count.
Prints the time per picture (mean over the pictures, median and range over the rounds) in ms, and
the median of the ratios within a round.

usage: texts_speed.py GRAPHLINE [--pictures N] [--rounds N]
"""

import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import time

from published import MODELS, SKIPPED, require

try:
    import cv2
    from rapidocr_onnxruntime import RapidOCR

    import draw_texts
except ImportError as problem:
    print(f"skipped: {problem}; tools/setup/models brings it for Debian 12's Python")
    sys.exit(SKIPPED)
PIPELINE = pathlib.Path(__file__).resolve().parents[2] / "pipelines" / "ocr.yaml"

parser = argparse.ArgumentParser()
parser.add_argument("program")
parser.add_argument("--pictures", type=int, default=22)
parser.add_argument("--rounds", type=int, default=7)
given = parser.parse_args()
require(MODELS / "ppocr_v4")
require(draw_texts.FONTS, "Debian's fonts-dejavu-core has it")


def run(pipeline, folder, work, strategy, in_flight):
    """The mean time per picture in ms: end to end with one frame in flight, else the period."""
    result = work / "result.json"
    frames = given.pictures
    subprocess.run([given.program, "run", pipeline, "--device", "host", "--threads", "1", "--set",
                    f"folder={folder}", "--frames", str(frames), "--warmup", str(frames),
                    "--strategy", strategy, "--in-flight", str(in_flight), "--timing", "none",
                    "--json", result], check=True, stdout=subprocess.DEVNULL)
    written = json.loads(result.read_text())
    if in_flight == 1:
        return written["end_to_end"]["mean"]
    return 1000 / written["throughput"]["value"]


def reference_pass(engine, pictures):
    begun = time.perf_counter()
    for picture in pictures:
        engine(picture)
    return 1000 * (time.perf_counter() - begun) / len(pictures)


with tempfile.TemporaryDirectory() as scratch:
    work = pathlib.Path(scratch)
    folder = work / "pictures"
    draw_texts.draw_pictures(folder, given.pictures)
    pictures = sorted(folder.glob("*.jpg"))
    fixed = work / "fixed.yaml"
    text = PIPELINE.read_text().replace("../build", str(MODELS.parent))
    fixed.write_text(re.sub(r"\n +(rows|buckets): .*", "", text))
    cv2.setNumThreads(1)
    engine = RapidOCR(intra_op_num_threads=1, inter_op_num_threads=1)
    reference_pass(engine, pictures)
    serial, overlap = ("serial", 1), ("overlap", 2)
    contenders = {
        "rows, serial": lambda: run(PIPELINE, folder, work, *serial),
        "fixed, serial": lambda: run(fixed, folder, work, *serial),
        "rows, overlap, 2 in flight": lambda: run(PIPELINE, folder, work, *overlap),
        "fixed, overlap, 2 in flight": lambda: run(fixed, folder, work, *overlap),
        "RapidOCR": lambda: reference_pass(engine, pictures),
    }
    times = {name: [] for name in contenders}
    for number in range(given.rounds):
        for name in list(contenders)[number % len(contenders):] + list(contenders)[
                :number % len(contenders)]:
            times[name].append(contenders[name]())
    for name, found in times.items():
        print(f"{name:28} {statistics.median(found):8.1f} ms  "
              f"({min(found):.1f} to {max(found):.1f})")
    for name, other in [("rows, serial", "fixed, serial"), ("rows, serial", "RapidOCR"),
                        ("rows, overlap, 2 in flight", "RapidOCR"),
                        ("rows, overlap, 2 in flight", "fixed, overlap, 2 in flight")]:
        ratio = statistics.median(a / b for a, b in zip(times[name], times[other]))
        print(f"{name} / {other}: {ratio:.2f}")
