// Histograms of the times of frames and stages.
"use strict";

page.chart("distributions", (data, figure) => {
  const { element, duration, counted } = page;
  const { list: all, deadline } = data;
  let chosen = all[0];

  const end = () => chosen.bins.begin + chosen.bins.counts.length * chosen.bins.width;
  // All times are shown in the unit that suits the middle bin.
  const unit = () => page.unitFor((chosen.bins.begin + end()) / 2);

  // Returns [from, to, count] of each bin.
  function bins() {
    const { begin, width, counts } = chosen.bins;
    return counts.map((count, i) => [begin + i * width, begin + (i + 1) * width, count]);
  }

  // Returns the edges of a bin as text, with enough decimals to distinguish bins.
  function edges(from, to) {
    const { ns, name } = unit();
    const decimals = Math.max(0, Math.ceil(Math.log10(ns / chosen.bins.width) - 1e-9));
    return `${(from / ns).toFixed(decimals)} to ${(to / ns).toFixed(decimals)} ${name}`;
  }

  function marks() {
    const { ns } = unit();
    const list = chosen.marks.filter(([name]) => name.startsWith("p")).map(([name, time]) =>
      ({ axis: "x", at: time / ns, label: name, tone: "ink" }));
    if (deadline !== null && chosen === all[0]) {
      list.push({ axis: "x", at: deadline / ns, label: "deadline", tone: "bad" });
    }
    return page.marks(list.sort((a, b) => a.at - b.at));
  }

  const count = () =>
    chosen.bins.counts.reduce((sum, one) => sum + one, chosen.bins.below + chosen.bins.beyond);

  function configure() {
    const { ns, name } = unit();
    const list = bins();
    return {
      type: "bar",
      data: { datasets: [{
        // Empty bins have no bar. All other bars are high enough to be visible.
        data: list.map(([from, to, count]) => ({ x: (from + to) / 2 / ns, y: count || null })),
        backgroundColor: page.color(chosen.color),
        barPercentage: 0.94, categoryPercentage: 1, minBarLength: 2,
        // Chart.js derives bar widths from the distance between bars, which a single bar lacks.
        barThickness: list.length === 1 ? "flex" : undefined,
      }] },
      plugins: [marks()],
      options: {
        parsing: false, layout: { padding: { top: 30 } },
        scales: {
          x: { type: "linear", min: chosen.bins.begin / ns, max: end() / ns, title: { text: name },
               offset: false, grid: { display: false },
               ticks: { maxTicksLimit: 8, includeBounds: false } },
          y: { type: "linear", min: 0, title: { text: "frames" }, ticks: { precision: 0 } },
        },
        plugins: { tooltip: { displayColors: false, callbacks: {
          title: ([{ dataIndex }]) => edges(...list[dataIndex]),
          label: ({ dataIndex }) => `${counted(list[dataIndex][2], "frame")}, ` +
            page.percent(list[dataIndex][2] / count()),
        } } },
      },
    };
  }

  function words() {
    const { below, beyond, begin, width } = chosen.bins;
    const texts = [`${counted(count(), "frame")} in bins of ${duration(width)}.`];
    if (below) {
      texts.push(`Not drawn on the left: ${counted(below, "frame")} below ${duration(begin)}, ` +
        `${duration(chosen.marks[0][1])} at least.`);
    }
    if (beyond) {
      texts.push(`Not drawn on the right: ${counted(beyond, "frame")} from ${duration(end())}, ` +
        `${duration(chosen.marks.at(-1)[1])} at most.`);
    }
    return texts.join(" ");
  }

  const entry = page.canvas(figure, "Histogram", configure);
  const caption = element("figcaption", {}, words());
  figure.append(caption);
  page.choice(figure, "Times of", all.map(titleOf), (i) => {
    chosen = all[i];
    entry.redraw();
    caption.textContent = words();
  });
});
