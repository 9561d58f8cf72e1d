"""The floors of the source tree: which folder may include what.

A file includes only from its own folder and from lower floors; folders on the same floor do not
include each other. Some libraries and parts are reserved for some files. A source includes its own
header first, so that compiling it shows whether that header compiles alone.
"""

import pathlib
import re
import sys

import source_tree

# Lowest first.
FLOORS = (
    ("framework/base",),
    ("framework/spec", "framework/device", "framework/ranks"),
    ("framework/stage", "framework/record", "stages/nn"),
    ("stages", "framework/plan"),
    ("framework/run", "framework/analysis"),
    ("framework/campaign", "framework/report"),
    ("tools",),
)

# The engine, likewise.
NN_FLOORS = (
    ("stages/nn/operations",),
    ("stages/nn/layers",),
    ("stages/nn/definition",),
    ("stages/nn/weights", "stages/nn/yaml"),
    ("stages/nn/fusion",),
    ("stages/nn/program",),
    ("stages/nn/onednn", "stages/nn/cuda"),
    ("stages/nn/host", "stages/nn/cuda/lowering"),
    ("stages/nn/onnx",),
)

# The parts of `stages` made for one backend.
HOST_STAGES = r"stages/(.*/)?(host|onednn)/|stages/.*_host\.(cpp|hpp)$"
CUDA_STAGES = r"stages/(.*/)?cuda/|stages/.*_cuda\.(cu|cuh|cpp|hpp)$"

# What brings the backends together.
BUILTIN = r"framework/(device/builtin/|graphline\.hpp$)"

# Parts of the project that only some files may include. Without a CUDA toolkit, parts for `cuda`
# are not compiled.
RESERVED = (
    (CUDA_STAGES, rf"{CUDA_STAGES}|stages/builtin\.cpp$"),
    ("framework/device/host/", rf"{BUILTIN}|framework/device/host/|tools/|{HOST_STAGES}"),
    ("framework/device/cuda/", rf"{BUILTIN}|framework/device/cuda/|tools/|{CUDA_STAGES}"),
    ("framework/device/model/", r"framework/device/model/|framework/run/"),
    (r"framework/graphline\.hpp", r"tools/"),
)

# Libraries, by the names of their headers, and the files that may include them.
LIBRARIES = (
    ("yaml-cpp", r"yaml-cpp/", r"framework/spec/yaml_reader\.cpp$"),
    ("Boost", r"boost/", r"framework/analysis/(stats/confidence|run/lower_bound)\.cpp$"),
    ("protozero", r"protozero/", r"stages/nn/onnx/"),
    ("oneTBB", r"(oneapi/)?tbb[/.]", r"framework/run/execute/task_pool\.(cpp|hpp)$"),
    ("MPI", r"mpi\.h$", r"framework/ranks/mpi/"),
    ("oneDNN", r"(oneapi/dnnl/)?dnnl", HOST_STAGES),
    (
        "CUDA",
        r"(cuda|cudnn|cublas|nvrtc|cupti|nvtx|nvToolsExt|cub/|thrust/|cooperative_groups)",
        rf"framework/device/cuda/|{CUDA_STAGES}",
    ),
)

# Names that only some files may use. Code after the planner uses properties of the schedule, so
# that a new strategy is one new file in plan/schedules and a word.
NAMES = (
    (
        r"\b(strategy|graph_mode)::\w+",
        r"framework/(base/words\.hpp|spec/|plan/settings\.cpp|plan/schedules/)",
    ),
)

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)


def folder_of(path, floors=FLOORS):
    """The innermost folder of some floors that a path lies in, or None."""
    return max((folder for floor in floors for folder in floor if path.startswith(folder + "/")),
               key=len, default=None)


def floor_of(folder, floors):
    """The height of a folder, from 0."""
    return next(height for height, floor in enumerate(floors) if folder in floor)


def trouble_with(path, included, quoted):
    """Why `path` may not include `included`, or None."""
    for name, header, allowed in LIBRARIES:
        if not quoted and re.match(header, included) and not re.match(allowed, path):
            return f"{name} is known only to files that match {allowed}"
    if not quoted:
        return None
    for place, allowed in RESERVED:
        if re.match(place, included) and not re.match(allowed, path):
            return f"{place} is known only to files that match {allowed}"
    if included == "framework/graphline.hpp" or path == "framework/graphline.hpp":
        return None
    if folder_of(included) is None:
        return "not a path that starts at the project's root, such as framework/base/error.hpp"
    for floors in (FLOORS, NN_FLOORS):
        own, other = folder_of(path, floors), folder_of(included, floors)
        if own and other and own != other and floor_of(own, floors) <= floor_of(other, floors):
            return f"{own} does not stand above {other}"
    return None


def violations(path, text):
    """Messages on the forbidden includes in `text`, the content of `path`."""
    found = []
    for match in INCLUDE.finditer(text):
        why = trouble_with(path, match[2], match[1] == '"')
        if why:
            line = text.count("\n", 0, match.start(1)) + 1
            found.append(f"{path}:{line}: error: includes {match[2]}: {why}")
    return found


def name_violations(path, text):
    """Messages on names in `text` that are reserved for other files."""
    found = []
    for name, allowed in NAMES:
        if re.match(allowed, path):
            continue
        for match in re.finditer(name, re.sub(r"//[^\n]*", "", text)):
            line = text.count("\n", 0, match.start()) + 1
            found.append(f"{path}:{line}: error: names {match[0]}, known only to files that match "
                         f"{allowed}")
    return found


def own_header_violations(path, text, files):
    """A message if a source does not include its own header, one of `files`, first."""
    own = re.sub(r"\.(cpp|cu)$", ".hpp", path)
    first = INCLUDE.search(text)
    if own == path or own not in files or (first and first[2] == own):
        return []
    return [f"{path}:1: error: does not include {own} before all others"]


def main(root):
    found, seen = [], 0
    files = set(source_tree.cpp_files(root))
    for path in sorted(files):
        if folder_of(path) or path == "framework/graphline.hpp":
            seen += 1
            text = pathlib.Path(root, path).read_text(encoding="utf-8")
            found += violations(path, text) + name_violations(path, text)
            found += own_header_violations(path, text, files)
    print("\n".join(found + [f"{seen} files checked, {len(found)} violations"]))
    return 1 if found or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
