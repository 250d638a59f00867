// Draws the spans of one lane. If a view has more spans than pixels, each pixel shows the share of
// its time in which the lane was running, so that the cost depends on pixels only.

import { BLOCKED, IDLE, INTERRUPT, INTERRUPTED, RUNNING, TASK, lowerBound } from "./model.js";
import { cut, fitted, hatch } from "./paint.js";

/**
 * Where and how a lane is drawn.
 * @typedef {{
 *   ink: CanvasRenderingContext2D, model: import("./model.js").Model,
 *   view: import("./view.js").View, colours: import("./theme.js").Colours, contexts: string[],
 *   left: number, width: number, x: (time: number) => number
 * }} Frame
 */

/** Spans that are looked at for the colour of one pixel of a core. */
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
    else if (lane.kind === "interrupts") drawInterrupts(frame, y, lane.height);
    else if (lane.kind === "context") drawContext(frame, lane, y, box);
    else if (lane.kind === "lock") drawLock(frame, lane.row, box);
    else if (lane.kind === "events") drawEvents(frame, lane, box);
}

/**
 * Draws each span, or each pixel if there are many spans.
 * @param {Frame} frame
 * @param {any} spans
 * @param {{ y: number, height: number }} box
 * @param {(frame: Frame, spans: any, index: number, box: any, x: number, width: number) => void} span
 * @param {(frame: Frame, spans: any, from: number, to: number, box: any, x: number) => void} pixel
 */
function drawRow(frame, spans, box, span, pixel) {
    const { view, left, width, x } = frame;
    const [first, last] = spans.within(view.from, view.to);
    if (last - first > 2 * width) {
        const ticks = view.span / width;
        for (let column = 0; column < width; column += 1) {
            const from = view.from + column * ticks;
            pixel(frame, spans, from, from + ticks, box, left + column);
        }
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
        ink.fillStyle = colours.onColour;
        fitted(ink, model.name(value), x + 7, y + height / 2 + 0.5, width - 10);
        return;
    }
    ink.fillStyle = state === INTERRUPT ? colours.interrupt : hatch(ink, colours.unknown);
    ink.fillRect(x, y, Math.max(width, 1), height);
}

