// Draws the lane of a context: its states, its jobs with their missed deadlines, and the events that are single points.

import { lowerBound } from "./bounds.js";
import { drawRow } from "./dense.js";
import { BLOCKED, INTERRUPTED, RUNNING } from "./model.js";
import { cut, hatch, widthOf } from "./paint.js";

/** @typedef {import("./spans.js").Frame} Frame */
/** @typedef {import("./dense.js").Box} Box */
/** @typedef {import("./rectangles.js").Rectangles} Rectangles */

/** States of a context that could run: preempted, ready. */
const WAITING = [3, 4];

const DELETED = 9;

/** Opacity of an interrupted context, of the border of a ready one, of an unknown state, and of a job. */
const [PALE, BORDER, VAGUE, JOB] = [0.45, 0.5, 0.6, 0.5];

/** Minimum width of a ready span that has a border. */
const BORDERED = 3;

/** Minimum width of a span with a label. */
const LABELLED = 40;

/** Lengths of the dashes of a line, and of the gaps between them: sleeping is dotted, a completed job is widely dotted, "not running" is dashed. */
const DASHES = { 6: [1.5, 3.5], 7: [1, 7], 8: [6, 4] };

/** Returns the colour, the thickness and the dashes of the line of a state. @type {(colours: import("./theme.js").Colours, colour: string, state: number) => { colour: string, thickness: number, dash: number[] }} */
function lineOf(colours, colour, state) {
    if (state === BLOCKED) return { colour, thickness: 1.6, dash: [] };
    return { colour: colours.soft, thickness: 1, dash: DASHES[/** @type {keyof typeof DASHES} */ (state)] ?? DASHES[8] };
}

/**
 * @param {Frame} frame
 * @param {import("./rows.js").Lane} lane
 * @param {number} y
 * @param {Box} box
 */
export function drawContext(frame, lane, y, box) {
    const { model, colours, sheet } = frame;
    const colour = frame.contexts[lane.context ?? 0];
    /** @type {{ text: string, x: number, room: number }[]} */
    const labels = [];
    const label = (/** @type {any} */ spans, /** @type {number} */ index, /** @type {number} */ x, /** @type {number} */ width) => {
        const text = width > LABELLED ? stateText(model, spans.state[index], spans.value[index]) : "";
        if (text) labels.push({ text, x: x + 8, room: width - 16 });
    };
    drawRow(frame, lane.row.spans, box, {
        state: RUNNING,
        span: (_, spans, index, __, x, width) => {
            drawState(frame, colour, spans.state[index], box, x, width);
            label(spans, index, x, width);
        },
        run: (_, spans, index, __, x, width, rects) => {
            addState(rects, colours, colour, spans.state[index], box, x, width);
            label(spans, index, x, width);
        },
        pixel: (_, pixels, { y: top, height }, x, rects) => {
            const share = pixels.share(RUNNING);
            if (pixels.isDense) {
                const part = Math.max(1, Math.round(height * share));
                if (share > 0) rects.bar(x, top + height - part, part, colour);
            } else if (share > 0.5 || (share > 0 && pixels.hasWhole)) {
                // Among few spans, a short run is as high as a long one.
                rects.bar(x, top, height, colour);
            } else if (pixels.middle >= 0) {
                addState(rects, colours, colour, pixels.spans.state[pixels.middle], box, x, 1);
            }
        },
    });
    sheet.later(() => drawStateLabels(frame, labels, box.y + box.height / 2));
    drawJobs(frame, lane, y, colour);
    drawMarks(frame, lane, y);
}

/** Draws a state on the canvas. @type {(frame: Frame, colour: string, state: number, box: Box, x: number, width: number) => void} */
function drawState({ ink, colours }, colour, state, { y, height }, x, width) {
    if (state === RUNNING || state === INTERRUPTED) {
        ink.fillStyle = colour;
        ink.globalAlpha = state === RUNNING ? 1 : PALE;
        ink.fillRect(x, y, Math.max(width - (width > 3 ? 0.5 : 0), 1), height);
    } else if (WAITING.includes(state)) {
        ink.fillStyle = hatch(ink, colour);
        ink.fillRect(x, y, Math.max(width, 1), height);
        ink.strokeStyle = colour;
        ink.lineWidth = 1;
        ink.globalAlpha = BORDER;
        if (width > BORDERED) ink.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
    } else if (state === 0) {
        ink.fillStyle = hatch(ink, colours.unknown);
        ink.globalAlpha = VAGUE;
        ink.fillRect(x, y + 3, Math.max(width, 1), height - 6);
    } else if (state !== DELETED) {
        const line = lineOf(colours, colour, state);
        ink.strokeStyle = line.colour;
        ink.lineWidth = line.thickness;
        ink.setLineDash(line.dash);
        ink.beginPath();
        ink.moveTo(x, y + height / 2);
        ink.lineTo(x + Math.max(width, 1), y + height / 2);
        ink.stroke();
        ink.setLineDash([]);
    }
    ink.globalAlpha = 1;
}

