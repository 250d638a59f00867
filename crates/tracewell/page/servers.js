// Draws the budgets of servers, and puts them into words.

import { fitted, hatch } from "./paint.js";
import { paintOf } from "./paints.js";

/** @typedef {import("./spans.js").Frame} Frame */

/** Codes of the states of a server: a part of the budget is left, a part is left and the task runs, the budget is exhausted, it is exhausted and the task runs. */
const [KEPT, USED, EXHAUSTED, OVERRUN] = [1, 2, 3, 4];

/** Opacity of a budget that is not being used. */
const NOT_USED = 0.45;

/** Opacity of the band in which a budget is exhausted. */
const BAND = 0.12;

/** Number of spans in a pixel from which the smallest and the largest budget are found. */
const BUDGET_SAMPLES = 24;

/** Returns true if the budget is exhausted in a state. @param {number} state */
export function isExhausted(state) {
    return state === EXHAUSTED || state === OVERRUN;
}

/** Returns true if the trace shows the budget in a state. @param {number} state */
function isKnownBudget(state) {
    return state === KEPT || state === USED;
}

/** Returns the used ticks of a budget at a time within a span. @type {(row: any, span: number, time: number) => number} */
function usedAt({ spans, least }, span, time) {
    return spans.value[span] + least + (spans.state[span] === USED ? Math.max(time - spans.at[span], 0) : 0);
}

/**
 * Returns the height of a budget as a share: the part that is left, or the used part if the size is unknown.
 * @type {(row: any, span: number, time: number) => number}
 */
function shareAt(row, span, time) {
    const used = usedAt(row, span, time);
    const share = row.size === null ? used / Math.max(row.most, 1) : (row.size - used) / Math.max(row.size, 1);
    return Math.min(Math.max(share, 0), 1);
}

/** Returns the colour of a server: that of the context that it serves. @type {(frame: Frame, row: any) => string} */
function colourOf({ contexts, colours }, { task }) {
    return contexts[task ?? -1] ?? colours.level;
}

/** Marks the time in which a budget is exhausted: a red band with a line at the bottom. @type {(frame: Frame, box: { y: number, height: number }, x: number, width: number) => void} */
function drawExhausted(frame, box, x, width) {
    const { ink, colours } = frame;
    const { y, height } = box;
    ink.fillStyle = colours.alarm;
    ink.globalAlpha = BAND;
    ink.fillRect(x, y, Math.max(width, 1), height);
    ink.globalAlpha = 1;
    ink.fillRect(x, y + height - 2, Math.max(width, 1), 2);
    nameExhausted(frame, box, x, width);
}

/** Writes a word on an exhausted budget, if there is room. @type {(frame: Frame, box: { y: number, height: number }, x: number, width: number) => void} */
function nameExhausted({ ink, colours }, { y, height }, x, width) {
    if (width < 24) return;
    ink.fillStyle = colours.alarm;
    fitted(ink, "exhausted", x + 5, y + height / 2 + 0.5, width - 8);
}

/**
 * Returns the painter for the budget of a server. A budget is an area whose height shows what is left. It is solid and decreases while the task
 * of the server runs, and pale while the task does not run. A pixel with several states is solid up to the least that is left, and pale up to
 * the most.
 * @param {any} row
 * @returns {import("./dense.js").Painter}
 */
