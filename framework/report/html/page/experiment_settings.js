// How each configuration was set: what differs side by side, then what all share.
"use strict";

graphline.section({
  id: "settings",
  title: "Settings",
  draws: (data) => data.kind === "experiment" &&
    data.experiment.members.some(({ settings }) => settings.length),
  draw(data, box) {
    const { element, name, table } = graphline;
    const members = experiment.membersOf(data).filter(({ settings }) => settings.length);
    const keys = [...new Set(members.flatMap(({ settings }) => settings.map(([key]) => key)))];
    const value = (member, key) => member.settings.find(([own]) => own === key)?.[1] ?? "-";
    const differs = (key) =>
      members.some((member) => value(member, key) !== value(members[0], key));
    const varied = keys.filter(differs);
    // What set them apart, where that is not in their names.
    const assigned = ({ assignments }) => assignments.map((pair) => pair.join("=")).join(" ");
    const withAssigned = members.some((member) =>
      member.assignments.length && assigned(member) !== member.configuration);
    const columns = [
      data.experiment.by_id && { title: "id", of: (member) => member.id },
      { title: "configuration", of: (member) => member.configuration },
      data.experiment.several_at_once && { title: "pipeline", of: (member) => member.pipeline },
      withAssigned && { title: "as written", of: assigned },
      ...varied.map((key) => ({ title: name(key), of: (member) => value(member, key) })),
    ].filter(Boolean);
    const place = element("div", {});
    box.append(place);
    experiment.drawn(() => {
      const shown = members.filter(experiment.isShown);
      if (!varied.length && !withAssigned) return;
      place.className = experiment.height(shown.length);
      place.replaceChildren(!shown.length ? experiment.none("a configuration")
        : table("What differs", columns,
            shown.map((member) => columns.map(({ of }) => name(of(member))))));
    });
    const shared = keys.filter((key) => !differs(key));
    if (shared.length) {
      box.append(element("details", { class: "facts", open: !varied.length },
        element("summary", {},
          members.length > 1 ? "The same in all configurations" : "All settings"),
        table("Settings", [{ title: "name" }, { title: "value" }],
          shared.map((key) => [name(key), name(value(members[0], key))]))));
    }
  },
});
