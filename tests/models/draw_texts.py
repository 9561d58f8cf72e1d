#!/usr/bin/env python3
"""Draws pictures with lines of text, as JPEG files of 1280 x 736 pixels with DejaVu's fonts
(Debian's fonts-dejavu-core), always the same ones. Those of pipelines/texts/ are the first two.

usage: draw_texts.py FOLDER [COUNT]
"""

import pathlib
import random
import sys

from PIL import Image, ImageDraw, ImageFont

SIZE = (1280, 736)
FONTS = pathlib.Path("/usr/share/fonts/truetype/dejavu")
FACES = ["DejaVuSans", "DejaVuSans-Bold", "DejaVuSerif", "DejaVuSansMono"]
LINES = [
    "Invoice 4711", "Total 128.50", "Platform 9", "Gate B 23", "Exit only", "Frame 1024",
    "two streams", "Best before", "12 May 2026", "No smoking", "Room 3.141", "Keep right",
    "measured twice",
    "Page 7 of 12", "Serial 90210", "High voltage", "Open daily", "Push to open", "Latency 4 ms",
    "Cold water", "Line 42", "Mind the gap", "Depart 07:45", "Seat 18C", "Max. 250 kg"]


def draw_line(picture, chosen, text, left, top, sizes=(28, 54), tilt=4):
    """A line, up to `tilt` degrees out of level."""
    font = ImageFont.truetype(FONTS / f"{chosen.choice(FACES)}.ttf", chosen.randint(*sizes))
    ink = tuple(chosen.randint(0, 90) for _ in range(3))
    line = Image.new("RGBA", SIZE, (*ink, 0))
    ImageDraw.Draw(line).text((left, top), text, ink, font)
    line = line.rotate(chosen.uniform(-tilt, tilt), Image.Resampling.BICUBIC, center=(left, top))
    picture.paste(line, (0, 0), line)


def blank_picture(chosen):
    return Image.new("RGB", SIZE, tuple(chosen.randint(200, 255) for _ in range(3)))


def draw_picture(chosen):
    picture = blank_picture(chosen)
    places = [(60 + 620 * column, 70 + 120 * row) for row in range(5) for column in range(2)]
    texts = chosen.sample(LINES, chosen.randint(3, 6))
    for text, (left, top) in zip(texts, chosen.sample(places, len(texts)), strict=True):
        draw_line(picture, chosen, text, left + chosen.randint(0, 60),
                  top + chosen.randint(-20, 20))
    return picture.rotate(180) if chosen.random() < 0.25 else picture


def draw_lines(chosen, lines):
    """A picture with that many lines, at most 20."""
    picture = blank_picture(chosen)
    for number, text in enumerate(chosen.sample(LINES, lines)):
        draw_line(picture, chosen, text, 60 + 620 * (number % 2), 30 + 68 * (number // 2),
                  sizes=(28, 32), tilt=1)
    return picture


def draw_pictures(folder, count):
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(count):
        path = folder / f"text_{number:04}.jpg"
        draw_picture(random.Random(number)).save(path, quality=80)


if __name__ == "__main__":
    draw_pictures(pathlib.Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 2)
