// Views of a trace that is too large for one payload. The page requests the visible time from the server at the resolution of the screen,
// and lists the events if there are few enough.

import { grouped } from "./time.js";
import { counted } from "./words.js";

/**
 * The part of a trace that the model contains. `from` and `until` are ticks from the start of the page. If the `resolution` is 0, the
 * part contains all states; otherwise it combines shorter ones. If the `window` is not 0, the times on the cores in windows of this many
 * ticks are exact nevertheless. `inversions` is the number of inversions that begin before its end.
 * @typedef {{
 *   from: number, until: number, resolution: number, window: number, events: number, most: number, listed: boolean, inversions: number
 * }} Part
 */

/** Number of parts of the first view, as in `served.rs`. The server has made this view in advance. */
export const FIRST_PARTS = 840;

/** Time in milliseconds between the last change of the view and the request to the server. */
const PAUSE = 80;

/**
 * Returns the part that a header describes, or null if the payload contains the whole trace.
 * @param {any} header
 * @returns {Part | null}
 */
export function partOf({ part, from }) {
    if (!part) return null;
    const offset = (/** @type {string} */ ticks) => Number(BigInt(ticks) - BigInt(from));
    const { events, most, listed, inversions } = part;
    const [resolution, window] = [Number(part.resolution), Number(part.window)];
    return { from: offset(part.from), until: offset(part.until), resolution, window, events, most, listed, inversions };
}

/**
 * Returns the range to request, or null if the part covers the range and resolution of a view.
 * @param {Part} part
 * @param {{ from: number, to: number, length: number }} view
 * @param {number} width of the view in pixels
 * @param {number} [window] width of the windows of load in ticks, or 0 if the view shows no load
 * @returns {{ from: number, to: number, parts: number } | null}
 */
export function needed(part, view, width, window = 0) {
    const [from, to] = [Math.max(view.from, 0), Math.min(view.to, view.length)];
    const tick = (view.to - view.from) / width;
    const isInside = part.from <= from && to <= part.until;
    // Small changes of the scale need no request.
    const hasWindows = window === 0 || part.resolution === 0 || part.window === window;
    if (isInside && part.resolution <= tick * 1.5 && hasWindows) return null;
    // The margin on both sides makes requests for small moves unnecessary.
    const margin = (to - from) / 2;
    const range = { from: Math.max(Math.floor(from - margin), 0), to: Math.min(Math.ceil(to + margin), view.length) };
    return { ...range, parts: Math.ceil((range.to - range.from) / tick) };
}

export class Detail {
    /**
     * @param {import("./view.js").View} view
     * @param {() => number} width
     * @param {() => number} window returns the width of the windows of load in ticks, or 0
     * @param {(query: string) => Promise<void>} load loads a view into the model
     */
    constructor(view, width, window, load) {
        this.view = view;
        this.width = width;
        this.window = window;
        this.load = load;
        this.isLoading = false;
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        this.timer = undefined;
    }

    /** Requests the data or the list of events that the view lacks, if any, after a pause. @param {import("./model.js").Model} model */
    check(model) {
        const { part } = model;
        if (!part || this.isLoading) return;
        const better = needed(part, this.view, this.width(), this.window());
        const lists = !better && !part.listed && part.events <= part.most;
        if (!better && !lists) return;
        clearTimeout(this.timer);
        this.timer = setTimeout(() => this.ask(model, part, better), PAUSE);
    }

    /** @type {(model: import("./model.js").Model, part: Part, better: ReturnType<typeof needed>) => Promise<void>} */
    async ask(model, part, better) {
        // The view in sequence needs the events at once. Otherwise, the picture comes first.
        const isListed = !better || this.view.wantsSequence;
        const { from, to, parts } = better
            ?? { from: part.from, to: part.until, parts: Math.round((part.until - part.from) / Math.max(part.resolution, 1)) };
        this.isLoading = true;
        const exact = (/** @type {number} */ offset) => model.exact(offset);
        try {
            await this.load(`from=${exact(from)}&to=${exact(to)}&parts=${Math.min(parts, 100000)}&window=${this.window()}&events=${isListed ? 1 : 0}`);
        } finally {
            this.isLoading = false;
        }
    }
}

/** The reason why a part of a trace cannot be shown in sequence. */
export const NO_SEQUENCE = "equal width needs a list of events: zoom in until events are listed";

/** The reason why the list contains no events, if they follow soon. */
export const READING = "events are being read";

/** Returns the reason why the list contains no events. @param {Part} part */
export function unlisted({ events, most }) {
    if (events <= most) return READING;
    return `about ${counted(events, "event")} in this part: zoom in to list at most ${grouped(most)}`;
}
