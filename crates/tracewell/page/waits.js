// The longest waits of contexts, and the requests with which they began.

import { BLOCKED } from "./model.js";

/** Maximum number of waits in a list. */
const MOST = 200;

/** A span in which a context is blocked. @typedef {{ row: any, span: number, ticks: number }} Wait */

/**
 * Returns the longest waits of a file that overlap a time, the longest first.
 * @param {import("./model.js").Model} model
 * @param {number} file
 * @param {number} from
 * @param {number} to
 * @returns {Wait[]}
 */
export function longestWaits(model, file, from, to) {
    /** @type {Wait[]} */
    const list = [];
    for (const row of model.rows) {
        if (row.kind !== "context" || (row.file ?? 0) !== file) continue;
        const { spans } = row;
        const [first, last] = spans.within(from, to);
        for (let span = first; span < last; span += 1) {
            if (spans.state[span] !== BLOCKED) continue;
            const ticks = spans.to(span) - spans.from(span);
            if (list.length === MOST && ticks <= list[MOST - 1].ticks) continue;
            let place = list.length;
            while (place > 0 && list[place - 1].ticks < ticks) place -= 1;
            list.splice(place, 0, { row, span, ticks });
            if (list.length > MOST) list.pop();
        }
    }
    return list;
}

/** Returns true if the trace ends during a wait. @param {Wait} wait */
export function isOpen({ row: { spans }, span }) {
    return span + 1 === spans.count;
}

/**
 * Returns the number of the request for a mutex or semaphore with which a wait began, or -1. The request comes before the suspension.
 * @type {(model: import("./model.js").Model, context: number, from: number, to: number) => number}
 */
export function requestOf(model, context, from, to) {
    const { wait, intervals } = model;
    const isWhole = (/** @type {number} */ i) => wait.from[i] <= from && model.ended(wait, i) >= to;
    return intervals.waitsOf.get(context)?.find(from, to, isWhole) ?? -1;
}
