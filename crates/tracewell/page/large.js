// Tables of figures of a large trace, or of a range of it. All numbers are those of `analyze`. A cell links to its place if `analyze` names
// the place; the page then loads this part of the trace.

import { BLOCKED } from "./model.js";
import { cell, NOTES, REQUESTED, sortedBy, withoutEmpty } from "./figures.js";
import { grouped } from "./time.js";
import { counted } from "./words.js";

/** @typedef {import("./figures.js").Cell} Cell */
/** @typedef {import("./figures.js").Table} Table */
/** A wait in the JSON of `analyze`. @typedef {any} JsonWait */

/** Maximum number of waits in a table. */
const SHOWN = 200;

const OF_THREADS = ["name", "CPU time", "%", REQUESTED, "worst response", "missed", "preempted", "dispatches", "priority", "events"];
const OF_LOCKS = ["name", "kind", REQUESTED, "longest hold", "worst inversion", "inversions", "unbounded", "requests", "blocks", "times held"];

/** Returns the ticks of priority inversion in a wait. @param {JsonWait} wait @returns {number} */
function invertedIn(wait) {
    return wait.inverted_by_priority_ticks ?? wait.inverted_ticks ?? 0;
}

/** @param {JsonWait} wait */
function lengthOf(wait) {
    return wait.until_ticks - wait.from_ticks;
}

export class LargeFigures {
    /**
     * @param {import("./figures.js").Figures} figures
     * @param {any} json the figures of `analyze`; without the lists of waits and distributions, no cell is a link
     */
    constructor(figures, json) {
        this.figures = figures;
        this.places = figures.places;
        this.model = figures.model;
        this.json = json;
        /** @type {JsonWait[]} */
        this.waits = json.waits ?? [];
        this.waits = [...this.waits].sort((a, b) => lengthOf(b) - lengthOf(a));
    }

    /** Returns the tables that are not empty. @returns {Table[]} */
    get tables() {
        const rest = { ...this.json, waits: [], distributions: [], misses: [] };
        return [this.threads(), this.locks(), this.longest(), this.inversions(), this.misses(), ...this.figures.others({ file: 0, json: rest })]
            .filter((table) => table.rows.length > 0);
    }

    /** @param {number | null | undefined} ticks @param {() => void} [go] @returns {Cell} */
    length(ticks, go) {
        return typeof ticks === "number" ? this.figures.length(ticks, go) : cell(null);
    }

    /** Returns the row of a context in the JSON. @param {{ name: string, context: string }} of */
    rowOf({ name, context }) {
        const { contexts } = this.model;
        const own = contexts.findIndex((/** @type {any} */ each) => each.key === context && each.name === name);
        // The figures of a range contain only the names that the trace has stated up to its end.
        return this.places.rowOf(own >= 0 ? own : contexts.findIndex((/** @type {any} */ each) => each.key === context));
    }

    /** Returns the row of an object in the JSON. @param {{ kind: string, key: string }} of */
    lockOf({ kind, key }) {
        return this.model.locks.find((/** @type {any} */ each) => each.what === kind && each.key === key);
    }

    /** Returns the name of the object of a wait. @param {JsonWait} wait @returns {string | null} */
    objectOf(wait) {
        return this.lockOf(wait)?.name ?? wait.object ?? null;
    }

    /** Returns a function that shows a wait and selects the state of its context. @param {JsonWait | undefined} wait */
    goTo(wait) {
        const row = wait && this.rowOf(wait);
        return row && (() => this.places.seek(row, wait.from_ticks, wait.until_ticks, BLOCKED));
    }

    /**
     * Returns a function that shows the worst of the times with this measure.
     * @param {string} measure
     * @param {string} key
     * @param {any} row
     */
    worstOf(measure, key, row) {
        const times = this.json.distributions?.find((/** @type {any} */ each) => each.measure === measure && each.key === key);
        const worst = times?.worst[0];
        return worst && row && (() => this.places.seek(row, worst.until_ticks - worst.ticks, worst.until_ticks));
    }

    /** @returns {Table} */
    threads() {
        const rows = this.json.tasks.map((/** @type {any} */ task) => this.thread(task));
        return withoutEmpty({ name: "Threads", notes: NOTES, rows: sortedBy(rows, 1), columns: OF_THREADS });
    }

