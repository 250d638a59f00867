// Tables of figures. For the whole trace, they show the JSON of `analyze`, which the page contains.
// Their rows are links to places in the trace. The tables of a range are computed from spans.

import { culprits, longest, occupants } from "./causes.js";
import { lowerBound } from "./bounds.js";
import { BLOCKED, RUNNING, STATES } from "./model.js";

/** A cell: its text, the value by which a column is sorted, and a function that shows its place. */
/** @typedef {{ text: string, value: number | string, go?: () => void }} Cell */
/** @typedef {{ name: string, columns: string[], rows: Cell[][], note?: string }} Table */

/** @param {string | number | null | undefined} value @returns {Cell} */
function cell(value) {
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
        this.json = JSON.parse("{}");
        this.refill();
    }

    /** Updates the figures after the content of the model was replaced. Views of a part have none. */
    refill() {
        /** @type {Table[] | null} */
        this.known = null;
        if (!this.model.columns.has("figures")) return;
        this.json = JSON.parse(new TextDecoder().decode(/** @type {Uint8Array} */ (this.model.column("figures"))));
    }

    /** Returns the tables of the whole trace that are not empty. @returns {Table[]} */
    get tables() {
        if (!this.known) {
            // The columns of inversions stay: a check of all their cells would compute them.
            const own = [withoutEmpty(this.threads()), withoutEmpty(this.locks()), this.inversions(), withoutEmpty(this.misses())];
            this.known = [...own, ...this.others()].filter((table) => table.rows.length > 0);
        }
        return this.known;
    }

    /** @param {number} ticks @param {() => void} [go] @returns {Cell} */
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

    /** @returns {Table} */
    threads() {
        const { model } = this;
        const whole = this.json.span_ticks;
        const rows = this.json.tasks.map((/** @type {any} */ task) => {
            const context = model.contexts.findIndex((/** @type {any} */ each) => each.key === task.context && each.name === task.name);
            const row = this.places.rowOf(context);
            const held = this.worst(row, (state) => state === BLOCKED, (i) => `for ${model.object(row.spans.value[i])}`);
            const known = task.execution_ticks !== null;
            return [
                { ...cell(task.name), go: row && (() => this.places.span(row.index, Math.max(row.spans.find(0), 0))) },
                known ? this.length(task.execution_ticks) : cell(null),
                known ? cell((100 * task.execution_ticks) / whole) : cell(null),
                this.worst(row, (state) => state === RUNNING), held,
                this.response(context), cell(task.deadline_misses), cell(task.preemptions),
                cell(task.dispatches), cell(model.contexts[context]?.priority), cell(task.events),
            ];
        });
        return { name: "Threads", rows: sortedBy(rows, 1), columns: ["name", "CPU time", "%", "longest run", "longest wait",
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

    /** @returns {Table} */
    locks() {
        const { model } = this;
        const inversions = this.worstInversions();
        const rows = this.json.locks.map((/** @type {any} */ lock) => {
            const row = model.locks.find((/** @type {any} */ each) => each.what === lock.kind && each.key === lock.key);
            const holder = (/** @type {number} */ i) => `by ${model.name(row.spans.value[i] - 1)}`;
            return [
                { ...cell(lock.name ?? lock.key), go: row && row.spans.count > 0 ? () => this.places.span(row.index, 0) : undefined },
                cell(lock.kind), this.longestWait(row),
                this.worst(row, (state) => state === 1, holder),
                this.inversion(inversions.get(row)), cell(lock.inversions?.count),
                cell(lock.requests), cell(lock.blocks), cell(lock.hold?.count),
            ];
        });
        return { name: "Mutexes and semaphores", rows, columns: ["name", "kind", "longest wait", "held at most", "worst inversion",
            "inversions", "requests", "blocks", "times held"] };
    }

    /** @param {any} row of a lock */
    longestWait(row) {
        const { model } = this;
        if (!row) return cell(null);
        const { wait } = model;
        const end = (/** @type {number} */ i) => (wait.untilSeq[i] > 0 ? wait.until[i] : model.length);
        let best = -1;
        for (let i = row.waits[0]; i < row.waits[1]; i += 1) {
            if (best < 0 || end(i) - wait.from[i] > end(best) - wait.from[best]) best = i;
        }
        if (best < 0) return cell(null);
        const waiter = this.places.rowOf(wait.context[best]);
        const span = waiter ? longest(waiter, wait.from[best], end(best), (state) => state === BLOCKED) : -1;
        const go = span >= 0 ? () => this.places.span(waiter.index, span) : () => this.places.zoom(wait.from[best], end(best));
        const found = this.length(end(best) - wait.from[best], go);
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

    /** @returns {Table} */
    inversions() {
        const { model } = this;
        const { inversion, locks } = model;
        const rows = [...inversion.from.keys()].map((i) => {
            const [from, until] = [inversion.from[i], inversion.until[i]];
            const go = () => this.places.inversion(i);
            const holder = once(() => {
                const waiter = this.places.rowOf(inversion.context[i]);
                const span = waiter ? longest(waiter, from, until, (state) => state === BLOCKED) : -1;
                return span < 0 ? -1 : model.reasons[waiter.spans.value[span]].holder - 1;
            });
            const culprit = () => {
                const times = occupants(model, from, until);
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
        return { name: "Priority inversions", rows: sortedBy(rows, 4),
            columns: ["waiting", "for", "held by", "less urgent, but ran", "inverted", "whole wait", "begins"] };
    }

    /** @returns {Table} */
    misses() {
        const { model } = this;
        const { job } = model;
        const rows = [...model.intervals.misses.indices].map((i) => {
            const go = () => this.places.job(i);
            return [
                { ...cell(model.name(job.context[i])), go },
                { text: model.time(model.exact(job.from[i])), value: job.from[i], go },
                { text: model.time(model.exact(job.missed[i])), value: job.missed[i], go },
                job.untilSeq[i] > 0 ? this.length(job.until[i] - job.from[i], go) : cell(null),
            ];
        });
        return { name: "Missed deadlines", rows, columns: ["thread", "released", "deadline missed", "response"] };
    }

    /** Returns the other lists of the JSON as tables without empty columns. @returns {Table[]} */
    others() {
        const { json } = this;
        const lists = { ...json, "interrupt sources": json.interrupts?.sources, "threads, all figures": json.tasks,
            "mutexes, all figures": json.locks };
        return Object.entries(lists)
            .filter(([name, list]) => Array.isArray(list) && list.length > 0 && typeof list[0] === "object" && !["tasks", "locks"].includes(name))
            .map(([name, list]) => this.table(capital(name.replaceAll("_", " ")), list));
    }

    /** @type {(name: string, list: any[]) => Table} */
    table(name, list) {
        const flat = list.map((row) => new Map(flattened(row, "")));
        const keys = [...new Set(flat.flatMap((row) => [...row.keys()]))]
            .filter((key) => flat.some((row) => (row.get(key) ?? null) !== null));
        const shown = keys.filter((key) => !(key.endsWith("_ns") && keys.includes(key.replace(/_ns$/, "_ticks"))));
        const rows = list.map((row, i) => {
            const cells = shown.map((key) => this.valued(key, flat[i].get(key)));
            const place = this.placeOf(row);
            return place ? [{ ...cells[0], go: place }, ...cells.slice(1)] : cells;
        });
        return { name, rows, columns: shown.map((key) => key.replace(/_(ticks|ns)$/, "").replaceAll("_", " ")) };
    }

    /** @type {(key: string, value: any) => Cell} */
    valued(key, value) {
        if (typeof value !== "number") return cell(value);
        if (/(^|_)(from|until|at|first|last)_ticks$/.test(key)) {
            return { text: this.model.time(BigInt(value)), value };
        }
        if (key.endsWith("_ticks")) return this.length(value);
        return cell(value);
    }

    /** Returns a function that shows the place of a row of the JSON, if it has one. @param {any} row */
    placeOf(row) {
        const origin = Number(this.model.origin);
        const from = row.from_ticks ?? row.at_ticks ?? row.first_ticks;
        const until = row.until_ticks ?? row.last_ticks ?? from;
        if (typeof from !== "number" || until < origin || from > origin + this.model.length) return undefined;
        return () => this.places.zoom(from - origin, until - origin);
    }

    /**
     * Returns the tables of a time: the time of each context by state, and the numbers of events.
     * @type {(from: number, to: number) => Table[]}
     */
    range(from, to) {
        const { model } = this;
        /** @type {Cell[][]} */
        const rows = model.rows.filter((/** @type {any} */ row) => row.kind === "context").map((/** @type {any} */ row) => {
            const times = row.spans.times(from, to);
            const go = () => this.places.span(row.index, Math.max(row.spans.find(from), 0));
            return [{ ...cell(model.name(row.context)), go }, ...times.map((/** @type {number} */ ticks) => (ticks > 0 ? this.length(ticks) : cell(null)))];
        });
        const [first, last] = [lowerBound(model.events.at, from), lowerBound(model.events.at, to + 1)];
        const counts = new Map();
        for (let i = first; i < last; i += 1) {
            const kind = model.events.kind[i];
            const known = counts.get(kind) ?? { count: 0, first: i, last: i };
            counts.set(kind, { ...known, count: known.count + 1, last: i });
        }
        const events = [...counts].map(([kind, { count, first: start, last: end }]) => [
            cell(model.kinds[kind].label), cell(count),
            { text: `event ${model.events.seq[start]}`, value: start, go: () => this.places.event(start) },
            { text: `event ${model.events.seq[end]}`, value: end, go: () => this.places.event(end) },
        ]);
        const used = STATES.map((_, i) => i).filter((i) => rows.some((row) => row[i + 1].text !== ""));
        const states = rows.map((row) => [row[0], ...used.map((i) => row[i + 1])]);
        return [
            { name: "Time by state", columns: ["thread", ...used.map((i) => STATES[i])], rows: sortedBy(states, used.indexOf(RUNNING) + 1) },
            { name: "Events by kind", columns: ["event", "number", "first", "last"], rows: sortedBy(events, 1) },
        ].filter((table) => table.rows.length > 0);
    }
}

/** Returns rows in the order of a column, the largest first. @type {(rows: Cell[][], column: number) => Cell[][]} */
function sortedBy(rows, column) {
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
function withoutEmpty(table) {
    const used = table.columns.map((_, i) => i).filter((i) => table.rows.some((row) => row[i].text !== ""));
    return { ...table, columns: used.map((i) => table.columns[i]), rows: table.rows.map((row) => used.map((i) => row[i])) };
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
