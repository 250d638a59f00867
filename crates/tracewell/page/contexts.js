// Draws the lane of a context: its states, its jobs with their missed deadlines, and the events that are single points.

import { lowerBound } from "./bounds.js";
import { drawRow } from "./dense.js";
import { BLOCKED, INTERRUPTED, RUNNING } from "./model.js";
import { cut, hatch, widthOf } from "./paint.js";
import { paintOf } from "./paints.js";

/** @typedef {import("./spans.js").Frame} Frame */
/** @typedef {import("./dense.js").Box} Box */
/** @typedef {import("./paints.js").Paint} Paint */
/** @typedef {import("./rectangles.js").Rectangles} Rectangles */

/** States of a context that could run: preempted, ready. */
const WAITING = [3, 4];

const DELETED = 9;

/** Opacity of an interrupted context, of the border of a ready context, of an unknown state, and of a job. */
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
    const styles = new Styles(colours, colour, box);
    /** @type {{ text: string, x: number, room: number }[]} */
    const labels = [];
    const label = (/** @type {any} */ spans, /** @type {number} */ index, /** @type {number} */ x, /** @type {number} */ width) => {
        const text = width > LABELLED ? stateText(model, spans.state[index], spans.value[index]) : "";
        if (text) labels.push({ text, x: x + 8, room: width - 16 });
    };
    drawRow(frame, lane.row.spans, box, {
        state: RUNNING,
        paint: styles.running,
        span: (_, spans, index, __, x, width) => {
            drawState(frame, colour, spans.state[index], box, x, width);
            label(spans, index, x, width);
        },
        run: (_, spans, index, __, x, width, rects) => {
            styles.add(rects, spans.state[index], x, width);
            label(spans, index, x, width);
        },
        pixel: (_, pixels, { y: top, height }, x, rects) => {
            const share = pixels.share(RUNNING);
            if (share > 0.5 || (share > 0 && pixels.hasWhole)) {
                // In a row that is not dense, a short run is as high as a long one.
                rects.bar(x, top, height, styles.running);
            } else if (pixels.middle >= 0) {
                styles.add(rects, pixels.spans.state[pixels.middle], x, 1);
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

/** A row of pixels of a line. Pixels that the line covers in part are paler. @typedef {{ y: number, colour: string, alpha: number, paint: Paint, dash: number[] }} LineRow */

/** The paints and the lines of one lane, for its states in an image. */
class Styles {
    /** @param {import("./theme.js").Colours} colours @param {string} colour @param {Box} box */
    constructor(colours, colour, box) {
        this.box = box;
        this.colours = colours;
        this.colour = colour;
        this.running = paintOf(colour);
        this.interrupted = paintOf(colour, PALE);
        this.border = paintOf(colour, BORDER);
        this.unknown = paintOf(colours.unknown, VAGUE);
        /** The lines of states. @type {(LineRow[] | undefined)[]} */
        this.lines = [];
    }

    /** Adds a state to an image. The state looks as if `drawState` had drawn it. @type {(rects: Rectangles, state: number, x: number, width: number) => void} */
    add(rects, state, x, width) {
        const { y, height } = this.box;
        if (state === RUNNING || state === INTERRUPTED) {
            rects.add(x, y, width, height, state === RUNNING ? this.running : this.interrupted);
        } else if (WAITING.includes(state)) {
            rects.hatch(x, y, width, height, this.running);
            if (width <= BORDERED) return;
            rects.add(x, y, width, 1, this.border);
            rects.add(x, y + height - 1, width, 1, this.border);
            rects.add(x, y + 1, 1, height - 2, this.border);
            rects.add(x + width - 1, y + 1, 1, height - 2, this.border);
        } else if (state === 0) {
            rects.hatch(x, y + 3, width, height - 6, this.unknown);
        } else if (state !== DELETED) {
            for (const row of this.lines[state] ??= this.lineRows(state)) addLine(rects, row, x, x + width);
        }
    }

    /** Returns the rows of the line of a state. @param {number} state @returns {LineRow[]} */
    lineRows(state) {
        const { colour, thickness, dash } = lineOf(this.colours, this.colour, state);
        const middle = this.box.y + this.box.height / 2;
        const [top, bottom] = [middle - thickness / 2, middle + thickness / 2];
        const rows = [];
        for (let y = Math.floor(top); y < bottom; y += 1) {
            const alpha = Math.min(y + 1, bottom) - Math.max(y, top);
            rows.push({ y, colour, alpha, paint: paintOf(colour, alpha), dash });
        }
        return rows;
    }
}

/** Adds a part of a line that is one pixel high. @type {(rects: Rectangles, row: LineRow, from: number, to: number) => void} */
function addLine(rects, { y, colour, alpha, paint, dash: [on, off] }, from, to) {
    if (on === undefined) {
        rects.add(from, y, to - from, 1, paint);
        return;
    }
    const [whole, part] = [Math.floor(on), on % 1];
    for (let x = from; x < to; x += on + off) {
        rects.add(x, y, Math.min(whole, to - x), 1, paint);
        if (part > 0 && x + whole < to) rects.add(x + whole, y, 1, 1, paintOf(colour, alpha * part));
    }
}

/**
 * Returns the label of a state, or an empty text if the state has no label.
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
    const paint = paintOf(colour, JOB);
    jobs.visit(view.from, view.to, least, (_, begin, end) => {
        const [from, to] = [x(Math.max(begin, view.from)), x(Math.min(end, view.to))];
        rects.add(from, bottom, Math.max(to - from - 1, 1), 2, paint);
    });
    rects.end();
    const misses = missesOf.get(context);
    if (!misses) return;
    const alarms = sheet.rectangles({ left, top: y, width, height: lane.height }, misses.count(view.from, view.to));
    const alarm = paintOf(colours.alarm);
    misses.visit(view.from, view.to, least, (_, missed, end) => {
        const [from, to] = [x(missed), x(Math.min(end, view.to))];
        alarms.add(from, y + 3, 2, lane.height - 6, alarm);
        alarms.add(from, bottom, Math.max(to - from, 4), 2, alarm);
    });
    alarms.end();
}

/**
 * Draws small triangles for the events that are single points.
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
