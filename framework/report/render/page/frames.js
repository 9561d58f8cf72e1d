// Times frame by frame, which show drift and spikes.
"use strict";

// Returns the name of a series: "end to end", "backbone, device".
function titleOf({ name, what }) {
  return what ? `${name}, ${what}` : name;
}

page.chart("frames", (data, figure) => {
  const { element, duration, counted, whole } = page;
  let chosen = data.list[0];
  let all = false;

  // Returns the end of the axis if up to 2 % of the frames are far above the rest, else null.
  function topOf(times) {
    const sorted = [...times].sort((a, b) => a - b);
    const usual = sorted[Math.floor(0.98 * (sorted.length - 1))];
    return sorted[sorted.length - 1] > 3 * usual ? 1.5 * usual : null;
  }

  function configure() {
    const { frames, times } = chosen;
    const ofFrames = chosen === data.list[0];
    const top = all ? null : topOf(times);
    const longest = top ?? Math.max(...times);
    const unit = page.unitFor(longest);
    const dots = data.frames <= 300;
    const pointsOf = (series) =>
      series.frames.map((frame, i) => ({ x: frame, y: series.times[i] / unit.ns }));
    const datasets = [{
      label: titleOf(chosen), data: pointsOf(chosen),
      borderColor: page.faded("frame", dots ? 0.45 : 0.85), borderWidth: 1,
      backgroundColor: page.color("frame"), pointRadius: dots ? 2 : 0, clip: 5,
    }];
    // Omits a deadline far above all frames, which would flatten the curve.
    const limit = ofFrames && data.deadline <= 1.5 * longest ? data.deadline : null;
    const marks = limit === null ? [] : [{ axis: "y", at: limit / unit.ns,
                                           label: `deadline ${duration(limit)}`, tone: "bad" }];
    return {
      type: "line",
      data: { datasets },
      plugins: [page.marks(marks)],
      options: {
        parsing: false, normalized: true,
        onClick: (_, [found]) => {
          if (!found) return;
          const frame = datasets[found.datasetIndex].data[found.index].x;
          document.dispatchEvent(new CustomEvent("graphline:frame", { detail: { frame } }));
          document.getElementById("timeline")?.scrollIntoView();
        },
        scales: {
          x: { type: "linear", min: 0, max: Math.max(data.frames - 1, 1),
               title: { text: "frame" }, grid: { display: false },
               ticks: { precision: 0, callback: (value) => whole.format(value) } },
          y: { type: "linear", title: { text: unit.name },
               suggestedMax: limit === null ? undefined : limit / unit.ns,
               max: top === null ? undefined : top / unit.ns },
        },
        plugins: {
          tooltip: {
            callbacks: {
              title: (items) => (items.length ? `frame ${whole.format(items[0].parsed.x)}` : ""),
              label: ({ dataset, parsed }) =>
                ` ${dataset.label}: ${duration(Math.round(parsed.y * unit.ns), 5)}`,
            },
          },
        },
      },
    };
  }

  function words() {
    const drawn = chosen.frames.length;
    const texts = ["The time of each frame, in the order in which they were due."];
    if (drawn < data.frames) {
      texts.push(`${counted(drawn, "point")} of ${whole.format(data.frames)} are drawn: ` +
        "the shortest and the longest of every stretch, so that each spike shows.");
    }
    const top = all ? null : topOf(chosen.times);
    if (top !== null) {
      const beyond = chosen.times.filter((time) => time > top).length;
      texts.push(`The axis ends at ${duration(top)}: ${counted(beyond, "point")} lie above it, ` +
        `up to ${duration(Math.max(...chosen.times))}.`);
    }
    if (document.getElementById("timeline")) {
      texts.push("A click shows that frame in the timeline.");
    }
    return texts.join(" ");
  }

  const entry = page.canvas(figure, "Times by frame", configure, 300);
  const caption = element("figcaption", {}, words());
  figure.append(caption);
  page.choice(figure, "Times of", data.list.map(titleOf), (i) => {
    chosen = data.list[i];
    entry.redraw();
    caption.textContent = words();
  });
  if (!data.list.some(({ times }) => topOf(times) !== null)) return;
  page.choice(figure, "Axis", ["of usual frames", "of all frames"], (i) => {
    all = i === 1;
    entry.redraw();
    caption.textContent = words();
  });
});
