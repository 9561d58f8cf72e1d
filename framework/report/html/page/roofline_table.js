// The figures of all stages and parts against their floors, and the calibration they rest on.
"use strict";

graphline.section({
  id: "pieces",
  title: "Stages and parts",
  draws: (data) => Boolean(data.roofline),
  draw({ roofline }, box) {
    const { element } = graphline;
    const place = element("div", {});
    const redraw = (order) => place.replaceChildren(rooflineTable(roofline, order));
    const ordered = roofline.by_gain.length > 1;
    if (ordered) {
      box.append(element("div", { class: "controls" }, graphline.choice("Order",
        [["plan", "as planned"], ["gain", "by time above the floor on the path"]], redraw)));
    }
    box.append(place, element("ul", { class: "notes" }, [
      "least: the larger of what the bytes take at the bandwidths of reading, writing and " +
        "copying and the FLOPs at the roof of their arithmetic; of a copy, its bytes at the " +
        "bandwidth between host and device; of a stage with parts, their sum",
      "measured: the median frame's; of a stage under timing event, of a part under timing " +
        "layers, whose events lengthen it a little",
      "ratio: measured over least; its bar is full where nothing is left to gain",
      "share: of the path that bounds a frame; of a part, by its part of the stage's time",
    ].map((text) => element("li", {}, text))));
    redraw("plan");
  },
});

function rooflineTable({ stages, by_gain: byGain }, order) {
  const number = true;
  const planned = stages.map((_, i) => i);
  const shown = order === "gain"
    ? [...byGain, ...planned.filter((i) => !byGain.includes(i))] : planned;
  return graphline.table("Stages and their parts", [
    { title: "stage or part" }, { title: "FLOPs", number }, { title: "bytes", number },
    { title: "FLOP/B", number }, { title: "bound by" }, { title: "least", number },
    { title: "measured", number }, { title: "ratio", number }, { title: "share", number },
  ], shown.flatMap((i) => [rooflineRow(stages[i], stages[i]),
                           ...stages[i].parts.map((part) => rooflineRow(part, stages[i], true))]));
}

function rooflineRow(piece, stage, part = false) {
  const { element, name, digits, duration } = graphline;
  const under = part ? piece.by : stage.what === "cpu" ? `${piece.kind} · CPU` : piece.kind;
  const compute = piece.bound === "compute" ? `compute, ${piece.arithmetic}` : piece.bound;
  const amount = (text) => text === null ? "-" : text.startsWith("0 ") ? "0" : text;
  return [
    element("span", { class: part ? "inner" : null }, name(piece.name),
      under ? element("span", { class: "under" }, name(under)) : null),
    amount(piece.flops), amount(piece.bytes), digits(piece.intensity), compute ?? "-",
    duration(piece.least), duration(piece.measured),
    piece.ratio === null ? "-" : shareBar(ratioText(piece.ratio), 1 / piece.ratio, stage.what),
    piece.share === null ? "-" : shareText(piece.share),
  ];
}

graphline.section({
  id: "calibration",
  title: "Calibration",
  draws: (data) => Boolean(data.roofline),
  draw({ roofline: { calibration } }, box) {
    const { element, name, table } = graphline;
    const number = true;
    box.append(element("p", {}, "Measured on ", element("time", { datetime: calibration.date },
      calibration.date), calibration.stale.length ? "."
      : ", on a device and with libraries that have not changed since."));
    if (calibration.stale.length) {
      box.append(element("p", { class: "notice warning" }, "It may no longer hold; ",
        element("code", {}, "graphline calibrate"), " measures anew. Why: ",
        name(calibration.stale.join("; ")), "."));
    }
    box.append(table("Ceilings of the device", [
      { title: "ceiling" }, { title: "median", number },
      { title: "at p90 of times", number }, { title: "at p10 of times", number },
    ], calibration.rows));
  },
});
