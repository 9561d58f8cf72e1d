"""The experiments that come with Graphline: that they run, compute the same, and what they find."""

from .context import result_of
from .outcome import FAIL, PASS, SHOWN

# What varies the input of a pipeline varies its outputs too, and so does another order of
# additions.
OTHER_OUTPUTS = {"batch_size", "gemv"}


def check_experiments(context):
    files = sorted((context.places.pipelines / "experiments").glob("*.yaml"))
    if not files:
        context.outcome.not_run("experiments", f"none in {context.places.pipelines}")
    for file in files:
        if context.quick and file.stem != "graph_granularity":
            context.outcome.not_run(file.stem, "--quick")
            continue
        with context.outcome.or_not_run(file.stem):
            check_experiment(context, file)


def check_experiment(context, file):
    result = result_of(context, file.stem, ["compare", file, "--trials", 1 if context.quick else 6,
                                            "--store", context.name(".jsonl")], most=60)
    if result is None:
        return
    context.outcome.data.setdefault("experiments", {})[file.stem] = {
        key: result[key] for key in ("configurations", "comparisons", "findings", "steadiness",
                                     "sweep") if key in result}
    if file.stem.startswith("sweep_"):
        show_sweep(context, file.stem, result.get("sweep"))
        return
    if file.stem not in OTHER_OUTPUTS:
        same = outputs_agree(result)
        context.outcome.add(f"{file.stem}, outputs", PASS if same else FAIL,
                            "bit-equal" if same else "differ",
                            note="" if same else "; ".join(
                                found["text"] for found in result["findings"]))
    for c in result["comparisons"]:
        if c["figure"] == "p50":
            context.outcome.add(f"{file.stem}, {c['configuration']}", SHOWN,
                                f"{100 * (c['ratio'] - 1):+.1f} %",
                                note=f"{c['member']} against {c['reference']}: {c['verdict']}")


def show_sweep(context, name, sweep):
    """What each value of the parameter makes of arithmetic and time; other sizes, other outputs."""
    if sweep is None:
        context.outcome.add(name, FAIL, note="it has no figures against its parameter")
        return
    for point in sweep:
        if point["time"] is None or point["intensity"] is None:
            context.outcome.add(f"{name}, {point['configuration']}", FAIL, note="not measured")
            continue
        ratio = "" if point["ratio"] is None else f"{point['ratio']:.2f} times its roofline time"
        context.outcome.add(f"{name}, {point['configuration']}", SHOWN, f"{point['time']:.3g} ms",
                            note=f"{point['intensity']:.3g} FLOP/B; {ratio}".removesuffix("; "))


def outputs_agree(result):
    """Of pipelines that end on the same frame in every trial, by name."""
    seen = {}
    for trial in result["record"]["trials"]:
        members = result["configurations"][trial["configuration"]]["members"]
        for member, record in zip(members, trial["members"]):
            outputs = tuple((o["tensor"], o["checksum"]) for o in record["outputs"])
            frames = len(record["frames"]["begin"])
            seen.setdefault((member["name"], frames), set()).add(outputs)
    return all(len(found) == 1 for found in seen.values())