    /** Returns the cells of a thread. @param {any} task @returns {Cell[]} */
    thread(task) {
        const row = this.rowOf(task);
        const known = task.execution_ticks !== null;
        const waits = [task.lock_wait_max_ticks, ...(task.waits_for ?? []).map((/** @type {any} */ each) => each.wait?.max_ticks)];
        const most = Math.max(...waits.map((ticks) => ticks ?? -1));
        const wait = this.waits.find((each) => each.context === task.context && each.name === task.name && lengthOf(each) === most);
        return [
            { ...cell(task.name), go: row && (() => this.places.whole(row.index)) },
            this.length(task.execution_ticks), known ? cell((100 * task.execution_ticks) / this.time) : cell(null),
            this.waited(most, wait, wait && `for ${this.objectOf(wait) ?? wait.kind}`),
            this.length(task.response_max_ticks, this.worstOf("response", task.context, row)),
            cell(task.deadline_misses), cell(task.preemptions), cell(task.dispatches),
            cell(row && this.model.contexts[row.context]?.priority), cell(task.events),
        ];
    }

    /** The ticks that the figures cover. @returns {number} */
    get time() {
        const { range, span_ticks: span } = this.json;
        return range ? range.until_ticks - range.from_ticks : span;
    }

    /** Returns the longest wait as a cell, with a word about it. @type {(ticks: number, wait: JsonWait | undefined, about: string | undefined) => Cell} */
    waited(ticks, wait, about) {
        if (ticks < 0) return cell(null);
        const length = this.length(ticks, this.goTo(wait));
        return about ? { ...length, text: `${length.text} ${about}` } : length;
    }

    /** @returns {Table} */
    locks() {
        const rows = this.json.locks.map((/** @type {any} */ lock) => this.lock(lock));
        return withoutEmpty({ name: "Mutexes and semaphores", notes: NOTES, rows, columns: OF_LOCKS });
    }

    /** Returns the cells of a mutex or semaphore. @param {any} lock @returns {Cell[]} */
    lock(lock) {
        const row = this.lockOf(lock);
        const own = this.waits.filter((wait) => wait.kind === lock.kind && wait.key === lock.key);
        const wait = own.find((each) => lengthOf(each) === lock.wait?.max_ticks);
        const inverted = lock.inversions?.inverted_max_ticks ?? 0;
        const worst = own.find((each) => inverted > 0 && invertedIn(each) === inverted);
        return [
            { ...cell(row?.name ?? lock.name ?? lock.key), go: row && (() => this.places.whole(row.index)) },
            cell(lock.kind), this.waited(lock.wait?.max_ticks ?? -1, wait, wait && `by ${wait.name}`),
            this.length(lock.hold?.max_ticks, this.worstOf("hold", lock.key, row)),
            inverted > 0 ? this.length(inverted, this.goTo(worst)) : cell(null),
            cell(lock.inversions?.count), cell(lock.inversions?.unbounded),
            cell(lock.requests), cell(lock.blocks), cell(lock.hold?.count),
        ];
    }

    /** @returns {Table} */
    longest() {
        const rows = this.waits.slice(0, SHOWN).map((wait) => {
            const go = this.goTo(wait);
            return [{ ...cell(wait.name), go }, cell(wait.kind), cell(this.objectOf(wait)), this.length(lengthOf(wait), go), cell(wait.owner),
                this.beginning(wait, go)];
        });
        return { ...withoutEmpty({ name: "Longest waits", notes: NOTES, rows,
            columns: ["context", "reason", "object", "from request", "held by", "begins"] }), scope: this.few(rows.length, this.all, "longest") };
    }

    /** @returns {Table} */
    inversions() {
        const worst = this.waits.filter((wait) => invertedIn(wait) > 0).sort((a, b) => invertedIn(b) - invertedIn(a)).slice(0, SHOWN);
        const rows = worst.map((wait) => {
            const go = this.goTo(wait);
            return [{ ...cell(wait.name), go }, cell(this.objectOf(wait)), cell(wait.owner), this.length(invertedIn(wait), go),
                this.length(lengthOf(wait), go), this.beginning(wait, go)];
        });
        const all = this.json.range || rows.length < SHOWN ? null : this.model.header.inversions;
        return { name: "Unbounded inversions", notes: NOTES, rows, scope: this.few(rows.length, all, "worst"),
            columns: ["waiting", "for", "held by", "inverted", "wait from request", "begins"] };
    }

    /** Returns the missed deadlines: those of the jobs that were late for the longest time. @returns {Table} */
    misses() {
        /** @type {any[]} */
        const list = this.json.misses ?? [];
        const rows = list.map(({ name, released_ticks: released, missed_ticks: missed, completed_ticks: completed }) => {
            const origin = Number(this.model.origin);
            const go = () => this.places.zoom((released ?? missed) - origin, (completed ?? missed) - origin);
            const at = (/** @type {number | null} */ ticks) => (ticks === null ? cell(null) : { text: this.model.time(BigInt(ticks)), value: ticks, go });
            const response = released === null || completed === null ? null : completed - released;
            return [{ ...cell(name), go }, at(released), at(missed), this.length(response, go)];
        });
        const all = this.json.tasks.reduce((/** @type {number} */ sum, /** @type {any} */ task) => sum + (task.deadline_misses ?? 0), 0);
        // A job can miss several deadlines.
        const scope = rows.length < all && rows.length < SHOWN ? `${counted(rows.length, "job")} with ${counted(all, "missed deadline")}`
            : this.few(rows.length, all, "latest");
        return { ...withoutEmpty({ name: "Missed deadlines", rows, columns: ["context", "released", "deadline missed", "response"] }), scope };
    }

