// Charts drawn with Chart.js.
"use strict";

Object.assign(page, (() => {
  const { element } = page;
  const charts = [];

  // Returns a color of style.css in the current color scheme, for example color("device").
  const probe = element("span", { hidden: true });
  document.body.append(probe);
  function color(name) {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  }

  // Returns the color with opacity `part`.
  function faded(name, part) {
    return color(name).replace("rgb(", "rgba(").replace(")", `, ${part})`);
  }

  function applyColors() {
    const { defaults } = Chart;
    Object.assign(defaults, { animation: false, maintainAspectRatio: false, color: color("faint"),
                              borderColor: color("line") });
    Object.assign(defaults.interaction, { mode: "nearest", axis: "x", intersect: false });
    defaults.font.family = getComputedStyle(document.body).fontFamily;
    defaults.scale.ticks.maxRotation = 0;
    defaults.scale.title.display = true;
    Object.assign(defaults.plugins.legend, { display: false });
    Object.assign(defaults.plugins.tooltip, {
      backgroundColor: color("ground"), titleColor: color("ink"), bodyColor: color("ink"),
      borderColor: color("faint"), borderWidth: 1, cornerRadius: 4, padding: 8,
    });
  }

  // Returns a plugin that draws lines across a chart: [{axis: "x" or "y", at, label, tone}], with
  // `at` in units of the axis. Labels of vertical lines stand above the chart, in two rows.
  // `layout.padding.top` must leave room for the labels.
  function marks(list) {
    return { id: "pageMarks", afterDatasetsDraw: (chart) => drawMarks(chart, list) };
  }

  function drawMarks({ ctx, chartArea: area, scales }, list) {
    const rows = [-Infinity, -Infinity]; // right end of the last label in each row
    ctx.save();
    ctx.font = `11px ${Chart.defaults.font.family}`;
    ctx.setLineDash([4, 3]);
    for (const { axis, at, label, tone } of list) {
      const place = scales[axis].getPixelForValue(at);
      const upright = axis === "x";
      const [least, most] = upright ? [area.left, area.right] : [area.top, area.bottom];
      if (!(place >= least - 0.5 && place <= most + 0.5)) continue;
      ctx.strokeStyle = ctx.fillStyle = color(tone);
      ctx.beginPath();
      ctx.moveTo(upright ? place : area.left, upright ? area.top : place);
      ctx.lineTo(upright ? place : area.right, upright ? area.bottom : place);
      ctx.stroke();
      const width = ctx.measureText(label).width;
      if (!upright) {
        ctx.fillText(label, area.right - width - 4, Math.max(place - 5, area.top + 10));
        continue;
      }
      const from = place - width / 2;
      const row = rows.findIndex((end) => end + 6 <= from);
      if (row < 0) continue; // no room for the label; tables contain the value
      rows[row] = from + width;
      ctx.fillText(label, from, area.top - 5 - 12 * row);
    }
    ctx.restore();
  }

  // Appends a chart to `box`. `label` describes the chart for screen readers. `configure()` returns
  // the configuration for Chart.js. It is called again when colors change and by `redraw()` of the
  // result.
  function canvas(box, label, configure, height = 260) {
    const place = element("canvas", { role: "img", "aria-label": label });
    box.append(element("div", { class: "chart", style: `height: ${height}px` }, place));
    const entry = { chart: null, redraw() {
      entry.chart?.destroy();
      entry.chart = new Chart(place, configure());
    } };
    entry.redraw();
    charts.push(entry);
    return entry;
  }

  // Adds a control above a chart. It selects one of `titles` and calls `change` with the index.
  function choice(figure, words, titles, change) {
    if (titles.length < 2) return;
    const select = element("select", { onchange: () => change(select.selectedIndex) },
      titles.map((title) => element("option", {}, title)));
    figure.prepend(element("div", { class: "controls" },
      element("label", { class: "control" }, words, select)));
  }

  applyColors();
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    applyColors();
    for (const entry of charts) entry.redraw();
  });
  document.querySelector("footer p").append(` Charts by Chart.js ${Chart.version} (MIT license).`);

  return { color, faded, marks, canvas, choice };
})());
