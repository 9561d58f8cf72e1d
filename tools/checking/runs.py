"""Each pipeline once, with its result."""

from .outcome import PASS

# The most valuable first.
PIPELINES = ("two_models", "gemv", "vit_block", "fan_out", "camera", "classify_onnx", "detector",
             "ocr", "resnet50")
FRAMES, SECONDS = 20, 40  # of a run
MODELS = {"ocr": "ppocr_v4"}  # folders of downloaded models


def check_runs(context):
    for name in PIPELINES[:1] if context.quick else PIPELINES:
        models = context.places.models / MODELS.get(name, "")
        if name in MODELS and not models.is_dir():
            context.outcome.not_run(name, f"{models} does not exist; tools/setup/models downloads "
                                    "it, and -D GRAPHLINE_BUNDLE_MODELS=ON adds it to the bundle")
            continue
        result = context.result_of(name, [
            "run", context.places.pipelines / f"{name}.yaml", "--frames", FRAMES, "--seed",
            context.seed], SECONDS)
        if result is not None:
            notes = [*result["warnings"], *(found["text"] for found in result["findings"])]
            context.outcome.add(name, PASS, f"{result['end_to_end']['p50']:.3f} ms",
                                note="\n".join(dict.fromkeys(notes)))
