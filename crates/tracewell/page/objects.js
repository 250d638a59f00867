// Draws state machines, their steps, the spans of threads, and the levels of queues, pools and semaphores.

import { nameLater } from "./dense.js";
import { fitted, hatch } from "./paint.js";
import { paintOf } from "./paints.js";
import { stateColour, textOn } from "./theme.js";
import { inUnits } from "./words.js";

/** @typedef {import("./spans.js").Frame} Frame */

/** The level of a pixel with many spans is computed from a sample of at least this number of spans. */
const LEVEL_SAMPLES = 24;

/** The state that a row of steps has during a step. */
const IN_STEP = 1;

/** The state that a row of spans has while the thread is in no span. */
const IN_NO_SPAN = 2;

/** Returns the painter for the states of a machine, or for the spans of a thread. @param {any} row @returns {import("./dense.js").Painter} */
export function stateSpans(row) {
    return {
        span: ({ ink, colours }, spans, index, { y, height }, x, width) => {
            if (spans.state[index] === IN_NO_SPAN) return;
            const isKnown = spans.state[index] === 1;
            ink.fillStyle = isKnown ? stateColour(colours, spans.value[index]) : hatch(ink, colours.unknown);
            ink.fillRect(x, y, Math.max(width - (width > 3 ? 0.5 : 0), 1), height);
            if (!isKnown) return;
            ink.fillStyle = textOn(stateColour(colours, spans.value[index]));
            fitted(ink, row.states[spans.value[index]], x + 7, y + height / 2 + 0.5, width - 10);
        },
        run: (frame, spans, index, { y, height }, x, width, rects) => {
            const { colours } = frame;
            const [state, value] = [spans.state[index], spans.value[index]];
            if (state === IN_NO_SPAN) return;
            if (state !== 1) {
                rects.hatch(x, y, width, height, paintOf(colours.unknown));
                return;
            }
            const colour = stateColour(colours, value);
            rects.add(x, y, width, height, paintOf(colour));
            nameLater(frame, row.states[value], colour, x, y + height / 2, width);
        },
        pixel: ({ colours }, { spans, middle }, { y, height }, x, rects) => {
            if (middle < 0 || spans.state[middle] === IN_NO_SPAN) return;
            rects.bar(x, y, height, paintOf(spans.state[middle] === 1 ? stateColour(colours, spans.value[middle]) : colours.unknown));
        },
    };
}

/** How steps are drawn. @type {import("./dense.js").Painter} */
export const stepSpans = {
    state: IN_STEP,
    span: ({ ink, colours }, spans, index, { y, height }, x, width) => {
        if (spans.state[index] !== IN_STEP) return;
        ink.fillStyle = colours.soft;
        ink.fillRect(x, y, Math.max(width, 1), height);
    },
    run: ({ colours }, spans, index, { y, height }, x, width, rects) => {
        if (spans.state[index] === IN_STEP) rects.add(x, y, width, height, paintOf(colours.soft));
    },
    pixel: ({ colours }, pixels, { y, height }, x, rects) => {
        const share = pixels.share(IN_STEP);
        if (share <= 0) return;
        const part = Math.max(1, Math.round(height * share));
        rects.bar(x, y + height - part, part, paintOf(colours.soft));
    },
};

/** Returns the height of a level in pixels. The height of level 0 is 1, so that an empty queue is a line. @type {(level: number, most: number, height: number) => number} */
function levelHeight(level, most, height) {
    return level === 0 ? 1 : Math.max(2, Math.round((height * level) / Math.max(most, 1)));
}

/** Writes a level on its bar, if there is room. @type {(frame: Frame, level: number, part: number, bottom: number, x: number, width: number) => void} */
function writeLevel({ ink, colours }, level, part, bottom, x, width) {
    if (part <= 12 || width <= 22) return;
    ink.fillStyle = colours.text;
    fitted(ink, String(level), x + 5, bottom - part / 2 + 0.5, width - 8);
}

/** Returns the painter for levels. Each level is a bar; a pixel with several levels shows the highest. @param {any} row @returns {import("./dense.js").Painter} */
export function levelSpans(row) {
    return {
        span: (frame, spans, index, { y, height }, x, width) => {
            const { ink, colours } = frame;
            const level = spans.value[index];
            const isKnown = spans.state[index] === 1;
            const part = isKnown ? levelHeight(level, row.most, height) : height;
            ink.fillStyle = isKnown ? colours.level : hatch(ink, colours.unknown);
            ink.fillRect(x, y + height - part, Math.max(width, 1), part);
            if (isKnown) writeLevel(frame, level, part, y + height, x, width);
        },
        run: (frame, spans, index, { y, height }, x, width, rects) => {
            const { colours, sheet } = frame;
            const level = spans.value[index];
            if (spans.state[index] !== 1) {
                rects.hatch(x, y, width, height, paintOf(colours.unknown));
                return;
            }
            const part = levelHeight(level, row.most, height);
            rects.add(x, y + height - part, width, part, paintOf(colours.level));
            if (width > 22) sheet.later(() => writeLevel(frame, level, part, y + height, x, width));
        },
        pixel: ({ colours }, { spans, first, end }, { y, height }, x, rects) => {
            const stride = Math.max(1, Math.floor((end - first) / LEVEL_SAMPLES));
            let most = -1;
            for (let i = Math.max(first, 0); i < end; i += stride) {
                if (spans.state[i] === 1) most = Math.max(most, spans.value[i]);
            }
            if (most < 0) return;
            const part = levelHeight(most, row.most, height);
            rects.bar(x, y + height - part, part, paintOf(colours.level));
        },
    };
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
    return `${name}: ${state === 1 ? `${inUnits(value, unit)}, at most ${most}` : "level unknown"}`;
}
