// The load over time: the share of the processor time that contexts and interrupts used in windows of equal width.

import { INTERRUPT, TASK } from "./model.js";
import { step } from "./time.js";

/** Number of windows into which a time range is divided at most. */
const WINDOWS = 50;

/** A window: its ends, and the ticks of each context, of interrupts and of all tasks in it, as shares of the time of all cores. */
/** @typedef {{ from: number, to: number, contexts: Map<number, number>, interrupts: number, total: number }} Load */

/** Returns the width of the windows for a time range: a round number of nanoseconds, or of ticks if the rate is unknown. @type {(model: import("./model.js").Model, from: number, to: number) => number} */
function widthOfWindows({ clock, origin }, from, to) {
    const length = Math.max(to - from, 1);
    if (!clock.isKnown) return step(length / WINDOWS);
    const ns = (/** @type {number} */ time) => Number(clock.ns(BigInt(Math.round(time)) + origin));
    return Math.max(Number(clock.ticks(BigInt(step((ns(to) - ns(from)) / WINDOWS)))), 1);
}

/**
 * Returns the load in windows that cover a time range, in order. The last window can be shorter.
 * @param {import("./model.js").Model} model
 * @param {number} file
 * @param {number} from
 * @param {number} to
 * @returns {Load[]}
 */
export function loads(model, file, from, to) {
    const cores = model.rows.filter((/** @type {any} */ row) => row.kind === "core" && (row.file ?? 0) === file);
    if (cores.length === 0 || to <= from) return [];
    const width = widthOfWindows(model, from, to);
    /** @type {Load[]} */
    const windows = [];
    for (let begin = from; begin < to; begin += width) {
        windows.push({ from: begin, to: Math.min(begin + width, to), contexts: new Map(), interrupts: 0, total: 0 });
    }
    for (const { spans } of cores) {
        for (const window of windows) {
            const whole = (window.to - window.from) * cores.length;
            spans.overlap(window.from, window.to, (/** @type {number} */ i, /** @type {number} */ ticks) => {
                const [state, value] = [spans.state[i], spans.value[i]];
                if (state !== TASK && state !== INTERRUPT) return;
                window.total += ticks / whole;
                if (state === INTERRUPT) window.interrupts += ticks / whole;
                else window.contexts.set(value, (window.contexts.get(value) ?? 0) + ticks / whole);
            });
        }
    }
    return windows;
}
