// In words, what a frame's time goes to and what a span of its timeline is.
"use strict";

const spentWords = {
  queue: { title: "queue", meaning: "due, and not yet begun" },
  cpu: { title: "CPU stages", meaning: "a CPU stage at work" },
  enqueue: {
    title: "launching", meaning: "the host launching a device stage or the frame's graph",
  },
  device: { title: "device stages", meaning: "a device stage at work" },
  copy: { title: "copies", meaning: "a copy on the device" },
  stream_wait: {
    title: "waiting for the device",
    meaning: "launched, and its stream or the device was busy or had not started it",
  },
  worker_wait: {
    title: "waiting for a host thread",
    meaning: "everything was there, and no host thread had taken it up",
  },
  turn_wait: {
    title: "waiting for its turn", meaning: "the same stage was still at work on the frame before",
  },
  notice: {
    title: "until noticed", meaning: "the device was done, the host had not yet seen it",
  },
  untimed: { title: "not timed", meaning: "what the timing method does not see" },
};

const spanWords = {
  cpu: "CPU stage", enqueue: "launch", synced: "device stage between two waits of the host",
  device: "device stage", copy: "copy", part: "part of a device stage",
};

// The colour of a span by its kind.
const spanColours = {
  cpu: "cpu", enqueue: "enqueue", synced: "device", device: "device", copy: "copy", part: "device",
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
    element("li", { title: spentWords[kind].meaning },
      element("span", { class: `patch time time-${kind}`, "aria-hidden": "true" }),
      spentWords[kind].title)));
}
