// The sections of a roofline's page: what it comes to, and the picture.
"use strict";

graphline.section({
  id: "result",
  title: "Result",
  draws: (data) => Boolean(data.roofline),
  draw({ roofline }, box) {
    const { element, name } = graphline;
    box.append(figureRow(roofline.figures));
    if (roofline.findings.length) {
      box.append(element("ul", { class: "findings" },
        roofline.findings.map((text) => element("li", {}, name(asSentence(text))))));
    }
  },
});

graphline.section({
  id: "roofline",
  title: "Roofline",
  draws: (data) => Boolean(data.roofline),
  draw({ roofline }, box) {
    const { element } = graphline;
    const picture = new RooflinePicture(roofline);
    const parts = picture.pieces.some(({ part }) => part !== null);
    if (parts) {
      box.append(element("div", { class: "controls" },
        graphline.toggle("parts of stages", (on) => picture.showParts(on), true)));
    }
    box.append(element("figure", {}, picture.frame, rooflineLegend(parts), picture.told,
      element("figcaption", {}, rooflineCaption(roofline))));
    picture.draw();
    new ResizeObserver(() => picture.draw()).observe(picture.frame);
  },
});

// What the marks stand for.
function rooflineLegend(parts) {
  const { element, svg } = graphline;
  const sample = (...drawn) => svg("svg", {
    class: "roofs sample", viewBox: "0 0 26 14", width: 26, height: 14, "aria-hidden": "true",
  }, drawn);
  const dot = (d, style) => svg("g", { class: `piece ${style}`, style: `--tone: ${toneOf(0)}` },
    svg("path", { class: "dot", d }));
  return element("ul", { class: "legend" },
    element("li", {}, sample(dot(circlePath(13, 7, 5.5), "stage")), "device stage"),
    parts ? element("li", {}, sample(dot(diamondPath(13, 7, 5.5), "part")),
                    "part of the stage of that colour")
          : null,
    element("li", {}, sample(svg("path", { class: "roof", d: "M1 13L11 4H25" })), "roofs"),
    element("li", {}, sample(svg("circle", { class: "knee", cx: 13, cy: 7, r: 3.5 })), "knee"),
    element("li", {}, sample(svg("g", { class: "piece stage", style: `--tone: ${toneOf(0)}` },
      svg("path", { class: "gap", d: "M13 13V2M9 2h8" }))), "up to what its least time would be"));
}

function rooflineCaption({ stages, roofs }) {
  const unused = roofs.filter(({ used }) => !used).map(({ name }) => name);
  const without = stages
    .filter(({ what, flops, rate }) => what !== "cpu" && flops !== null && rate === null)
    .map(({ name }) => graphline.isolated(name));
  return "How many FLOPs a second were achieved over how many are made of each byte, both on " +
    "logarithmic scales. Left of a knee the memory is the roof, right of it the rate of the " +
    "arithmetic. What is above its roof has not moved all of its bytes through memory, or its " +
    "cost or the calibration does not hold. The larger a mark, the larger its share of the path " +
    "that bounds a frame. CPU stages and copies are not in it." +
    (unused.length ? ` Calibrated and not used: ${unused.join(", ")}.` : "") +
    (without.length ? ` Without FLOPs or a time: ${without.join(", ")}.` : "");
}
