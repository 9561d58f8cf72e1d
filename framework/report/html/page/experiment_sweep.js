// Arithmetic intensity and time against the parameter that an experiment sweeps.
"use strict";

graphline.section({
  id: "sweep",
  title: "Sweep",
  draws: (data) => data.kind === "experiment" && data.experiment.sweep !== null,
  draw(data, box) {
    const { element } = graphline;
    const sweep = data.experiment.sweep;
    const { name, ns } = sweep.unit;
    const intensity = [{
      name: "FLOPs for each byte", tone: "series-2",
      of: (point) => point.intensity,
      words: (value) => `${graphline.digits(value)} FLOP/B`,
    }];
    const times = [{
      name: sweep.of_stages ? "measured, device stages" : "measured, end to end", tone: "device",
      of: (point) => inSweepUnit(point.time, ns),
      words: (value, point) => `${graphline.digits(value)} ${name}${distanceWords(point)}`,
    }];
    if (sweep.points.some((point) => point.least !== null)) {
      times.push({
        name: "least, as calibrated", tone: "ink", dash: [5, 4],
        of: (point) => inSweepUnit(point.least, ns),
        words: (value) => `least ${graphline.digits(value)} ${name}`,
      });
    }
    const picture = element("div", { class: "pair" });
    const figure = element("figure", {}, picture,
      element("figcaption", {}, sweep.notes.join(". "), "."),
      graphline.table(sweepWords(sweep),
        sweep.headings.map((title, i) => ({
          title: i === 0 ? graphline.name(title) : title, number: i > 0 && title !== "bound",
        })),
        sweep.rows));
    box.append(figure);
    addSweepChart(sweep, picture, "FLOP/B", intensity);
    addSweepChart(sweep, picture, `p50 in ${name}`, times);
  },
});

function distanceWords({ ratio, bound }) {
  return ratio === null ? "" : `, ${graphline.digits(ratio)} times its least time (${bound})`;
}

function inSweepUnit(time, ns) {
  return time === null ? null : time / ns;
}

// "Against kernel: ..." as the terminal has it, at the beginning of a line.
function sweepWords({ title }) {
  return title.charAt(0).toUpperCase() + title.slice(1);
}

// Positive values that span more than a decade are drawn over decades.
function sweepAxis(values) {
  const least = Math.min(...values);
  const most = Math.max(...values);
  return least > 0 && most > 10 * least ? "logarithmic" : "linear";
}

// Lines and figures of an axis over decades: at 1, 2 and 5 times each power of ten, over many
// decades at the powers alone.
function sweepDecades() {
  const begins = (value) => Number(value.toExponential(3).split("e")[0]);
  return {
    afterBuildTicks: (axis) => {
      const wanted = axis.max > 1e3 * axis.min ? [1] : [1, 2, 5];
      axis.ticks = axis.ticks.filter(({ value }) => wanted.includes(begins(value)));
    },
    ticks: { callback: (value) => String(Number(value.toPrecision(6))), autoSkip: false },
  };
}

// A chart of `lines` over the parameter: [{name, tone, dash, of(point), words(value, point)}...].
function addSweepChart(sweep, box, title, lines) {
  const { element, colour } = graphline;
  const column = element("div", {});
  box.append(column);
  const x = sweepAxis(sweep.points.map(({ value }) => value));
  const y = sweepAxis(sweep.points.flatMap((point) => lines.map(({ of }) => of(point)))
    .filter((value) => value !== null));
  const values = new Map(sweep.points.map(({ value, text }) => [value, text]));
  const scaled = (type) => (type === "logarithmic" ? ", logarithmic" : "");
  column.append(graphline.legend(
    lines.map(({ name, tone, dash }) => ({ name, colour: tone, dash }))));
  const key = graphline.isolated(sweep.key);
  graphline.chart(column, `${title} against ${sweep.key}`, () => ({
    type: "line",
    data: { datasets: lines.map(({ name, tone, dash, of, words }) => ({
      label: name,
      data: sweep.points.filter((point) => of(point) !== null)
        .map((point) => ({ x: point.value, y: of(point), words: words(of(point), point), point })),
      borderColor: colour(tone), backgroundColor: colour(tone), borderDash: dash ?? [],
      pointStyle: "circle", radius: dash ? 2.5 : 4, hoverRadius: 6, borderWidth: 2, tension: 0,
      clip: 8,
    })) },
    options: {
      interaction: { mode: "read" },
      scales: {
        // A figure at each value of the sweep: what lies between was not measured.
        x: { type: x, min: sweep.points[0].value, max: sweep.points.at(-1).value,
             title: { text: `${key}${scaled(x)}` }, grid: { display: false },
             afterBuildTicks: (axis) => {
               axis.ticks = [...values.keys()].map((value) => ({ value }));
             },
             ticks: { callback: (value) => values.get(value), autoSkip: true } },
        y: { type: y, beginAtZero: y === "linear", title: { text: `${title}${scaled(y)}` },
             ...(y === "logarithmic" ? sweepDecades() : {}) },
      },
      plugins: { tooltip: { callbacks: {
        title: ([first]) => (first ? `${key} ${first.raw.point.text}` : ""),
        label: ({ raw }) => raw.words,
      } } },
    },
  }), 280);
}
