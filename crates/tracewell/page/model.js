// The trace as the page uses it: rows of spans, waits, arrows and gaps. `eventdata.js` contains the events. Ticks are offsets from the start
// of the page; `exact` converts them to ticks since the first event of the trace.

import { lowerBound, upperBound } from "./bounds.js";
import { partOf } from "./detail.js";
import { Events } from "./eventdata.js";
import { figuresIn } from "./exact.js";
import { showsAll, spanIn } from "./identity.js";
import { IntervalIndex } from "./intervals.js";
import { Clock, duration, fixed, unitFor } from "./time.js";
import { counted } from "./words.js";

/** @typedef {import("./source.js").Column["values"]} Values */

/** Codes of the states of contexts. */
export const STATES = [
    "unknown", "running", "interrupted", "preempted", "ready", "blocked", "sleeping", "done",
    "not running", "deleted",
];
export const RUNNING = 1;
export const INTERRUPTED = 2;
export const PREEMPTED = 3;
export const BLOCKED = 5;
/** Codes of the activities of cores. */
export const TASK = 1;
export const INTERRUPT = 2;
export const IDLE = 3;

/** Number of changes between two stored sums of a row. A larger number needs less memory, but more time. */
const BLOCK = 8;

/** The states of a row, in chronological order. */
export class Spans {
    /**
     * @param {Model} model
     * @param {number[]} place index of the first change, and index after the last change
     * @param {number} [limit] end of the last span
     */
    constructor(model, [start, end], limit = model.length) {
        this.change = model.change;
        this.start = start;
        /** @type {Values | null} */
        this.numbers = null;
        this.at = model.change.at.subarray(start, end);
        this.state = model.change.state.subarray(start, end);
        this.value = model.change.value.subarray(start, end);
        this.count = end - start;
        this.limit = limit;
    }

    /** The number of the event at each change. */
    get seq() {
        this.numbers ??= this.change.seq.subarray(this.start, this.start + this.count);
        return this.numbers;
    }

    /** @param {number} index */
    from(index) {
        return this.at[index];
    }

    /** @param {number} index */
    to(index) {
        return index + 1 < this.count ? this.at[index + 1] : Math.max(this.limit, this.at[index]);
    }

    /** Returns the index of the span at a time, or -1. @param {number} time */
    find(time) {
        return upperBound(this.at, time) - 1;
    }

    /**
     * Returns the index of the first span that overlaps a time range, and the index after the last such span.
     * @param {number} from
     * @param {number} to
     */
    within(from, to) {
        const first = Math.max(this.find(from), 0);
        return [first, lowerBound(this.at, to, first, this.count)];
    }

    /** Times in each state before every `BLOCK`th change. With these sums, `before` adds fewer than `BLOCK` spans. */
    get sums() {
        if (!this.known) {
            const states = STATES.length;
            const blocks = Math.ceil(this.count / BLOCK) + 1;
            this.known = new Float64Array(blocks * states);
            const sums = new Float64Array(states);
            for (let i = 0; i < this.count; i += 1) {
                if (i % BLOCK === 0) this.known.set(sums, (i / BLOCK) * states);
                sums[this.state[i]] += this.to(i) - this.at[i];
            }
        }
        return this.known;
    }

    /** Returns how long the row was in a state before `time`, which is in the span `index`. @type {(state: number, time: number, index?: number) => number} */
    before(state, time, index = this.find(time)) {
        if (index < 0) return 0;
        let sum = this.sums[Math.floor(index / BLOCK) * STATES.length + state];
        for (let i = index - (index % BLOCK); i < index; i += 1) {
            if (this.state[i] === state) sum += this.at[i + 1] - this.at[i];
        }
        return this.state[index] === state ? sum + Math.min(time, this.to(index)) - this.at[index] : sum;
    }

    /** Returns how long the row was in each state within a time range. @type {(from: number, to: number) => number[]} */
    times(from, to) {
        return STATES.map((_, state) => this.before(state, to) - this.before(state, from));
    }

