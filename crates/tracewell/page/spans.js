// Draws the lanes of cores, interrupts, locks and files. If the trace shows no states, also draws the lanes of events. `contexts.js`,
// `objects.js`, `servers.js` and `loadrows.js` draw the other lanes.

import { lowerBound } from "./bounds.js";
import { drawContext } from "./contexts.js";
import { drawRow, nameLater } from "./dense.js";
import { IDLE, INTERRUPT, TASK } from "./model.js";
import { drawLoad } from "./loadrows.js";
import { levelSpans, stateSpans, stepSpans } from "./objects.js";
import { fitted, hatch, widthOf } from "./paint.js";
import { paintOf } from "./paints.js";
import { budgetSpans } from "./servers.js";
import { textOn } from "./theme.js";

/** Distance of the bar of a file from the top of its lane. */
const BELOW_LABELS = 21;

/**
 * The place and the settings for drawing a lane. `times` are the times at which the pixels begin, and the time at which the last pixel
 * ends. `contexts` and `paints` are the colours of the contexts. Dense rows are drawn on the `sheet`; a row is dense if it has more spans than `sparse`.
 * @typedef {{
 *   ink: CanvasRenderingContext2D, model: import("./model.js").Model,
 *   view: import("./view.js").View, colours: import("./theme.js").Colours, contexts: string[], paints: import("./paints.js").Paint[],
 *   left: number, width: number, x: (time: number) => number, time: (x: number) => number,
 *   times: Float64Array, sheet: import("./rectangles.js").Sheet, sparse: number,
 *   pills: import("./pills.js").Pill[], actions: Actions
 * }} Frame
 */

/**
 * Functions that run after clicks on labels.
 * @typedef {{ inversion: (i: number) => void, mark: (mark: import("./marks.js").UserMark) => void }} Actions
 */

/** @typedef {import("./rectangles.js").Rectangles} Rectangles */

/** Number of groups of spans that are examined to choose the colours of one pixel in a core's row, and number of spans in each group. */
const [GROUPS, GROUP] = [3, 8];

/**
 * @param {Frame} frame
 * @param {import("./rows.js").Lane} lane
 * @param {number} y
 */
export function drawLane(frame, lane, y) {
    const margin = lane.kind === "lock" || lane.kind === "load" ? 3 : 5;
    const box = { y: y + margin, height: lane.height - 2 * margin };
    if (lane.kind === "core") drawRow(frame, lane.row.spans, box, CORES);
    else if (lane.kind === "interrupts") drawInterrupts(frame, lane, y);
    else if (lane.kind === "file") drawExtent(frame, lane.file ?? 0, { y: y + BELOW_LABELS, height: lane.height - BELOW_LABELS - margin });
    else if (lane.kind === "context") drawContext(frame, lane, y, box);
    else if (lane.kind === "lock") drawLock(frame, lane.row, box);
    else if (lane.kind === "events") drawEvents(frame, lane, box);
    else if (lane.kind === "machine") drawRow(frame, lane.row.spans, box, stateSpans(lane.row));
    else if (lane.kind === "steps") drawRow(frame, lane.row.spans, box, stepSpans);
    else if (lane.kind === "level") drawRow(frame, lane.row.spans, box, levelSpans(lane.row));
    else if (lane.kind === "server") drawRow(frame, lane.row.spans, box, budgetSpans(lane.row));
    else if (lane.kind === "load") drawLoad(frame, lane, box);
}

/** @type {import("./dense.js").Painter} */
const CORES = { span: coreSpan, run: coreRun, pixel: corePixel };

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

/** @type {(frame: Frame, spans: any, index: number, box: any, x: number, width: number, rects: Rectangles) => void} */
function coreRun(frame, spans, index, { y, height }, x, width, rects) {
    const { colours, contexts, paints } = frame;
    const [state, value] = [spans.state[index], spans.value[index]];
    if (state === IDLE) return;
    if (state !== TASK && state !== INTERRUPT) {
        rects.hatch(x, y, width, height, paintOf(colours.unknown));
        return;
    }
    rects.add(x, y, width, height, state === TASK ? paints[value] : paintOf(colours.interrupt));
    if (state === TASK) nameLater(frame, frame.model.name(value), contexts[value], x, y + height / 2, width);
}

