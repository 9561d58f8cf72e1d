"""Each pipeline once, with its result."""

from .outcome import PASS

# The most valuable first.
PIPELINES = ("two_models", "gemv", "vit_block", "fan_out", "camera", "classify_onnx", "detector",
             "cascade", "ocr", "resnet50")
FRAMES, SECONDS = 20, 40  # of a run
MODELS = {"ocr": "ppocr_v4"}  # folders of downloaded models


def check_runs(context):
    for name in PIPELINES[:1] if context.quick else PIPELINES:
        models = context.places.models / MODELS.get(name, "")
        if name in MODELS and not models.is_dir():
            context.outcome.not_run(name, f"{models} does not exist; tools/setup/models downloads "
                                    "it, and -D GRAPHLINE_BUNDLE_MODELS=ON adds it to the bundle")
            continue
        try:
            check_run(context, name, context.places.pipelines / f"{name}.yaml")
        except Exception as error:  # an error in one pipeline must not lose the others
            context.outcome.add_error(name, error)
    if context.on_gpu:  # so that --second finds its tuned plans
        check_run(context, "two_models, float16",
                  context.pipeline_with("two_models", "precision: float16"))


def check_run(context, name, pipeline):
    result = context.result_of(name, ["run", pipeline, "--frames", FRAMES, "--seed", context.seed],
                               SECONDS)
    if result is not None:
        notes = [*result["warnings"], *(found["text"] for found in result["findings"])]
        context.outcome.add(name, PASS, f"{result['end_to_end']['p50']:.3f} ms",
                            note="\n".join(dict.fromkeys(notes)))
