// Finds the spans of a row that are in each pixel of a dense picture.

import { boundBy, lowerBound, upperBound } from "./bounds.js";

/** If a pixel contains at most this number of spans, the times of the spans are added one by one. */
const FEW = 8;

/** A long row is divided into this number of equal parts. For each part, the time in a state and the first change are stored. */
const PARTS = 16_384;

/** Minimum number of these parts in a pixel. With fewer parts, the share of a state in the pixel would be too inexact. */
const PARTS_IN_PIXEL = 2;

/** The time that a row has spent in a state before the beginning of each part. */
class Parts {
    /**
     * @param {any} spans
     * @param {number} state
     */
    constructor(spans, state) {
        this.from = spans.from(0);
        this.width = (spans.to(spans.count - 1) - this.from) / PARTS;
        this.sums = new Float64Array(PARTS + 1);
        let [sum, part] = [0, 1];
        for (let i = 0; i < spans.count; i += 1) {
            const [begin, end] = [spans.from(i), spans.to(i)];
            const counts = spans.state[i] === state ? 1 : 0;
            for (; part <= PARTS && this.from + part * this.width <= end; part += 1) {
                this.sums[part] = sum + counts * (this.from + part * this.width - begin);
            }
            sum += counts * (end - begin);
        }
        // Because of rounding, the computed end of the last part may be later than the end of the
        // row.
        this.sums.fill(sum, part);
    }

    /** Returns how long the row was in the state before `time`. Within a part, the time in the state is assumed to be spread evenly. @param {number} time */
    before(time) {
        const place = Math.min(Math.max((time - this.from) / this.width, 0), PARTS);
        const part = Math.min(Math.floor(place), PARTS - 1);
        return this.sums[part] + (place - part) * (this.sums[part + 1] - this.sums[part]);
    }
}

/** The first change in or after each part. */
class Starts {
    /** @param {any} spans */
    constructor(spans) {
        this.at = spans.at;
        this.from = spans.from(0);
        this.width = (spans.to(spans.count - 1) - this.from) / PARTS;
        this.firsts = new Uint32Array(PARTS + 2);
        let part = 0;
        for (let i = 0; i < spans.count; i += 1) {
            const own = this.part(this.at[i]);
            while (part < own) this.firsts[++part] = i;
        }
        this.firsts.fill(spans.count, part + 1);
    }

    /** Returns the part that contains a time. @param {number} time */
    part(time) {
        return Math.min(Math.max(Math.floor((time - this.from) / this.width), 0), PARTS);
    }

    /** Returns the first change at or after a time. @param {number} time */
    find(time) {
        const part = this.part(time);
        return lowerBound(this.at, time, this.firsts[part], this.firsts[part + 1]);
    }
}

/** The sums of each state and the first changes of a long row. @typedef {{ sums: Map<number, Parts>, starts: Starts | null }} Stored */

/** @type {WeakMap<any, Stored>} */
const storedOfRows = new WeakMap();

/** Returns what is stored about the parts of a row. Returns null if the row has few spans, or if a pixel of this width has too few parts. @type {(spans: any, width: number) => Stored | null} */
function storedOf(spans, width) {
    if (spans.count < PARTS || width * PARTS < PARTS_IN_PIXEL * (spans.to(spans.count - 1) - spans.from(0))) return null;
    let stored = storedOfRows.get(spans);
    if (!stored) storedOfRows.set(spans, stored = { sums: new Map(), starts: null });
    return stored;
}

/** The shares and the changes that have been found for the pixels of a row. Only one row at a time is drawn, so all rows use the same memory. */
let stateShares = new Float64Array(0);
let changes = new Int32Array(0);

/** Finds the first change at or after each of these times. @type {(spans: any, times: Float64Array) => void} */
function findChanges(spans, times) {
    if (changes.length < times.length) changes = new Int32Array(times.length);
    // In the sequence view, pixels have different widths.
    const stored = storedOf(spans, (times[times.length - 1] - times[0]) / times.length);
    const starts = stored && (stored.starts ??= new Starts(spans));
    const { at } = spans;
    let next = starts ? starts.find(times[0]) : lowerBound(at, times[0]);
    for (let column = 0; column < times.length; column += 1) {
        const time = times[column];
        const near = Math.min(next + FEW, at.length);
        while (next < near && at[next] < time) next += 1;
        if (next === near && next < at.length) next = starts ? starts.find(time) : lowerBound(at, time, next, boundBy(at, time, next));
        changes[column] = next;
    }
}