    /**
     * Calls `each` for the spans that overlap a time range, with the ticks of the overlap.
     * @param {number} from
     * @param {number} to
     * @param {(index: number, ticks: number) => void} each
     */
    overlap(from, to, each) {
        const [first, last] = this.within(from, to);
        for (let i = first; i < last; i += 1) {
            const ticks = Math.min(this.to(i), to) - Math.max(this.at[i], from);
            if (ticks > 0) each(i, ticks);
        }
    }
}

/** Entries at events. The numbers of these events take long to decode and the first picture does not need them, so they are decoded later. */
class AtEvents {
    /**
     * @param {Model} model
     * @param {string} name
     */
    constructor(model, name) {
        this.model = model;
        this.name = name;
        this.at = model.ticks(`${name}.ticks`);
        /** @type {Values | null} */
        this.numbers = null;
    }

    /** The number of the event at each entry. */
    get seq() {
        this.numbers ??= this.model.column(`${this.name}.seq`);
        return this.numbers;
    }
}

/** Returns the identity of a row among the rows of a trace. An address of the page can contain it. @param {any} row */
function rowKey({ kind, file = "", number, context, key = "", what = "" }) {
    return [kind, number ?? context ?? key, what, file].map(encodeURIComponent).join(":").replace(/:+$/, "");
}

/**
 * Returns values in the smallest type that can hold them, because a page has up to 2 million events. Bytes are
 * copied, so that the rest of the payload can be freed.
 * @param {Values} values
 */
export function narrowed(values) {
    if (values instanceof Uint8Array) return values.byteLength < values.buffer.byteLength ? values.slice() : values;
    if (!(values instanceof Float64Array)) return values;
    let most = 0;
    for (let i = 0; i < values.length; i += 1) if (values[i] > most) most = values[i];
    if (most < 2 ** 8) return Uint8Array.from(values);
    if (most < 2 ** 16) return Uint16Array.from(values);
    return most < 2 ** 32 ? Uint32Array.from(values) : values;
}

/** The content of the page. */
export class Model {
    /**
     * @param {any} header
     * @param {Map<string, import("./source.js").Column>} columns
     */
    constructor(header, columns) {
        this.header = header;
        this.part = partOf(header);
        /** @type {IntervalIndex | null} */
        this.index = null;
        /** @type {Model["hidden"] | null} */
        this.filters = null;
        this.columns = columns;
        this.clock = new Clock(header.rates);
        this.origin = BigInt(header.from);
        this.length = Math.max(Number(BigInt(header.until) - this.origin), 1);
        this.contexts = header.contexts;
        this.kinds = header.kinds;
        /** The files of a page with several traces, otherwise empty. @type {any[]} */
        this.files = header.files ?? [];
        this.change = Object.assign(new AtEvents(this, "change"), { state: this.column("change.state"), value: this.column("change.value") });
        this.events = new Events(this);
        this.rows = header.rows.map((/** @type {any} */ row, /** @type {number} */ index) => ({
            ...row,
            index,
            spans: new Spans(this, row.changes, this.endOf(row.file)),
        }));
        this.locks = this.rows.filter((/** @type {any} */ row) => row.kind === "lock");
        this.reasons = header.reasons;
        this.wait = this.entries("wait", ["context", "owner"]);
        this.job = this.entries("job", ["context", "missed_seq"]);
        this.job.missed = this.ticks("job.missed");
        /** @type {any} */
        this.arrows = null;
        this.gap = this.entries("gap", ["events", "cause"]);
        if (this.files.length > 0) this.gap.file = this.column("gap.file");
        this.mark = Object.assign(new AtEvents(this, "mark"), { context: this.column("mark.context") });
        this.inversion = { from: this.ticks("inversion.from"), until: this.ticks("inversion.until"),
            context: this.column("inversion.context"), lock: this.column("inversion.lock"),
            ticks: this.column("inversion.ticks"),
            /** In a part, the number of each among all inversions of the trace; a part leaves out some. */
            number: columns.has("inversion.number") ? this.column("inversion.number") : null };
        /** The numbers of events that contexts recorded, if the trace shows no states and the payload does not list its events. */
        this.recorded = columns.has("recorded.ticks") ? { at: this.ticks("recorded.ticks"), context: this.column("recorded.context"),
            count: this.column("recorded.count") } : null;
        /** @type {Model["recordedByContext"] | null} */
        this.recordedLists = null;
        this.showsStates = this.rows.some((/** @type {any} */ row) => row.kind === "context");
    }

