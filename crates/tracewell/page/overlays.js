// Draws over all lanes: the grid of times, gaps, priority inversions, arrows, selections.

import { lowerBound } from "./bounds.js";
import { waitOf } from "./causes.js";
import { BLOCKED } from "./model.js";
import { grid, hatch, sequenceGrid, widthOf } from "./paint.js";
import { PILL, pillWidth, sharedLabels } from "./pills.js";
import { PROPORTIONAL } from "./scale.js";
import { counted } from "./words.js";

/** @typedef {import("./spans.js").Frame} Frame */

/** Maximum number of letters of a mark's label. The side panel shows the whole text. */
const MAX_LABEL = 40;

/** Minimum distance of two labels of the axis. */
const LABEL_GAP = 10;

/** Height of the axis above the lanes. */
export const AXIS = 44;

/** Maximum number of arrows in a view. */
const MAX_ARROWS = 400;

/** A label that stands for more than this number of inversions does not state the longest one. */
const MAX_COMPARED = 9;

/** If the mean distance of arrows is less than this number of pixels, a view shows only the arrows of the selection. */
const ARROW_DISTANCE = 12;

/**
 * @param {Frame} frame
 * @param {number} height
 */
export function drawAxis({ ink, model, view, colours, left, width, x, time }, height) {
    const { unit, lines } = view.scale === PROPORTIONAL ? grid(model, view.from, view.to, width)
        : sequenceGrid(model, left, width, time);
    ink.fillStyle = colours.soft;
    ink.textAlign = "right";
    ink.fillText(unit, left - 12, 12);
    ink.textAlign = "center";
    // Where a tick is wider than the unit of the last digit, labels can be longer than the distance of the lines.
    let free = left;
    for (const { at, label } of lines) {
        const place = Math.round(x(at)) + 0.5;
        ink.fillStyle = colours.line;
        ink.fillRect(place - 0.5, 22, 1, height - 22);
        const half = widthOf(ink, label) / 2;
        if (place - half < free || place + half > left + width) continue;
        free = place + half + LABEL_GAP;
        ink.fillStyle = colours.soft;
        ink.fillText(label, place, 12);
    }
    ink.textAlign = "left";
}

/**
 * The part of the picture that belongs to a file. The lanes of the file extend from `top` to
 * `bottom`. Labels are at `label`.
 * @typedef {{ top: number, bottom: number, label: number, isWhole: boolean }} Band
 */

/**
 * Adds labels for items of the picture. Items whose labels would overlap share a label.
 * @template T
 * @param {Frame} frame
 * @param {{ x: number, item: T }[]} places
 * @param {{ y: number, colour: string }} style
 * @param {(first: T, second: T) => T} join
 * @param {(item: T) => import("./pills.js").Label} label
 */
function addLabels({ ink, pills, left, width }, places, style, join, label) {
    const labels = sharedLabels(places, join, label, (text) => pillWidth(ink, text), [left, left + width]);
    pills.push(...labels.map((each) => ({ ...each, ...style })));
}

/**
 * Draws the gaps of a file as hatched bands with their counts.
 * @param {Frame} frame
 * @param {number} file
 * @param {Band} band
 */
export function drawGaps(frame, file, { top, bottom, label: y }) {
    const { ink, model, view, colours, x } = frame;
    const { gap, intervals } = model;
    /** @type {{ x: number, item: { gap: number, count: number, isOne: boolean } }[]} */
    const places = [];
    let covered = frame.left;
    intervals.gapsOf.get(file)?.visit(view.from, view.to, view.span / frame.width, (i, begin, until, count) => {
        // Several gaps can begin at the same place, which is hatched only once.
        const [from, to] = [Math.max(x(begin), covered), x(Math.min(until, view.to))];
        ink.fillStyle = hatch(ink, colours.unknown);
        ink.globalAlpha = 0.5;
        ink.fillRect(from, top, Math.max(to - from, 3), bottom - top);
        ink.globalAlpha = 1;
        covered = Math.max(covered, to);
        // If this gap counts no events and the next gap begins at the same place, use the next gap
        // for the label. It may state the number of missing events.
        const better = gap.events[i] === 1 && gap.fromSeq[i + 1] === gap.fromSeq[i] ? i + 1 : i;
        places.push({ x: from, item: { gap: better, count, isOne: true } });
    });
    addLabels(frame, places, { y, colour: colours.gap }, (a, b) => ({ gap: a.gap, count: a.count + b.count, isOne: false }),
        (item) => ({ text: item.isOne ? `lost: ${model.missing(item.gap)}` : counted(item.count, "gap") }));
}

