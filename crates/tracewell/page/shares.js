// The shares that contexts, interrupts and idle cores have in a span of time. The shares of each
// row add up to the whole time.

import { BLOCKED, IDLE, INTERRUPT, INTERRUPTED, RUNNING, STATES } from "./model.js";
import { grouped } from "./time.js";

/** States of a context that has no processor although it could run: interrupted, preempted, ready. */
const READY = [INTERRUPTED, 3, 4];

const SLEEPING = 6;

/**
 * A row of the shares. `times` contains a time for each column. A row without a lane belongs to the cores, and has only one time.
 * @typedef {{ name: string, lane: import("./rows.js").Lane | null, times: number[] }} ShareRow
 */

/**
 * Returns the shares in a time range: a row for each context that ran, was ready, blocked or asleep, and rows for interrupts and idle time.
 * @param {import("./model.js").Model} model
 * @param {import("./rows.js").Lane[]} lanes
 * @param {number} from
 * @param {number} to
 * @returns {{ columns: string[], rows: ShareRow[] }}
 */
export function shares(model, lanes, from, to) {
    const rows = lanes.filter(({ kind }) => kind === "context").map((lane) => {
        /** @type {number[]} */
        const times = lane.row.spans.times(from, to);
        const ready = READY.reduce((sum, state) => sum + times[state], 0);
        const known = times[RUNNING] + ready + times[BLOCKED];
        const rest = to - from - known;
        return { name: lane.label, lane, times: [times[RUNNING], ready, times[BLOCKED], Math.max(rest, 0)], asleep: times[SLEEPING] };
    });
    const used = rows.filter(({ times, asleep }) => times[0] + times[1] + times[2] + asleep > 0).sort((a, b) => b.times[0] - a.times[0]);
    // A remainder that would be shown as 0 does not count as another state.
    const isSleep = used.every(({ times, asleep }) => times[3] - asleep <= (to - from) / 2000);
    const cores = model.rows.filter((/** @type {any} */ { kind }) => kind === "core");
    const sum = (/** @type {number} */ state) => cores.reduce((/** @type {number} */ all, /** @type {any} */ { spans }) =>
        all + spans.before(state, to) - spans.before(state, from), 0);
    const others = [["interrupts", sum(INTERRUPT)], ["idle", sum(IDLE)], ["unknown", sum(0)]]
        .filter(([, ticks]) => Number(ticks) > 0)
        .map(([name, ticks]) => ({ name: String(name), lane: null, times: [Number(ticks)] }));
    return { columns: ["runs", "ready or preempted", STATES[BLOCKED], isSleep ? STATES[SLEEPING] : "other"], rows: [...used, ...others] };
}

/**
 * Returns the rank of a length in words: `longest of 6`, `2nd longest of 6`, or `all 6 are equal`.
 * Returns an empty text if there is only one length.
 * @param {number} length
 * @param {number[]} lengths all lengths, including this one
 */
export function rankText(length, lengths) {
    const longer = lengths.filter((each) => each > length).length;
    if (lengths.length < 2) return "";
    if (lengths.every((each) => each === length)) return lengths.length === 2 ? "both are equal" : `all ${lengths.length} are equal`;
    return `${longer === 0 ? "" : `${ordinal(longer + 1)} `}longest of ${lengths.length}`;
}

/** Returns a number such as `1st`, `22nd` or `13th`. @param {number} number */
function ordinal(number) {
    const teens = number % 100 > 10 && number % 100 < 20;
    return `${grouped(number)}${teens ? "th" : ["th", "st", "nd", "rd"][number % 10] ?? "th"}`;
}
