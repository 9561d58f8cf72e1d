// The figures of a run, its stages, and what these consist of.
"use strict";

graphline.section({
  id: "summary",
  title: "Summary",
  draws: (data) => Boolean(data.summary),
  draw(data, box) {
    const { element, name, table } = graphline;
    const { summary, detail } = data;

    function endToEnd({ unit, cells }) {
      const row = (title, at) => [title, ...cells.map((cell) => cell[at] ?? "")];
      const rows = [row(`end to end (${unit})`, 1)];
      if (cells.some((cell) => cell.length > 2)) rows.push(row("95 % from", 2), row("to", 3));
      return table("End to end, from when a frame was due until the host had seen its end",
        [{ title: "" }, ...cells.map(([title]) => ({ title, number: true }))], rows);
    }

    function stages({ unit, enqueue_unit: enqueueUnit, rows }) {
      const launches = rows.some((row) => row.enqueue);
      const held = rows.some((row) => row.ratio);
      const columns = [{ title: `stage (${unit})` }, { title: "time is" }];
      for (const title of ["mean", "stddev", "p50", "p90", "p99", "max"]) {
        columns.push({ title, number: true });
      }
      columns.push({ title: "share %", number: true });
      if (held) columns.push(...floorColumns);
      if (launches) columns.push({ title: `enqueue (${enqueueUnit})`, number: true });
      return table("Stages", columns, rows.map((row) => [
        element("span", {}, name(row.name),
          element("span", { class: "under" }, name(`${row.kind} · ${row.place}`))),
        row.time_is,
        ...row.cells,
        shareBar(row.share, row.part, row.what),
        ...(held ? floorCells(row) : []),
        ...(launches ? [row.enqueue ?? ""] : []),
      ]));
    }

    // What a stage or part takes at the least, and how many times as long it took.
    const floorColumns = [{ title: "least", number: true }, { title: "ratio", number: true }];
    function floorCells({ least, ratio }) {
      return [least ?? "", ratio ?? ""];
    }

    function parts({ stage, unit, rows }) {
      const held = rows.some((row) => row.ratio);
      return element("details", { class: "facts" },
        element("summary", {}, name(stage), " in parts"),
        table(`Parts of ${stage}`, [
          { title: `part (${unit})` }, { title: "carried out by" }, { title: "p50", number: true },
          { title: "of mean %", number: true }, ...(held ? floorColumns : []),
        ], rows.map((row) => [name(row.name), name(row.by || "-"), row.p50,
                              shareBar(row.share, row.part, "device"),
                              ...(held ? floorCells(row) : [])])));
    }

    function operations({ runs, rows }) {
      return element("details", { class: "facts" },
        element("summary", {}, "Operations of device stages"),
        element("p", { class: "note" }, `Traced in ${graphline.counted(runs, "run")} of each ` +
          "stage alone; tracing slows it. Medians of a call and of all calls in a frame."),
        table("Operations of device stages", [
          { title: "stage" }, { title: "operation" }, { title: "calls", number: true },
          { title: "each (us)", number: true }, { title: "all (us)", number: true },
        ], rows.map(([stage, operation, ...cells]) => [name(stage), name(operation), ...cells])));
    }

    function outputs(rows) {
      return element("details", { class: "facts" }, element("summary", {}, "Outputs"),
        table("Outputs", [{ title: "tensor" }, { title: "type" }, { title: "checksum" }],
          rows.map(([tensor, type, checksum]) =>
            [name(tensor), type, element("code", {}, checksum)])));
    }

    if (!summary.end_to_end) box.append(element("p", {}, "No frame was measured."));
    box.append(figureRow(summary.figures));
    if (summary.end_to_end) box.append(endToEnd(summary.end_to_end));
    if (summary.stages) box.append(stages(summary.stages));
    if (summary.notes) {
      box.append(element("ul", { class: "notes" },
        summary.notes.map((text) => element("li", {}, text))));
    }
    if (summary.graphs) box.append(element("p", {}, `Graphs: ${summary.graphs}.`));
    box.append(...(detail.parts ?? []).map(parts));
    if (detail.operations) box.append(operations(detail.operations));
    if (summary.outputs.length) box.append(outputs(summary.outputs));
  },
});
