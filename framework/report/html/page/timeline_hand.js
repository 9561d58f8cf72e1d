// Pointer and keyboard on a timeline's picture.
"use strict";

function handTimeline(plot) {
  const { picture, view } = plot;
  const pointer = (event) => view.time(event.clientX - picture.getBoundingClientRect().left);
  const zoom = (factor, at) => {
    view.zoom(factor, at);
    plot.place();
  };

  // A page that scrolls must not be caught by the picture: the wheel zooms once it was clicked or
  // has the keyboard, or with Ctrl.
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !picture.contains(document.activeElement)) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      view.pan(event.deltaX / view.width);
      plot.place();
    } else {
      zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)), pointer(event));
    }
  }, { passive: false });

  let last = null;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    last = event.clientX;
  });
  picture.addEventListener("pointermove", (event) => {
    if (last === null || event.buttons === 0 || event.clientX === last) return;
    // Captured only now: a click on a span must reach it.
    picture.setPointerCapture(event.pointerId);
    picture.classList.add("dragged");
    view.pan((last - event.clientX) / view.width);
    last = event.clientX;
    plot.place();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    picture.addEventListener(end, () => {
      last = null;
      picture.classList.remove("dragged");
    });
  }

  const middle = () => plot.focused
    ? Math.min(Math.max((plot.focused.span.begin + plot.focused.span.end) / 2, view.from), view.to)
    : (view.from + view.to) / 2;
  const pan = (part) => {
    view.pan(part);
    plot.place();
  };
  const keys = {
    "+": () => zoom(1.5, middle()),
    "=": () => zoom(1.5, middle()),
    "-": () => zoom(1 / 1.5, middle()),
    0: () => plot.fit(),
    ArrowLeft: (moves) => (moves ? plot.step(-1, 0) : pan(-0.15)),
    ArrowRight: (moves) => (moves ? plot.step(1, 0) : pan(0.15)),
    ArrowUp: (moves) => moves && plot.step(0, -1),
    ArrowDown: (moves) => (moves ? plot.step(0, 1) : plot.current?.group.focus()),
    Escape: () => picture.focus(),
  };
  picture.addEventListener("keydown", (event) => {
    const key = keys[event.key];
    if (!key || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    key(Boolean(plot.focused) && !event.shiftKey);
  });
}
