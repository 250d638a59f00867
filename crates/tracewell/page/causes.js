// Finds the contexts that used the processors in a time range, and the contexts that delayed a wait.

import { BLOCKED, INTERRUPT, TASK } from "./model.js";

/**
 * Returns the ticks for which each context occupied the cores of a file, in descending order. Interrupts have the number -1.
 * @param {import("./model.js").Model} model
 * @param {number} file
 * @param {number} from
 * @param {number} to
 * @returns {Map<number, number>}
 */
export function occupants(model, file, from, to) {
    const times = new Map();
    for (const row of model.rows) {
        if (row.kind !== "core" || (row.file ?? 0) !== file) continue;
        row.spans.overlap(from, to, (/** @type {number} */ i, /** @type {number} */ ticks) => {
            const state = row.spans.state[i];
            if (state !== TASK && state !== INTERRUPT) return;
            const who = state === TASK ? row.spans.value[i] : -1;
            times.set(who, (times.get(who) ?? 0) + ticks);
        });
    }
    return new Map([...times].sort((a, b) => b[1] - a[1]));
}

/**
 * Returns the contexts that ran although they are less urgent than the waiting context and do not hold the object. If the priority of the
 * waiting context is unknown, there are none.
 * @param {import("./model.js").Model} model
 * @param {number} waiter
 * @param {number} holder -1 if unknown
 * @param {Map<number, number>} times of the occupants during the wait
 */
export function culprits(model, waiter, holder, times) {
    return [...times.keys()].filter((who) => who !== holder && model.isMoreUrgent(waiter, who));
}

/**
 * Returns the index of a row's longest span that overlaps a time range. Ignores spans that `accepts` rejects. Returns -1 if no span is left.
 * @param {any} row
 * @param {number} from
 * @param {number} to
 * @param {(state: number, value: number) => boolean} accepts
 */
export function longest(row, from, to, accepts) {
    const { spans } = row;
    const [first, last] = spans.within(from, to);
    let best = -1;
    for (let i = first; i < last; i += 1) {
        if (!accepts(spans.state[i], spans.value[i])) continue;
        if (best < 0 || spans.to(i) - spans.from(i) > spans.to(best) - spans.from(best)) best = i;
    }
    return best;
}

/**
 * Returns the span in which the context of an inversion waits, or null if the page does not contain it.
 * @param {import("./model.js").Model} model
 * @param {number} i number of the inversion
 * @returns {{ row: any, span: number } | null}
 */
export function waitOf(model, i) {
    const { from, until, context } = model.inversion;
    const row = model.rows.find((/** @type {any} */ each) => each.kind === "context" && each.context === context[i]);
    const span = row ? longest(row, from[i], until[i], (state) => state === BLOCKED) : -1;
    return span < 0 ? null : { row, span };
}