/**
 * Draws the times for which the recorder hid a kind of events: pale hatched bands with the name of the filter.
 * @param {Frame} frame
 * @param {number} file
 * @param {Band} band
 */
export function drawHidden(frame, file, { top, bottom, label: y }) {
    const { ink, model, view, colours, left, width, x } = frame;
    const shown = model.hidden.filter((each) => each.file === file && each.from <= view.to && each.until >= view.from);
    const places = shown.map(({ from, until, filter }) => {
        const [begin, end] = [Math.max(x(from), left), Math.min(x(until), left + width)];
        ink.fillStyle = hatch(ink, colours.unknown);
        ink.globalAlpha = 0.25;
        ink.fillRect(begin, top, Math.max(end - begin, 3), bottom - top);
        ink.globalAlpha = 1;
        return { x: begin, item: { filter, count: 1 } };
    });
    places.sort((a, b) => a.x - b.x);
    addLabels(frame, places, { y, colour: colours.soft }, (a, b) => ({ filter: a.filter, count: a.count + b.count }),
        ({ filter, count }) => ({ text: count === 1 ? `not recorded: ${filter}` : `${counted(count, "time")} not recorded` }));
}

/**
 * Draws the waits in which a less urgent context ran: a band over all lanes of the file, with a label above the lanes.
 * @param {Frame} frame
 * @param {number} file
 * @param {Band} band
 */
export function drawInversions(frame, file, { top, bottom, label: y, isWhole }) {
    const { ink, model, view, colours, left, width, x } = frame;
    const { inversion, intervals } = model;
    /** @type {{ x: number, item: { worst: number, count: number, isAll: boolean } }[]} */
    const places = [];
    const within = intervals.inversionsIn.get(file);
    if (!within) return;
    const above = isWhole ? 22 : 0;
    // Overlapping bands would be darker, so bands that touch each other are drawn as one.
    let [start, end] = [left, left];
    const drawn = () => {
        if (end <= start) return;
        ink.fillStyle = colours.alarmBand;
        ink.fillRect(start, top - above, end - start, bottom - top + above);
        ink.fillStyle = colours.alarm;
        ink.fillRect(start, top - 3, end - start, 3);
    };
    within.visit(view.from, view.to, view.span / width, (i, begin, until, count) => {
        const from = Math.max(x(begin), left);
        const to = Math.min(x(until), left + width);
        if (from > end) {
            drawn();
            start = from;
        }
        end = Math.max(end, to, from + 3);
        const all = model.inversionsAt(i, count);
        places.push({ x: from, item: { worst: i, count: all, isAll: all === 1 } });
    });
    drawn();
    const worse = (/** @type {number} */ a, /** @type {number} */ b) => (inversion.ticks[b] > inversion.ticks[a] ? b : a);
    addLabels(frame, places, { y, colour: colours.alarm },
        (a, b) => ({ worst: worse(a.worst, b.worst), count: a.count + b.count, isAll: a.isAll && b.isAll }),
        ({ worst, count, isAll }) => ({ text: inversionText(model, worst, count, isAll), go: () => frame.actions.inversion(worst) }));
}

/** Returns the label of inversions. If there are few and the longest of them is known, the label also states the longest. @type {(model: import("./model.js").Model, worst: number, count: number, isAll: boolean) => string} */
function inversionText(model, worst, count, isAll) {
    if (count === 1) return `inverted ${invertedPart(model, worst)}`;
    const longest = isAll && count <= MAX_COMPARED ? `, longest ${invertedPart(model, worst)}` : "";
    return `${counted(count, "inversion")}${longest}`;
}

/** Returns the time in which less urgent contexts ran, and the length of the whole wait. @type {(model: import("./model.js").Model, i: number) => string} */
export function invertedPart(model, i) {
    const { from, until, ticks } = model.inversion;
    const wait = waitOf(model, i);
    const [begin, end] = wait ? [wait.row.spans.from(wait.span), wait.row.spans.to(wait.span)] : [from[i], until[i]];
    const [part, whole] = [model.span(begin, begin + ticks[i]), model.span(begin, end)];
    const unit = whole.slice(whole.lastIndexOf(" "));
    return `${part.endsWith(unit) ? part.slice(0, -unit.length) : part} of ${whole}`;
}

