// The rows of load: draws them, and finds and describes the window at a point.

import { ALL, INTERRUPTS, shownWidth, visitLoads } from "./loads.js";
import { paintOf } from "./paints.js";

/** Minimum width in pixels of a bar that has a gap after it. */
const SPACED = 4;

/**
 * Draws a row of load: a bar for each window, whose height shows the share.
 * @type {(frame: import("./spans.js").Frame, lane: import("./rows.js").Lane, box: { y: number, height: number }) => void}
 */
export function drawLoad({ sheet, model, view, colours, paints, left, width, x }, { who = ALL, file = 0 }, { y, height }) {
    const paint = who === ALL ? paintOf(colours.level) : who === INTERRUPTS ? paintOf(colours.interrupt) : paints[who];
    const rects = sheet.rectangles({ left, top: y, width, height });
    visitLoads(model, file, who, shownWidth(model, view), [view.from, view.to], (from, to, share) => {
        if (share <= 0) return;
        const [begin, end] = [Math.max(x(from), left), Math.min(x(to), left + width)];
        const part = Math.max(height * Math.min(share, 1), 1);
        rects.add(begin, y + height - part, Math.max(end - begin - (end - begin > SPACED ? 1 : 0), 1), part, paint);
    });
    rects.end();
}

/**
 * Returns the window of a row of load at a time, with its load as a share. Returns null if the page has not loaded the window.
 * @type {(model: import("./model.js").Model, view: { from: number, to: number }, lane: import("./rows.js").Lane, time: number) => { from: number, to: number, share: number } | null}
 */
export function loadAt(model, view, { who = ALL, file = 0 }, time) {
    /** @type {{ from: number, to: number, share: number } | null} */
    let found = null;
    visitLoads(model, file, who, shownWidth(model, view), [time, time + 1], (from, to, share) => {
        if (from <= time && time < to) found = { from, to, share };
    });
    return found;
}

/** Describes a window of a row of load. @type {(model: import("./model.js").Model, lane: import("./rows.js").Lane, window: { from: number, to: number, share: number }) => string} */
export function describeLoad(model, { who = ALL, label }, { from, to, share }) {
    const what = who === ALL ? "load by contexts and interrupts" : who === INTERRUPTS ? "load by interrupts" : `load by ${label}`;
    const time = (/** @type {number} */ at) => model.time(model.exact(at));
    return `${what}: ${(100 * share).toFixed(1)} %\nof ${model.span(from, to)}, from ${time(from)} to ${time(to)}`;
}
