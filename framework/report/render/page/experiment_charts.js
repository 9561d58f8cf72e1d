// The charts of an experiment: comparisons, a swept parameter, trials over time.
"use strict";

(() => {
  const { element, digits } = page;

  // ---- Comparisons ------------------------------------------------------------------------------

  // A row for each comparison: the change, and a bar for its interval.
  page.chart("comparisons", (data, figure) => {
    const metrics = [...new Set(data.list.map(({ metric }) => metric))];
    const rowsOf = (metric) => data.list.filter((one) => one.metric === metric);
    const several = new Set(data.list.map(({ reference }) => reference)).size > 1;
    const margin = 100 * data.margin;
    let rows = rowsOf(metrics[0]);

    const entry = page.canvas(figure, "Changes against the baseline with their intervals", () => {
      const tones = rows.map(({ verdict }) =>
        page.color({ faster: "good", slower: "bad" }[verdict] ?? "faint"));
      return {
        type: "bar",
        data: {
          labels: rows.map(({ name, reference }) =>
            (several ? [name, `against ${reference}`] : [name])),
          datasets: [
            { type: "line", data: rows.map(({ change }) => 100 * change), showLine: false,
              pointRadius: 4.5, pointBackgroundColor: tones, pointBorderColor: tones },
            { data: rows.map(({ low, high }) =>
              (low === null || high === null ? null : [100 * low, 100 * high])),
            backgroundColor: tones, barThickness: 3 },
          ],
        },
        plugins: [page.marks([
          { axis: "x", at: 0, label: "0", tone: "ink" },
          ...(margin > 0 ? [-margin, margin] : []).map((at) => (
            { axis: "x", at, label: `${at < 0 ? "-" : "+"}${digits(margin)} %`, tone: "faint" })),
        ])],
        options: {
          indexAxis: "y", layout: { padding: { top: 30 } }, interaction: { axis: "y" },
          scales: {
            x: { title: { text: "change, %" }, suggestedMin: -1.5 * margin,
                 suggestedMax: 1.5 * margin },
            y: { title: { display: false }, grid: { display: false },
                 ticks: { autoSkip: false, color: page.color("ink"), callback(index) {
                   return this.getLabelForValue(index).map((line) => line.slice(0, 28));
                 } } },
          },
          plugins: { tooltip: {
            displayColors: false, filter: ({ datasetIndex }) => datasetIndex === 0,
            callbacks: {
              title: ([first]) => (first ? rows[first.dataIndex].name : ""),
              label: ({ dataIndex }) => rows[dataIndex].words.split(", "),
            },
          } },
        },
      };
    }, 28 * Math.max(...metrics.map((metric) => rowsOf(metric).length)) + 90);

    page.choice(figure, "Metric", metrics, (i) => {
      rows = rowsOf(metrics[i]);
      entry.redraw();
    });
  });

  // ---- A sweep ----------------------------------------------------------------------------------

  // Returns the type of an axis: logarithmic for positive values over more than a decade.
  function axisType(values) {
    const least = Math.min(...values);
    return least > 0 && Math.max(...values) > 10 * least ? "logarithmic" : "linear";
  }

  page.chart("sweep", (data, figure) => {
    const pair = element("div", { class: "pair" });
    figure.append(pair);
    const x = axisType(data.at);
    const scaled = (type) => (type === "logarithmic" ? ", logarithmic" : "");
    for (const { title, lines } of data.panels) {
      const box = element("div", {});
      pair.append(box);
      const y = axisType(lines.flatMap(({ values }) => values.filter((value) => value !== null)));
      page.canvas(box, `${title} against ${data.parameter}`, () => ({
        type: "line",
        data: { datasets: lines.map(({ name, values, points }, i) => ({
          label: name, showLine: !points,
          data: values.map((value, at) => ({ x: data.at[at], y: value, at }))
            .filter((point) => point.y !== null),
          borderColor: page.color(i > 0 ? "ink" : "series-1"), borderWidth: 2,
          borderDash: i > 0 ? [5, 4] : [], radius: 3, clip: 8,
        })) },
        options: {
          scales: {
            // Ticks mark the values of the sweep, since nothing was measured between them.
            x: { type: x, min: data.at[0], max: data.at.at(-1), grid: { display: false },
                 title: { text: `${data.parameter}${scaled(x)}` },
                 afterBuildTicks: (axis) => { axis.ticks = data.at.map((value) => ({ value })); },
                 ticks: { callback: (_, i) => data.texts[i], autoSkip: true } },
            y: { type: y, beginAtZero: y === "linear", title: { text: `${title}${scaled(y)}` },
                 ticks: { callback: (value) => String(Number(value.toPrecision(6))) } },
          },
          plugins: {
            legend: { display: true },
            tooltip: { callbacks: {
              title: ([first]) => (first
                ? data.names[first.raw.at] ?? `${data.parameter} ${data.texts[first.raw.at]}` : ""),
              label: ({ dataset, raw }) =>
                `${data.names.length ? title : dataset.label} ${digits(raw.y)}`,
            } },
          },
        },
      }), 280);
    }
  });

  // ---- Trials over time -------------------------------------------------------------------------

  // Shades disturbed blocks from their first trial to their last.
  function drawDisturbed({ ctx, chartArea: area, scales: { x } }, trials, disturbed) {
    ctx.fillStyle = page.faded("warning", 0.16);
    for (const block of disturbed) {
      const places = trials.filter((trial) => trial.block === block)
        .map(({ at }) => x.getPixelForValue(at));
      const begin = Math.min(...places) - 7;
      ctx.fillRect(begin, area.top, Math.max(...places) + 7 - begin, area.bottom - area.top);
    }
  }

  page.chart("trials", (data, figure) => {
    const middle = data.names.map((_, of) => {
      const own = data.trials.filter((trial) => trial.of === of).map(({ median }) => median)
        .sort((a, b) => a - b);
      return own[(own.length - 1) >> 1];
    });
    const trials = data.trials.map(({ of, block, begun, median }) => ({
      of, block, median, at: begun / 1e9,
      change: middle[of] > 0 ? 100 * (median / middle[of] - 1) : 0,
    }));
    const shapes = ["circle", "triangle", "rect", "rectRot", "crossRot", "star", "cross"];
    page.canvas(figure, "Medians of trials in the order they ran", () => ({
      type: "scatter",
      data: { datasets: data.names.map((label, i) => {
        const tone = page.color(`series-${(i % 6) + 1}`);
        return {
          label, borderColor: tone, backgroundColor: tone, borderWidth: 2, radius: 4, clip: 8,
          pointStyle: shapes[i % shapes.length],
          data: trials.filter(({ of }) => of === i)
            .map((trial) => ({ x: trial.at, y: trial.change, trial })),
        };
      }) },
      options: {
        interaction: { axis: "xy" },
        scales: {
          x: { type: "linear", min: 0, grid: { display: false },
               title: { text: "began after, s" } },
          y: { title: { text: "median, against its median trial, %" },
               suggestedMin: -1, suggestedMax: 1 },
        },
        plugins: {
          // A click on a configuration hides its trials.
          legend: { display: data.names.length > 1, maxHeight: 120,
                    labels: { usePointStyle: true } },
          tooltip: { callbacks: {
            title: () => [],
            label: ({ raw: { trial } }) => `${data.names[trial.of]}, block ${trial.block + 1}: ` +
              `${page.duration(trial.median)} (${trial.change > 0 ? "+" : ""}` +
              `${digits(trial.change, 2)} %)`,
          } },
        },
      },
      plugins: [{ id: "blocks", beforeDatasetsDraw: (chart) =>
        drawDisturbed(chart, trials, data.disturbed) }],
    }), 380);
  });
})();
