// Tables of figures. Tables of the whole trace show the JSON of `analyze`, which the page contains.
// Their rows are links to places in the trace. The tables of a range are computed from spans. `large.js` makes the tables of a large trace,
// because the page loads only parts of its spans.

import { culprits, longest, occupants } from "./causes.js";
import { lowerBound } from "./bounds.js";
import { links } from "./destinations.js";
import { figuresIn } from "./exact.js";
import { heading, isDuration, isNanoseconds, isTime } from "./headings.js";
import { loads } from "./loads.js";
import { longestWait } from "./locks.js";
import { BLOCKED, PREEMPTED, RUNNING, STATES } from "./model.js";
import { unitFor } from "./time.js";
import { isOpen, longestWaits, requestOf } from "./waits.js";

/** A cell: its text, the value by which a column is sorted, a function that shows its place, and the length of a bar behind the text, from 0 to 1. */
/** @typedef {{ text: string, value: number | string, go?: () => void, bar?: number }} Cell */
/**
 * A table. If the page shows several files, `section` is the title of the table's file. `isPart` is true for a table about a time range.
 * `notes` explain columns. `scope` states which rows of a longer list the table contains, or how exact it is.
 * @typedef {{
 *   name: string, columns: string[], rows: Cell[][], section?: string, isPart?: boolean, notes?: Record<string, string>, scope?: string
 * }} Table
 */
/** The figures of a file as `analyze` prints them. @typedef {{ file: number, json: any }} FileFigures */

/** Names of the columns with the longest wait, counted from the suspension or from the request. */
export const [SUSPENDED, REQUESTED] = ["longest wait from suspension", "longest wait from request"];

/** Maximum number of contexts with a column in the table of loads. */
const MAX_LOADS = 10;

/** The meanings of columns. @type {Record<string, string>} */
export const NOTES = Object.fromEntries([
    ...["from suspension", SUSPENDED].map((name) => [name, "from the moment at which the context lost the core, to the end of the wait"]),
    ...["from request", "wait from request", REQUESTED].map((name) => [name, "from the call that asked for the object, to the end of the wait; the context was suspended a little later"]),
]);

/** @param {string | number | null | undefined} value @returns {Cell} */
export function cell(value) {
    if (value === null || value === undefined) return { text: "", value: -Infinity };
    return { text: typeof value === "number" ? value.toLocaleString("en", { maximumFractionDigits: 2 }) : value, value };
}

/**
 * Returns a function that computes a value when it is first called.
 * @template T
 * @param {() => T} compute
 * @returns {() => T}
 */
function once(compute) {
    /** @type {{ value: T } | undefined} */
    let known;
    return () => (known ??= { value: compute() }).value;
}

/** Returns a cell that is computed when it is first shown or compared. @param {() => Cell} compute @returns {Cell} */
function lazy(compute) {
    const made = once(compute);
    return {
        get text() { return made().text; },
        get value() { return made().value; },
    };
}

export class Figures {
    /** @param {import("./places.js").Places} places */
    constructor(places) {
        this.places = places;
        this.model = places.model;
        /** @type {FileFigures[]} */
        this.files = [];
        this.refill();
    }

    /**
     * Updates the figures after the content of the model was replaced. If it is a part of a trace, the figures stay the same.
     */
    refill() {
        /** @type {Table[] | null} */
        this.known = null;
        const { files, columns } = this.model;
        const names = files.length > 0 ? files.map((/** @type {any} */ _, /** @type {number} */ file) => `figures.${file}`) : ["figures"];
        if (!columns.has(names[0])) return;
        this.files = names.map((/** @type {string} */ name, /** @type {number} */ file) =>
            ({ file, json: figuresIn(/** @type {import("./source.js").Column} */ (columns.get(name))) }));
    }

    /** Converts a length in ticks of a file to ticks of the page. @type {(ticks: number, file: number) => number} */
    converted(ticks, file) {
        return this.model.files[file]?.placement.length(ticks) ?? ticks;
    }

