// Draws state machines, their steps, the spans of threads, and the levels of queues, pools and semaphores.

import { fitted, hatch } from "./paint.js";
import { stateColour, textOn } from "./theme.js";

/** @typedef {import("./spans.js").Frame} Frame */
/** @typedef {{ y: number, height: number }} Box */
/** @typedef {import("./pixels.js").Pixels} Pixels */
/** @typedef {import("./rectangles.js").Rectangles} Rectangles */

/** Maximum number of spans, approximately, from which the level of one pixel is computed. */
const LEVEL_SAMPLES = 24;

/** The state of a row of spans in which the thread is in no span. */
const IN_NO_SPAN = 2;

/** Draws the current state of a machine, or the span in which a thread is. @type {(frame: Frame, spans: any, index: number, box: Box, x: number, width: number, row: any) => void} */
export function stateSpan({ ink, colours }, spans, index, { y, height }, x, width, row) {
    if (spans.state[index] === IN_NO_SPAN) return;
    const isKnown = spans.state[index] === 1;
    ink.fillStyle = isKnown ? stateColour(colours, spans.value[index]) : hatch(ink, colours.unknown);
    ink.fillRect(x, y, Math.max(width - (width > 3 ? 0.5 : 0), 1), height);
    if (!isKnown) return;
    ink.fillStyle = textOn(stateColour(colours, spans.value[index]));
    fitted(ink, row.states[spans.value[index]], x + 7, y + height / 2 + 0.5, width - 10);
}

/** @type {(frame: Frame, pixels: Pixels, box: Box, x: number, rects: Rectangles) => void} */
export function statePixel({ colours }, { spans, middle }, { y, height }, x, rects) {
    if (middle < 0 || spans.state[middle] === IN_NO_SPAN) return;
    rects.add(x, y, 1, height, spans.state[middle] === 1 ? stateColour(colours, spans.value[middle]) : colours.unknown);
}

/** Draws a step. @type {(frame: Frame, spans: any, index: number, box: Box, x: number, width: number) => void} */
export function stepSpan({ ink, colours }, spans, index, { y, height }, x, width) {
    if (spans.state[index] !== 1) return;
    ink.fillStyle = colours.soft;
    ink.fillRect(x, y, Math.max(width, 1), height);
}

/** @type {(frame: Frame, pixels: Pixels, box: Box, x: number, rects: Rectangles) => void} */
export function stepPixel({ colours }, pixels, { y, height }, x, rects) {
    const share = pixels.share(1);
    if (share <= 0) return;
    const part = Math.max(1, Math.round(height * share));
    rects.add(x, y + height - part, 1, part, colours.soft);
}

/** Returns the height of a level in pixels. The height of level 0 is 1, so that an empty queue is a line. @type {(level: number, most: number, height: number) => number} */
function levelHeight(level, most, height) {
    return level === 0 ? 1 : Math.max(2, Math.round((height * level) / Math.max(most, 1)));
}

/** Draws a level as a bar. @type {(frame: Frame, spans: any, index: number, box: Box, x: number, width: number, row: any) => void} */
export function levelSpan({ ink, colours }, spans, index, { y, height }, x, width, row) {
    const level = spans.value[index];
    if (spans.state[index] !== 1) {
        ink.fillStyle = hatch(ink, colours.unknown);
        ink.fillRect(x, y, Math.max(width, 1), height);
        return;
    }
    const part = levelHeight(level, row.most, height);
    ink.fillStyle = colours.level;
    ink.fillRect(x, y + height - part, Math.max(width, 1), part);
    ink.fillStyle = colours.text;
    if (part > 12 && width > 22) fitted(ink, String(level), x + 5, y + height - part / 2 + 0.5, width - 8);
}

/** Draws the highest level in the time of a pixel. @type {(frame: Frame, pixels: Pixels, box: Box, x: number, rects: Rectangles, row: any) => void} */
export function levelPixel({ colours }, { spans, first, end }, { y, height }, x, rects, row) {
    const stride = Math.max(1, Math.floor((end - first) / LEVEL_SAMPLES));
    let most = -1;
    for (let i = Math.max(first, 0); i < end; i += stride) {
        if (spans.state[i] === 1) most = Math.max(most, spans.value[i]);
    }
    if (most < 0) return;
    const part = levelHeight(most, row.most, height);
    rects.add(x, y + height - part, 1, part, colours.level);
}

/**
 * Returns a text with the state of a machine, or with the level of a queue.
 * @param {any} row
 * @param {number} state
 * @param {number} value
 */
export function objectText({ kind, name, states, unit, most, group }, state, value) {
    if (group) return `${name} ${state === 1 ? `in ${states[value]}` : "in no span"}`;
    if (kind === "machine") return `${name} ${state === 1 ? `in state ${states[value]}` : "in an unknown state"}`;
    if (kind === "steps") return `${name} ${state === 1 ? "makes a step" : "between steps"}`;
    return `${name}: ${state === 1 ? `${value} ${unit}, at most ${most}` : "level unknown"}`;
}
