// What the critical path of all frames consists of, how near it is to its lower bound, and what
// each stage spends on it; and the words for what a frame's time goes to.
"use strict";

// By the words of the record: what people call it, and what it is.
const timeWords = {
  queue_wait: ["queue wait", "due, and not yet begun"],
  cpu: ["cpu", "a CPU stage at work"],
  launch: ["enqueue", "the host enqueueing a device stage or launching the frame's graph"],
  device: ["device", "a device stage at work"],
  copy: ["copy", "a copy on the device"],
  stream_wait: ["stream wait",
    "enqueued, and its stream or the device was busy or had not started it"],
  worker_wait: ["worker wait", "everything was there, and no host thread had taken it up; at a " +
    "frame's end: all was done, and the one host thread was at work on other frames"],
  previous_frame_wait: ["previous-frame wait",
    "the same stage was still at work on the frame before"],
  completion_delay: ["completion delay", "the device was done, and the host had not yet seen it"],
  untimed: ["untimed", "what the timing method does not see"],
};
const timeTitle = (kind) => timeWords[kind][0];

// A mean time: below a microsecond in whole nanoseconds.
function meanText(ns, significant = 3) {
  return page.duration(ns !== null && ns < 1000 ? Math.round(ns) : ns, significant);
}

// Little squares with what their colors stand for, of kinds of time.
function timeLegend(kinds) {
  const { element } = page;
  return element("ul", { class: "legend", "aria-label": "Colors" }, kinds.map((kind) =>
    element("li", { title: timeWords[kind][1] },
      element("span", { class: `patch time time-${kind}`, "aria-hidden": "true" }),
      timeTitle(kind))));
}

page.chart("critical_path", (data, figure) => {
  const { element } = page;
  figure.append(...pathBars(data));
  if (data.bound !== null) figure.append(element("h3", {}, "Lower bound"), ...boundBars(data));
  if (data.stages.some(({ on_path: on }) => on !== undefined)) {
    figure.append(element("h3", {}, "On and off the critical path"), ...stageBars(data));
  }
});

// A bar in a grid of bars: its name, its pieces and the amount at its end. A piece: {kind, part (of
// the longest bar), title, text, pale}.
function bar(name, pieces, amount, words) {
  const { element } = page;
  const low = pieces.every(({ text }) => text === undefined);
  return [
    element("span", { class: "of" }, name),
    element("span", { class: `track ${low ? "low" : ""}`, role: "img", "aria-label": words },
      pieces.map(({ kind, part, title, text, pale }) => element("span", {
        class: `time time-${kind} ${pale ? "beside" : ""}`, title,
        style: `flex: 0 ${low ? 0 : 1} ${(low ? 99 : 100) * part}%`,
      }, text === undefined ? null : element("b", {}, text)))),
    element("span", { class: "amount" }, amount),
  ];
}

// Rows of one kind added up, in the order in which the kinds come first.
function byKind(rows, groups) {
  const kinds = new Map();
  for (const row of rows) {
    const sum = kinds.get(row.what) ?? { what: row.what, stage: null };
    for (const { key } of groups) sum[key] = (sum[key] ?? 0) + row[key];
    kinds.set(row.what, sum);
  }
  return [...kinds.values()];
}

// A bar for each group of frames, by kind of time or by stage and kind.
function pathBars(data) {
  const { element, counted, duration, isolated, percent } = page;
  const bars = element("div", { class: "bars" });
  const longest = Math.max(...data.groups.map(({ end_to_end: total }) => total));
  const titleOf = ({ what, stage }) => (stage === null ? timeTitle(what)
    : `${isolated(data.stages[stage].name)}: ${timeTitle(what)}`);
  const barOf = (rows, { key, title, frames, end_to_end: total }) => bar(
    [title, element("br"), element("span", { class: "note" }, counted(frames, "frame"))],
    rows.filter((row) => row[key] > 0).map((row) => {
      const text = percent(row[key] / total);
      return { kind: row.what, part: row[key] / longest, text,
               title: `${titleOf(row)}: ${duration(row[key])}, ${text}` };
    }),
    duration(total, 4),
    `${title}: ${rows.map((row) => `${titleOf(row)} ${duration(row[key])}`).join(", ")}`);
  const draw = (rows) =>
    bars.replaceChildren(...data.groups.flatMap((group) => barOf(rows, group)));
  const kinds = byKind(data.rows, data.groups);
  draw(kinds);
  return [
    element("div", { class: "controls" },
      page.toggle("a piece for each stage", (checked) => draw(checked ? data.rows : kinds))),
    bars, timeLegend(kinds.map(({ what }) => what))];
}

// What was achieved beside the lower bound with the same stage times.
function boundBars({ running, bound, bound_of_any: boundOfAny }) {
  const { element, duration, percent } = page;
  const bars = [
    ["achieved", running, "from begin to end, on average"],
    ["bound, this schedule", bound,
      "enqueueing, waits and hand-overs take nothing; threads and streams as planned"],
    ["bound, any schedule", boundOfAny,
      "what waits for each other in the pipeline, the cores and the device, and nothing else"],
  ].filter(([, time]) => time !== null);
  const longest = Math.max(...bars.map(([, time]) => time));
  return [
    element("div", { class: "bars" }, bars.map(([name, time, title], i) => bar(name,
      [{ kind: i === 0 ? "queue_wait" : "device", part: time / longest, title }],
      duration(time, 4), `${name}: ${title}`))),
    element("p", { class: "note" },
      `With these stage times, no frame of this schedule takes less than ${duration(bound, 4)}, ` +
      `${percent(bound / running, 3)} of its mean time from begin to end.`)];
}

// Each stage's time by whether it was on the critical path.
function stageBars({ stages }) {
  const { element, percent } = page;
  const longest = Math.max(1, ...stages.map(({ on_path: on, off_path: off }) => on + off));
  return [
    element("div", { class: "bars" },
      stages.map(({ name, color, on_path: on, off_path: off, share_of_frames: share }) =>
        bar(page.name(name),
          [{ kind: color, part: on / longest }, { kind: color, part: off / longest, pale: true }],
          `${percent(share)} of frames`, `${meanText(on)} on the critical path, ${
            meanText(off)} off it`))),
    element("p", { class: "note" }, "Solid: mean time on the critical path. Pale: time that " +
      "overlap hid. At the end: frames whose critical path the stage is on.")];
}