    /** Returns the tables of the whole trace that are not empty. @returns {Table[]} */
    get tables() {
        this.known ??= this.files.flatMap((figures) => this.tablesOf(figures));
        return this.known;
    }

    /** Returns the tables of a file that are not empty. @param {FileFigures} figures @returns {Table[]} */
    tablesOf(figures) {
        const { file } = figures;
        // Keep all columns of inversions: a check for empty columns would compute all of their cells.
        const { length } = this.model;
        const own = [withoutEmpty(this.threads(figures)), withoutEmpty(this.locks(figures)), withoutEmpty(this.waits(file, 0, length)),
            this.inversions(file, 0, length), withoutEmpty(this.misses(file, 0, length)), this.gaps(this.model, file, 0, length),
            withoutEmpty(this.loads(file, 0, length))];
        const section = this.model.files[file]?.title;
        return [...own, ...this.others(figures)].filter((table) => table.rows.length > 0).map((table) => ({ ...table, section }));
    }

    /** @param {number} ticks of the page @param {() => void} [go] @returns {Cell} */
    length(ticks, go) {
        return { text: this.model.span(0, ticks), value: ticks, go };
    }

    /**
     * Returns the longest span of a row as a cell.
     * @param {any} row
     * @param {(state: number, value: number) => boolean} accepts
     * @param {(index: number) => string} [about]
     * @returns {Cell}
     */
    worst(row, accepts, about) {
        const index = row ? longest(row, 0, this.model.length, accepts) : -1;
        if (index < 0) return cell(null);
        const found = this.length(row.spans.to(index) - row.spans.from(index), () => this.places.span(row.index, index));
        return about ? { ...found, text: `${found.text} ${about(index)}` } : found;
    }

    /** @param {FileFigures} figures @returns {Table} */
    threads({ file, json }) {
        const { model } = this;
        const whole = json.span_ticks;
        const rows = json.tasks.map((/** @type {any} */ task) => {
            const context = model.contexts.findIndex((/** @type {any} */ each) =>
                each.key === task.context && each.name === task.name && (each.file ?? 0) === file);
            const row = this.places.rowOf(context);
            const held = this.worst(row, (state) => state === BLOCKED, (i) => model.waitText(row.spans.value[i]));
            const known = task.execution_ticks !== null;
            return [
                { ...cell(task.name), go: row && (() => this.places.span(row.index, Math.max(row.spans.find(0), 0))) },
                known ? this.length(this.converted(task.execution_ticks, file)) : cell(null),
                known ? cell((100 * task.execution_ticks) / whole) : cell(null),
                this.worst(row, (state) => state === RUNNING), held,
                this.response(context), cell(task.deadline_misses),
                { ...cell(task.preemptions), go: this.worst(row, (state) => state === PREEMPTED).go },
                cell(task.dispatches), cell(model.contexts[context]?.priority), cell(task.events),
            ];
        });
        return { name: "Threads", notes: NOTES, rows: sortedBy(rows, 1), columns: ["name", "CPU time", "%", "longest run", SUSPENDED,
            "worst response", "missed", "preempted", "dispatches", "priority", "events"] };
    }

    /** Returns the longest response of a context's jobs, as a link to the job. @param {number} context */
    response(context) {
        const { job } = this.model;
        let best = -1;
        for (const i of this.model.intervals.jobsOf.get(context)?.indices ?? []) {
            const isLonger = best < 0 || job.until[i] - job.from[i] > job.until[best] - job.from[best];
            if (job.untilSeq[i] > 0 && isLonger) best = i;
        }
        return best < 0 ? cell(null) : this.length(job.until[best] - job.from[best], () => this.places.job(best));
    }