    /** The number of all waits. */
    get all() {
        return this.waits.length + (this.json.more_waits ?? 0);
    }

    /** Returns the part of a list that a table shows, in words. @type {(shown: number, all: number | null, which: string) => string} */
    few(shown, all, which) {
        if (shown < SHOWN) return "";
        return all === null ? `the ${SHOWN} ${which}` : `the ${SHOWN} ${which} of ${grouped(all)}`;
    }

    /** Returns the time at which a wait begins as a cell. @type {(wait: JsonWait, go: (() => void) | undefined) => Cell} */
    beginning({ from_ticks: ticks }, go) {
        return { text: this.model.time(BigInt(ticks)), value: ticks, go };
    }

    /**
     * Returns the facts about a core, a context, a mutex or a semaphore, for the side panel.
     * @type {(row: any, link: (text: string, follow: () => void) => HTMLElement) => [string, (string | Node)[]][]}
     */
    facts(row, link) {
        const { json, model } = this;
        if (row.kind === "core") {
            const core = json.cores.find((/** @type {any} */ each) => each.core === row.number);
            const share = (/** @type {number} */ ticks) => [`${((100 * ticks) / this.time).toFixed(1)} %, ${model.span(0, ticks)}`];
            return core ? [["tasks", share(core.task_ticks)], ["interrupts", share(core.interrupt_ticks)], ["idle", share(core.idle_ticks)]] : [];
        }
        const isLock = row.kind === "lock";
        const list = isLock ? json.locks : json.tasks;
        const of = list.find((/** @type {any} */ each) => (isLock ? this.lockOf(each) : this.rowOf(each)) === row);
        if (!of) return [];
        const cells = isLock ? this.lock(of) : this.thread(of);
        const shown = (/** @type {Cell} */ { text, go }) => (go ? link(text, go) : text);
        return (isLock ? OF_LOCKS : OF_THREADS).map((column, i) => /** @type {[string, Cell]} */ ([column, cells[i]]))
            .filter(([column, { text }]) => text !== "" && !["name", "kind"].includes(column))
            .map(([column, value]) => [column, [shown(value)]]);
    }
}

/** The tables of a large trace and of its ranges, with the state of the requests for their figures. */
export class LargeTables {
    /**
     * @param {import("./figures.js").Figures} figures
     * @param {import("./exact.js").Exact} exact
     */
    constructor(figures, exact) {
        this.figures = figures;
        this.exact = exact;
        /** Reasons why tables are missing: those of the whole trace, and those of the range. */
        this.states = ["", ""];
    }

    /** Returns the reason why tables are missing, or an empty text. @param {boolean} isPart */
    state(isPart) {
        return this.states[isPart ? 1 : 0];
    }

    /** Returns the tables of the whole trace. Until their figures have arrived, those that the payload contains. @returns {Table[]} */
    whole() {
        const { json, text } = this.exact.ofWhole();
        this.states[0] = text;
        const known = json ?? this.figures.files[0]?.json;
        if (!known) return [];
        const { places } = this.figures;
        const all = places.timeline.whole;
        const gaps = all ? [this.figures.gaps(all, 0, 0, all.length)].filter(({ rows }) => rows.length > 0) : [];
        return [...new LargeFigures(this.figures, known).tables, ...gaps];
    }

    /** Returns the tables of the selected range or of the visible time. @type {(from: number, to: number, isSelected: boolean) => Table[]} */
    range(from, to, isSelected) {
        const { figures, exact } = this;
        const { model } = figures;
        this.states[1] = "";
        const isLoaded = model.has(from, to);
        if (isLoaded && !model.isCoarse) return figures.range(from, to);
        const byState = isLoaded ? [figures.byState(from, to)] : [];
        if (!isSelected) {
            this.states[1] = "select a range, or zoom in until events are listed, to see its other figures";
            return byState;
        }
        const { json, text } = exact.ofRange(model.exact(from), model.exact(to));
        this.states[1] = text;
        const own = json ? new LargeFigures(figures, json).tables : [];
        return [...byState, ...own.map((table) => ({ ...table, isPart: true }))];
    }
}