    /**
     * Replaces the content.
     * @param {any} header
     * @param {Map<string, import("./source.js").Column>} columns
     */
    fill(header, columns) {
        Object.assign(this, new Model(header, columns));
    }

    /** Returns a model with the same content. It keeps this content when `fill` replaces that of the original. */
    copy() {
        // Collect the intervals first, so that both models share them.
        void this.intervals;
        return Object.assign(Object.create(Model.prototype), this);
    }

    /** The arrows from events to the contexts that they affect, decoded when they are first needed. */
    get arrow() {
        this.arrows ??= this.entries("arrow", ["kind", "by", "context"]);
        return this.arrows;
    }

    /** Returns the time at which a file ends. @param {number} [file] */
    endOf(file = 0) {
        return this.files[file]?.until ?? this.length;
    }

    /** Returns the file of a context. @param {number} context */
    fileOf(context) {
        return this.contexts[context]?.file ?? 0;
    }

    /**
     * Returns the end of a wait, job or gap; if the trace does not contain it, the end of the file.
     * @param {any} entries
     * @param {number} i
     */
    ended(entries, i) {
        if (entries.untilSeq[i] > 0) return entries.until[i];
        return this.endOf(entries.context ? this.fileOf(entries.context[i]) : entries.file?.[i]);
    }

    /** @param {string} name */
    column(name) {
        const column = this.columns.get(name);
        if (!column) throw new Error(`the page has no column ${name}`);
        column.values = narrowed(column.values);
        return column.values;
    }

    /** Returns a column of ticks as offsets from the start of the page. @param {string} name */
    ticks(name) {
        const column = this.columns.get(name);
        if (!column) throw new Error(`the page has no column ${name}`);
        // Models of the same content share the offsets. To save memory, the offsets replace the ticks.
        if (!column.offsets) {
            const origin = Number(this.origin);
            column.offsets = column.exact ? Float64Array.from(column.exact, (ticks) => Number(ticks - this.origin))
                : /** @type {Float64Array} */ (column.values).map((ticks) => ticks - origin);
            column.values = column.offsets;
        }
        return column.offsets;
    }

    /**
     * @param {string} name
     * @param {string[]} others
     * @returns {any}
     */
    entries(name, others) {
        const entries = {
            from: this.ticks(`${name}.from`),
            fromSeq: this.column(`${name}.from_seq`),
            until: this.ticks(`${name}.until`),
            untilSeq: this.column(`${name}.until_seq`),
        };
        const rest = others.map((other) => [other, this.column(`${name}.${other}`)]);
        return { ...entries, ...Object.fromEntries(rest) };
    }

    /**
     * Returns the identity of a selection in the trace. It does not depend on the page's content.
     * @param {import("./view.js").Selection} selection
     * @returns {import("./identity.js").Identity | null}
     */
    selected(selection) {
        if (!selection) return null;
        const { events } = this;
        const ticks = (/** @type {number} */ offset) => Number(this.exact(offset));
        if ("event" in selection) {
            const { event } = selection;
            return { seq: events.number(event), file: this.fileOf(events.context[event]), at: ticks(events.at[event]) };
        }
        if ("whole" in selection) return { key: rowKey(this.rows[selection.whole]), seq: -1 };
        const row = this.rows[selection.row];
        if (!row) return null;
        const { spans } = row;
        const seq = this.ownSeq(spans.seq[selection.span]);
        const [from, until] = [ticks(spans.from(selection.span)), ticks(spans.to(selection.span))];
        return { key: rowKey(row), seq, from, until, resolution: this.part?.resolution };
    }

