"""The experiments that come with Graphline: that they run, compute the same, and what they find."""

from .context import result_of
from .outcome import FAIL, PASS, SHOWN

# What varies the input of a pipeline varies its outputs too, and so does another order of
# additions.
OTHER_OUTPUTS = ("batch_size", "gemv", "sweep_")
# Findings of outputs that are not those of other trials or configurations.
DIFFER = ("values_differ", "checksums_differ", "outputs_vary", "not_finite")


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
    context.outcome.data.setdefault("experiments", {})[file.stem] = result
    if not file.stem.startswith(OTHER_OUTPUTS):
        differ = [found["text"] for found in result["findings"] if found["key"] in DIFFER]
        context.outcome.add(f"{file.stem}, outputs", FAIL if differ else PASS,
                            "differ" if differ else "bit-equal", note="; ".join(differ))
    for c in result["comparisons"]:
        if c["figure"] == "p50":
            context.outcome.add(f"{file.stem}, {c['configuration']}", SHOWN,
                                f"{100 * (c['ratio'] - 1):+.1f} %",
                                note=f"{c['member']} against {c['reference']}: {c['verdict']}")
