// Collects the durations of a trace: responses and start latencies of jobs, waits, holds of mutexes, times for which contexts are ready or
// run, interrupts, messages, steps and states of machines, spans. Leaves out durations whose beginning or end is not in the trace.

import { BLOCKED, INTERRUPT, INTERRUPTED, PREEMPTED, RUNNING } from "./model.js";

/** A place on the timeline: a span of a row, a job, or an event and a time range. @typedef {{ row: number, span: number } | { job: number } | { event: number, from: number, to: number }} Place */

/** A duration. If it is shorter than the time from its beginning to its end, `length` is its length. @typedef {{ group: string, name: string, from: number, to: number, length?: number, place: Place }} Duration */

/** The group of the spans of a context in each state; see `STATES`. @type {Record<number, string>} */
const STATE_GROUPS = { [RUNNING]: "Running without a break", [PREEMPTED]: "Preempted", 4: "Ready until it runs", [BLOCKED]: "Waits" };

/** Calls `each` for all durations. @type {(model: import("./model.js").Model, each: (duration: Duration) => void) => void} */
export function durations(model, each) {
    jobs(model, each);
    for (const row of model.rows) {
        if (row.kind === "core") interrupts(model, row, each);
        else spans(model, row, each);
    }
    messages(model, each);
}

/** Returns a text that follows a name if the page shows several files. @type {(model: import("./model.js").Model, file: number | undefined) => string} */
function suffix(model, file) {
    return model.files.length === 0 ? "" : ` of ${model.files[file ?? 0].title}`;
}

/** @type {(model: import("./model.js").Model, each: (duration: Duration) => void) => void} */
function jobs(model, each) {
    const { job } = model;
    for (const [context, { indices }] of model.intervals.jobsOf) {
        const name = model.name(context) + suffix(model, model.fileOf(context));
        const row = model.rows.find((/** @type {any} */ each) => each.kind === "context" && each.context === context);
        // A job starts when its task first runs for itself after the release and after the job before it. If the task runs on without
        // a break between two jobs, the page does not contain the moment at which the scheduler chose the task for the later one.
        let free = 0;
        let released = -1;
        for (const i of indices) {
            // A job that missed several deadlines is in the list for each of them. A missed deadline without a job begins and ends at its event.
            const isOnlyMissed = job.from[i] === job.until[i] && job.missed_seq[i] > 0 && job.missed_seq[i] === job.untilSeq[i];
            if (isOnlyMissed || job.fromSeq[i] === released) continue;
            released = job.fromSeq[i];
            const isEnded = job.untilSeq[i] > 0;
            if (isEnded) each({ group: "Response", name, from: job.from[i], to: job.until[i], place: { job: i } });
            const begin = Math.max(job.from[i], free);
            const run = row ? firstRun(row, begin, isEnded ? job.until[i] : model.endOf(row.file)) : -1;
            const to = Math.max(begin, run < 0 ? 0 : row.spans.from(run));
            if (run >= 0) each({ group: "Start latency", name, from: job.from[i], to, place: { row: row.index, span: run } });
            free = isEnded ? Math.max(free, job.until[i]) : Infinity;
        }
    }
}

/** Returns the first span in a time range in which a context runs for itself, or -1. @type {(row: any, from: number, to: number) => number} */
function firstRun({ spans, context }, from, to) {
    if (from >= to) return -1;
    const [first, last] = spans.within(from, to);
    const isOwn = (/** @type {number} */ i) => [RUNNING, INTERRUPTED].includes(spans.state[i]) && (spans.value[i] === 0 || spans.value[i] - 1 === context);
    // After a job is done, its task runs on for a moment before it waits for its next release. If the task could run on, it runs for the next job.
    const goesOn = (/** @type {number} */ i) => [RUNNING, INTERRUPTED, PREEMPTED].includes(spans.state[i + 1]);
    for (let i = first; i < last; i += 1) if (isOwn(i) && (spans.from(i) >= from || goesOn(i))) return i;
    return -1;
}

/** @type {(model: import("./model.js").Model, row: any, each: (duration: Duration) => void) => void} */
function spans(model, row, each) {
    const of = suffix(model, row.file);
    const { spans: list } = row;
    // A span at tick 0 may begin before the page, and the last span may end after it.
    for (let span = list.count > 0 && list.from(0) > 0 ? 0 : 1; span + 1 < list.count; span += 1) {
        const named = groupOf(model, row, list.state[span], list.value[span]);
        if (named === null) continue;
        const [group, name] = named;
        each({ group, name: name + of, from: list.from(span), to: list.to(span), place: { row: row.index, span } });
    }
}

/** Returns the group and the name of a span's distribution, or null if it has none. @type {(model: import("./model.js").Model, row: any, state: number, value: number) => [string, string] | null} */
function groupOf(model, { kind, what, name, context, states, group }, state, value) {
    if (kind === "context") {
        const found = STATE_GROUPS[state];
        return found === undefined ? null : [found, state === BLOCKED ? model.object(value) : model.name(context)];
    }
    if (state !== 1) return null;
    if (kind === "lock") return ["Held", `${what} ${name}`];
    if (kind === "steps") return ["Steps", name];
    if (kind === "machine") return group ? ["In a span without a break", states[value]] : ["Stays in a state", `${name}: ${states[value]}`];
    return null;
}

/** Returns the durations of interrupts without nested interrupts. @type {(model: import("./model.js").Model, row: any, each: (duration: Duration) => void) => void} */
function interrupts(model, row, each) {
    const { spans: list } = row;
    /** The interrupts that have begun, the innermost last. @type {{ value: number, span: number, length: number }[]} */
    let open = [];
    const end = (/** @type {number} */ at) => {
        const last = open.pop();
        if (!last || list.from(last.span) <= 0) return;
        const name = (last.value > 0 ? `interrupt ${last.value - 1}` : "interrupts") + suffix(model, row.file);
        each({ group: "Interrupts", name, from: list.from(last.span), to: at, length: last.length, place: { row: row.index, span: last.span } });
    };
    for (let span = 0; span < list.count; span += 1) {
        const [state, value, at] = [list.state[span], list.value[span], list.from(span)];
        if (state !== INTERRUPT) {
            while (open.length > 0) end(at);
            continue;
        }
        // An interrupt that had begun continues after the interrupts within it have ended.
        const depth = open.findIndex((each) => each.value === value);
        if (depth >= 0) while (open.length > depth + 1) end(at);
        if (depth >= 0 && open.length === depth + 1 && list.state[span - 1] === INTERRUPT && list.value[span - 1] === value) end(at);
        if (open.at(-1)?.value !== value) open.push({ value, span, length: 0 });
        const last = open.at(-1);
        if (last) last.length += list.to(span) - at;
    }
    open = [];
}

/** @type {(model: import("./model.js").Model, each: (duration: Duration) => void) => void} */
function messages(model, each) {
    const { arrow, events } = model;
    arrow.kind.forEach((/** @type {number} */ kind, /** @type {number} */ i) => {
        if (kind !== 2) return;
        const [from, to] = [arrow.from[i], arrow.until[i]];
        const name = `to ${model.name(arrow.context[i])}${suffix(model, model.fileOf(arrow.context[i]))}`;
        each({ group: "Messages until they are received", name, from, to, place: { event: events.find(arrow.untilSeq[i] - 1), from, to } });
    });
}