    /** @param {FileFigures} figures @returns {Table} */
    locks({ file, json }) {
        const { model } = this;
        const inversions = this.worstInversions();
        const rows = json.locks.map((/** @type {any} */ lock) => {
            const row = model.locks.find((/** @type {any} */ each) => each.what === lock.kind && each.key === lock.key && (each.file ?? 0) === file);
            const holder = (/** @type {number} */ i) => `by ${model.name(row.spans.value[i] - 1)}`;
            return [
                { ...cell(lock.name ?? lock.key), go: row && row.spans.count > 0 ? () => this.places.span(row.index, 0) : undefined },
                cell(lock.kind), this.longestWait(row),
                this.worst(row, (state) => state === 1, holder),
                this.inversion(inversions.get(row)), cell(lock.inversions?.count), cell(lock.inversions?.unbounded),
                cell(lock.requests), cell(lock.blocks), cell(lock.hold?.count),
            ];
        });
        return { name: "Mutexes and semaphores", notes: NOTES, rows, columns: ["name", "kind", REQUESTED, "longest hold", "worst inversion",
            "inversions", "unbounded", "requests", "blocks", "times held"] };
    }

    /** @param {any} row of a lock */
    longestWait(row) {
        const { model } = this;
        if (!row) return cell(null);
        const { wait } = model;
        const best = longestWait(model, row);
        if (best < 0) return cell(null);
        const waiter = this.places.rowOf(wait.context[best]);
        const end = model.ended(wait, best);
        const span = waiter ? longest(waiter, wait.from[best], end, (state) => state === BLOCKED) : -1;
        const go = span >= 0 ? () => this.places.span(waiter.index, span) : () => this.places.zoom(wait.from[best], end);
        const found = this.length(end - wait.from[best], go);
        return { ...found, text: `${found.text} by ${model.name(wait.context[best])}` };
    }

    /** Returns the index of the worst inversion of each lock. @returns {Map<any, number>} by row */
    worstInversions() {
        const { inversion, locks } = this.model;
        const worst = new Map();
        for (let i = 0; i < inversion.ticks.length; i += 1) {
            const row = locks[inversion.lock[i] - 1];
            const best = worst.get(row);
            if (row && (best === undefined || inversion.ticks[i] > inversion.ticks[best])) worst.set(row, i);
        }
        return worst;
    }

    /** @param {number | undefined} i */
    inversion(i) {
        return i === undefined ? cell(null) : this.length(this.model.inversion.ticks[i], () => this.places.inversion(i));
    }

    /** Returns the longest waits that overlap a time range. @type {(file: number, from: number, to: number) => Table} */
    waits(file, from, to) {
        const { model } = this;
        const rows = longestWaits(model, file, from, to).map((wait) => {
            const { row, span, ticks } = wait;
            const [begin, end] = [row.spans.from(span), row.spans.to(span)];
            const { what, object, code, holder } = model.reasons[row.spans.value[span]];
            const go = () => this.places.span(row.index, span);
            const length = this.length(ticks, go);
            const asked = lazy(() => {
                const request = requestOf(model, row.context, begin, end);
                return request < 0 ? cell(null) : this.length(end - model.wait.from[request]);
            });
            return [
                { ...cell(model.name(row.context)), go }, cell(what ?? code ?? "unknown"), cell(object),
                isOpen(wait) ? { ...length, text: `${length.text}, not ended` } : length, asked,
                cell(holder > 0 ? model.name(holder - 1) : null), { text: model.time(model.exact(begin)), value: begin, go },
            ];
        });
        return { name: "Longest waits", notes: NOTES, rows,
            columns: ["context", "reason", "object", "from suspension", "from request", "held by", "begins"] };
    }

    /** Returns the inversions that overlap a time range. @type {(file: number, first: number, last: number) => Table} */
    inversions(file, first, last) {
        const { model } = this;
        const { inversion, locks } = model;
        const own = [...inversion.from.keys()].filter((i) =>
            model.fileOf(inversion.context[i]) === file && inversion.until[i] >= first && inversion.from[i] <= last);
        const rows = own.map((i) => {
            const [from, until] = [inversion.from[i], inversion.until[i]];
            const go = () => this.places.inversion(i);
            const holder = once(() => {
                const waiter = this.places.rowOf(inversion.context[i]);
                const span = waiter ? longest(waiter, from, until, (state) => state === BLOCKED) : -1;
                return span < 0 ? -1 : model.reasons[waiter.spans.value[span]].holder - 1;
            });
            const culprit = () => {
                const times = occupants(model, file, from, until);
                const who = culprits(model, inversion.context[i], holder(), times);
                return cell(who.map((each) => `${model.name(each)} ${model.span(0, times.get(each) ?? 0)}`).join(", "));
            };
            return [
                { ...cell(model.name(inversion.context[i])), go },
                cell(locks[inversion.lock[i] - 1]?.name),
                lazy(() => cell(holder() < 0 ? null : model.name(holder()))), lazy(culprit),
                this.length(inversion.ticks[i], go), this.length(until - from, go),
                { text: model.time(model.exact(from)), value: from, go },
            ];
        });
        return { name: "Unbounded inversions", notes: NOTES, rows: sortedBy(rows, 4),
            columns: ["waiting", "for", "held by", "less urgent that ran", "inverted", "wait from request", "begins"] };
    }

