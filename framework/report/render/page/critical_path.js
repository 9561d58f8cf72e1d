// What the critical path of all frames consists of, and the words for what a frame's time goes to.
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

// By the kinds of spans of a timeline.
const spanWords = {
  cpu: "CPU stage", launch: "enqueue", synced: "device stage between two waits of the host",
  device: "device stage", copy: "copy", part: "part of a device stage",
};

// The color of a span by its kind.
const spanColors = {
  cpu: "cpu", launch: "launch", synced: "device", device: "device", copy: "copy", part: "device",
};

// What style.css colors by `--time`: with the color of a kind.
const timeStyle = (kind) => `--time: var(--${kind})`;

// Little squares with what their colors stand for, of kinds of time.
function timeLegend(kinds) {
  const { element } = page;
  return element("ul", { class: "legend", "aria-label": "Colors" }, kinds.map((kind) =>
    element("li", { title: timeWords[kind][1] },
      element("span", { class: "patch time", style: timeStyle(kind), "aria-hidden": "true" }),
      timeTitle(kind))));
}

// A bar for each group of frames, of what their time goes to.
page.chart("critical_path", ({ bars }, figure) => {
  const { counted, duration, percent } = page;
  const unit = page.unitFor(Math.max(...bars.map(({ whole }) => whole)));
  const kinds = Object.keys(timeWords).filter((kind) =>
    bars.some(({ pieces }) => pieces.some(([what]) => what === kind)));
  const timeOf = ({ pieces }, kind) => pieces.find(([what]) => what === kind)?.[1] ?? 0;
  page.canvas(figure, "What the time of frames goes to", () => ({
    type: "bar",
    data: {
      labels: bars.map(({ title, frames }) => [title, counted(frames, "frame")]),
      datasets: kinds.map((kind) => ({
        label: timeTitle(kind), backgroundColor: page.color(kind),
        data: bars.map((bar) => timeOf(bar, kind) / unit.ns),
      })),
    },
    options: {
      indexAxis: "y", interaction: { axis: "y" },
      scales: { x: { stacked: true, title: { text: unit.name } },
                y: { stacked: true, title: { display: false }, grid: { display: false } } },
      plugins: { tooltip: { callbacks: {
        title: ([{ dataIndex }]) => `${bars[dataIndex].title}: ${duration(bars[dataIndex].whole)}`,
        label: ({ datasetIndex, dataIndex }) => {
          const time = timeOf(bars[dataIndex], kinds[datasetIndex]);
          const share = percent(time / bars[dataIndex].whole);
          return `${timeTitle(kinds[datasetIndex])}: ${duration(time)}, ${share}`;
        },
      } } },
    },
  }), 60 + 44 * bars.length);
  figure.append(timeLegend(kinds));
});
