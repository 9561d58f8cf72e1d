// In words, what a frame's time goes to and what a span of its timeline is.
"use strict";

const spentMeanings = {
  queue_wait: "due, and not yet begun",
  cpu: "a CPU stage at work",
  launch: "the host launching a device stage or the frame's graph",
  device: "a device stage at work",
  copy: "a copy on the device",
  stream_wait: "launched, and its stream or the device was busy or had not started it",
  thread_wait: "everything was there, and no host thread had taken it up; at a frame's end: all " +
    "was done, and the one host thread was at work on other frames",
  turn_wait: "the same stage was still at work on the frame before",
  unnoticed: "the device was done, and the host had not yet seen it",
  untimed: "what the timing method does not see",
};

// The word for it: "stream wait".
const spentTitle = (kind) => kind.replaceAll("_", " ");

const spanWords = {
  cpu: "CPU stage", launch: "launch", synced: "device stage between two waits of the host",
  device: "device stage", copy: "copy", part: "part of a device stage",
};

// The colour of a span by its kind.
const spanColours = {
  cpu: "cpu", launch: "launch", synced: "device", device: "device", copy: "copy", part: "device",
};

// A part of a whole: what is there and very small is not drowned in digits.
function shareText(part, significant = 2) {
  return part > 0 && part < 0.001 ? "< 0.1 %" : graphline.percent(part, significant);
}

// A mean time: below a microsecond in whole nanoseconds.
function meanText(ns, significant = 3) {
  return graphline.duration(ns !== null && ns < 1000 ? Math.round(ns) : ns, significant);
}

// Little squares with what their colours stand for, of kinds of time.
function timeLegend(kinds) {
  const { element } = graphline;
  return element("ul", { class: "legend", "aria-label": "Colours" }, kinds.map((kind) =>
    element("li", { title: spentMeanings[kind] },
      element("span", { class: `patch time time-${kind}`, "aria-hidden": "true" }),
      spentTitle(kind))));
}