/** The times that interrupts, unknown contexts and each known context occupy in the current pixel of a core. All are 0 again after a pixel has been drawn. */
let occupied = new Float64Array(0);

/** The indices of the entries of `occupied` that are not 0, in ascending order. */
const present = new Int32Array(GROUPS * GROUP);

/** Number of these indices. */
let presentCount = 0;

/** @type {(frame: Frame, pixels: import("./pixels.js").Pixels, box: any, x: number, rects: Rectangles) => void} */
function corePixel({ colours, paints }, pixels, { y, height }, x, rects) {
    const { first, end } = pixels;
    if (occupied.length < paints.length + 2) occupied = new Float64Array(paints.length + 2);
    presentCount = 0;
    let all = 0;
    if (end - first <= GROUPS * GROUP) {
        all = occupy(pixels, Math.max(first, 0), end);
    } else {
        // Neighbouring spans are near in memory, so reading groups of them costs less than reading
        // single spans that are far apart.
        for (let group = 0; group < GROUPS; group += 1) {
            const start = Math.max(first, 0) + Math.floor((group * (end - first - GROUP)) / (GROUPS - 1));
            all += occupy(pixels, start, Math.min(start + GROUP, end));
        }
    }
    let bottom = y + height;
    let longest = -1;
    for (let i = 0; i < presentCount; i += 1) {
        const who = present[i];
        const part = Math.max(1, Math.round((height * occupied[who]) / all));
        if (pixels.isDense) rects.bar(x, bottom - part, part, occupant(colours, paints, who));
        bottom -= part;
        if (longest < 0 || occupied[who] > occupied[longest]) longest = who;
    }
    // In a row that is not dense, a short span is as high as a long one.
    if (!pixels.isDense && longest >= 0 && (occupied[longest] > all / 2 || pixels.hasWhole)) {
        rects.bar(x, y, height, occupant(colours, paints, longest));
    }
    for (let i = 0; i < presentCount; i += 1) occupied[present[i]] = 0;
}

/** Adds the times that spans have in a pixel, and returns their sum. @type {(pixels: import("./pixels.js").Pixels, first: number, end: number) => number} */
function occupy({ spans, from, to }, first, end) {
    const { state, value } = spans;
    let all = 0;
    let begin = Math.max(spans.from(first), from);
    for (let i = first; i < end; i += 1) {
        const next = spans.to(i);
        const ticks = Math.min(next, to) - begin;
        begin = Math.max(next, from);
        if (ticks <= 0) continue;
        all += ticks;
        if (state[i] === IDLE) continue;
        // Interrupts first, then unknown, then contexts: a fixed order, so that neighbouring pixels look alike.
        const who = state[i] === TASK ? value[i] + 2 : state[i] === INTERRUPT ? 0 : 1;
        if (occupied[who] === 0) {
            let place = presentCount;
            for (; place > 0 && present[place - 1] > who; place -= 1) present[place] = present[place - 1];
            present[place] = who;
            presentCount += 1;
        }
        occupied[who] += ticks;
    }
    return all;
}

/** Returns the paint of an entry of `occupied`. @type {(colours: import("./theme.js").Colours, paints: import("./paints.js").Paint[], who: number) => import("./paints.js").Paint} */
function occupant({ interrupt, unknown }, paints, who) {
    return who > 1 ? paints[who - 2] : paintOf(who === 0 ? interrupt : unknown);
}

