// What Chart.js draws of an experiment: a parameter that is swept, and trials over time.
"use strict";

(() => {
  const { element, isolated, digits } = page;
  const shapes = ["circle", "triangle", "rect", "rectRot", "crossRot", "star", "cross"];
  const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [1, 3], [4, 6]];
  const tones = 6;
  // As many configurations as there are tones differ by color, further ones by dashes and shapes.
  const toneName = (i) => `series-${(i % tones) + 1}`;
  const looks = (i) => ({
    borderColor: page.color(toneName(i)), backgroundColor: page.color(toneName(i)),
    borderDash: dashes[Math.floor(i / tones) % dashes.length], borderWidth: 2,
    pointStyle: shapes[(i + Math.floor(i / tones)) % shapes.length],
  });

  // A list of switches, one for each name; `redraw` is called when one changes. Returns the set of
  // indices that are switched off.
  function switches(names, figure, redraw) {
    const hidden = new Set();
    if (names.length < 2) return hidden;
    figure.append(element("div", { class: "controls switches" }, names.map((name, i) => {
      const button = element("button", { type: "button", "aria-pressed": "true", onclick() {
        hidden.has(i) ? hidden.delete(i) : hidden.add(i);
        button.setAttribute("aria-pressed", String(!hidden.has(i)));
        redraw();
      } }, element("span", { class: "swatch", style: `--swatch: var(--${toneName(i)})`,
                             "aria-hidden": "true" }), page.name(name));
      return button;
    })));
    return hidden;
  }

  // Positive values that span more than a decade are drawn over decades.
  function axisType(values) {
    const least = Math.min(...values);
    return least > 0 && Math.max(...values) > 10 * least ? "logarithmic" : "linear";
  }
  const plain = (value) => String(Number(value.toPrecision(6)));

  // ---- A sweep ----------------------------------------------------------------------------------

  page.chart("sweep", (data, figure) => {
    const pair = element("div", { class: "pair" });
    figure.append(pair);
    const x = axisType(data.at);
    const scaled = (type) => (type === "logarithmic" ? ", logarithmic" : "");
    const parameter = isolated(data.parameter);
    for (const { title, lines } of data.panels) {
      const box = element("div", {});
      pair.append(box);
      const y = axisType(lines.flatMap(({ values }) => values.filter((value) => value !== null)));
      const tone = (i) => (i === 0 ? "series-1" : "ink");
      box.append(page.legend(lines.map(({ name }, i) =>
        ({ name, color: tone(i), dash: i > 0 }))));
      page.canvas(box, `${title} against ${data.parameter}`, () => ({
        type: "line",
        data: { datasets: lines.map(({ name, values }, i) => ({
          label: name,
          data: values.map((value, at) => ({ x: data.at[at], y: value, text: data.texts[at] }))
            .filter((point) => point.y !== null),
          borderColor: page.color(tone(i)), backgroundColor: page.color(tone(i)),
          borderDash: i > 0 ? [5, 4] : [], radius: i > 0 ? 2.5 : 4, hoverRadius: 6, borderWidth: 2,
          clip: 8,
        })) },
        options: {
          interaction: { mode: "read" },
          scales: {
            // A figure at each value of the sweep: what lies between was not measured.
            x: { type: x, min: data.at[0], max: data.at.at(-1), grid: { display: false },
                 title: { text: `${parameter}${scaled(x)}` },
                 afterBuildTicks: (axis) => { axis.ticks = data.at.map((value) => ({ value })); },
                 ticks: { callback: (_, i) => data.texts[i], autoSkip: true } },
            y: { type: y, beginAtZero: y === "linear", title: { text: `${title}${scaled(y)}` },
                 ticks: { callback: plain } },
          },
          plugins: { tooltip: { callbacks: {
            title: ([first]) => (first ? `${parameter} ${first.raw.text}` : ""),
            label: ({ dataset, raw }) => `${dataset.label} ${digits(raw.y)}`,
          } } },
        },
      }), 280);
    }
  });

  // ---- Trials over time -------------------------------------------------------------------------

  // A line where each block begins, and a ground behind those that were disturbed.
  function drawBlocks({ ctx, chartArea: area, scales: { x } }, trials, disturbed) {
    const begins = new Map();
    for (const { block, at } of trials) {
      begins.set(block, Math.min(at, begins.get(block) ?? Infinity));
    }
    const blocks = [...begins].sort((a, b) => a[1] - b[1]);
    const place = (i) => (i < blocks.length ? x.getPixelForValue(blocks[i][1]) - 7 : area.right);
    const apart = (area.right - area.left) / blocks.length >= 6;
    blocks.forEach(([block], i) => {
      if (disturbed.includes(block)) {
        ctx.fillStyle = page.faded("warning", 0.16);
        ctx.fillRect(place(i), area.top, place(i + 1) - place(i), area.bottom - area.top);
      }
      if (!apart || i === 0) return;
      ctx.fillStyle = page.color("line");
      ctx.fillRect(Math.round(place(i)), area.top, 1, area.bottom - area.top);
    });
  }

  page.chart("trials", (data, figure) => {
    const middle = data.names.map((_, of) => {
      const own = data.trials.filter((trial) => trial.of === of).map(({ median }) => median)
        .sort((a, b) => a - b);
      return own[(own.length - 1) >> 1];
    });
    const last = Math.max(...data.trials.map(({ begun }) => begun));
    const timed = data.trials.some(({ begun }) => begun < last);
    const unit = [{ name: "h", ns: 3600e9 }, { name: "min", ns: 60e9 }, { name: "s", ns: 1e9 }]
      .find(({ ns }) => last >= 2 * ns) ?? { name: "ms", ns: 1e6 };
    const trials = data.trials.map(({ of, block, begun, median }, i) => ({
      of, block, median, at: timed ? begun / unit.ns : i + 1,
      change: middle[of] > 0 ? 100 * (median / middle[of] - 1) : 0,
    }));
    let entry = null;
    const hidden = switches(data.names, figure, () => entry.redraw());
    entry = page.canvas(figure, "Medians of trials in the order they ran", () => ({
      type: "scatter",
      data: { datasets: data.names.map((label, i) => ({
        label, hidden: hidden.has(i), ...looks(i), radius: 4, hoverRadius: 6, clip: 8,
        data: trials.filter(({ of }) => of === i)
          .map((trial) => ({ x: trial.at, y: trial.change, trial })),
      })) },
      options: {
        scales: {
          x: { type: "linear", min: 0, grid: { display: false },
               title: { text: timed ? `began after, ${unit.name}` : "trial" } },
          y: { title: { text: "median, against its median trial, %" },
               suggestedMin: -1, suggestedMax: 1 },
        },
        plugins: { tooltip: { callbacks: {
          title: () => [],
          label: ({ raw: { trial } }) => `${isolated(data.names[trial.of])}, block ` +
            `${trial.block + 1}: ${page.duration(trial.median)} (${trial.change > 0 ? "+" : ""}` +
            `${digits(trial.change, 2)} %)`,
        } } },
      },
      plugins: [{ id: "blocks",
                  beforeDatasetsDraw: (chart) => drawBlocks(chart, trials, data.disturbed) }],
    }), 300);
  });
})();