/**
 * Draws the marks of the user. A marked time has a line over all lanes. A marked range has such a line at each end. The text is at the bottom.
 * @param {Frame} frame
 * @param {number} height
 */
export function drawUserMarks(frame, height) {
    const { ink, model, view, colours, left, width, x } = frame;
    /** @type {{ x: number, item: { mark: import("./marks.js").UserMark, more: number } }[]} */
    const places = [];
    for (const mark of view.marks.list) {
        const [from, until] = [x(Number(mark.from - model.origin)), x(Number(mark.until - model.origin))];
        if (until < left || from > left + width) continue;
        ink.fillStyle = colours.mark;
        ink.fillRect(from, 22, 1, height - 22);
        if (until > from) {
            ink.fillRect(until, 22, 1, height - 22);
            ink.fillRect(from, height - 2, until - from, 2);
        }
        places.push({ x: Math.max(from, left), item: { mark, more: 0 } });
    }
    addLabels(frame, places, { y: height - 20, colour: colours.mark }, (a, b) => ({ mark: a.mark, more: a.more + b.more + 1 }),
        ({ mark, more }) => ({ text: `${brief(mark.text) || "mark"}${more > 0 ? ` and ${more} more` : ""}`, go: () => frame.actions.mark(mark) }));
}

/** Returns the text of a mark's label. A longer label would cover much of the picture. @param {string} text */
function brief(text) {
    return text.length > MAX_LABEL ? `${text.slice(0, MAX_LABEL - 1).trimEnd()}…` : text;
}

/** Draws the time that the user typed. @param {Frame} frame @param {number} height */
export function drawCursor({ ink, model, view, colours, pills, left, width, x }, height) {
    if (view.cursor === null) return;
    const place = x(view.cursor);
    if (place < left || place > left + width) return;
    ink.fillStyle = colours.select;
    ink.fillRect(place - 0.5, 22, 1.5, height - 22);
    const text = model.time(model.exact(view.cursor));
    const size = pillWidth(ink, text);
    // While the user selects a range, the first line contains the label of the range.
    const y = AXIS + 2 + (view.begun === null ? 0 : PILL + 2);
    pills.push({ text, x: Math.min(place, left + width - size), y, width: size, colour: colours.select });
}

/**
 * Draws the arrows of the selected span or event. An arrow shows a wake-up or a message, or leads from a waiting
 * context to the context for which it waits. If the view shows all arrows, draws all of them.
 * @param {Frame} frame
 * @param {import("./rows.js").Lane[]} lanes
 * @param {(lane: import("./rows.js").Lane) => number} top
 */
export function drawArrows(frame, lanes, top) {
    const { model, view } = frame;
    const { arrow, events } = model;
    const chosen = selectedSpan(model, view);
    const event = view.selection && "event" in view.selection ? view.selection.event : -1;
    const context = chosen?.row.kind === "context" ? chosen.row.context : -1;
    const visible = lowerBound(arrow.until, view.to) - lowerBound(arrow.until, view.from);
    const showsAll = view.showsArrows && visible * ARROW_DISTANCE <= frame.width;
    if (view.showsArrows && !showsAll) {
        const text = "zoom in to see all arrows";
        const size = pillWidth(frame.ink, text);
        frame.pills.push({ text, x: frame.left + frame.width - size - 6, y: AXIS + 2, width: size, colour: frame.colours.soft });
    }
    if (!showsAll && context < 0 && event < 0) return;
    const seq = event < 0 ? -1 : events.seq[event];
    /** Returns true if an arrow belongs to the selection. @param {number} i */
    const isChosen = (i) => {
        if (event >= 0) return arrow.fromSeq[i] === seq || arrow.untilSeq[i] - 1 === seq;
        if (context < 0 || arrow.until[i] < (chosen?.from ?? 0) || arrow.until[i] > (chosen?.to ?? 0)) return false;
        return arrow.kind[i] === 1 ? arrow.by[i] - 1 === context : arrow.context[i] === context;
    };
    const byContext = new Map(lanes.filter(({ kind }) => kind === "context" || kind === "events").map((lane) => [lane.context, lane]));
    const interrupts = lanes.filter((lane) => lane.kind === "interrupts");
    const middle = (/** @type {any} */ lane) => top(lane) + lane.height / 2;
    let drawn = 0;
    const first = lowerBound(arrow.until, showsAll || event >= 0 ? Math.min(view.from, events.at[event] ?? view.from) : chosen?.from ?? 0);
    // The arrows are sorted by their ends. The loop ends at an arrow that begins after the visible time
    // and ends after the selected span. So it leaves out longer arrows that end even later.
    for (let i = first; i < arrow.until.length && drawn < MAX_ARROWS; i += 1) {
        if (arrow.from[i] > view.to && arrow.until[i] > Math.max(view.to, chosen?.to ?? 0)) break;
        if (!showsAll && !isChosen(i)) continue;
        const by = arrow.by[i] > 0 ? byContext.get(arrow.by[i] - 1) : interrupts.find(({ file }) => (file ?? 0) === model.fileOf(arrow.context[i]));
        const whom = byContext.get(arrow.context[i]);
        if (!by || !whom) continue;
        drawn += 1;
        curve(frame, frame.x(arrow.from[i]), middle(by), frame.x(arrow.until[i]), middle(whom), arrow.kind[i] === 2);
    }
}