    /**
     * Returns the selection with an identity, or null if the page does not contain it. The identity of a whole row has the number -1.
     * @param {import("./identity.js").Identity | null} selected
     * @returns {import("./view.js").Selection}
     */
    found(selected) {
        if (!selected) return null;
        if (selected.key === undefined) {
            const event = this.events.numbered(selected.seq ?? -1, selected.file);
            return event < 0 ? null : { event };
        }
        const row = this.rows.findIndex((/** @type {any} */ row) => rowKey(row) === selected.key);
        if (row < 0) return null;
        if (selected.seq === -1) return { whole: row };
        // A part combines states, so a span must also have the same end. The last span of a trace that grows has a new end.
        const isExact = this.part !== null || selected.seq === undefined;
        const span = isExact ? spanIn(this, this.rows[row], selected)
            : this.rows[row].spans.seq.findIndex((/** @type {number} */ seq) => this.ownSeq(seq) === selected.seq);
        if (span >= 0) return { row, span };
        // A part with all states shows that the row has no such span. This happens if `analyze` names a time without a state.
        return this.part && showsAll(this, selected) ? { whole: row } : null;
    }

    /** Returns the identity of a row. @param {any} row */
    keyOf(row) {
        return rowKey(row);
    }

    /** Returns the sequence number that an event has in its own trace. @param {number} seq */
    ownSeq(seq) {
        return this.files.length > 0 ? this.events.number(seq) : seq;
    }

    /** Returns the ticks since the first event of the trace. @param {number} offset */
    exact(offset) {
        return BigInt(Math.round(offset)) + this.origin;
    }

    /** Returns a time with its unit. @param {bigint} ticks */
    time(ticks) {
        if (!this.clock.isKnown) return counted(ticks, "tick");
        const { unit, ns } = this.unit;
        return `${fixed(this.clock.ns(ticks), ns, this.decimals)} ${unit}`;
    }

    /** The unit of all times on the page: the largest unit that is not longer than the time of the whole page. */
    get unit() {
        return unitFor(Number(this.clock.ns(this.exact(this.length)) - this.clock.ns(this.exact(0))));
    }

    /** Number of decimals of a time in the unit: enough to distinguish two ticks, but no fractions of a nanosecond. */
    get decimals() {
        const { count, seconds } = this.clock.rates[0];
        const perSecond = Math.ceil(Math.log10(Number(count) / Number(seconds)));
        const most = Math.round(Math.log10(this.unit.ns));
        return Math.min(most, Math.max(0, perSecond - (9 - most)));
    }

    /**
     * Returns the duration from one time to another, with its unit.
     * @param {number} from
     * @param {number} to
     */
    span(from, to) {
        if (!this.clock.isKnown) return counted(Math.round(to - from), "tick");
        return duration(this.clock.ns(this.exact(to)) - this.clock.ns(this.exact(from)));
    }

    /** @param {number} context */
    name(context) {
        return this.contexts[context]?.name ?? "?";
    }

    /**
     * The times for which the recorder hid a kind of events, from the figures of `analyze`. `filter` is the label of the event that hid them.
     * @returns {{ file: number, from: number, until: number, filter: string }[]}
     */
    get hidden() {
        this.filters ??= hiddenTimes(this);
        return this.filters;
    }

    /** The keys and names of all contexts and objects. @returns {import("./matching.js").Named[]} */
    get named() {
        return [...this.contexts.map((/** @type {any} */ { key, name }) => [key, name]), ...this.header.objects];
    }

    /** Returns the priority of a context, or null if it is unknown. @type {(context: number) => number | null} */
    priority(context) {
        return this.contexts[context]?.priority ?? null;
    }

    /**
     * Returns true if context `a` is more urgent than context `b`, and false if the priority of one
     * of them is unknown.
     * @param {number} a
     * @param {number} b
     */
    isMoreUrgent(a, b) {
        const [ours, theirs] = [this.priority(a), this.priority(b)];
        if (ours === null || theirs === null || this.fileOf(a) !== this.fileOf(b)) return false;
        return (this.files?.[this.fileOf(a)] ?? this.header).largerIsUrgent ? ours > theirs : ours < theirs;
    }