    /** Returns the deadlines that were missed in a time range. @type {(file: number, first: number, last: number) => Table} */
    misses(file, first, last) {
        const { model } = this;
        const { job } = model;
        const own = [...model.intervals.misses.indices].filter((i) =>
            model.fileOf(job.context[i]) === file && job.missed[i] >= first && job.missed[i] <= last);
        const rows = own.map((i) => {
            const go = () => this.places.job(i);
            return [
                { ...cell(model.name(job.context[i])), go },
                { text: model.time(model.exact(job.from[i])), value: job.from[i], go },
                { text: model.time(model.exact(job.missed[i])), value: job.missed[i], go },
                job.untilSeq[i] > 0 ? this.length(job.until[i] - job.from[i], go) : cell(null),
            ];
        });
        return { name: "Missed deadlines", rows, columns: ["context", "released", "deadline missed", "response"] };
    }

    /** Returns the load in windows of a time range, with a column for each of the contexts that ran most. @type {(file: number, from: number, to: number) => Table} */
    loads(file, from, to) {
        const { model } = this;
        const windows = loads(model, file, from, to);
        const sums = new Map();
        for (const { contexts } of windows) for (const [context, share] of contexts) sums.set(context, (sums.get(context) ?? 0) + share);
        const shown = [...sums].sort((a, b) => b[1] - a[1]).slice(0, MAX_LOADS).map(([context]) => context);
        /** @type {(share: number) => Cell} */
        const share = (value) => (value > 0 ? { text: `${(100 * value).toFixed(1)} %`, value, bar: value } : cell(null));
        const rows = windows.map((window) => [
            { text: model.time(model.exact(window.from)), value: window.from, go: () => this.places.range(window.from, window.to) },
            share(window.total), share(window.interrupts), ...shown.map((context) => share(window.contexts.get(context) ?? 0)),
        ]);
        return { name: "Load over time", rows, columns: ["from", "load", "interrupts", ...shown.map((context) => model.name(context))] };
    }

    /** Returns the gaps that overlap a time range. `model` is the loaded one, or the whole of a large trace. @type {(model: import("./model.js").Model, file: number, first: number, last: number) => Table} */
    gaps(model, file, first, last) {
        const { gap } = model;
        const own = [...gap.from.keys()].filter((i) =>
            (gap.file?.[i] ?? 0) === file && model.ended(gap, i) >= first && gap.from[i] <= last);
        const rows = own.map((i) => {
            const [from, until] = [gap.from[i], model.ended(gap, i)];
            const go = () => this.places.zoom(from, until);
            return [{ ...cell(model.missing(i)), go }, this.length(until - from, go), { text: model.time(model.exact(from)), value: from, go }];
        });
        return { name: "Gaps", rows, columns: ["missing", "length", "begins"] };
    }

    /** Returns the other lists of the JSON as tables without empty columns. @param {FileFigures} figures @returns {Table[]} */
    others({ file, json }) {
        const { tasks, locks, ...rest } = json;
        const lists = { ...rest, "interrupt sources": json.interrupts?.sources, tasks, locks };
        /** @type {Record<string, string>} */
        const titles = { tasks: "threads, all figures", locks: "mutexes, all figures" };
        return Object.entries(lists)
            .filter(([, list]) => Array.isArray(list) && list.length > 0 && typeof list[0] === "object")
            .map(([name, list]) => this.table(name, capital(titles[name] ?? name.replaceAll("_", " ")), list, file));
    }

