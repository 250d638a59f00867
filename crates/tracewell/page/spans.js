// Draws the spans of one lane. If a view has more spans than pixels, each pixel shows the share of its time in which
// the lane was running. So the cost depends only on the number of pixels.

import { lowerBound } from "./bounds.js";
import { BLOCKED, IDLE, INTERRUPT, INTERRUPTED, RUNNING, TASK } from "./model.js";
import { levelPixel, levelSpan, statePixel, stateSpan, stepPixel, stepSpan } from "./objects.js";
import { cut, fitted, hatch, widthOf } from "./paint.js";
import { Pixels } from "./pixels.js";
import { rectangles } from "./rectangles.js";
import { textOn } from "./theme.js";

/**
 * The place and the settings for drawing a lane.
 * @typedef {{
 *   ink: CanvasRenderingContext2D, model: import("./model.js").Model,
 *   view: import("./view.js").View, colours: import("./theme.js").Colours, contexts: string[],
 *   left: number, width: number, x: (time: number) => number, time: (x: number) => number,
 *   pills: import("./pills.js").Pill[], actions: Actions
 * }} Frame
 */

/**
 * Functions of clicks on labels.
 * @typedef {{ inversion: (i: number) => void, mark: (mark: import("./marks.js").UserMark) => void }} Actions
 */

/** @typedef {import("./rectangles.js").Rectangles} Rectangles */

/** Number of spans that are examined to choose the colour of one pixel in a core's row. */
const SAMPLES = 24;

/**
 * @param {Frame} frame
 * @param {import("./rows.js").Lane} lane
 * @param {number} y
 */
export function drawLane(frame, lane, y) {
    const margin = lane.kind === "lock" ? 3 : 5;
    const box = { y: y + margin, height: lane.height - 2 * margin };
    if (lane.kind === "core") drawRow(frame, lane.row.spans, box, coreSpan, corePixel);
    else if (lane.kind === "interrupts") drawInterrupts(frame, lane, y);
    else if (lane.kind === "file") drawExtent(frame, lane.file ?? 0, box);
    else if (lane.kind === "context") drawContext(frame, lane, y, box);
    else if (lane.kind === "lock") drawLock(frame, lane.row, box);
    else if (lane.kind === "events") drawEvents(frame, lane, box);
    else if (lane.kind in OBJECTS) drawObject(frame, lane.kind, lane.row, box);
}

/** Functions that draw the spans and the pixels of objects, by kind of lane. */
const OBJECTS = {
    machine: [stateSpan, statePixel], steps: [stepSpan, stepPixel], level: [levelSpan, levelPixel],
};

/** @type {(frame: Frame, kind: string, row: any, box: { y: number, height: number }) => void} */
function drawObject(frame, kind, row, box) {
    const [span, pixel] = /** @type {((...args: any[]) => void)[]} */ (OBJECTS[/** @type {keyof typeof OBJECTS} */ (kind)]);
    drawRow(frame, row.spans, box, (...args) => span(...args, row), (...args) => pixel(...args, row));
}

/**
 * Draws each span, or each pixel if there are many spans.
 * @param {Frame} frame
 * @param {any} spans
 * @param {{ y: number, height: number }} box
 * @param {(frame: Frame, spans: any, index: number, box: any, x: number, width: number) => void} span
 * @param {(frame: Frame, pixels: Pixels, box: any, x: number, rects: Rectangles) => void} pixel
 */
function drawRow(frame, spans, box, span, pixel) {
    const { ink, view, left, width, x, time } = frame;
    const [first, last] = spans.within(view.from, view.to);
    if (last - first > 2 * width) {
        const rects = rectangles(ink, { left, top: box.y, width, height: box.height });
        const pixels = new Pixels(spans, view.from);
        for (let column = 0; column < width; column += 1) {
            pixels.advance(time(left + column + 1));
            pixel(frame, pixels, box, left + column, rects);
        }
        rects.end();
        return;
    }
    for (let index = first; index < last; index += 1) {
        const begin = Math.max(x(spans.from(index)), left);
        const end = Math.min(x(spans.to(index)), left + width);
        if (end >= begin) span(frame, spans, index, box, begin, end - begin);
    }
}

