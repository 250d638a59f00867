// Sorted intervals of time, such as waits, jobs, gaps and inversions. They may overlap. A binary search finds the intervals in a time range.

import { lowerBound, upperBound } from "./bounds.js";

export class Intervals {
    /**
     * @param {number[] | Float64Array} from sorted
     * @param {number[] | Float64Array} until
     * @param {number[]} indices numbers of the intervals in the columns of the page
     */
    constructor(from, until, indices) {
        this.from = Float64Array.from(from);
        this.until = Float64Array.from(until);
        this.indices = Uint32Array.from(indices);
        /** For each interval, the latest end among this interval and those before it. These ends are sorted, so binary search works. */
        this.reach = new Float64Array(this.from.length);
        let most = -Infinity;
        this.until.forEach((end, i) => {
            most = Math.max(most, end);
            this.reach[i] = most;
        });
    }

    /**
     * Returns the intervals with these numbers. An interval without an end lasts until its `limit`.
     * @param {{ from: ArrayLike<number>, until: ArrayLike<number>, untilSeq?: ArrayLike<number> }} entries
     * @param {number[]} indices
     * @param {(index: number) => number} limit
     */
    static of(entries, indices, limit) {
        const isOpen = (/** @type {number} */ i) => entries.untilSeq !== undefined && entries.untilSeq[i] === 0;
        const sorted = [...indices].sort((a, b) => entries.from[a] - entries.from[b]);
        return new Intervals(sorted.map((i) => entries.from[i]),
            sorted.map((i) => (isOpen(i) ? limit(i) : entries.until[i])), sorted);
    }

    /**
     * Calls `each` for the intervals that overlap a time range, in order. Each of them covers the time until its end, and at least `least`
     * ticks. Skips later intervals that end within the covered time. So the cost of a picture depends only on its width, and the picture is
     * the same as with all intervals.
     * @param {number} from
     * @param {number} to
     * @param {number} least
     * @param {(index: number, from: number, until: number, count: number) => void} each receives a `count`: 1 plus the number
     *     of intervals that were skipped because of this one
     */
    visit(from, to, least, each) {
        const last = upperBound(this.from, to);
        let i = lowerBound(this.reach, from);
        while (i < last) {
            const covered = Math.max(this.until[i], Math.max(this.from[i], from) + least);
            const next = Math.max(least > 0 ? upperBound(this.reach, covered, i + 1) : 0, i + 1);
            if (this.until[i] >= from) each(this.indices[i], this.from[i], this.until[i], Math.min(next, last) - i);
            i = next;
        }
    }

    /** Returns the number of intervals that overlap a time range, or slightly more. @type {(from: number, to: number) => number} */
    count(from, to) {
        return Math.max(upperBound(this.from, to) - lowerBound(this.reach, from), 0);
    }

    /**
     * Returns the number of the first interval that overlaps a time range and that `accepts` accepts, or -1.
     * @param {number} from
     * @param {number} to
     * @param {(index: number) => boolean} accepts
     */
    find(from, to, accepts) {
        const last = lowerBound(this.from, to);
        for (let i = upperBound(this.reach, from); i < last; i += 1) {
            if (this.until[i] > from && accepts(this.indices[i])) return this.indices[i];
        }
        return -1;
    }
}

/** The intervals of a model, in groups that the page draws together. */
export class IntervalIndex {
    /** @param {import("./model.js").Model} model */
    constructor(model) {
        const { job, wait, gap, inversion } = model;
        const limit = (/** @type {any} */ entries) => (/** @type {number} */ i) => model.ended(entries, i);
        const all = (/** @type {any} */ entries) => Intervals.of(entries, [...entries.from.keys()], limit(entries));
        this.gaps = all(gap);
        this.inversions = all(inversion);
        const files = model.files.length;
        /** The gaps and inversions of each file. @type {Map<number, Intervals>} */
        this.gapsOf = files === 0 ? new Map([[0, this.gaps]]) : intervalsBy(gap, gap.file, limit(gap));
        /** @type {Map<number, Intervals>} */
        this.inversionsIn = files === 0 ? new Map([[0, this.inversions]])
            : intervalsBy(inversion, Array.from(inversion.context, (context) => model.fileOf(context)), limit(inversion));
        this.inversionsOf = intervalsBy(inversion, inversion.context, limit(inversion));
        this.waitsOf = intervalsBy(wait, wait.context, limit(wait));
        this.jobsOf = intervalsBy(job, job.context, limit(job));
        const missed = [...job.missed.keys()].filter((i) => job.missed_seq[i] > 0);
        const late = { from: job.missed, until: job.until, untilSeq: job.untilSeq };
        this.misses = Intervals.of(late, missed, limit(job));
        this.missesOf = new Map([...this.jobsOf.keys()].map((context) =>
            [context, Intervals.of(late, missed.filter((i) => job.context[i] === context), limit(job))]));
        /** @type {Map<number, Intervals>} by row */
        this.waitsFor = new Map(model.rows.filter((/** @type {any} */ row) => row.waits)
            .map((/** @type {any} */ { index, waits: [first, last] }) =>
                [index, Intervals.of(wait, Array.from({ length: last - first }, (_, i) => first + i), limit(wait))]));
        this.model = model;
        /** Times of each context's marks. @type {Map<number, Float64Array>} */
        this.marksOf = new Map();
        this.showMarks();
    }

    /** Collects the times of the marks that the user's filter of events accepts. */
    showMarks() {
        const { mark, events } = this.model;
        const isShown = (/** @type {number} */ i) => events.accepted === null || events.accepts(events.find(mark.seq[i]));
        this.marksOf = new Map([...numbersBy(mark.context)].map(([context, list]) =>
            [context, Float64Array.from(list.filter(isShown), (i) => mark.at[i])]));
    }
}

/**
 * Returns the intervals of each context or file. `values` contains the context or file of each interval.
 * @param {any} entries
 * @param {ArrayLike<number>} values
 * @param {(index: number) => number} limit
 */
function intervalsBy(entries, values, limit) {
    return new Map([...numbersBy(values)].map(([value, indices]) => [value, Intervals.of(entries, indices, limit)]));
}

/** Returns the positions of each value. @param {ArrayLike<number>} values */
function numbersBy(values) {
    /** @type {Map<number, number[]>} */
    const lists = new Map();
    for (let i = 0; i < values.length; i += 1) {
        const list = lists.get(values[i]);
        if (list) list.push(i);
        else lists.set(values[i], [i]);
    }
    return lists;
}
