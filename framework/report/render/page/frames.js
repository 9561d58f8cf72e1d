// How long each frame took, one after another: drift and spikes show.
"use strict";

page.chart("frames", (data, figure) => {
  const { element, duration, counted, digits, whole, name } = page;
  const [endToEnd, ...stages] = data.list;
  const longest = Math.max(...endToEnd.times);
  // The unit of what is drawn: one long frame would read "140,000 us" in that of the median.
  const unit = page.unitFor(longest);
  const shown = new Set();
  const names = page.distinct(stages.map((stage) => page.brief(stage.name)));
  let fromZero = false;
  let logarithmic = false;

  // Colors of stages are the page's for a series; a dash tells apart those that share one.
  const colors = 6;
  const colorOf = (i) => `series-${i % colors + 1}`;
  const dashOf = (i) => (i < colors ? [] : [6, 3]);

  const pointsOf = ({ frames, times }) =>
    frames.map((frame, i) => ({ x: frame, y: times[i] / unit.ns }));

  // As they stand among the datasets.
  const inOrder = () => [endToEnd, ...[...shown].map((i) => stages[i])];

  function datasets() {
    const dots = data.frames <= 300;
    const list = [{
      label: "end to end", data: pointsOf(endToEnd),
      borderColor: page.faded("frame", dots ? 0.45 : 0.85), borderWidth: 1,
      backgroundColor: page.color("frame"), pointBorderWidth: 0,
      pointRadius: dots ? 2 : 0, pointHitRadius: 12, pointHoverRadius: 4, clip: 5,
    }];
    for (const i of shown) {
      list.push({
        label: page.isolated(names[i]), data: pointsOf(stages[i]),
        borderColor: page.color(colorOf(i)), borderDash: dashOf(i), borderWidth: 1,
        backgroundColor: page.color(colorOf(i)), pointRadius: 0, pointHoverRadius: 4,
      });
    }
    if (data.median) {
      list.push({
        label: "rolling median", data: pointsOf(data.median), keys: false, order: -1,
        borderColor: page.color("accent"), borderWidth: 2, pointRadius: 0,
        pointHoverRadius: 0,
      });
    }
    return list;
  }

  // Frames that were dropped, as triangles on the axis where they would have been.
  const dropped = {
    id: "droppedFrames",
    afterDatasetsDraw({ ctx, chartArea, scales }) {
      ctx.save();
      ctx.fillStyle = page.color("bad");
      for (const [frame] of data.dropped) {
        const x = scales.x.getPixelForValue(frame - 0.5);
        if (x < chartArea.left - 1 || x > chartArea.right + 1) continue;
        ctx.beginPath();
        ctx.moveTo(x, chartArea.bottom - 9);
        ctx.lineTo(x - 4.5, chartArea.bottom - 1);
        ctx.lineTo(x + 4.5, chartArea.bottom - 1);
        ctx.fill();
      }
      ctx.restore();
    },
  };

  // A limit far beyond all frames is told in words, lest it press them to the floor.
  const limit = data.deadline;
  const limitShows = limit !== null && limit <= 1.5 * longest;

  // A time is never less than nothing: room below the shortest must not show such times.
  function nearZero() {
    const least = Math.min(...inOrder().flatMap(({ times }) => times));
    return least < 0.1 * longest;
  }

  // Few digits, so that decades are told from what lies between them.
  function powerOfTen(value) {
    const power = Math.round(Math.log10(value));
    return Math.abs(value / Math.pow(10, power) - 1) < 1e-9
      ? value.toLocaleString("en", { maximumFractionDigits: 9 }) : null;
  }

  function timeAxis() {
    const axis = { title: { text: unit.name },
                   suggestedMax: limitShows ? limit / unit.ns * 1.02 : undefined };
    return logarithmic
      ? { ...axis, type: "logarithmic", ticks: { callback: powerOfTen } }
      : { ...axis, grace: "5%", beginAtZero: fromZero || nearZero() };
  }

  function configure() {
    const deadline = { axis: "y", at: limit / unit.ns, label: `deadline ${duration(limit)}`,
                       tone: "bad" };
    return {
      type: "line",
      data: { datasets: datasets() },
      plugins: [page.marks(limitShows ? [deadline] : []), dropped],
      options: {
        parsing: false, normalized: true,
        interaction: { mode: "read" },
        onPick: ({ dataset, index }) => {
          chosen(inOrder()[dataset].frames[index]);
        },
        scales: {
          x: { type: "linear", min: 0, max: Math.max(data.frames - 1, 1),
               title: { text: "frame" }, grid: { display: false },
               ticks: { precision: 0, callback: (value) => whole.format(value) } },
          y: timeAxis(),
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

  function chosen(frame) {
    document.dispatchEvent(new CustomEvent("graphline:frame", { detail: { frame } }));
    document.getElementById("timeline")?.scrollIntoView();
  }

  function overlays(entry) {
    if (!stages.length) return null;
    return element("fieldset", { class: "choices" }, element("legend", {}, "Stages to show too"),
      stages.map(({ what }, i) => {
        const label = [
          element("span", { class: `swatch${i < colors ? "" : " dashed"}`,
                            style: `--swatch: var(--${colorOf(i)})`, "aria-hidden": "true" }),
          name(names[i]), element("span", { class: "note" }, what)];
        return page.toggle(label, (on) => {
          if (on) shown.add(i);
          else shown.delete(i);
          entry.redraw();
          showLegend();
        });
      }));
  }

  function words() {
    const texts = ["End-to-end time of each frame, in the order in which they were due."];
    if (endToEnd.frames.length < data.frames) {
      texts.push(`${counted(endToEnd.frames.length, "point")} of ` +
        `${whole.format(data.frames)} are drawn: ` +
        "the shortest and the longest of every stretch, so that each spike shows.");
    }
    if (data.median) {
      texts.push(`The median is over ${2 * data.reach + 1} frames around each.`);
    }
    if (limit !== null && !limitShows) {
      texts.push(`The deadline of ${duration(limit)} lies beyond the chart.`);
    }
    if (data.dropped_in_all > 0) {
      texts.push(`${counted(data.dropped_in_all, "frame")} that ` +
        `${data.dropped_in_all === 1 ? "was" : "were"} dropped: triangles on the axis, where ` +
        "they were due.");
    }
    texts.push("The arrow keys move from frame to frame, with Shift in larger steps" +
      (document.getElementById("timeline") ? "; a click or Enter shows that frame in the timeline."
        : "."));
    return texts.join(" ");
  }

  function asTable() {
    const { table } = page;
    const amount = (time) => digits(time / unit.ns, 5);
    if (data.frames === data.stretches.length) {
      return table("End-to-end time of each frame",
        [{ title: "frame" }, { title: unit.name, number: true }],
        data.stretches.map(({ first, shortest }) => [whole.format(first), amount(shortest)]));
    }
    const number = true;
    return table(
      `End-to-end times of all ${whole.format(data.frames)} frames in ` +
        `${data.stretches.length} stretches (${unit.name})`,
      [{ title: "frames" }, { title: "shortest", number }, { title: "median", number },
       { title: "longest", number }, { title: "its frame", number }],
      data.stretches.map(({ first, last, shortest, median, longest, longest_at: at }) => [
        `${whole.format(first)} to ${whole.format(last)}`, amount(shortest), amount(median),
        amount(longest), whole.format(at)]));
  }

  const picture = element("div", {});
  const controls = element("div", { class: "controls" });
  figure.append(controls, picture, element("figcaption", {}, words()), page.tabled(asTable()));
  let legend = element("ul", {});
  picture.append(legend);
  // On paper the boxes that choose stages are not there: what is drawn is named here too.
  function showLegend() {
    const lines = [{ name: "end to end", color: "frame" }];
    if (data.median) lines.push({ name: "rolling median", color: "accent" });
    for (const i of shown) {
      lines.push({ name: name(names[i]), color: colorOf(i), dash: i >= colors });
    }
    const now = page.legend(lines);
    legend.replaceWith(now);
    legend = now;
  }
  showLegend();
  const entry = page.canvas(picture, "End-to-end time by frame", configure, 300);
  const startAtZero = page.toggle("Start at zero", (on) => {
    fromZero = on;
    entry.redraw();
  });
  controls.append(startAtZero, page.toggle("Logarithmic", (on) => {
    logarithmic = on;
    startAtZero.querySelector("input").disabled = on;  // such an axis has no zero
    entry.redraw();
  }));
  const more = overlays(entry);
  if (more) controls.append(more);
});