/** Adds a state to an image. It looks as `drawState` draws it. @type {(rects: Rectangles, colours: import("./theme.js").Colours, colour: string, state: number, box: Box, x: number, width: number) => void} */
function addState(rects, colours, colour, state, { y, height }, x, width) {
    if (state === RUNNING || state === INTERRUPTED) {
        rects.add(x, y, width, height, colour, state === RUNNING ? 1 : PALE);
    } else if (WAITING.includes(state)) {
        rects.hatch(x, y, width, height, colour);
        if (width <= BORDERED) return;
        for (const top of [y, y + height - 1]) rects.add(x, top, width, 1, colour, BORDER);
        for (const left of [x, x + width - 1]) rects.add(left, y + 1, 1, height - 2, colour, BORDER);
    } else if (state === 0) {
        rects.hatch(x, y + 3, width, height - 6, colours.unknown, VAGUE);
    } else if (state !== DELETED) {
        const line = lineOf(colours, colour, state);
        const [top, bottom] = [y + (height - line.thickness) / 2, y + (height + line.thickness) / 2];
        // Pixels that the line covers in part are paler.
        for (let row = Math.floor(top); row < bottom; row += 1) {
            addLine(rects, row, line.colour, Math.min(row + 1, bottom) - Math.max(row, top), line.dash, x, x + width);
        }
    }
}

/** Adds a line that is one pixel high. @type {(rects: Rectangles, y: number, colour: string, alpha: number, dash: number[], from: number, to: number) => void} */
function addLine(rects, y, colour, alpha, [on, off], from, to) {
    if (on === undefined) {
        rects.add(from, y, to - from, 1, colour, alpha);
        return;
    }
    const [whole, part] = [Math.floor(on), on % 1];
    for (let x = from; x < to; x += on + off) {
        rects.add(x, y, Math.min(whole, to - x), 1, colour, alpha);
        if (part > 0 && x + whole < to) rects.add(x + whole, y, 1, 1, colour, alpha * part);
    }
}

/**
 * Returns the text on the line of a state without the processor.
 * @param {import("./model.js").Model} model
 * @param {number} state
 * @param {number} value
 */
function stateText(model, state, value) {
    if (state === BLOCKED) return model.reason(value);
    return { 0: "unknown", 6: "sleeping", 7: "job done", 8: "not running" }[state] ?? "";
}

/**
 * Writes the labels of states over their lines.
 * @param {Frame} frame
 * @param {{ text: string, x: number, room: number }[]} labels
 * @param {number} y
 */
function drawStateLabels({ ink, colours }, labels, y) {
    for (const { text, x, room } of labels) {
        const shown = cut(ink, text, room);
        if (!shown) continue;
        const width = widthOf(ink, shown);
        ink.fillStyle = colours.ground;
        ink.fillRect(x - 3, y - 8, width + 6, 16);
        ink.fillStyle = colours.soft;
        ink.fillText(shown, x, y + 0.5);
    }
}

/**
 * Draws jobs as thin lines below the states, and missed deadlines in the colour of alarms.
 * @param {Frame} frame
 * @param {import("./rows.js").Lane} lane
 * @param {number} y
 * @param {string} colour
 */
function drawJobs(frame, lane, y, colour) {
    const { sheet, model, view, colours, x } = frame;
    const context = lane.context ?? -1;
    const { jobsOf, missesOf } = model.intervals;
    const bottom = y + lane.height - 3;
    const least = view.span / frame.width;
    const { left, width } = frame;
    const jobs = jobsOf.get(context);
    if (!jobs) return;
    const rects = sheet.rectangles({ left, top: bottom, width, height: 2 }, jobs.count(view.from, view.to));
    jobs.visit(view.from, view.to, least, (_, begin, end) => {
        const [from, to] = [x(Math.max(begin, view.from)), x(Math.min(end, view.to))];
        rects.add(from, bottom, Math.max(to - from - 1, 1), 2, colour, JOB);
    });
    rects.end();
    const misses = missesOf.get(context);
    if (!misses) return;
    const alarms = sheet.rectangles({ left, top: y, width, height: lane.height }, misses.count(view.from, view.to));
    misses.visit(view.from, view.to, least, (_, missed, end) => {
        const [from, to] = [x(missed), x(Math.min(end, view.to))];
        alarms.add(from, y + 3, 2, lane.height - 6, colours.alarm);
        alarms.add(from, bottom, Math.max(to - from, 4), 2, colours.alarm);
    });
    alarms.end();
}

/**
 * Draws events that are shown as single points, as small triangles.
 * @param {Frame} frame
 * @param {import("./rows.js").Lane} lane
 * @param {number} y
 */
function drawMarks({ ink, model, view, colours, x, time }, lane, y) {
    const at = model.intervals.marksOf.get(lane.context ?? -1);
    if (!at) return;
    ink.fillStyle = colours.soft;
    ink.beginPath();
    let i = lowerBound(at, view.from);
    while (i < at.length && at[i] <= view.to) {
        const place = x(at[i]);
        ink.moveTo(place - 4, y);
        ink.lineTo(place + 4, y);
        ink.lineTo(place, y + 5);
        // A triangle covers most of the triangles at neighbouring pixels.
        i = Math.max(lowerBound(at, time(place + 6), i), i + 1);
    }
    ink.fill();
}