/** @type {(frame: Frame, spans: any, index: number, box: any, x: number, width: number) => void} */
function coreSpan({ ink, model, colours, contexts }, spans, index, { y, height }, x, width) {
    const [state, value] = [spans.state[index], spans.value[index]];
    if (state === IDLE) return;
    if (state === TASK) {
        ink.fillStyle = contexts[value];
        ink.fillRect(x, y, Math.max(width - (width > 3 ? 0.5 : 0), 1), height);
        ink.fillStyle = textOn(contexts[value]);
        fitted(ink, model.name(value), x + 7, y + height / 2 + 0.5, width - 10);
        return;
    }
    ink.fillStyle = state === INTERRUPT ? colours.interrupt : hatch(ink, colours.unknown);
    ink.fillRect(x, y, Math.max(width, 1), height);
}

/** Times of interrupts, unknown contexts and each context in the current pixel of a core; 0 between pixels. @type {number[]} */
const times = [];

/** @type {(frame: Frame, pixels: Pixels, box: any, x: number, rects: Rectangles) => void} */
function corePixel({ colours, contexts }, { spans, from, to, first, end }, { y, height }, x, rects) {
    const stride = Math.max(1, Math.floor((end - first) / SAMPLES));
    let all = 0;
    let most = -1;
    for (let i = Math.max(first, 0); i < end; i += stride) {
        const ticks = Math.min(spans.to(i), to) - Math.max(spans.from(i), from);
        if (ticks <= 0) continue;
        all += ticks;
        if (spans.state[i] === IDLE) continue;
        // Interrupts first, then unknown, then contexts: a fixed order, so that neighbouring pixels look alike.
        const who = spans.state[i] === TASK ? spans.value[i] + 2 : spans.state[i] === INTERRUPT ? 0 : 1;
        times[who] = (times[who] ?? 0) + ticks;
        most = Math.max(most, who);
    }
    let bottom = y + height;
    for (let who = 0; who <= most; who += 1) {
        if (!times[who]) continue;
        const part = Math.max(1, Math.round((height * times[who]) / all));
        rects.add(x, bottom - part, 1, part, who === 0 ? colours.interrupt : who === 1 ? colours.unknown : contexts[who - 2]);
        bottom -= part;
        times[who] = 0;
    }
}

/**
 * @param {Frame} frame
 * @param {import("./rows.js").Lane} lane
 * @param {number} y
 * @param {{ y: number, height: number }} box
 */
function drawContext(frame, lane, y, box) {
    const colour = frame.contexts[lane.context ?? 0];
    /** @type {{ text: string, x: number, room: number }[]} */
    const labels = [];
    const span = (/** @type {any[]} */ ...args) => {
        const [, spans, index, , x, width] = args;
        contextSpan(frame, colour, spans, index, box, x, width);
        const text = stateText(frame.model, spans.state[index], spans.value[index]);
        if (text && width > 40) labels.push({ text, x: x + 8, room: width - 16 });
    };
    /** @type {(frame: Frame, pixels: Pixels, box: any, x: number, rects: Rectangles) => void} */
    const pixel = (_, pixels, { y: top, height }, x, rects) => {
        const share = pixels.share(RUNNING);
        if (share <= 0) return;
        const part = Math.max(1, Math.round(height * share));
        rects.add(x, top + height - part, 1, part, colour);
    };
    drawRow(frame, lane.row.spans, box, span, pixel);
    drawStateLabels(frame, labels, box.y + box.height / 2);
    drawJobs(frame, lane, y, colour);
    drawMarks(frame, lane, y);
}

/**
 * @param {Frame} frame
 * @param {string} colour
 * @param {any} spans
 * @param {number} index
 * @param {{ y: number, height: number }} box
 * @param {number} x
 * @param {number} width
 */
