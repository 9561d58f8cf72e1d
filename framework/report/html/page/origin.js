// The settings, machine and files that made the result.
"use strict";

graphline.section({
  id: "origin",
  title: "What made this",
  draws: () => true,
  draw(data, box) {
    const { element, table } = graphline;
    const names = { settings: "Settings", device: "Device", environment: "Environment" };
    for (const [key, title] of Object.entries(names)) {
      const rows = data.origin[key];
      if (!rows) continue;
      box.append(element("details", { class: "facts" }, element("summary", {}, title),
        table(title, [{ title: "name" }, { title: "value" }], rows)));
    }
    for (const { file, text } of data.origin.sources) {
      box.append(element("details", { class: "facts", open: true }, element("summary", {}, file),
        element("pre", { tabindex: "0" }, text)));
    }
  },
});