    /** Returns the object for which a context waits. @param {number} reason */
    object(reason) {
        const { what, object, code } = this.reasons[reason] ?? {};
        return object ? `${what ?? "object"} ${object}` : (code ?? what ?? "not recorded");
    }

    /** Returns the words that follow the length of a wait: `for mutex log file`, or `suspended`. @param {number} reason */
    waitText(reason) {
        const { object, what, code } = this.reasons[reason] ?? {};
        return object || !(code ?? what) ? `for ${this.object(reason)}` : this.object(reason);
    }

    /**
     * For each context, times at which it recorded events, and the number of its events before each of these times and in total.
     * @returns {{ at: Float64Array, sums: Float64Array }[]}
     */
    get recordedByContext() {
        this.recordedLists ??= summedBy(this.contexts.length, this.recorded);
        return this.recordedLists;
    }

    /** The waits, jobs, gaps and inversions, sorted for searches by time. @returns {IntervalIndex} */
    get intervals() {
        this.index ??= new IntervalIndex(this);
        return this.index;
    }

    /** Returns the number of inversions for which `count` shown ones stand. @type {(first: number, count: number) => number} */
    inversionsAt(first, count) {
        const { number, from } = this.inversion;
        if (!this.part || !number) return count;
        return (first + count < from.length ? number[first + count] : this.part.inversions) - number[first];
    }

    /** Returns true if the page contains the spans of a time range. @type {(from: number, to: number) => boolean} */
    has(from, to) {
        return this.part === null || (Math.max(from, 0) >= this.part.from && Math.min(to, this.length) <= this.part.until);
    }

    /** True if the page contains only a part of the trace in which short states are combined. */
    get isCoarse() {
        return this.part !== null && this.part.resolution > 0;
    }

    /** Returns the reason why a context is blocked, in words. @param {number} reason */
    reason(reason) {
        const { holder } = this.reasons[reason] ?? {};
        const about = this.object(reason);
        return holder > 0 ? `${about}, held by ${this.name(holder - 1)}` : about;
    }

    /** Returns the number of missing events in words. @param {number} gap */
    missing(gap) {
        const events = this.gap.events[gap];
        const cause = this.header.causes[this.gap.cause[gap] - 1];
        if (!cause) return "recording was off";
        if (events === 0) return `events missing, number unknown (${cause})`;
        if (events === 1) return `a record (${cause})`;
        return `${counted(events - 1, "missing event")} (${cause})`;
    }
}

/** @type {(contexts: number, recorded: Model["recorded"]) => Model["recordedByContext"]} */
function summedBy(contexts, recorded) {
    const lengths = new Uint32Array(contexts);
    recorded?.context.forEach((context) => { lengths[context] += 1; });
    const lists = Array.from(lengths, (length) => ({ at: new Float64Array(length), sums: new Float64Array(length + 1) }));
    lengths.fill(0);
    recorded?.context.forEach((context, index) => {
        const { at, sums } = lists[context];
        const place = lengths[context];
        at[place] = recorded.at[index];
        sums[place + 1] = sums[place] + recorded.count[index];
        lengths[context] += 1;
    });
    return lists;
}

/** Returns the times in the figures of each file for which a kind of events was hidden. @param {Model} model @returns {Model["hidden"]} */
function hiddenTimes({ columns, files, origin }) {
    const names = files.length > 0 ? files.map((_, file) => `figures.${file}`) : ["figures"];
    return names.flatMap((name, file) => {
        const column = columns.get(name);
        const { hidden = [] } = column ? figuresIn(column) : {};
        const at = (/** @type {number} */ ticks) => (files[file]?.placement.at(ticks) ?? ticks) - Number(origin);
        return hidden.map((/** @type {any} */ { filter, from_ticks: from, until_ticks: until }) => ({ file, from: at(from), until: at(until), filter }));
    });
}