    /** @type {(list: string, name: string, entries: any[], file: number) => Table} */
    table(list, name, entries, file) {
        const flat = entries.map((entry) => new Map(flattened(entry, "")));
        const keys = [...new Set(flat.flatMap((row) => [...row.keys()]))]
            .filter((key) => flat.some((row) => (row.get(key) ?? null) !== null));
        const shown = keys.filter((key) => !(key.endsWith("_ns") && keys.includes(key.replace(/_ns$/, "_ticks"))));
        const rows = entries.map((entry, i) => {
            // The durations of a row have one unit, so that they can be compared.
            const ns = shown.filter((key) => typeof flat[i].get(key) === "number").map((key) => this.nanoseconds(key, flat[i].get(key), file) ?? 0);
            const unit = unitFor(Math.max(...ns, 0));
            const places = links(this.places, list, entry, file);
            const place = this.placeOf(entry, file);
            const cells = shown.map((key) => ({ ...this.valued(key, flat[i].get(key), file, unit), go: places[key] }));
            return place ? [{ ...cells[0], go: cells[0].go ?? place }, ...cells.slice(1)] : cells;
        });
        return { name, rows, columns: shown.map(heading) };
    }

    /** Returns a duration in nanoseconds, or null if the figure is no duration or the rate is unknown. @type {(key: string, value: number, file: number) => number | null} */
    nanoseconds(key, value, file) {
        if (isNanoseconds(key)) return value;
        const { clock } = this.model;
        return isDuration(key) && clock.isKnown ? Number(clock.ns(BigInt(Math.round(this.converted(value, file))))) : null;
    }

    /** @type {(key: string, value: any, file: number, unit: { unit: string, ns: number }) => Cell} */
    valued(key, value, file, unit) {
        if (typeof value !== "number") return cell(value);
        if (isTime(key)) return { text: this.model.time(BigInt(this.placed(value, file))), value };
        const ns = this.nanoseconds(key, value, file);
        if (ns !== null) return { text: `${significant(ns / unit.ns)} ${unit.unit}`, value };
        return isDuration(key) ? this.length(this.converted(value, file)) : cell(value);
    }

    /** Returns the time on the axis of the page. @type {(ticks: number, file: number) => number} */
    placed(ticks, file) {
        return this.model.files[file]?.placement.at(ticks) ?? ticks;
    }

    /** Returns a function that shows the place of a row of the JSON, if the row has a place. @type {(row: any, file: number) => (() => void) | undefined} */
    placeOf(row, file) {
        const origin = Number(this.model.origin);
        const begin = row.from_ticks ?? row.at_ticks ?? row.first_ticks;
        if (typeof begin !== "number") return undefined;
        const [from, until] = [begin, row.until_ticks ?? row.last_ticks ?? begin].map((ticks) => this.placed(ticks, file));
        if (until < origin || from > origin + this.model.length) return undefined;
        return () => this.places.zoom(from - origin, until - origin);
    }

    /** Returns the time of each context by state in a time range. @type {(from: number, to: number) => Table} */
    byState(from, to) {
        const { model } = this;
        /** @type {Cell[][]} */
        const rows = model.rows.filter((/** @type {any} */ row) => row.kind === "context").map((/** @type {any} */ row) => {
            const times = row.spans.times(from, to);
            const go = () => this.places.span(row.index, Math.max(row.spans.find(from), 0));
            return [{ ...cell(model.name(row.context)), go }, ...times.map((/** @type {number} */ ticks) => (ticks > 0 ? this.length(ticks) : cell(null)))];
        });
        const used = STATES.map((_, i) => i).filter((i) => rows.some((row) => row[i + 1].text !== ""));
        const states = rows.map((row) => [row[0], ...used.map((i) => row[i + 1])]);
        const { part } = model;
        return {
            name: "Time by state", columns: ["context", ...used.map((i) => STATES[i])], rows: sortedBy(states, used.indexOf(RUNNING) + 1),
            isPart: true, scope: part && model.isCoarse ? `to within ${model.span(0, part.resolution)}` : "",
        };
    }

