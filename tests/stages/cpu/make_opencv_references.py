#!/usr/bin/python3
"""Writes into references/ what OpenCV and NumPy make of a picture and RapidOCR of a map, for the
tests of cpu.resize, cpu.crop, cpu.normalize and cpu.text_boxes.

Run by hand when a case is added, with OpenCV 5.0 and RapidOCR 1.4,
which tools/setup/models brings:

    PYTHONPATH=build/models/reference tests/stages/cpu/make_opencv_references.py
"""

import math
from pathlib import Path

import cv2
import numpy as np
from rapidocr_onnxruntime.ch_ppocr_det.utils import DBPostProcess

FOLDER = Path(__file__).parent / "references"
ROWS, COLUMNS = 16, 96  # of a crop
BOXES = [
    [(20, 12), (70, 12), (70, 24), (20, 24)],  # level
    [(15, 10), (65, 20), (62, 36), (12, 26)],  # out of level
    [(10, 5), (22, 7), (18, 50), (6, 48)],     # upright
    [(5, 30), (75, 28), (70, 55), (12, 50)],   # in perspective
    [(60, 40), (95, 45), (93, 66), (58, 61)],  # beyond the picture
    [(30, 20), (34, 21), (33, 24), (29, 23)],  # smaller than a crop
]


def picture(height, width):
    """As make_references.py has it, with noise."""
    y, x = np.mgrid[0:height, 0:width]
    red = 128 + 100 * np.sin(x / 5) * np.cos(y / 9)
    green = 255 * x / width
    blue = np.where((x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 3) ** 2, 220, 40)
    smooth = np.stack([red, green, blue], -1)
    noise = np.random.default_rng(7).integers(-60, 61, smooth.shape)
    return (smooth + noise).clip(0, 255).astype(np.uint8)


def crop(image, box, turn):
    """As PaddleOCR and RapidOCR cut a line of text out and bring it to the size of a network."""
    corners = np.array(box, np.float32)
    side = lambda a, b: np.linalg.norm(corners[a] - corners[b])
    width, height = int(max(side(0, 1), side(2, 3))), int(max(side(0, 3), side(1, 2)))
    to = np.array([[0, 0], [width, 0], [width, height], [0, height]], np.float32)
    cut = cv2.warpPerspective(image, cv2.getPerspectiveTransform(corners, to), (width, height),
                              borderMode=cv2.BORDER_REPLICATE, flags=cv2.INTER_CUBIC)
    if height / width >= 1.5:
        cut = np.rot90(cut)
    if turn:
        cut = cv2.rotate(cut, cv2.ROTATE_180)
    filled = min(COLUMNS, math.ceil(ROWS * (cut.shape[1] / float(cut.shape[0]))))
    padded = np.zeros((ROWS, COLUMNS, 3), np.uint8)
    padded[:, :filled] = cv2.resize(cut, (filled, ROWS))
    return padded


def text_map():
    """1 where there is text: lines in several directions."""
    inside = np.zeros((128, 192), np.uint8)
    for center, size, angle in [((50, 20), (70, 9), 4), ((140, 24), (60, 13), -7),
                                ((60, 65), (80, 14), 11.5), ((150, 80), (11, 60), 20),
                                ((50, 105), (64, 10), -2.5)]:
        corners = cv2.boxPoints((center, size, angle))
        cv2.fillPoly(inside, corners.round().astype(np.int32)[None], 1)
    return inside


def text_boxes(inside):
    find = DBPostProcess(thresh=0.3, box_thresh=0.5, unclip_ratio=1.6, use_dilation=True)
    boxes, _ = find((inside * np.float32(0.9))[None, None], inside.shape)
    return np.stack(sorted(boxes, key=lambda box: tuple(box[0][::-1]))).astype(np.float32)


image = picture(60, 80)
image.tofile(FOLDER / "picture.bin")
for rows, columns in [(24, 32), (30, 40), (60, 80), (61, 79), (150, 170), (7, 200), (1, 1)]:
    cv2.resize(image, (columns, rows)).tofile(FOLDER / f"resized_{rows}_{columns}.bin")
normalized = (image / 255 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]  # in float64
normalized.transpose(2, 0, 1).astype(np.float32).tofile(FOLDER / "normalized.bin")
np.array(BOXES, np.float32).tofile(FOLDER / "boxes.bin")
for name, turn in [("crops", False), ("crops_turned", True)]:
    np.stack([crop(image, box, turn) for box in BOXES]).tofile(FOLDER / f"{name}.bin")
text_map().tofile(FOLDER / "text_map.bin")
text_boxes(text_map()).tofile(FOLDER / "text_boxes.bin")
