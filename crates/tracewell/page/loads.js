// The load over time: the share of the processor time that contexts and interrupts used in windows of equal width.

import { upperBound } from "./bounds.js";
import { INTERRUPT, TASK } from "./model.js";
import { step } from "./time.js";

/** Number of windows into which a table divides its time range at most. */
const WINDOWS = 50;

/** Number of windows into which the rows of load divide the visible time at most. */
const SHOWN_WINDOWS = 100;

/** A window: its ends, and the ticks of each context, of interrupts and of all tasks in it, as shares of the time of all cores. */
/** @typedef {{ from: number, to: number, contexts: Map<number, number>, interrupts: number, total: number }} Load */

/** What a load is about: everything, interrupts, or the context with this number. */
export const [ALL, INTERRUPTS] = [-1, -2];

/**
 * Returns the width of the windows for a time range: a round number of nanoseconds, or of ticks if the rate is unknown.
 * @type {(model: import("./model.js").Model, from: number, to: number, count: number) => number}
 */
function widthOfWindows({ clock, origin }, from, to, count) {
    const length = Math.max(to - from, 1);
    if (!clock.isKnown) return step(length / count);
    const ns = (/** @type {number} */ time) => Number(clock.ns(BigInt(Math.round(time)) + origin));
    return Math.max(Number(clock.ticks(BigInt(step((ns(to) - ns(from)) / count)))), 1);
}

/** The times in which a core ran each context, sorted by context, so that the time of a context in a window is found by binary search. */
class CoreTimes {
    /** @param {any} spans of a core */
    constructor(spans) {
        this.spans = spans;
        const { count, state, value } = spans;
        let most = -1;
        for (let i = 0; i < count; i += 1) if (state[i] === TASK && value[i] > most) most = value[i];
        /** For each context, the index of its first time in the lists; and the number of all times. */
        this.firsts = new Uint32Array(most + 2);
        for (let i = 0; i < count; i += 1) if (state[i] === TASK) this.firsts[value[i] + 1] += 1;
        for (let context = 0; context <= most; context += 1) this.firsts[context + 1] += this.firsts[context];
        const all = this.firsts[most + 1];
        this.begin = new Float64Array(all);
        this.end = new Float64Array(all);
        /** Ticks of the context before each of its times. */
        this.sum = new Float64Array(all);
        const next = this.firsts.slice();
        for (let i = 0; i < count; i += 1) {
            if (state[i] !== TASK) continue;
            const at = next[value[i]];
            next[value[i]] += 1;
            this.begin[at] = spans.from(i);
            this.end[at] = spans.to(i);
            this.sum[at] = at === this.firsts[value[i]] ? 0 : this.sum[at - 1] + this.end[at - 1] - this.begin[at - 1];
        }
    }

    /** The contexts that the core ran. */
    get contexts() {
        return [...this.firsts.keys()].filter((context) => this.firsts[context] < this.firsts[context + 1]);
    }

    /** Returns the ticks of a context, of interrupts or of everything before a time. @type {(who: number, time: number) => number} */
    before(who, time) {
        if (who === ALL) return this.spans.before(TASK, time) + this.spans.before(INTERRUPT, time);
        if (who === INTERRUPTS) return this.spans.before(INTERRUPT, time);
        const { firsts } = this;
        if (who + 1 >= firsts.length) return 0;
        const at = upperBound(this.begin, time, firsts[who], firsts[who + 1]) - 1;
        return at < firsts[who] ? 0 : this.sum[at] + Math.min(time, this.end[at]) - this.begin[at];
    }
}

/** The times of the cores of each file, by the content of the model. @type {WeakMap<any, Map<number, CoreTimes[]>>} */
const timesOfContents = new WeakMap();

/** Returns the times of the cores of a file. @type {(model: import("./model.js").Model, file: number) => CoreTimes[]} */
function coreTimes(model, file) {
    let files = timesOfContents.get(model.change);
    if (!files) timesOfContents.set(model.change, files = new Map());
    const known = files.get(file);
    if (known) return known;
    const cores = model.rows.filter((/** @type {any} */ row) => row.kind === "core" && (row.file ?? 0) === file);
    const times = cores.map((/** @type {any} */ { spans }) => new CoreTimes(spans));
    files.set(file, times);
    return times;
}

/** Returns the ticks of a context, of interrupts or of everything on all of these cores before a time. @type {(cores: CoreTimes[], who: number, time: number) => number} */
function ticksBefore(cores, who, time) {
    return cores.reduce((sum, core) => sum + core.before(who, time), 0);
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
    const cores = coreTimes(model, file);
    if (cores.length === 0 || to <= from) return [];
    const width = widthOfWindows(model, from, to, WINDOWS);
    const all = [...new Set(cores.flatMap(({ contexts }) => contexts))];
    /** @type {Load[]} */
    const windows = [];
    for (let begin = from; begin < to; begin += width) {
        const end = Math.min(begin + width, to);
        const share = (/** @type {number} */ who) => (ticksBefore(cores, who, end) - ticksBefore(cores, who, begin)) / ((end - begin) * cores.length);
        const contexts = new Map(all.map((context) => /** @type {[number, number]} */ ([context, share(context)])).filter(([, part]) => part > 0));
        windows.push({ from: begin, to: end, contexts, interrupts: share(INTERRUPTS), total: share(ALL) });
    }
    return windows;
}

/**
 * Returns the width in ticks of the windows of the rows of load. It follows the zoom, and each window begins at a multiple of it.
 * @type {(model: import("./model.js").Model, view: { from: number, to: number }) => number}
 */
export function shownWidth(model, { from, to }) {
    return widthOfWindows(model, Math.max(from, 0), Math.max(from, 0) + (to - from), SHOWN_WINDOWS);
}

/**
 * Calls `each` for the windows of a row of load that overlap a time range: with the ends of the window, and the load as a share. Leaves out
 * windows that the page has loaded only in part.
 * @type {(model: import("./model.js").Model, file: number, who: number, width: number, range: [number, number], each: (from: number, to: number, share: number) => void) => void}
 */
export function visitLoads(model, file, who, width, [from, to], each) {
    const cores = coreTimes(model, file);
    const [start, end] = [model.files[file]?.from ?? 0, model.endOf(file)];
    if (cores.length === 0) return;
    // Windows begin at multiples of the width, counted from the first event of the trace, so they stay in place when the view moves.
    const origin = Number(model.origin % BigInt(width));
    const first = Math.floor((Math.max(from, start) + origin) / width) * width - origin;
    let [at, before] = [-Infinity, 0];
    for (let begin = first; begin < Math.min(to, end); begin += width) {
        const [low, high] = [Math.max(begin, start), Math.min(begin + width, end)];
        if (!model.has(low, high) || high <= low) continue;
        if (at !== low) before = ticksBefore(cores, who, low);
        const next = ticksBefore(cores, who, high);
        each(low, high, (next - before) / ((high - low) * cores.length));
        [at, before] = [high, next];
    }
}
