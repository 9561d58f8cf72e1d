"""Writes the networks of tools/checking/layer_cases.py in the form of cases.yaml.

usage: list_layer_cases.py FOLDER_OF_TOOLS FILE
"""

import sys

sys.path.insert(0, sys.argv[1])
from checking.layer_cases import CASES  # noqa: E402  (a folder that the caller names)

with open(sys.argv[2], "w", encoding="utf-8") as file:
    for group, cases in CASES.items():
        for case in cases:
            if len(case) == 3 and "conv2d" in case[2]:
                name, shape, layers = case
                file.write(f'- {{name: "{group}, {name}", shape: {shape}, layers: {layers}}}\n')
