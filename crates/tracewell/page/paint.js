// Drawing on a canvas: size, hatches, text that fits, grid of times.

import { SvgInk } from "./svg.js";
import { fixed, grouped, step } from "./time.js";

export const FONT = 'system-ui, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif';

/** Minimum number of letters that a truncated text keeps: fewer could be the beginning of many names. */
const MIN_LETTERS = 6;

/** Maximum number of texts per font for which the width is kept. */
const MAX_WIDTHS = 10_000;

/** Minimum distance of two labels on the axis in pixels. */
const LABEL_DISTANCE = 68;

/** Approximate width of a character of a label, and approximate distance to the next label, in pixels. */
const [CHARACTER, GAP] = [7, 20];

/** Returns the size of a canvas in pixels of the page. @param {HTMLCanvasElement} canvas */
export function sizeOf({ clientWidth: width, clientHeight: height }) {
    return { width, height };
}

/**
 * Returns the drawing context of a canvas. Its coordinates are in pixels of the page.
 * @param {HTMLCanvasElement} canvas
 * @param {{ width: number, height: number }} size
 */
export function prepared(canvas, { width, height }) {
    const ratio = devicePixelRatio || 1;
    const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
    if (canvas.width !== w || canvas.height !== h) {
        canvas.width = w;
        canvas.height = h;
    }
    const ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { alpha: false }));
    ink.setTransform(ratio, 0, 0, ratio, 0, 0);
    ink.textBaseline = "middle";
    return ink;
}

/** @type {Map<string, CanvasPattern>} */
const hatches = new Map();

/**
 * Returns diagonal lines of a colour.
 * @param {CanvasRenderingContext2D} ink
 * @param {string} colour
 */
export function hatch(ink, colour) {
    // An SVG file needs its own definition of the hatch.
    const file = /** @type {unknown} */ (ink);
    if (file instanceof SvgInk) return file.hatch(colour);
    const known = hatches.get(colour);
    if (known) return known;
    const tile = document.createElement("canvas");
    tile.width = tile.height = 14;
    const lines = /** @type {CanvasRenderingContext2D} */ (tile.getContext("2d"));
    lines.strokeStyle = colour;
    lines.lineWidth = 1.6;
    for (const start of [-14, -7, 0, 7, 14]) {
        lines.moveTo(start, 14);
        lines.lineTo(start + 14, 0);
    }
    lines.stroke();
    const pattern = /** @type {CanvasPattern} */ (ink.createPattern(tile, "repeat"));
    pattern.setTransform(new DOMMatrix().scale(0.8));
    hatches.set(colour, pattern);
    return pattern;
}

/** The width of a text, and the widths of its truncated forms by their number of letters. @typedef {{ whole: number, parts: number[] }} Width */

/** Widths of texts by font. They are kept because most texts of a picture occur again in the next one. @type {Map<string, Map<string, Width>>} */
const widths = new Map();

/** The widths in the font of each drawing context. Asking the context for its font would take longer. @type {WeakMap<object, Map<string, Width>>} */
const current = new WeakMap();

/** Sets the font of a drawing context. @param {CanvasRenderingContext2D} ink @param {string} font */
export function setFont(ink, font) {
    ink.font = font;
    let known = widths.get(font);
    if (!known || known.size >= MAX_WIDTHS) widths.set(font, known = new Map());
    current.set(ink, known);
}

/** The fonts of the picture. */
const FONTS = ["12px", "11.5px", "600 11px", "600 12.5px", "12.5px"].map((size) => `${size} ${FONT}`);

/** Lets the browser load the fonts of the picture. Call this while the page waits for its content. */
export function loadFonts() {
    // A canvas of the page would become black before the first picture.
    const ink = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    for (const font of FONTS) {
        setFont(ink, font);
        widthOf(ink, "0");
    }
}

/** Returns the width of a text in the font that `setFont` has set. @param {CanvasRenderingContext2D} ink @param {string} text */
function measuredText(ink, text) {
    const all = /** @type {Map<string, Width>} */ (current.get(ink));
    let width = all.get(text);
    if (!width) all.set(text, width = { whole: ink.measureText(text).width, parts: [] });
    return width;
}

/** Returns the width of a text in pixels. @param {CanvasRenderingContext2D} ink @param {string} text */
export function widthOf(ink, text) {
    return measuredText(ink, text).whole;
}