function contextSpan({ ink, colours }, colour, spans, index, { y, height }, x, width) {
    const state = spans.state[index];
    const middle = y + height / 2;
    if (state === RUNNING || state === INTERRUPTED) {
        ink.fillStyle = colour;
        ink.globalAlpha = state === RUNNING ? 1 : 0.45;
        ink.fillRect(x, y, Math.max(width - (width > 3 ? 0.5 : 0), 1), height);
        ink.globalAlpha = 1;
    } else if (state === 3 || state === 4) {
        ink.fillStyle = hatch(ink, colour);
        ink.fillRect(x, y, Math.max(width, 1), height);
        ink.strokeStyle = colour;
        ink.lineWidth = 1;
        ink.globalAlpha = 0.5;
        if (width > 3) ink.strokeRect(x + 0.5, y + 0.5, width - 1, height - 1);
        ink.globalAlpha = 1;
    } else if (state === 0) {
        ink.fillStyle = hatch(ink, colours.unknown);
        ink.globalAlpha = 0.6;
        ink.fillRect(x, y + 3, Math.max(width, 1), height - 6);
        ink.globalAlpha = 1;
    } else if (state !== 9) {
        ink.strokeStyle = state === BLOCKED ? colour : colours.soft;
        ink.lineWidth = state === BLOCKED ? 1.6 : 1;
        // Sleeping is dotted, a completed job is widely dotted, "not running" is dashed.
        ink.setLineDash(state === BLOCKED ? [] : state === 6 ? [1.5, 3.5] : state === 7 ? [1, 7] : [6, 4]);
        line(ink, x, middle, x + Math.max(width, 1));
        ink.setLineDash([]);
    }
}

/**
 * @param {CanvasRenderingContext2D} ink
 * @param {number} x
 * @param {number} y
 * @param {number} end
 */