/**
 * Draws a bar from the beginning to the end of a file, below the labels of the file's inversions and gaps. The user can drag this bar.
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
    const paint = paintOf(colours.interrupt);
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
        /** @type {import("./dense.js").Painter} */
        const painter = {
            state: INTERRUPT,
            span,
            run: (_, spans, index, { y: top, height: room }, place, length, rects) => {
                if (spans.state[index] === INTERRUPT) rects.add(place, top, length, room, paint);
            },
            pixel: (_, pixels, { y: top, height: room }, place, rects) => {
                if (pixels.share(INTERRUPT) > 0) rects.bar(place, top, room, paint);
            },
        };
        drawRow(frame, spans, box, painter);
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
    const { ink, sheet, model, view, contexts, paints, left, width, x } = frame;
    const held = { y: box.y, height: box.height - 4 };
    // A bar of less height has no name, because the letters would be cut.
    const isNamed = held.height >= 12;
    /** @type {import("./dense.js").Painter} */
    const painter = {
        span: (_, spans, index, __, begin, length) => {
            if (spans.state[index] === 0) return;
            const context = spans.value[index] - 1;
            ink.fillStyle = contexts[context];
            ink.fillRect(begin, held.y, Math.max(length, 1), held.height);
            ink.fillStyle = textOn(contexts[context]);
            if (isNamed) fitted(ink, model.name(context), begin + 7, held.y + held.height / 2 + 0.5, length - 10);
        },
        run: (_, spans, index, { y, height }, begin, length, rects) => {
            if (spans.state[index] === 0) return;
            const context = spans.value[index] - 1;
            rects.add(begin, y, length, height, paints[context]);
            if (isNamed) nameLater(frame, model.name(context), contexts[context], begin, y + height / 2, length);
        },
        pixel: (_, pixels, { y, height }, place, rects) => {
            const { spans, first, end } = pixels;
            let shown = pixels.middle;
            // In a row that is not dense, a short hold stays visible.
            for (let i = Math.max(first, 0); !pixels.isDense && i < end; i += 1) {
                if (spans.state[i] !== 0) shown = i;
            }
            if (shown >= 0 && spans.state[shown] !== 0) rects.bar(place, y, height, paints[spans.value[shown] - 1]);
        },
    };
    drawRow(frame, row.spans, held, painter);
    const waits = model.intervals.waitsFor.get(row.index);
    if (!waits) return;
    const { context } = model.wait;
    const rects = sheet.rectangles({ left, top: box.y, width, height: box.height }, waits.count(view.from, view.to));
    waits.visit(view.from, view.to, view.span / width, (i, begin, until) => {
        const from = Math.max(x(begin), left);
        const to = Math.min(x(until), left + width);
        const lane = row.spans.count > 0 ? box.y + box.height - 3 : box.y + 2 + (context[i] % 3) * 4;
        rects.add(from, lane, Math.max(to - from, 1), 3, paints[context[i]]);
    });
    rects.end();
}

/**
 * Draws the events of a context. Each pixel with events has a bar, whose height shows the number of these events.
 * @param {Frame} frame
 * @param {import("./rows.js").Lane} lane
 * @param {{ y: number, height: number }} box
 */
function drawEvents({ sheet, model, view, paints, left, width, x, time }, lane, { y, height }) {
    const context = lane.context ?? 0;
    const counted = model.recordedByContext[context];
    const at = counted.at.length > 0 ? counted.at : model.events.shownByContext[context];
    let first = lowerBound(at, view.from);
    const last = lowerBound(at, time(x(view.to) + 1));
    const rects = sheet.rectangles({ left, top: y, width, height }, last - first);
    while (first < last) {
        const column = Math.floor(x(at[first]) - left);
        const next = Math.max(lowerBound(at, time(left + column + 1), first, last), first + 1);
        // The bar of a single event is half as high as the lane; each doubling of the number of
        // events makes the bar higher.
        const count = counted.at.length > 0 ? counted.sums[next] - counted.sums[first] : next - first;
        const part = height * Math.min(1, 0.5 + Math.log2(count) / 16);
        rects.add(left + column, y + height - part, 1.5, part, paints[context]);
        first = next;
    }
    rects.end();
}
