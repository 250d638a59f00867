// The place of each time on the horizontal axis: in proportion to time, or in sequence, with equal
// width for each time at which events occurred.

import { upperBound } from "./bounds.js";

/** The scale in proportion to time. The place of a time is the time itself. */
export const PROPORTIONAL = {
    /** @param {number} time */
    place: (time) => time,
    /** @param {number} place */
    time: (place) => place,
};

/** A place is the index of a time in the list of distinct event times. */
export class Sequence {
    /** @param {ArrayLike<number>} at sorted times of events */
    constructor(at) {
        const times = new Float64Array(at.length);
        let count = 0;
        for (let i = 0; i < at.length; i += 1) {
            if (count === 0 || at[i] > times[count - 1]) times[count++] = at[i];
        }
        this.times = times.slice(0, count);
        this.last = count - 1;
        /** Number of ticks between neighbouring places that are before the first event or after the last one. */
        this.outside = Math.max((this.times[this.last] - this.times[0]) / Math.max(this.last, 1), 1);
    }

    /** Returns the place of a time. A later time has a larger place. @param {number} time */
    place(time) {
        const { times, last, outside } = this;
        if (time <= times[0]) return (time - times[0]) / outside;
        if (time >= times[last]) return last + (time - times[last]) / outside;
        const index = upperBound(times, time) - 1;
        return index + (time - times[index]) / (times[index + 1] - times[index]);
    }

    /** Returns the time of a place. @param {number} place */
    time(place) {
        const { times, last, outside } = this;
        if (place <= 0) return times[0] + place * outside;
        if (place >= last) return times[last] + (place - last) * outside;
        const index = Math.floor(place);
        return times[index] + (place - index) * (times[index + 1] - times[index]);
    }
}
