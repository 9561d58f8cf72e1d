// Ceilings over arithmetic intensity, and points for stages and their parts.
"use strict";

page.chart("roofline", (data, figure) => {
  const { element } = page;
  const { bandwidth, ceilings, points } = data;
  const ridges = ceilings.map(({ ridge_point: ridge }) => ridge);
  const across = [...ridges, Math.min(...ridges) / 8, ...points.map(({ intensity }) => intensity)];
  const [low, high] = [Math.min(...across) / 3, Math.max(...across) * 3];
  const top = ceilings.at(-1);
  const toneOf = ({ group }) => `series-${(group % 6) + 1}`;
  const nameOf = ({ stage, part }) => (part ? `${stage}, ${part}` : stage);
  // Returns the label of a tick at a power of ten: "10 G"; empty for other ticks.
  const decade = (value) => {
    const power = Math.round(Math.log10(value));
    if (Math.abs(Math.log10(value) - power) > 1e-6) return "";
    const prefix = Math.floor(power / 3);
    if (prefix < 1 || prefix > 5) return String(Number(value.toPrecision(1)));
    return `${10 ** (power - 3 * prefix)} ${"kMGTP"[prefix - 1]}`;
  };
  const line = (from, to) => ({
    data: [from, to], borderColor: page.color("ink"), borderWidth: 2, radius: 0,
    hitRadius: 0, hoverRadius: 0 });

  function configure() {
    const tones = points.map((point) => page.color(toneOf(point)));
    // The area of a point grows with the stage's share of the critical path.
    const radius = points.map(({ part, share }) => 4 + (part ? 9 : 13) * Math.sqrt(share ?? 0));
    return {
      type: "line",
      data: { datasets: [
        { data: points.map((point) => ({ x: point.intensity, y: point.rate, of: point })),
          showLine: false, radius, hoverRadius: radius, borderColor: tones,
          backgroundColor: points.map((point, i) =>
            (point.part ? page.faded(toneOf(point), 0.45) : tones[i])),
          pointStyle: points.map(({ part }) => (part ? "rectRot" : "circle")), clip: 8 },
        line({ x: low, y: low * bandwidth }, { x: top.ridge_point, y: top.rate }),
        ...ceilings.map(({ ridge_point: ridge, rate }) =>
          line({ x: ridge, y: rate }, { x: high, y: rate })),
      ] },
      options: {
        interaction: { axis: "xy", intersect: true },
        scales: {
          x: { type: "logarithmic", min: low, max: high,
               title: { text: "FLOPs for each byte moved (FLOP/B)" }, ticks: { callback: decade } },
          y: { type: "logarithmic", max: top.rate * 3, title: { text: "FLOP/s" },
               ticks: { callback: decade } },
        },
        plugins: { tooltip: { callbacks: {
          title: ([first]) => (first?.raw.of ? nameOf(first.raw.of) : ""),
          label: ({ raw }) => raw.of?.words.split(" · ") ?? "",
        } } },
      },
    };
  }

  const stages = points.filter((point, i) => point.group !== points[i - 1]?.group);
  figure.append(page.legend([
    ...stages.map((point) => (
      { name: page.name(point.stage), color: toneOf(point), shape: "dot" })),
    { name: `memory ${data.memory}`, color: "ink" },
    ...ceilings.map(({ name, text, ridge_point: ridge }) => ({
      name: `${name} ${text}, ridge ${Number(ridge.toPrecision(3))}`, color: "ink" }))]));
  page.canvas(figure, "Stages and their parts below the ceilings of the device", configure, 460);
  if (data.without.length) {
    figure.append(element("figcaption", {},
      `Without FLOPs or a time: ${data.without.join(", ")}.`));
  }
});