/** @type {(frame: Frame, spans: any, from: number, to: number, box: any, x: number) => void} */
function corePixel({ ink, colours, contexts }, spans, from, to, { y, height }, x) {
    const [first, last] = spans.within(from, to);
    const stride = Math.max(1, Math.floor((last - first) / SAMPLES));
    const times = new Map();
    let busy = 0;
    let all = 0;
    for (let i = first; i < last; i += stride) {
        const ticks = Math.min(spans.to(i), to) - Math.max(spans.from(i), from);
        all += ticks;
        if (spans.state[i] === IDLE || ticks <= 0) continue;
        const colour = spans.state[i] === TASK ? contexts[spans.value[i]]
            : spans.state[i] === INTERRUPT ? colours.interrupt : colours.unknown;
        times.set(colour, (times.get(colour) ?? 0) + ticks);
        busy += ticks;
    }
    let bottom = y + height;
    for (const [colour, ticks] of times) {
        const part = (height * ticks) / Math.max(all, busy, 1e-9);
        ink.fillStyle = colour;
        ink.fillRect(x, bottom - part, 1, part);
        bottom -= part;
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
    const pixel = (/** @type {any[]} */ ...args) => {
        const [, spans, from, to, , x] = args;
        const share = (spans.runningBefore(to) - spans.runningBefore(from)) / (to - from);
        if (share <= 0) return;
        const part = Math.max(1, box.height * share);
        frame.ink.fillStyle = colour;
        frame.ink.fillRect(x, box.y + box.height - part, 1, part);
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
        // Asleep is dotted, a completed job is dotted widely, "not running" is dashed.
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
 * Returns what a state without the processor says on its line.
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
        const width = ink.measureText(shown).width;
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
function drawJobs({ ink, model, view, colours, x }, lane, y, colour) {
    const { job } = model;
    const bottom = y + lane.height - 3;
    let drawn = -Infinity;
    for (let i = lowerBound(job.from, view.from - view.length); i < job.from.length; i += 1) {
        if (job.from[i] > view.to) break;
        if (job.context[i] !== lane.context) continue;
        const end = job.untilSeq[i] > 0 ? job.until[i] : model.length;
        if (end < view.from) continue;
        const [from, to] = [x(Math.max(job.from[i], view.from)), x(Math.min(end, view.to))];
        if (to - from > 1.5 || from > drawn + 1) {
            ink.fillStyle = colour;
            ink.globalAlpha = 0.5;
            ink.fillRect(from, bottom, Math.max(to - from - 1, 1), 2);
            ink.globalAlpha = 1;
            drawn = to;
        }
        if (job.missed_seq[i] === 0) continue;
        const missed = x(job.missed[i]);
        ink.fillStyle = colours.alarm;
        ink.fillRect(missed, y + 3, 2, lane.height - 6);
        ink.fillRect(missed, bottom, Math.max(to - missed, 4), 2);
    }
}

/**
 * Draws events that stand for themselves as small triangles.
 * @param {Frame} frame
 * @param {import("./rows.js").Lane} lane
 * @param {number} y
 */
function drawMarks({ ink, model, view, colours, x }, lane, y) {
    const { at, context } = model.mark;
    const last = lowerBound(at, view.to);
    let drawn = -Infinity;
    ink.fillStyle = colours.soft;
    for (let i = lowerBound(at, view.from); i < last; i += 1) {
        if (context[i] !== lane.context) continue;
        const place = x(at[i]);
        if (place < drawn + 3) continue;
        drawn = place;
        ink.beginPath();
        ink.moveTo(place - 4, y);
        ink.lineTo(place + 4, y);
        ink.lineTo(place, y + 5);
        ink.fill();
    }
}

/**
 * Draws when interrupts are served.
 * @param {Frame} frame
 * @param {number} y
 * @param {number} height
 */
function drawInterrupts({ ink, model, view, colours, left, width, x }, y, height) {
    ink.fillStyle = colours.interrupt;
    for (const { kind, spans } of model.rows) {
        if (kind !== "core") continue;
        const [first, last] = spans.within(view.from, view.to);
        const stride = Math.max(1, Math.floor((last - first) / (4 * width)));
        let free = left;
        for (let i = first; i < last; i += stride) {
            if (spans.state[i] !== INTERRUPT) continue;
            const [from, to] = [Math.max(x(spans.from(i)), left), x(spans.to(i))];
            ink.fillStyle = colours.interrupt;
            ink.fillRect(from, y + 3, Math.max(to - from, 1.5), height - 6);
            const label = spans.value[i] > 0 ? `isr ${spans.value[i] - 1}` : "interrupt";
            const text = ink.measureText(label).width;
            if (from > free && nextInterrupt(spans, i, last, x) - to > text + 12) {
                ink.fillStyle = colours.soft;
                ink.fillText(label, to + 5, y + height / 2 + 0.5);
                free = to + text + 5;
            }
        }
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
 * Draws the holder of a mutex, and below it those who wait.
 * @param {Frame} frame
 * @param {any} row
 * @param {{ y: number, height: number }} box
 */
function drawLock(frame, row, box) {
    const { ink, model, view, colours, contexts, left, width, x } = frame;
    const held = { y: box.y, height: box.height - 4 };
    const span = (/** @type {any[]} */ ...args) => {
        const [, spans, index, , begin, length] = args;
        if (spans.state[index] === 0) return;
        const context = spans.value[index] - 1;
        ink.fillStyle = contexts[context];
        ink.globalAlpha = 0.85;
        ink.fillRect(begin, held.y, Math.max(length, 1), held.height);
        ink.globalAlpha = 1;
        ink.fillStyle = colours.onColour;
        fitted(ink, model.name(context), begin + 7, held.y + held.height / 2 + 0.5, length - 10);
    };
    const pixel = (/** @type {any[]} */ ...args) => {
        const [, spans, from, to, , place] = args;
        const index = spans.find((from + to) / 2);
        if (index < 0 || spans.state[index] === 0) return;
        ink.fillStyle = contexts[spans.value[index] - 1];
        ink.fillRect(place, held.y, 1, held.height);
    };
    drawRow(frame, row.spans, held, span, pixel);
    const { wait } = model;
    for (let i = row.waits[0]; i < row.waits[1]; i += 1) {
        const until = wait.untilSeq[i] > 0 ? wait.until[i] : model.length;
        if (until < view.from || wait.from[i] > view.to) continue;
        const from = Math.max(x(wait.from[i]), left);
        const to = Math.min(x(until), left + width);
        const lane = row.spans.count > 0 ? box.y + box.height - 3 : box.y + 2 + (wait.context[i] % 3) * 4;
        ink.fillStyle = contexts[wait.context[i]];
        ink.fillRect(from, lane, Math.max(to - from, 1), 3);
    }
}

/**
 * Draws the events of a context: one line each, or their number for each pixel.
 * @param {Frame} frame
 * @param {import("./rows.js").Lane} lane
 * @param {{ y: number, height: number }} box
 */
function drawEvents({ ink, model, view, contexts, left, width }, lane, { y, height }) {
    const at = model.events.byContext[lane.context ?? 0];
    const ticks = view.span / width;
    ink.fillStyle = contexts[lane.context ?? 0];
    let first = lowerBound(at, view.from);
    const last = lowerBound(at, view.to + ticks);
    while (first < last) {
        const column = Math.floor((at[first] - view.from) / ticks);
        const next = lowerBound(at, view.from + (column + 1) * ticks, first + 1, last);
        // A pixel with one event is half as high as the lane; each doubling adds to it.
        const part = height * Math.min(1, 0.5 + Math.log2(next - first) / 16);
        ink.fillRect(left + column, y + height - part, 1.5, part);
        first = next;
    }
}