/**
 * Draws text at most `room` pixels wide, truncated with an ellipsis, if there is room for `MIN_LETTERS`.
 * @param {CanvasRenderingContext2D} ink
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {number} room
 */
export function fitted(ink, text, x, y, room) {
    const shown = cut(ink, text, room);
    if (shown !== "") ink.fillText(shown, x, y);
}

/**
 * Returns text at most `room` pixels wide, truncated with an ellipsis. Returns an empty text if there is no room for `MIN_LETTERS`.
 * @param {CanvasRenderingContext2D} ink
 * @param {string} text
 * @param {number} room
 */
export function cut(ink, text, room) {
    if (room < 14) return "";
    const { whole, parts } = measuredText(ink, text);
    if (whole <= room) return text;
    const fits = (/** @type {number} */ letters) => (parts[letters] ??= ink.measureText(`${text.slice(0, letters)}…`).width) <= room;
    if (text.length < MIN_LETTERS || !fits(MIN_LETTERS)) return "";
    let [least, most] = [MIN_LETTERS, text.length];
    while (least < most) {
        const middle = (least + most + 1) >> 1;
        if (fits(middle)) least = middle;
        else most = middle - 1;
    }
    return `${text.slice(0, least)}…`;
}

/**
 * A line of the grid, with the label of its time.
 * @typedef {{ at: number, label: string }} GridLine
 */

/**
 * Returns the lines of the grid for a view, and the unit of their labels, which is the unit of all times on the page.
 * @param {import("./model.js").Model} model
 * @param {number} from
 * @param {number} to
 * @param {number} width in pixels
 * @returns {{ unit: string, lines: GridLine[] }}
 */
export function grid(model, from, to, width) {
    const { unit, lines } = gridOf(model, from, to, Math.max(width / LABEL_DISTANCE, 1));
    const longest = Math.max(...lines.map(({ label }) => label.length)) * CHARACTER + GAP;
    // Long labels need more room.
    return longest <= LABEL_DISTANCE ? { unit, lines } : gridOf(model, from, to, Math.max(width / longest, 1));
}

/**
 * @param {import("./model.js").Model} model
 * @param {number} from
 * @param {number} to
 * @param {number} parts maximum number of lines, approximately
 * @returns {{ unit: string, lines: GridLine[] }}
 */
function gridOf(model, from, to, parts) {
    if (!model.clock.isKnown) return tickGrid(model, from, to, parts);
    const begin = model.clock.ns(model.exact(Math.max(from, 0)));
    const end = model.clock.ns(model.exact(to));
    const distance = step(Math.max(Number(end - begin) / parts, 1));
    const { unit, ns } = model.unit;
    const decimals = Math.max(0, Math.ceil(Math.log10(ns / distance) - 1e-9));
    const by = BigInt(distance);
    const lines = [];
    for (let time = (begin / by) * by; time <= end; time += by) {
        const at = Number(model.clock.ticks(time) - model.origin);
        if (at >= from) lines.push({ at, label: fixed(time, ns, decimals) });
    }
    return { unit, lines };
}

/**
 * Returns the lines of the grid for the sequence view, at equal distances, with their times.
 * @param {import("./model.js").Model} model
 * @param {number} left
 * @param {number} width in pixels
 * @param {(x: number) => number} time
 * @returns {{ unit: string, lines: GridLine[] }}
 */
export function sequenceGrid(model, left, width, time) {
    const lines = [];
    for (let x = LABEL_DISTANCE; x < width; x += 2 * LABEL_DISTANCE) {
        const at = Math.round(time(left + x));
        if (at >= 0 && at <= model.length) lines.push({ at, label: model.time(model.exact(at)) });
    }
    return { unit: "in sequence", lines };
}

/**
 * @param {import("./model.js").Model} model
 * @param {number} from
 * @param {number} to
 * @param {number} parts
 */
function tickGrid(model, from, to, parts) {
    const by = BigInt(step(Math.max((to - from) / parts, 1)));
    const begin = model.exact(Math.max(from, 0));
    const lines = [];
    for (let ticks = (begin / by) * by; ticks <= model.exact(to); ticks += by) {
        const at = Number(ticks - model.origin);
        if (at >= from) lines.push({ at, label: grouped(ticks) });
    }
    return { unit: "ticks", lines };
}
