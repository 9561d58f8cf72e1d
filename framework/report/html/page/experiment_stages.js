// The stages of each pipeline in all configurations, and by how much their median differs.
"use strict";

graphline.section({
  id: "stages",
  title: "Stages",
  draws: (data) => data.kind === "experiment" && data.experiment.stages.length > 0,
  draw(data, box) {
    const { element } = graphline;
    const of = data.experiment;
    for (const pipeline of of.stages) {
      if (of.several_at_once) box.append(element("h3", {}, graphline.name(pipeline.pipeline)));
      const table = element("div", {});
      box.append(table);
      experiment.drawn(() => table.replaceChildren(experimentStageTable(data, pipeline)));
      if (pipeline.changes.length) addStageForest(data, pipeline, box);
    }
  },
});

// In each cell the median, and by how much it is off that of the reference.
function experimentStageTable(data, pipeline) {
  const { element } = graphline;
  const members = experiment.membersOf(data);
  const heading = ({ name, unit }) => [graphline.name(name), unit ? ` ${unit}` : ""];
  const rows = pipeline.where.map((who, i) => [members[who], i])
    .filter(([member]) => experiment.isShown(member));
  if (!rows.length) return experiment.none("a configuration");
  const cell = (member, i, stage, s) => {
    const change = pipeline.changes.find((one) => one.who === member.who && one.stage === s);
    const differs = stage.unit === null && stage.measures[i] ? ` ${stage.measures[i]}` : "";
    return element("span", { class: `heat ${change?.verdict ?? ""}`,
      style: change ? `--heat: ${stageHeat(change)}` : null }, `${stage.cells[i]}${differs}`,
      change ? element("small", {}, `${change.cells.change} ${change.verdict}`) : null);
  };
  const columns = [
    ...stageNames(data, data.experiment.headings)
      .map((title) => ({ title: graphline.name(title) })),
    ...pipeline.stages.map((stage) =>
      ({ title: element("span", {}, heading(stage)), number: true })),
  ];
  return element("figure", { class: experiment.height(rows.length) },
    graphline.table("Stages, the median of each", columns,
      rows.map(([member, i]) => [...stageNames(data, experiment.names(member)),
        ...pipeline.stages.map((stage, s) => cell(member, i, stage, s))])),
    pipeline.changes.length ? element("figcaption", {},
      "Under each median its change against the baseline, with the verdict. The stronger the " +
      "ground, the larger the change.") : null);
}

// Names without the pipeline's, which stands over the table.
function stageNames(data, names) {
  return data.experiment.several_at_once ? names.slice(1) : names;
}

// How strong the ground of a changed cell is: full from half as long again.
function stageHeat({ ratio, verdict }) {
  if (verdict !== "faster" && verdict !== "slower") return 0;
  return (0.08 + 0.22 * Math.min(1, Math.abs(Math.log(ratio)) / Math.log(1.5))).toFixed(3);
}

function addStageForest(data, pipeline, box) {
  const { element } = graphline;
  const of = data.experiment;
  const members = experiment.membersOf(data);
  const stages = pipeline.stages.map((stage, s) => [String(s), graphline.brief(stage.name, 60)])
    .filter(([s]) => pipeline.changes.some((one) => one.stage === Number(s)));
  const place = element("div", {});
  let chosen = Number(stages[0][0]);
  const redraw = () => {
    const changes = pipeline.changes
      .filter((one) => one.stage === chosen && experiment.isShown(members[one.who]));
    const references = [...new Set(changes.map((one) => one.reference))];
    if (!changes.length) return place.replaceChildren(experiment.none("a compared configuration"));
    const caption = `${pipeline.stages[chosen].name}: the median against the baseline`;
    place.replaceChildren(experiment.forest(caption, {
      names: stageNames(data, of.headings), title: "%: less time to the left", unit: "%",
      margin: 100 * of.margin,
      columns: [{ title: "change", number: true }, { title: "95 % interval", number: true },
                { title: "verdict" }],
      groups: references.map((reference) => ({
        title: ["against ", graphline.name(members[reference].label)],
        rows: changes.filter((one) => one.reference === reference).map((one) => ({
          names: stageNames(data, experiment.names(members[one.who])),
          value: 100 * (one.ratio - 1),
          range: one.ratio_range?.map((end) => 100 * (end - 1)),
          verdict: one.verdict,
          words: `${one.cells.change}, 95 % interval ${one.cells.interval}: ${one.verdict}`,
          cells: [one.cells.change, one.cells.interval, experiment.verdict(one.verdict)],
        })),
      })),
    }));
  };
  box.append(experiment.controls(graphline.choice("Intervals of", stages,
    (value) => { chosen = Number(value); redraw(); })), place);
  experiment.drawn(redraw);
}