/** @type {(frame: Frame, x: number, y: number, toX: number, toY: number, isMessage: boolean) => void} */
function curve({ ink, colours }, x, y, toX, toY, isMessage) {
    const side = Math.sign(toY - y) || 1;
    const end = toY - side * 6;
    ink.strokeStyle = ink.fillStyle = isMessage ? colours.select : colours.text;
    ink.lineWidth = 1.2;
    ink.beginPath();
    ink.moveTo(x, y);
    ink.bezierCurveTo(x, (y + end) / 2, toX, (y + end) / 2, toX, end);
    ink.stroke();
    ink.beginPath();
    ink.moveTo(toX - 4, end - side * 2);
    ink.lineTo(toX + 4, end - side * 2);
    ink.lineTo(toX, end + side * 5);
    ink.fill();
}

/**
 * Returns the selected span with its row and times, or null.
 * @param {import("./model.js").Model} model
 * @param {import("./view.js").View} view
 */
export function selectedSpan(model, view) {
    const { selection } = view;
    if (!selection || !("row" in selection)) return null;
    const row = model.rows[selection.row];
    const index = selection.span;
    const { spans } = row;
    return {
        row, index, from: spans.from(index), to: spans.to(index),
        state: spans.state[index], value: spans.value[index],
        isBlocked: row.kind === "context" && spans.state[index] === BLOCKED,
    };
}

/**
 * Draws the selected span, event and range.
 * @param {Frame} frame
 * @param {import("./rows.js").Lane[]} lanes
 * @param {(lane: import("./rows.js").Lane) => number} top
 * @param {number} height
 */
export function drawSelection(frame, lanes, top, height) {
    const { ink, model, view, colours, pills, left, width, x } = frame;
    if (view.range) {
        const [from, to] = view.range.map(x);
        ink.fillStyle = colours.selectBand;
        ink.fillRect(from, 22, Math.max(to - from, 1), height - 22);
        ink.fillStyle = colours.select;
        ink.fillRect(from, 22, 1, height - 22);
        ink.fillRect(to, 22, 1, height - 22);
        const text = view.begun === null ? model.span(...view.range) : "select the end, then m";
        const size = pillWidth(ink, text);
        const middle = (Math.max(from, left) + Math.min(to, left + width)) / 2;
        const place = Math.max(Math.min(middle - size / 2, left + width - size), left);
        // Place the label in the line below the labels of inversions and gaps.
        pills.push({ text, x: place, y: AXIS + 2, width: size, colour: colours.select });
    }
    const span = selectedSpan(model, view);
    const lane = span && lanes.find((each) => each.row === span.row);
    if (span && lane) {
        const from = Math.max(x(span.from), left);
        const to = Math.min(x(span.to), left + width);
        ink.save();
        ink.beginPath();
        ink.rect(left, AXIS, width, height - AXIS);
        ink.clip();
        ink.strokeStyle = colours.select;
        ink.lineWidth = 2;
        ink.beginPath();
        ink.roundRect(from, top(lane) + 3, Math.max(to - from, 3), lane.height - 6, 3);
        if (to >= left && from <= left + width) ink.stroke();
        ink.restore();
    }
    if (view.selection && "event" in view.selection) {
        const place = x(model.events.at[view.selection.event]);
        ink.fillStyle = colours.select;
        ink.fillRect(place - 0.5, 22, 1.5, height - 22);
    }
}
