// Where the nodes and edges of the pipeline's picture stand, in pixels. The data has layers and
// rows; layers go to the right where there is room, else down.
"use strict";

const pipelineSizes = {
  across: { widths: [148, 184], gap: [36, 64], height: 66, row: 82 },
  down: { node: [150, 66], layer: 104, row: 162 },
};

// For layers to the right: as wide nodes and gaps as fit, within their limits.
function sizesAcross(layers, room) {
  const { widths, gap, height, row } = pipelineSizes.across;
  const within = (value, [least, most]) => Math.min(Math.max(value, least), most);
  const width = within((room - (layers - 1) * gap[0]) / layers, widths);
  const between = within((room - layers * width) / Math.max(1, layers - 1), gap);
  return { node: [width, height], layer: width + between, row,
           fits: layers * width + (layers - 1) * between <= room };
}

class PipelinePlaces {
  constructor(pipeline, width) {
    const across = sizesAcross(pipeline.layers, width - 4);
    this.across = across.fits || (width >= 640 && pipeline.layers <= 12);
    this.size = this.across ? across : pipelineSizes.down;
    const along = (pipeline.layers - 1) * this.size.layer;
    const rows = Math.max(0, pipeline.rows - 1) * this.size.row;
    const [w, h] = this.size.node;
    this.width = (this.across ? along : rows) + w + 4;
    this.height = (this.across ? rows : along) + h + 4;
    this.first = pipeline.nodes.reduce((a, b) => (b.layer < a.layer ? b : a));
  }

  // How far to the right the middle of the first node is.
  get beginning() {
    return this.corner(this.first)[0] + this.size.node[0] / 2;
  }

  // The upper left corner of a node.
  corner({ layer, row }) {
    const [a, b] = [layer * this.size.layer + 2, row * this.size.row + 2];
    return this.across ? [a, b] : [b, a];
  }

  // Where an edge enters or leaves a node, or passes a layer: the middle of the side, before it and
  // after it.
  port(place, after) {
    const [x, y] = this.corner(place);
    const [w, h] = this.size.node;
    return this.across ? [after ? x + w : x, y + h / 2] : [x + w / 2, after ? y + h : y];
  }

  // A smooth path through an edge's bends, straight where it passes the layers between.
  path(from, bends, to) {
    let at = this.port(from, true);
    let text = `M${at}`;
    const curve = (next) => {
      const half = this.across ? (next[0] - at[0]) / 2 : (next[1] - at[1]) / 2;
      const control = (point, sign) => this.across
        ? [point[0] + sign * half, point[1]] : [point[0], point[1] + sign * half];
      text += `C${control(at, 1)} ${control(next, -1)} ${next}`;
      at = next;
    };
    for (const [layer, row] of bends) {
      curve(this.port({ layer, row }, false));
      at = this.port({ layer, row }, true);
      text += `L${at}`;
    }
    curve(this.port(to, false));
    return text;
  }
}
