// The trials in the order they ran: shows whether the machine kept still.
"use strict";

graphline.section({
  id: "trials",
  title: "Trials in time",
  draws: (data) => data.kind === "experiment" && data.experiment.trials.who.length > 1,
  draw(data, box) {
    const { element } = graphline;
    const trials = experimentTrials(data);
    let form = "change";
    const redraws = [];
    box.append(experiment.controls(graphline.choice("Medians of trials",
      [["change", "as changes within each configuration"], ["time", "as times"]],
      (value) => { form = value; for (const redraw of redraws) redraw(); })));
    for (const pipeline of experiment.pipelinesOf(data)) {
      const members = experiment.membersOf(data).filter((member) => member.pipeline === pipeline);
      const ofThese = new Set(members.map(({ who }) => who));
      const own = trials.list.filter((trial) => ofThese.has(trial.who));
      if (!own.length) continue;
      const figure = element("figure", {});
      if (data.experiment.several_at_once) {
        figure.append(element("h3", {}, graphline.name(pipeline)));
      }
      box.append(figure);
      let hidden = new Set();
      const entry = graphline.chart(figure,
        "The median of each trial over the time at which it began",
        () => trialChart(data, trials, members, own, { form, hidden }), 300);
      const redraw = () => entry.redraw();
      redraws.push(redraw);
      figure.append(
        experiment.switches(members, "point", (set) => { hidden = set; redraw(); }),
        element("figcaption", {}, trialWords(data)),
        element("details", { class: "tabled" },
          element("summary", {}, "As a table"), trialTable(data, trials, own)));
    }
  },
});

// Every trial of every pipeline, with when it began in a unit that suits; without times, by its
// number.
function experimentTrials(data) {
  const { who, block, begun, p50 } = data.experiment.trials;
  const last = begun.reduce((most, at) => Math.max(most, at));
  const timed = begun.some((at) => at < last);
  const units = [{ name: "h", ns: 3600e9 }, { name: "min", ns: 60e9 }, { name: "s", ns: 1e9 },
                 { name: "ms", ns: 1e6 }];
  const unit = units.find(({ ns }) => last >= 2 * ns) ?? units.at(-1);
  const own = new Map();
  who.forEach((w, i) => (own.has(w) ? own.get(w).push(p50[i]) : own.set(w, [p50[i]])));
  const medianOf = (list) => [...list].sort((a, b) => a - b)[(list.length - 1) >> 1];
  const middle = new Map([...own].map(([w, list]) => [w, medianOf(list)]));
  return {
    title: timed ? `began after, ${unit.name}` : "trial",
    list: who.map((w, i) => ({ who: w, block: block[i], at: timed ? begun[i] / unit.ns : i + 1,
      p50: p50[i], change: middle.get(w) > 0 ? 100 * (p50[i] / middle.get(w) - 1) : null })),
  };
}

function trialChart(data, trials, members, own, { form, hidden }) {
  const { unit, affected } = data.experiment;
  const y = (trial) => (form === "time" ? trial.p50 / unit.ns : trial.change);
  const shown = members.filter((member) => !hidden.has(member.who));
  const label = ({ raw }) => {
    const { who, block, p50, change } = raw.trial;
    const name = graphline.isolated(members.find((member) => member.who === who).label);
    const off = change === null ? ""
      : ` (${change > 0 ? "+" : ""}${graphline.digits(change, 2)} %)`;
    return `${name}, block ${block + 1}: ${graphline.digits(p50 / unit.ns)} ${unit.name}${off}`;
  };
  return {
    type: "scatter",
    data: { datasets: shown.map((member) => ({
      label: member.label,
      data: own.filter((trial) => trial.who === member.who && y(trial) !== null)
        .map((trial) => ({ x: trial.at, y: y(trial), trial })),
      backgroundColor: experiment.toneOf(member.who), borderColor: experiment.toneOf(member.who),
      pointStyle: experiment.shapeOf(member.who), radius: 4, hoverRadius: 6, borderWidth: 1.5,
      clip: 8,
    })) },
    options: {
      scales: {
        x: { type: "linear", min: 0, title: { text: trials.title }, grid: { display: false } },
        y: { title: { text: form === "time" ? `median, ${unit.name}`
                                            : "against its median trial, %" },
             ...(form === "time" ? {} : { suggestedMin: -1, suggestedMax: 1 }) },
      },
      plugins: { tooltip: { callbacks: { label, title: () => [] } } },
    },
    plugins: [{ id: "blocks",
                beforeDatasetsDraw: (chart) => drawTrialBlocks(chart, own, new Set(affected)) }],
  };
}

// A line where each block begins, and a ground behind those in which the machine was not itself.
function drawTrialBlocks({ ctx, chartArea: area, scales: { x } }, own, affected) {
  const begins = new Map();
  for (const { block, at } of own) begins.set(block, Math.min(at, begins.get(block) ?? Infinity));
  const blocks = [...begins].sort((a, b) => a[1] - b[1]);
  const place = (i) => (i < blocks.length ? x.getPixelForValue(blocks[i][1]) - 7 : area.right);
  const apart = (area.right - area.left) / blocks.length >= 6;
  ctx.save();
  ctx.beginPath();
  ctx.rect(area.left, area.top, area.right - area.left, area.bottom - area.top);
  ctx.clip();
  blocks.forEach(([block], i) => {
    if (affected.has(block)) {
      ctx.globalAlpha = 0.16;
      ctx.fillStyle = graphline.colour("warning");
      ctx.fillRect(place(i), area.top, place(i + 1) - place(i), area.bottom - area.top);
      ctx.globalAlpha = 1;
      ctx.font = `11px ${Chart.defaults.font.family}`;
      ctx.fillText(`block ${block + 1}`, place(i) + 3, area.top + 12);
    }
    if (!apart || i === 0) return;
    ctx.fillStyle = graphline.colour("line");
    ctx.fillRect(Math.round(place(i)), area.top, 1, area.bottom - area.top);
  });
  ctx.restore();
}

function trialWords(data) {
  const affected = data.experiment.affected.length > 0;
  return "A mark is the median of a trial's frames; lines part the blocks, each of which holds a " +
    "trial of every configuration." +
    (affected ? " Shaded: blocks in which the machine was not itself." : "");
}

function trialTable(data, trials, own) {
  const { element } = graphline;
  const most = 200;
  const members = data.experiment.members;
  const { name, ns } = data.experiment.unit;
  const table = graphline.table("Trials in the order they ran",
    [{ title: trials.title, number: true }, { title: "block", number: true },
     { title: "configuration" }, { title: `median ${name}`, number: true }],
    own.slice(0, most).map((trial) => [graphline.digits(trial.at, 4), trial.block + 1,
      graphline.name(members[trial.who].label), graphline.digits(trial.p50 / ns)]));
  if (own.length <= most) return table;
  return element("div", {}, table, element("p", { class: "note" },
    `The first ${most} of ${graphline.counted(own.length, "trial")}; ` +
    "all of them are in the result's CSV."));
}
