// The spans of a row that each pixel of a dense picture covers.

import { boundBy, lowerBound, upperBound } from "./bounds.js";

/** The pixels of a row from left to right: the time of the current pixel, and the spans in it. */
export class Pixels {
    /**
     * @param {any} spans
     * @param {number} from time at which the first pixel begins
     */
    constructor(spans, from) {
        this.spans = spans;
        this.from = from;
        this.to = from;
        /** The span at the beginning of the pixel, or -1 before the first span. */
        this.first = spans.find(from);
        /** The span after the last one that begins in the pixel. */
        this.end = lowerBound(spans.at, from);
        /** The time in a state before the pixel, if `share` has computed it. */
        this.sum = -1;
    }

    /** Goes to the next pixel, which ends at a time. The next span is usually near, so this does not search the whole row. @param {number} to */
    advance(to) {
        const { at } = this.spans;
        this.from = this.to;
        let next = this.end;
        while (next < at.length && at[next] <= this.from) next += 1;
        this.first = next - 1;
        this.to = to;
        this.end = lowerBound(at, to, next, boundBy(at, to, next));
    }

    /** Returns the span in the middle of the pixel, or -1. */
    get middle() {
        return upperBound(this.spans.at, (this.from + this.to) / 2, Math.max(this.first, 0), this.end) - 1;
    }

    /** Returns the share of the pixel's time in which the row has a state, which must be the same for all pixels. @param {number} state */
    share(state) {
        // The pixel begins where the previous one ended, so the time up to there is known.
        const before = this.sum >= 0 ? this.sum : this.spans.before(state, this.from, this.first);
        this.sum = this.spans.before(state, this.to, this.end - 1);
        return (this.sum - before) / (this.to - this.from);
    }
}