function line(ink, x, y, end) {
    ink.beginPath();
    ink.moveTo(x, y);
    ink.lineTo(end, y);
    ink.stroke();
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
    const { ink, model, view, colours, x } = frame;
    const context = lane.context ?? -1;
    const { jobsOf, missesOf } = model.intervals;
    const bottom = y + lane.height - 3;
    const least = view.span / frame.width;
    const area = { left: frame.left, top: y, width: frame.width, height: lane.height };
    const jobs = jobsOf.get(context);
    if (!jobs) return;
    const rects = rectangles(ink, area, jobs.count(view.from, view.to));
    jobs.visit(view.from, view.to, least, (_, begin, end) => {
        const [from, to] = [x(Math.max(begin, view.from)), x(Math.min(end, view.to))];
        rects.add(from, bottom, Math.max(to - from - 1, 1), 2, colour);
    });
    ink.globalAlpha = 0.5;
    rects.end();
    ink.globalAlpha = 1;
    const misses = missesOf.get(context);
    if (!misses) return;
    const alarms = rectangles(ink, area, misses.count(view.from, view.to));
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

/**
 * Draws the time of a file, which the user can drag.
 * @param {Frame} frame
 * @param {number} file
 * @param {{ y: number, height: number }} box
 */
function drawExtent({ ink, model, colours, left, width, x }, file, { y, height }) {
    const [from, to] = [Math.max(x(model.files[file].from), left), Math.min(x(model.endOf(file)), left + width)];
    if (to < from) return;
    ink.fillStyle = colours.select;
    ink.globalAlpha = 0.22;
    ink.beginPath();
    ink.roundRect(from, y, Math.max(to - from, 2), height, 3);
    ink.fill();
    ink.globalAlpha = 1;
}

/**
 * Draws the times in which interrupts are active.
 * @param {Frame} frame
 * @param {import("./rows.js").Lane} lane
 * @param {number} y
 */
function drawInterrupts(frame, { file, height }, y) {
    const { ink, model, view, colours, left, x } = frame;
    const box = { y: y + 3, height: height - 6 };
    for (const row of model.rows) {
        const { kind, spans } = row;
        if (kind !== "core" || row.file !== file) continue;
        const last = spans.within(view.from, view.to)[1];
        let free = left;
        const span = (/** @type {any[]} */ ...args) => {
            const [, , i, , from, width] = args;
            if (spans.state[i] !== INTERRUPT) return;
            ink.fillStyle = colours.interrupt;
            ink.fillRect(from, box.y, Math.max(width, 1.5), box.height);
            const to = from + width;
            const room = Math.min(nextInterrupt(spans, i, last, x), left + frame.width) - to - 12;
            const label = spans.value[i] > 0 ? `isr ${spans.value[i] - 1}` : "interrupt";
            if (from <= free || room < 20 || widthOf(ink, label) > room) return;
            ink.fillStyle = colours.soft;
            ink.fillText(label, to + 5, y + height / 2 + 0.5);
            free = to + widthOf(ink, label) + 5;
        };
        /** @type {(frame: Frame, pixels: Pixels, box: any, x: number, rects: Rectangles) => void} */
        const pixel = (_, pixels, { y: top, height: room }, place, rects) => {
            if (pixels.share(INTERRUPT) > 0) rects.add(place, top, 1, room, colours.interrupt);
        };
        drawRow(frame, spans, box, span, pixel);
    }
}

/** @type {(spans: any, index: number, last: number, x: (time: number) => number) => number} */
function nextInterrupt(spans, index, last, x) {
    for (let i = index + 1; i < Math.min(last, index + 6); i += 1) {
        if (spans.state[i] === INTERRUPT) return x(spans.from(i));
    }
    return index + 6 < last ? x(spans.from(index + 6)) : Infinity;
}

/**
 * Draws the holder of a mutex, and below it the waiting contexts.
 * @param {Frame} frame
 * @param {any} row
 * @param {{ y: number, height: number }} box
 */
function drawLock(frame, row, box) {
    const { ink, model, view, contexts, left, width, x } = frame;
    const held = { y: box.y, height: box.height - 4 };
    const span = (/** @type {any[]} */ ...args) => {
        const [, spans, index, , begin, length] = args;
        if (spans.state[index] === 0) return;
        const context = spans.value[index] - 1;
        ink.fillStyle = contexts[context];
        ink.fillRect(begin, held.y, Math.max(length, 1), held.height);
        ink.fillStyle = textOn(contexts[context]);
        // In a lower bar, the letters would be cut.
        if (held.height >= 12) fitted(ink, model.name(context), begin + 7, held.y + held.height / 2 + 0.5, length - 10);
    };
    /** @type {(frame: Frame, pixels: Pixels, box: any, x: number, rects: Rectangles) => void} */
    const pixel = (_, { spans, middle }, { y, height }, place, rects) => {
        if (middle >= 0 && spans.state[middle] !== 0) rects.add(place, y, 1, height, contexts[spans.value[middle] - 1]);
    };
    drawRow(frame, row.spans, held, span, pixel);
    const waits = model.intervals.waitsFor.get(row.index);
    if (!waits) return;
    const { context } = model.wait;
    const rects = rectangles(ink, { left, top: box.y, width, height: box.height }, waits.count(view.from, view.to));
    waits.visit(view.from, view.to, view.span / width, (i, begin, until) => {
        const from = Math.max(x(begin), left);
        const to = Math.min(x(until), left + width);
        const lane = row.spans.count > 0 ? box.y + box.height - 3 : box.y + 2 + (context[i] % 3) * 4;
        rects.add(from, lane, Math.max(to - from, 1), 3, contexts[context[i]]);
    });
    rects.end();
}

/**
 * Draws the events of a context: one line each, or their number for each pixel.
 * @param {Frame} frame
 * @param {import("./rows.js").Lane} lane
 * @param {{ y: number, height: number }} box
 */
function drawEvents({ ink, model, view, contexts, left, width, x, time }, lane, { y, height }) {
    const at = model.events.byContext[lane.context ?? 0];
    let first = lowerBound(at, view.from);
    const last = lowerBound(at, time(x(view.to) + 1));
    const rects = rectangles(ink, { left, top: y, width, height }, last - first);
    while (first < last) {
        const column = Math.floor(x(at[first]) - left);
        const next = Math.max(lowerBound(at, time(left + column + 1), first, last), first + 1);
        // The bar of a single event is half as high as the lane; each doubling of the number of
        // events makes the bar higher.
        const part = height * Math.min(1, 0.5 + Math.log2(next - first) / 16);
        rects.add(left + column, y + height - part, 1.5, part, contexts[lane.context ?? 0]);
        first = next;
    }
    rects.end();
}
