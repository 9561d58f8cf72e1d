// The settings, machine and files that made the result.
"use strict";

graphline.section({
  id: "origin",
  title: "What made this",
  draws: () => true,
  draw(data, box) {
    const { element, name, table } = graphline;

    // Each line by itself, so that a style can number it: numbers are not copied with the text.
    function listing(text) {
      const lines = text.replace(/\r?\n$/, "").split(/\r?\n/);
      return element("pre", { class: "listing", tabindex: "0", dir: "ltr" },
        element("code", {}, lines.map((line) => element("span", { class: "line" }, `${line}\n`))));
    }

    async function copy(text, button) {
      let done = "Copied";
      try {
        await navigator.clipboard.writeText(text);
      } catch {
        done = "The browser does not allow it";
      }
      button.textContent = done;
      graphline.say(done);
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    }

    function source({ file, text }) {
      const button = element("button", { type: "button", onclick: () => copy(text, button),
                                         "aria-label": `Copy ${file}` }, "Copy");
      return element("details", { class: "facts", open: true },
        element("summary", {}, name(file)),
        element("div", { class: "copied" }, button, listing(text)));
    }

    const names = { settings: "Settings", device: "Device", environment: "Environment" };
    for (const [key, title] of Object.entries(names)) {
      const rows = data.origin[key];
      if (!rows?.length) continue;
      box.append(element("details", { class: "facts" }, element("summary", {}, title),
        table(title, [{ title: "name" }, { title: "value" }],
          rows.map(([what, value]) => [name(what), name(value)]))));
    }
    box.append(...data.origin.sources.map(source));
  },
});
