#!/usr/bin/env python3
"""Writes pipelines of task graphs whose stages' priorities are parameters, for search_against.py.

The graphs are Gaussian elimination (M. Cosnard et al., "Parallel Gaussian elimination on an MIMD
computer", 1988) of 5 and 6 columns, a tiled Cholesky factorization of 4 tiles, a reduction tree,
and a chain of stages with side work after each. Each stage spins for its time on one of two
workers; its priority is p0, p1, ..., all 2 in the file. Prints the arguments of search_against.py:
only the priorities vary.

usage: task_graphs.py FOLDER [--unit MICROSECONDS]
"""

import argparse
import pathlib
import random


class Graph:
    """Stages in order of declaration, with their times and the stages that they wait for."""

    def __init__(self):
        self.times = []
        self.after = []
        self.names = {}

    def add(self, name, time, *after):
        self.names[name] = len(self.times)
        self.times.append(time)
        self.after.append([self.names[one] for one in after if one in self.names])


def gaussian_elimination(columns):
    made = Graph()
    for k in range(columns - 1):
        made.add((k, k), columns - k, (k - 1, k))
        for j in range(k + 1, columns):
            made.add((k, j), columns - k, (k, k), (k - 1, j))
    return made


def cholesky(tiles):
    made = Graph()
    for k in range(tiles):
        made.add(("factor", k), 1, ("update", k, k, k - 1))
        for i in range(k + 1, tiles):
            made.add(("solve", i, k), 3, ("factor", k), ("update", i, k, k - 1))
        for i in range(k + 1, tiles):
            made.add(("update", i, i, k), 3, ("solve", i, k), ("update", i, i, k - 1))
            for j in range(k + 1, i):
                made.add(("update", i, j, k), 6, ("solve", i, k), ("solve", j, k),
                         ("update", i, j, k - 1))
    return made


def reduction(depth, seed=1):
    made = Graph()
    drawn = random.Random(seed)

    def add(name, left):
        children = [name + (i,) for i in range(2)] if left else []
        for child in children:
            add(child, left - 1)
        made.add(name, drawn.choice([1, 2, 3, 5, 8]), *children)

    add((), depth)
    return made


def side_work(length):
    made = Graph()
    for i in range(length):
        made.add(("log", i), 2, ("chain", i - 1))
        made.add(("draw", i), 2, ("chain", i - 1))
        made.add(("chain", i), 3, ("chain", i - 1))
    return made


# Settings that searches vary by default, with their one value.
FIXED = ["strategy=overlap", "graphs=stage", "in_flight=1", "wait=block", "priorities=on",
         "policy=fixed_priority", "streams=auto", "window=0"]
GRAPHS = {"gaussian_5": gaussian_elimination(5), "gaussian_6": gaussian_elimination(6),
          "cholesky_4": cholesky(4), "reduction_4": reduction(4), "side_work_5": side_work(5)}


def pipeline(name, graph, unit):
    count = len(graph.times)
    lines = [f"pipeline: {name}",
             "params: {" + ", ".join(f"p{i}: 2" for i in range(count)) + "}", "stages:"]
    for i, (time, after) in enumerate(zip(graph.times, graph.after)):
        waits = f", after: [{', '.join(f's{one}' for one in after)}]" if after else ""
        lines.append(f"  - {{name: s{i}, kind: cpu.spin, duration: {time * unit}us, "
                     f"priority: $p{i}{waits}}}")
    lines.append("run: {strategy: overlap, policy: fixed_priority, workers: 2, warmup: 2, "
                 "frames: 45}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--unit", type=int, default=300)
    given = parser.parse_args()
    for name, graph in GRAPHS.items():
        path = given.folder / f"{name}.yaml"
        path.write_text(pipeline(name, graph, given.unit), encoding="utf-8")
        over = [f"p{i}=1,2,3" for i in range(len(graph.times))] + FIXED
        print(path, *(f"--over {one}" for one in over))


main()
