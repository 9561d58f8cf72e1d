// The section that says where the time of all frames went, and what makes slow frames slow.
"use strict";

graphline.section({
  id: "attribution",
  title: "Where the time goes",
  draws: (data) => Boolean(data.attribution),
  draw(data, box) {
    const { element } = graphline;
    const { attribution } = data;
    const stages = data.pipeline.stages;
    if (attribution.findings.length > 0) {
      box.append(element("ul", { class: "findings" },
        attribution.findings.map((text) => element("li", {}, asSentence(text)))));
    }
    box.append(attributionFigure(attribution, stages));
    if (attribution.best_by_plan !== null) box.append(lowerBound(attribution));
    if (attribution.stages.length > 0) box.append(onAndOffPath(attribution, stages));
  },
});

const attributionGroups = [["all", "mean"], ["typical", "typical"], ["slowest", "slowest"]];

// "Bound by 'backbone' → 'head'." of "bound by 'backbone' -> 'head'", within whose arrow a line
// could end.
function asSentence(text) {
  const shown = text.replace(/ ->(?= (?:'|\d+ more ->))/g, " \u2192");
  return `${shown.charAt(0).toUpperCase()}${shown.slice(1)}${shown.endsWith(".") ? "" : "."}`;
}

function ownedTitle({ what, stage }, stages) {
  const title = spentTitle(what);
  return stage === null ? title : `${graphline.isolated(stages[stage].name)}: ${title}`;
}

// Rows of one kind added up, in the order in which the kinds come first.
function byKind(rows) {
  const kinds = new Map();
  for (const row of rows) {
    const sum = kinds.get(row.what) ??
      { what: row.what, stage: null, all: 0, typical: 0, slowest: 0 };
    for (const [key] of attributionGroups) sum[key] += row[key];
    kinds.set(row.what, sum);
  }
  return [...kinds.values()];
}

// One frame is typical and slowest at once: it has no groups.
function groupsOf(attribution) {
  return attribution.frames.all > 1 ? attributionGroups : [["all", "the frame"]];
}

// A bar for each group of frames, by kind of time or by stage and kind.
function attributionFigure(attribution, stages) {
  const { element, figure, counted } = graphline;
  const bars = element("div", { class: "bars" });
  const groups = groupsOf(attribution);
  const longest = Math.max(...groups.map(([key]) => attribution.end_to_end[key]));
  const draw = (rows) => bars.replaceChildren(
    ...groups.flatMap(([key, title]) => stackedBar(rows, key, title)));
  const stackedBar = (rows, key, title) => {
    const total = attribution.end_to_end[key];
    const frames = attribution.frames[key];
    const parts = rows.filter((row) => row[key] > 0).map((row) => {
      const part = row[key] / total;
      const words = `${ownedTitle(row, stages)}: ${graphline.duration(row[key])}, ` +
        `${shareText(part)}`;
      return element("span", {
        class: `time time-${row.what}`, title: words,
        style: `flex: 0 1 ${100 * row[key] / longest}%`,
      }, element("b", {}, shareText(part)));
    });
    return [
      element("span", { class: "of" }, title, element("br"),
        element("span", { class: "note" }, counted(frames, "frame"))),
      element("span", {
        class: "track", role: "img",
        "aria-label": `${title}: ${rows.map((row) =>
          `${ownedTitle(row, stages)} ${graphline.duration(row[key])}`).join(", ")}`,
      }, parts),
      element("span", { class: "amount" }, graphline.duration(total, 4)),
    ];
  };
  const kinds = byKind(attribution.rows);
  draw(kinds);
  const byStage = graphline.toggle("a piece for each stage",
    (checked) => draw(checked ? attribution.rows : kinds));
  const box = element("div", {}, element("div", { class: "controls" }, byStage), bars,
    timeLegend(kinds.map(({ what }) => what)));
  return figure(attributionCaption(attribution), box, attributionTable(attribution, stages));
}

// Where queue waits say nothing beyond the run, rows add up to the time from begin to end.
function wholeOf(attribution) {
  return attribution.why_no_queue === undefined ? "end to end" : "begin to end";
}

function attributionCaption(attribution) {
  const { duration } = graphline;
  const residual = attribution.largest_residual;
  const whole = attribution.why_no_queue === undefined ? "its end-to-end time"
    : "its time from begin to end";
  const unqueued = attribution.why_no_queue === undefined ? ""
    : ` Without queue wait: ${attribution.why_no_queue}.`;
  const averaged = attribution.frames.all > 1 ? ", on average: over all frames, those around the " +
    "median (45th to 55th percentile) and the slowest 1 %" : "";
  return `The path that bounds a frame, by what its time went to${averaged}. ` +
    (residual === 0 ? `In every frame the pieces add up to ${whole}.`
      : `In every frame the pieces add up to ${whole} within ` +
        `${duration(residual)}, where the clocks of device and host contradict each other ` +
        `(they are aligned to ${duration(attribution.clock_error)}).`) + unqueued;
}

function attributionTable(attribution, stages) {
  const { table, unitFor } = graphline;
  const unit = unitFor(attribution.end_to_end.all);
  // As many decimals in all rows as give the end-to-end time five digits, so that columns add up.
  const before = Math.floor(Math.log10(attribution.end_to_end.all / unit.ns)) + 1;
  const decimals = Math.max(0, Math.min(5 - before, Math.round(Math.log10(unit.ns))));
  const amount = (ns) => (ns / unit.ns).toFixed(decimals).replace(/^-(?=[0.]*$)/, "");
  const groups = groupsOf(attribution);
  const compared = groups.length > 1;
  const difference = (of) => {
    const text = amount(of.slowest - of.typical);
    return of.slowest > of.typical && Number(text) !== 0 ? `+${text}` : text;
  };
  const row = (name, what, of) => [name, what,
    ...groups.map(([key]) => amount(of[key])), ...(compared ? [difference(of)] : [])];
  const number = true;
  const titles = compared ? ["mean", "typical", "slowest 1 %", "slowest − typical"] : ["time"];
  return table(`Where the time of a frame goes, in ${unit.name}`,
    [{ title: "of" }, { title: "goes to" }, ...titles.map((title) => ({ title, number }))],
    [...attribution.rows.map((entry) => row(
      entry.stage === null ? "the frame" : graphline.name(stages[entry.stage].name),
      spentTitle(entry.what), entry)),
    row("residual", "", attribution.residual),
    row(wholeOf(attribution), "", attribution.end_to_end)]);
}

// What was achieved beside the lower bound with the same stage times.
function lowerBound(attribution) {
  const { element, duration, percent, table } = graphline;
  const { running } = attribution;
  const queued = attribution.why_no_queue !== undefined ||
    attribution.rows.some(({ what }) => what === "queue_wait");
  const bars = [
    ["achieved", running, "from begin to end, on average"],
    ["bound, this schedule", attribution.best_by_plan,
      "launches, waits and hand-overs take nothing; threads and streams as planned"],
    ["bound, any schedule", attribution.best_by_edges,
      "what waits for each other in the pipeline, the cores and the device, and nothing else"],
  ].filter(([, time]) => time !== null);
  const longest = Math.max(...bars.map(([, time]) => time));
  return element("div", {}, element("h3", {}, "Lower bound"), element("figure", {},
    element("div", { class: "bars" }, bars.flatMap(([name, time, meaning], i) => [
      element("span", { class: "of", title: meaning }, name),
      element("span", { class: "track low", "aria-hidden": "true" }, element("span", {
        class: `time time-${i === 0 ? "queue_wait" : "device"}`,
        style: `flex: 0 0 ${100 * time / longest}%`,
      })),
      element("span", { class: "amount" }, duration(time, 4)),
    ])),
    element("figcaption", {},
      `With the stage times that were measured, no frame of this schedule takes less than ` +
      `${duration(attribution.best_by_plan, 4)}, ` +
      `${percent(attribution.best_by_plan / running, 3)} of what it took` +
      `${queued ? " without its queue wait" : ""}.`),
    element("details", { class: "tabled" }, element("summary", {}, "As a table"),
      table("Lower bound of the time from begin to end",
        [{ title: "" }, { title: "time", number: true }, { title: "of achieved", number: true },
          { title: "meaning" }],
        bars.map(([name, time, meaning]) =>
          [name, duration(time, 4), percent(time / running, 3), meaning])))));
}

// Each stage's time by whether it bound the frame.
function onAndOffPath(attribution, stages) {
  const { element, percent, table } = graphline;
  const longest = Math.max(1, ...attribution.stages.map((of) => of.on_path + of.off_path));
  const width = (ns) => `flex: 0 0 ${99 * ns / longest}%`;
  const bars = attribution.stages.flatMap((of, i) => [
    element("span", { class: "of" }, graphline.name(stages[i].name)),
    element("span", { class: "track low", "aria-hidden": "true" },
      element("span", { class: `time time-${stages[i].colour}`, style: width(of.on_path) }),
      element("span",
        { class: `time beside time-${stages[i].colour}`, style: width(of.off_path) })),
    element("span", { class: "amount" }, `${percent(of.share_of_frames)} of frames`),
  ]);
  return element("div", {}, element("h3", {}, "On the path and beside it"), element("figure", {},
    element("div", { class: "bars" }, bars),
    element("figcaption", {}, "Solid: time of the stage that bound the frame, on average. Pale: " +
      "time that overlap moved off the path. At the end: the frames that the stage bound."),
    element("details", { class: "tabled" }, element("summary", {}, "As a table"),
      table("Time of the stages on the path and beside it",
        [{ title: "stage" }, { title: "on the path", number: true },
          { title: "beside it", number: true }, { title: "of frames", number: true }],
        attribution.stages.map((of, i) => [graphline.name(stages[i].name), meanText(of.on_path),
          meanText(of.off_path), percent(of.share_of_frames)])))));
}
