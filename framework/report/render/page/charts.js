// Charts: Chart.js in the colors of the page, which the keyboard reaches and paper takes.
"use strict";

Object.assign(page, (() => {
  const { element, say } = page;
  const charts = []; // drawn again when the colors change

  // A color of style.css: color("device"), color("ink").
  function color(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  // That color as good as transparent: `part` of it is seen.
  function faded(name, part) {
    const [r, g, b] = color(name).match(/[0-9a-f]{2}/gi).map((digits) => parseInt(digits, 16));
    return `rgba(${r}, ${g}, ${b}, ${part})`;
  }

  // ---- How all charts look ----------------------------------------------------------------------

  function themedAxis(axis) {
    return {
      ...axis,
      grid: { color: color("line"), borderColor: color("line"), tickColor: color("line"),
              ...axis.grid },
      ticks: { color: color("faint"), maxRotation: 0, ...axis.ticks },
      title: { color: color("faint"), display: Boolean(axis.title?.text), ...axis.title },
    };
  }

  function themed(configuration) {
    const given = configuration.options ?? {};
    const axes = Object.entries(given.scales ?? {}).map(([name, axis]) => [name, themedAxis(axis)]);
    const { legend, tooltip, ...others } = given.plugins ?? {};
    return {
      ...configuration,
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, ...given,
        scales: Object.fromEntries(axes),
        plugins: {
          ...others,
          legend: { display: false, ...legend,
                    labels: { color: color("ink"), boxWidth: 12, ...legend?.labels } },
          tooltip: {
            backgroundColor: color("ground"), titleColor: color("ink"), bodyColor: color("ink"),
            borderColor: color("faint"), borderWidth: 1, cornerRadius: 4, padding: 8,
            boxWidth: 8, boxHeight: 8, boxPadding: 4, ...tooltip,
          },
        },
      },
    };
  }

  // ---- Lines across a chart ---------------------------------------------------------------------

  // A plugin that draws lines across a chart: [{axis: "x" or "y", at, label, tone, dash}], `at` in
  // the units of the axis. Labels of upright lines stand above the chart in rows, so that none
  // covers another; leave room for them with `layout.padding.top`.
  function marks(list) {
    return { id: "pageMarks", afterDatasetsDraw: (chart) => drawMarks(chart, list) };
  }

  function drawMarks(chart, list) {
    const { ctx, chartArea: area, scales } = chart;
    const rows = [-Infinity, -Infinity]; // where the last label of each ends
    ctx.save();
    ctx.font = `11px ${Chart.defaults.font.family}`;
    for (const { axis, at, label, tone, dash } of list) {
      const place = scales[axis].getPixelForValue(at);
      const upright = axis === "x";
      const [least, most] = upright ? [area.left, area.right] : [area.top, area.bottom];
      if (!(place >= least - 0.5 && place <= most + 0.5)) continue;
      // On a band of the ground's color, so that it is seen across a bar too.
      for (const [stroke, width, pattern] of [[faded("ground", 0.6), 3, []],
                                              [color(tone), 1, dash ?? [4, 3]]]) {
        ctx.strokeStyle = stroke;
        ctx.lineWidth = width;
        ctx.setLineDash(pattern);
        ctx.beginPath();
        ctx.moveTo(upright ? place : area.left, upright ? area.top : place);
        ctx.lineTo(upright ? place : area.right, upright ? area.bottom : place);
        ctx.stroke();
      }
      ctx.fillStyle = color(tone);
      if (!upright) {
        const height = place - 5 < area.top + 10 ? place + 13 : place - 5;
        ctx.textAlign = "right";
        ctx.strokeStyle = faded("ground", 0.85);
        ctx.lineWidth = 4;
        ctx.strokeText(label, area.right - 4, height);
        ctx.fillText(label, area.right - 4, height);
        continue;
      }
      const width = ctx.measureText(label).width;
      const from = Math.min(Math.max(place - width / 2, 0), chart.width - width);
      const row = rows.findIndex((end) => end + 6 <= from);
      if (row < 0) continue; // the table has it
      rows[row] = from + width;
      ctx.textAlign = "left";
      ctx.fillText(label, from, area.top - 5 - 12 * row);
    }
    ctx.restore();
  }

  // An interaction mode, "read": of the datasets that are there to be read off, the points that are
  // nearest sideways. A dataset with `keys: false` is there to be seen only.
  Chart.Interaction.modes.read = (chart, event) => {
    const { x } = Chart.helpers.getRelativePosition(event, chart);
    let found = [];
    let nearest = Infinity;
    for (const { index: datasetIndex, data } of chart.getSortedVisibleDatasetMetas()) {
      if (chart.data.datasets[datasetIndex].keys === false) continue;
      data.forEach((point, index) => {
        const away = Math.abs(point.x - x);
        if (away > nearest) return;
        if (away < nearest) found = [];
        nearest = away;
        found.push({ element: point, datasetIndex, index });
      });
    }
    return found.sort((a, b) => a.datasetIndex - b.datasetIndex);
  };

  // ---- A chart ----------------------------------------------------------------------------------

  // Appends a chart of Chart.js to `box`. `configure()` gives its configuration with the colors of
  // the moment; it is called again when they change, and by `redraw()` of what this returns.
  // `label` says in words what is seen. `options.onPick({dataset, index})` of the configuration is
  // called for a click on a point and for Enter on the one that the arrow keys have moved to.
  function canvas(box, label, configure, height = 260) {
    const canvas = element("canvas", {
      role: "img", "aria-label": label, "aria-roledescription": "chart", tabindex: "0" });
    box.append(element("div", { class: "chart", style: `height: ${height}px` }, canvas));
    const entry = { configure, canvas, chart: null, redraw: () => draw(entry) };
    draw(entry);
    charts.push(entry);
    canvas.addEventListener("keydown", (event) => move(entry, event));
    canvas.addEventListener("blur", () => point(entry, null));
    return entry;
  }

  function draw(entry) {
    entry.chart?.destroy();
    const configuration = themed(entry.configure());
    const { onPick } = configuration.options;
    if (onPick) {
      configuration.options.onClick = (_, found) => {
        if (found.length) onPick({ dataset: found[0].datasetIndex, index: found[0].index });
      };
      configuration.options.onHover = ({ native }, found) => {
        native.target.style.cursor = found.length ? "pointer" : "default";
      };
    }
    entry.at = null;
    entry.chart = new Chart(entry.canvas, configuration);
  }

  // Shows the words of a point, {dataset, index}, as if the pointer were there, and says them.
  function point(entry, at) {
    const { chart } = entry;
    entry.at = at;
    const active = at ? [{ datasetIndex: at.dataset, index: at.index }] : [];
    chart.setActiveElements(active);
    if (at) {
      const { x, y } = chart.getDatasetMeta(at.dataset).data[at.index].tooltipPosition();
      chart.tooltip.setActiveElements(active, { x, y });
    } else {
      chart.tooltip?.setActiveElements([], { x: 0, y: 0 });
    }
    chart.update("none");
    if (!at) return;
    const { title, body } = chart.tooltip;
    say([...title, ...body.flatMap(({ lines }) => lines)].join(", "));
  }

  function move(entry, event) {
    const { chart, at } = entry;
    const dataset = chart.data.datasets.findIndex((d, i) =>
      d.keys !== false && d.data.length > 0 && chart.isDatasetVisible(i));
    if (dataset < 0) return;
    const count = chart.data.datasets[dataset].data.length;
    const step = event.shiftKey ? Math.max(1, Math.round(count / 20)) : 1;
    const to = {
      ArrowRight: at ? at.index + step : 0,
      ArrowLeft: at ? at.index - step : count - 1,
      Home: 0,
      End: count - 1,
    }[event.key];
    if (to !== undefined) {
      point(entry, { dataset, index: Math.min(Math.max(to, 0), count - 1) });
    } else if (event.key === "Escape") {
      point(entry, null);
    } else if (event.key === "Enter" && at) {
      chart.options.onPick?.(at);
    } else {
      return;
    }
    event.preventDefault();
  }

  // What the lines and dots of a chart stand for: [{name, color, dash, dot}], beside it in words.
  function legend(list) {
    return element("ul", { class: "legend" }, list.map(({ name, color, dash, dot }) =>
      element("li", {}, element("span", {
        class: `swatch${dash ? " dashed" : ""}${dot ? " dot" : ""}`,
        style: `--swatch: var(--${color})`, "aria-hidden": "true" }), name)));
  }

  // ---- When colors change, and on paper --------------------------------------------------------

  function drawAgain() {
    for (const entry of charts) draw(entry);
  }

  // Paper is light and as wide as paper is; document.js has said so before this is called.
  addEventListener("beforeprint", drawAgain);
  addEventListener("afterprint", drawAgain);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAgain);
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;

  document.querySelector("footer p").append(` Charts by Chart.js ${Chart.version} (MIT license).`);

  return { color, faded, marks, canvas, legend };
})());