export function budgetSpans(row) {
    return {
        span: (frame, spans, index, box, x, width) => {
            const { ink, colours, time } = frame;
            const { y, height } = box;
            const state = spans.state[index];
            if (isExhausted(state)) return drawExhausted(frame, box, x, width);
            if (!isKnownBudget(state)) {
                ink.fillStyle = hatch(ink, colours.unknown);
                ink.fillRect(x, y, Math.max(width, 1), height);
                return;
            }
            // The span can begin before the picture and end after it.
            const [begin, end] = [time(x), time(x + width)].map((at) => y + height - Math.max(height * shareAt(row, index, at), 1));
            ink.fillStyle = colourOf(frame, row);
            ink.globalAlpha = state === USED ? 1 : NOT_USED;
            ink.beginPath();
            ink.moveTo(x, y + height);
            ink.lineTo(x, begin);
            ink.lineTo(x + Math.max(width, 1), end);
            ink.lineTo(x + Math.max(width, 1), y + height);
            ink.fill();
            ink.globalAlpha = 1;
        },
        run: (frame, spans, index, box, x, width, rects) => {
            const { colours, time } = frame;
            const { y, height } = box;
            const state = spans.state[index];
            if (isExhausted(state)) {
                rects.add(x, y, width, height, paintOf(colours.alarm, BAND));
                rects.add(x, y + height - 2, width, 2, paintOf(colours.alarm));
                frame.sheet.later(() => nameExhausted(frame, box, x, width));
                return;
            }
            if (!isKnownBudget(state)) {
                rects.hatch(x, y, width, height, paintOf(colours.unknown));
                return;
            }
            const paint = paintOf(colourOf(frame, row), state === USED ? 1 : NOT_USED);
            for (let column = x; column < x + width; column += 1) {
                const part = Math.max(Math.round(height * shareAt(row, index, time(column))), 1);
                rects.bar(column, y + height - part, part, paint);
            }
        },
        pixel: (frame, { spans, first, end, from, to }, { y, height }, x, rects) => {
            const { colours } = frame;
            const stride = Math.max(1, Math.floor((end - first) / BUDGET_SAMPLES));
            let [least, most, isUsed, exhausted] = [2, -1, false, false];
            for (let i = Math.max(first, 0); i < end; i += stride) {
                const state = spans.state[i];
                exhausted ||= isExhausted(state);
                if (!isKnownBudget(state)) continue;
                isUsed ||= state === USED;
                const [begin, last] = [shareAt(row, i, Math.max(spans.at[i], from)), shareAt(row, i, Math.min(spans.to(i), to))];
                least = Math.min(least, begin, last);
                most = Math.max(most, begin, last);
            }
            const colour = colourOf(frame, row);
            for (const [share, opacity] of most < 0 ? [] : [[most, NOT_USED], [least, isUsed || least < most ? 1 : NOT_USED]]) {
                const part = Math.max(Math.round(height * share), 1);
                rects.bar(x, y + height - part, part, paintOf(colour, opacity));
            }
            // An exhaustion stays visible even if it is short.
            if (exhausted) rects.bar(x, y + height - 2, 2, paintOf(colours.alarm));
        },
    };
}

/**
 * Returns what the budget of a server is during a span, or at a time within the span.
 * @type {(model: import("./model.js").Model, row: any, span: number, at?: number) => string}
 */
export function budgetText(model, row, span, at) {
    const { spans, size, task } = row;
    const state = spans.state[span];
    const who = task === null ? "its task" : model.name(task);
    if (isExhausted(state)) return `budget exhausted${state === OVERRUN ? `, but ${who} runs` : ""}`;
    const runs = state === KEPT ? "" : `, ${who} runs`;
    if (!isKnownBudget(state)) return `budget unknown${state === 0 ? "" : runs}`;
    const part = (/** @type {number} */ time) => ticksText(model, size === null ? usedAt(row, span, time) : size - usedAt(row, span, time));
    const [first, last] = at === undefined ? [part(spans.from(span)), part(spans.to(span))] : [part(at), part(at)];
    const change = first === last ? first : `${first} to ${last}`;
    return size === null ? `${change} of the budget used, its size is unknown${runs}` : `${change} left of ${ticksText(model, size)}${runs}`;
}

/** Returns a number of ticks as a duration. Less than nothing can be left if reclaimed time was added. @type {(model: import("./model.js").Model, ticks: number) => string} */
function ticksText(model, ticks) {
    return `${ticks < 0 ? "−" : ""}${model.span(0, Math.abs(ticks))}`;
}

/** Returns the name of a server: the context that it serves, or its address. @type {(model: import("./model.js").Model, row: any) => string} */
export function serverName(model, { task, name }) {
    return task === null ? `server ${name}` : `server of ${model.name(task)}`;
}

/** Returns the size of the budget of a server. @type {(model: import("./model.js").Model, row: any) => string} */
export function sizeText(model, { size }) {
    return size === null ? "size unknown" : model.span(0, size);
}
