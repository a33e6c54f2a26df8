// Grids of scores: decoding, contour lines, and their colors.

import { fieldColor } from "./colors.js";

export function decodeFloats(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Float32Array(bytes.buffer);
}

export function decodeBytes(text) {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}

// Segments [x0, y0, x1, y1] of the line where the grid has the value `level`, in cells: marching squares.
export function contour(grid, size, level) {
  const found = [];
  for (let row = 0; row + 1 < size; row++) {
    for (let column = 0; column + 1 < size; column++) {
      const at = row * size + column;
      const corners = [grid[at], grid[at + 1], grid[at + size + 1], grid[at + size]].map((value) => value - level);
      const crossings = [];
      for (let k = 0; k < 4; k++) {
        const a = corners[k],
          b = corners[(k + 1) % 4];
        if (a > 0 === b > 0) continue;
        crossings.push(crossing(k, a / (a - b), column, row));
      }
      if (crossings.length === 2) found.push([...crossings[0], ...crossings[1]]);
      if (crossings.length === 4) {
        // A saddle: the mean of the corners decides which corners are joined.
        const joined = corners[0] + corners[1] + corners[2] + corners[3] > 0 === corners[0] > 0;
        const [a, b, c, d] = crossings;
        found.push(
          ...(joined
            ? [
                [...a, ...b],
                [...c, ...d],
              ]
            : [
                [...a, ...d],
                [...b, ...c],
              ]),
        );
      }
    }
  }
  return found;
}

function crossing(side, t, column, row) {
  if (side === 0) return [column + t, row];
  if (side === 1) return [column + 1, row + t];
  if (side === 2) return [column + 1 - t, row + 1];
  return [column, row + 1 - t];
}

// A canvas with the colors of a grid, interpolated between its points; the first row is the lowest.
export function fieldImage(grid, size, scale, cells = 4) {
  const width = (size - 1) * cells + 1;
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = width;
  const context = canvas.getContext("2d");
  const image = context.createImageData(width, width);
  const colors = colorTable();
  for (let y = 0; y < width; y++) {
    const fromBelow = (width - 1 - y) / cells;
    const row = Math.min(size - 2, Math.floor(fromBelow)),
      v = fromBelow - row;
    for (let x = 0; x < width; x++) {
      const column = Math.min(size - 2, Math.floor(x / cells)),
        u = x / cells - column;
      const at = row * size + column;
      const low = grid[at] * (1 - u) + grid[at + 1] * u;
      const high = grid[at + size] * (1 - u) + grid[at + size + 1] * u;
      const score = low * (1 - v) + high * v;
      const value = Math.tanh(score / scale);
      const color =
        3 * (score === 0 ? 201 : score > 0 ? 101 + Math.floor(value * 99.9) : Math.ceil(value * 99.9) + 100);
      const to = 4 * (y * width + x);
      image.data[to] = colors[color];
      image.data[to + 1] = colors[color + 1];
      image.data[to + 2] = colors[color + 2];
      image.data[to + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}

function colorTable() {
  // Also a score close to zero has the tint of its class: 0 to 100 are those of -1, 101 to 200 those of 1.
  // 201 is the color of a score that is exactly zero.
  const table = new Uint8ClampedArray(3 * 202);
  table.set(fieldColor(0, 0), 3 * 201);
  for (let i = 0; i <= 200; i++) {
    const size = i > 100 ? (i - 101) / 99 : (100 - i) / 100;
    table.set(fieldColor(i > 100 ? 1 : -1, 0.1 + 0.42 * size), 3 * i);
  }
  return table;
}

// The scale on which scores become colors: 1 where there are margins, else a typical score.
export function scoreScale(grid, hasMargins) {
  if (hasMargins) return 1.2;
  const sizes = Array.from(grid, Math.abs).sort((a, b) => a - b);
  return sizes[Math.floor(sizes.length * 0.7)] || 1;
}

// A canvas with the entries of a square matrix on a scale from -1 to 1 (bytes 0 to 255).
export function matrixImage(bytes, size) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = size;
  const context = canvas.getContext("2d");
  const image = context.createImageData(size, size);
  for (let i = 0; i < size * size; i++) {
    const color = fieldColor(bytes[i] / 127.5 - 1);
    image.data.set([...color, 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
  return canvas;
}