/** The pixels of a row: the time of the current pixel, and the spans in it. The caller goes through the pixels from left to right. */
export class Pixels {
    /**
     * @param {any} spans
     * @param {Float64Array} times the times at which the pixels begin, and the time at which the last pixel ends
     * @param {boolean} [isDense] true if the pixels have several spans on average
     * @param {number} [state] the state whose share the caller needs
     * @param {boolean} [isEven] true if all pixels are equally wide
     */
    constructor(spans, times, isDense = true, state = -1, isEven = true) {
        this.spans = spans;
        this.times = times;
        this.isDense = isDense;
        this.column = 0;
        /** The time in the state before the pixel `counted`, which `share` has computed. */
        this.sum = 0;
        this.counted = -1;
        /** True if the shares come from the stored sums of a long row. Then most pixels need no search for their spans. */
        this.isSimple = state >= 0 && isEven && this.simplify(state);
        if (!this.isSimple) findChanges(spans, times);
        this.head = -1;
        this.go(0);
    }

    /**
     * Computes the shares of a state in all pixels from the stored sums of a long row. Returns false if there are no such sums, or if the pixels
     * are too narrow for them.
     * @param {number} state
     */
    simplify(state) {
        const { spans, times } = this;
        const stored = storedOf(spans, times[1] - times[0]);
        if (!stored) return false;
        let parts = stored.sums.get(state);
        if (!parts) stored.sums.set(state, parts = new Parts(spans, state));
        if (stateShares.length < times.length) stateShares = new Float64Array(times.length);
        let before = parts.before(times[0]);
        for (let column = 0; column + 1 < times.length; column += 1) {
            const next = parts.before(times[column + 1]);
            stateShares[column] = (next - before) / (times[column + 1] - times[column]);
            before = next;
        }
        return true;
    }

    /** Goes to a pixel. @param {number} column */
    go(column) {
        this.column = column;
        if (this.isSimple) return;
        const { at } = this.spans;
        let next = changes[column];
        while (next < at.length && at[next] <= this.times[column]) next += 1;
        this.head = next - 1;
    }

    /** The time at which the pixel begins. */
    get from() {
        return this.times[this.column];
    }

    /** The time at which the pixel ends. */
    get to() {
        return this.times[this.column + 1];
    }

    /** The span at the beginning of the pixel, or -1 before the first span. */
    get first() {
        return this.isSimple ? this.spans.find(this.from) : this.head;
    }

    /** The first span that begins at or after the end of the pixel. */
    get end() {
        return this.isSimple ? lowerBound(this.spans.at, this.to) : changes[this.column + 1];
    }

    /** Returns true if one span covers the whole pixel. */
    get isSingle() {
        return this.first >= 0 && this.end === this.first + 1;
    }

    /**
     * Returns true if one span may cover this pixel and more than the `more` pixels after it. Then the row is in the state throughout, or never.
     * @param {number} state @param {number} more
     */
    mayLast(state, more) {
        if (!this.isSimple) return true;
        const share = this.share(state);
        // The last of these pixels is left out, because its share is inexact if the span ends soon after it.
        const last = Math.min(this.column + Math.max(more - 1, 0), this.times.length - 2);
        return share >= 1 || (share <= 0 && stateShares[last] <= 0);
    }

    /** Returns true if a span begins and ends in the pixel. */
    get hasWhole() {
        return this.end - this.first > 2;
    }

    /** Returns the span in the middle of the pixel, or -1. */
    get middle() {
        const { first, end } = this;
        // Most pixels have one span or two.
        if (end - first === 1) return first;
        return upperBound(this.spans.at, (this.from + this.to) / 2, Math.max(first, 0), end) - 1;
    }

    /** Returns the share of the pixel's time that the row spends in a state. Use the same state for all pixels. @param {number} state */
    share(state) {
        return this.isSimple ? stateShares[this.column] : this.time(state) / (this.to - this.from);
    }

    /** Returns the time that the row spends in a state within the pixel. @param {number} state */
    time(state) {
        const { spans, from, to, first, end } = this;
        if (end - first <= FEW) {
            let time = 0;
            for (let i = Math.max(first, 0); i < end; i += 1) {
                if (spans.state[i] === state) time += Math.max(Math.min(spans.to(i), to) - Math.max(spans.at[i], from), 0);
            }
            return time;
        }
        // The pixel begins where the previous one ended, so the time up to there may be known.
        const before = this.counted === this.column ? this.sum : spans.before(state, from, first);
        this.sum = spans.before(state, to, end - 1);
        this.counted = this.column + 1;
        return this.sum - before;
    }
}
