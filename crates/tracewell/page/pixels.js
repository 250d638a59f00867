// Finds the spans of a row that are in each pixel of a dense picture.

import { boundBy, lowerBound, upperBound } from "./bounds.js";

/** If a pixel contains at most this number of spans, the times of the spans are added one by one. */
const FEW = 8;

/** A long row is divided into this number of equal parts. For each part, the time in a state is stored. */
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

/** The parts of rows, by state. @type {WeakMap<any, Map<number, Parts>>} */
const partsOfRows = new WeakMap();

/** Returns the parts of a row. Returns null if the row has few spans, or if a pixel of this width has too few parts. @type {(spans: any, state: number, width: number) => Parts | null} */
function partsOf(spans, state, width) {
    if (spans.count < PARTS || width * PARTS < PARTS_IN_PIXEL * (spans.to(spans.count - 1) - spans.from(0))) return null;
    let parts = partsOfRows.get(spans);
    if (!parts) partsOfRows.set(spans, parts = new Map());
    let own = parts.get(state);
    if (!own) parts.set(state, own = new Parts(spans, state));
    return own;
}

/** The pixels of a row from left to right: the time of the current pixel, and the spans in it. */
export class Pixels {
    /**
     * @param {any} spans
     * @param {number} from time at which the first pixel begins
     * @param {boolean} [isDense] true if the pixels have several spans on average
     */
    constructor(spans, from, isDense = true) {
        this.spans = spans;
        this.isDense = isDense;
        this.from = from;
        this.to = from;
        this.head = spans.find(from);
        this.tail = lowerBound(spans.at, from);
        this.isFound = true;
        /** The time in a state before the pixel, if `share` has computed it. */
        this.sum = -1;
        /** The share that `share` has computed for the pixel, or -1. */
        this.known = -1;
        /** @type {Parts | null} */
        this.parts = null;
    }

    /**
     * Takes the shares of a state from the stored sums of a long row, if the pixels are wide enough. Returns true in that case.
     * @param {number} state
     * @param {number} width ticks of each pixel
     */
    simplify(state, width) {
        this.parts = partsOf(this.spans, state, width);
        return this.parts !== null;
    }

    /** Goes to the next pixel, which ends at the time `to`. @param {number} to */
    advance(to) {
        this.from = this.to;
        this.to = to;
        this.isFound = false;
        this.known = -1;
    }

    /** Finds the spans of the pixel. These spans are usually near the spans that were found last, so this does not search the whole row. */
    find() {
        if (this.isFound) return;
        this.isFound = true;
        const { at } = this.spans;
        const { from, to } = this;
        let next = this.tail;
        let near = Math.min(next + FEW, at.length);
        while (next < near && at[next] <= from) next += 1;
        if (next === near && next < at.length) next = upperBound(at, from, next, boundBy(at, from, next));
        this.head = next - 1;
        near = Math.min(next + FEW, at.length);
        while (next < near && at[next] < to) next += 1;
        if (next === near && next < at.length) next = lowerBound(at, to, next, boundBy(at, to, next));
        this.tail = next;
    }

    /** The span at the beginning of the pixel, or -1 before the first span. */
    get first() {
        this.find();
        return this.head;
    }

    /** The first span that begins at or after the end of the pixel. */
    get end() {
        this.find();
        return this.tail;
    }

    /** Skips pixels up to a time. The span of this pixel must last until then. @param {number} to */
    skip(to) {
        this.to = to;
        this.sum = -1;
    }

    /** Returns true if one span covers the whole pixel. */
    get isSingle() {
        return this.first >= 0 && this.end === this.first + 1;
    }

    /** Returns true if a span begins and ends in the pixel. */
    get hasWhole() {
        return this.end - this.first > 2;
    }

    /** Returns the span in the middle of the pixel, or -1. */
    get middle() {
        return upperBound(this.spans.at, (this.from + this.to) / 2, Math.max(this.first, 0), this.end) - 1;
    }

    /** Returns the share of the pixel's time that the row spends in a state. Use the same state for all pixels. @param {number} state */
    share(state) {
        if (this.known < 0) this.known = this.time(state) / (this.to - this.from);
        return this.known;
    }

    /** Returns the time that the row spends in a state within the pixel. @param {number} state */
    time(state) {
        const { spans, from, to, parts } = this;
        if (parts) {
            const before = this.sum >= 0 ? this.sum : parts.before(from);
            this.sum = parts.before(to);
            return this.sum - before;
        }
        const { first, end } = this;
        if (end - first <= FEW) {
            this.sum = -1;
            let time = 0;
            for (let i = Math.max(first, 0); i < end; i += 1) {
                if (spans.state[i] === state) time += Math.max(Math.min(spans.to(i), to) - Math.max(spans.at[i], from), 0);
            }
            return time;
        }
        // The pixel begins where the previous one ended, so the time up to there is known.
        const before = this.sum >= 0 ? this.sum : spans.before(state, from, first);
        this.sum = spans.before(state, to, end - 1);
        return this.sum - before;
    }
}