    /**
     * Returns the tables of a time range: the time of each context by state, the longest waits, the findings, and the number of events of
     * each kind.
     * @type {(from: number, to: number) => Table[]}
     */
    range(from, to) {
        const { model } = this;
        const [first, last] = [lowerBound(model.events.at, from), lowerBound(model.events.at, to + 1)];
        const counts = new Map();
        for (let i = first; i < last; i += 1) {
            const kind = model.events.kind[i];
            const known = counts.get(kind) ?? { count: 0, first: i, last: i };
            counts.set(kind, { ...known, count: known.count + 1, last: i });
        }
        const events = [...counts].map(([kind, { count, first: start, last: end }]) => [
            cell(model.kinds[kind].label), cell(count),
            { text: `event ${model.events.number(start)}`, value: start, go: () => this.places.event(start) },
            { text: `event ${model.events.number(end)}`, value: end, go: () => this.places.event(end) },
        ]);
        const files = model.files.length > 0 ? model.files : [{}];
        const findings = files.flatMap((/** @type {any} */ { title }, /** @type {number} */ file) =>
            [withoutEmpty(this.waits(file, from, to)), this.inversions(file, from, to), withoutEmpty(this.misses(file, from, to)),
                this.gaps(model, file, from, to), withoutEmpty(this.loads(file, from, to))]
                .map((table) => ({ ...table, name: title === undefined ? table.name : `${table.name} of ${title}` })));
        return [
            this.byState(from, to),
            ...findings,
            { name: "Events by kind", columns: ["event", "number", "first", "last"], rows: sortedBy(events, 1) },
        ].filter((table) => table.rows.length > 0).map((table) => ({ ...table, isPart: true }));
    }
}

/** Returns rows in the order of a column, the largest first. @type {(rows: Cell[][], column: number) => Cell[][]} */
export function sortedBy(rows, column) {
    return sorted(rows, column, true);
}

/**
 * Returns rows in the order of a column: numbers by value, text alphabetically, empty cells last.
 * @param {Cell[][]} rows
 * @param {number} column
 * @param {boolean} isDescending
 */
export function sorted(rows, column, isDescending) {
    const sign = isDescending ? -1 : 1;
    return [...rows].sort((a, b) => {
        const [x, y] = [a[column], b[column]];
        if (x.text === "" || y.text === "") return Number(x.text === "") - Number(y.text === "");
        if (typeof x.value === "number" && typeof y.value === "number") return sign * (x.value - y.value);
        return sign * String(x.value).localeCompare(String(y.value));
    });
}

/** Returns a table without the columns that no row fills. @param {Table} table @returns {Table} */
export function withoutEmpty(table) {
    const used = table.columns.map((_, i) => i).filter((i) => table.rows.some((row) => row[i].text !== ""));
    return { ...table, columns: used.map((i) => table.columns[i]), rows: table.rows.map((row) => used.map((i) => row[i])) };
}

/** Returns a number with at most 4 significant digits, without an exponent. @param {number} value */
function significant(value) {
    const before = Math.floor(Math.log10(Math.abs(value) || 1)) + 1;
    const text = value.toFixed(Math.min(Math.max(4 - before, 0), 9));
    return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** @param {string} text */
function capital(text) {
    return text.charAt(0).toUpperCase() + text.slice(1);
}

/**
 * Returns the names and values of a row of JSON. The value of a list is its length.
 * @param {any} row
 * @param {string} prefix
 * @returns {[string, any][]}
 */
function flattened(row, prefix) {
    return Object.entries(row).flatMap(([key, value]) => {
        const name = prefix + key;
        if (Array.isArray(value)) return value.length > 0 ? [/** @type {[string, any]} */ ([name, value.length])] : [];
        if (value !== null && typeof value === "object") return flattened(value, `${name}_`);
        return [/** @type {[string, any]} */ ([name, typeof value === "boolean" ? String(value) : value])];
    });
}
