"""What the comparisons on pipelines/two_models.yaml start from."""

NOISE = ["noise"]  # its stage that is CPU work


# Those that are compared, the one that a pipeline has by itself first.
PRECISIONS = ("float32", "float16", "tf32")


def precisions(context):
    """Those of them that the device has."""
    return [p for p in PRECISIONS if p in context.precisions()]


def variant(context, precision, cpu_work=True):
    """The pipeline in a precision, with its CPU work or as the networks alone."""
    path = context.places.pipelines / "two_models.yaml"
    return context.variant(path, precision, () if cpu_work else NOISE)


def tensors_of(context, precision):
    """A folder with its image, weights and score, for the others to start from; or as text why
    there is none."""
    if precision not in context.two_models_tensors:
        folder = context.name("-two_models")
        done, result = context.run(variant(context, precision), "--frames", 2, "--warmup", 1,
                                   "--save-tensors", folder)
        if not result:
            return done.reason()
        context.two_models_tensors[precision] = folder
    return context.two_models_tensors[precision]
