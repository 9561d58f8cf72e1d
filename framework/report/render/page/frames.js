// How long each frame took, one after another: drift and spikes show.
"use strict";

// Names for a choice of frames' and stages' times: "end to end", "backbone, device".
function titlesOf(list) {
  return page.distinct(list.map(({ name, what }) => {
    const whose = page.isolated(page.brief(name, 60));
    return what ? `${whose}, ${what}` : whose;
  }));
}

// Of an axis that may be logarithmic: few digits, so that decades are told from what lies between.
function powerOfTen(value) {
  const power = Math.round(Math.log10(value));
  return Math.abs(value / Math.pow(10, power) - 1) < 1e-9
    ? value.toLocaleString("en", { maximumFractionDigits: 9 }) : null;
}

page.chart("frames", (data, figure) => {
  const { element, duration, counted, whole } = page;
  const titles = titlesOf(data.list);
  let chosen = 0;
  let logarithmic = false;

  function configure() {
    const { frames, times } = data.list[chosen];
    const ofFrames = chosen === 0;
    const longest = Math.max(...times);
    const unit = page.unitFor(longest);
    const dots = data.frames <= 300;
    const pointsOf = (series) =>
      series.frames.map((frame, i) => ({ x: frame, y: series.times[i] / unit.ns }));
    const datasets = [{
      label: titles[chosen], data: pointsOf(data.list[chosen]),
      borderColor: page.faded("frame", dots ? 0.45 : 0.85), borderWidth: 1,
      backgroundColor: page.color("frame"), pointBorderWidth: 0,
      pointRadius: dots ? 2 : 0, pointHitRadius: 12, pointHoverRadius: 4, clip: 5,
    }];
    // A deadline far beyond all frames would press them to the floor.
    const limit = ofFrames && data.deadline <= 1.5 * longest ? data.deadline : null;
    const marks = limit === null ? [] : [{ axis: "y", at: limit / unit.ns,
                                           label: `deadline ${duration(limit)}`, tone: "bad" }];
    return {
      type: "line",
      data: { datasets },
      plugins: [page.marks(marks)],
      options: {
        parsing: false, normalized: true,
        interaction: { mode: "read" },
        onPick: ({ index }) => {
          document.dispatchEvent(
            new CustomEvent("graphline:frame", { detail: { frame: frames[index] } }));
          document.getElementById("timeline")?.scrollIntoView();
        },
        scales: {
          x: { type: "linear", min: 0, max: Math.max(data.frames - 1, 1),
               title: { text: "frame" }, grid: { display: false },
               ticks: { precision: 0, callback: (value) => whole.format(value) } },
          y: { type: logarithmic ? "logarithmic" : "linear", title: { text: unit.name },
               suggestedMax: limit === null ? undefined : limit / unit.ns,
               ticks: logarithmic ? { callback: powerOfTen } : {} },
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
    const drawn = data.list[chosen].frames.length;
    const texts = ["The time of each frame, in the order in which they were due."];
    if (drawn < data.frames) {
      texts.push(`${counted(drawn, "point")} of ${whole.format(data.frames)} are drawn: ` +
        "the shortest and the longest of every stretch, so that each spike shows.");
    }
    texts.push("The arrow keys move from frame to frame, with Shift in larger steps" +
      (document.getElementById("timeline") ? "; a click or Enter shows that frame in the timeline."
        : "."));
    return texts.join(" ");
  }

  const picture = element("div", {});
  const controls = element("div", { class: "controls" });
  const caption = element("figcaption", {}, words());
  figure.append(controls, picture, caption);
  const entry = page.canvas(picture, "Times by frame", configure, 300);
  function show() {
    entry.redraw();
    caption.textContent = words();
  }
  if (titles.length > 1) {
    controls.append(page.choice("Times of", titles.map((text, i) => [i, text]), (i) => {
      chosen = Number(i);
      show();
    }));
  }
  controls.append(page.toggle("Logarithmic", (on) => {
    logarithmic = on;
    show();
  }));
});
