// Headings and values for the figures of `analyze --json`, whose keys are short names for programs.

/** What a key stands for. `STATISTICS` may follow it. @type {Record<string, string>} */
const FIGURES = {
    arrival_gap: "time between arrivals", at: "high-water mark at", between: "time between expiries",
    context: "address", counts: "counted items", deadline_misses: "missed deadlines", delay: "delay in timer ticks", event: "high-water event",
    execution: "execution", execution_for_other: "execution for others", first: "start to first expiry",
    jobs_across_gaps: "jobs across gaps", key: "address", least_free: "fewest free", lock_blocks: "mutex waits", lock_hold: "mutex hold",
    lock_inversions: "inversion", lock_inversions_inverted: "inverted time", lock_inversions_unbounded: "unbounded inversions",
    lock_requests: "mutex requests", lock_wait: "mutex wait", inversions: "inversion", inversions_inverted: "inverted time",
    inversions_unbounded: "unbounded inversions", blocks: "waits", open: "still open", orphan_completions: "completions without release",
    outcomes: "kinds of outcomes", outside: "times outside", pending_jobs: "pending jobs", period: "period in timer ticks", preemptions: "preempted",
    release_gap: "time between releases", samples: "changes of level", semaphores: "semaphore", semaphores_blocks: "semaphore waits",
    semaphores_requests: "semaphore requests", semaphores_wait: "semaphore wait", size: "size in bytes", free: "free bytes", used: "used bytes",
    start: "start address", start_latency: "start latency", number: "interrupt", supplied: "supplied budget", supplied_of: "supplied in",
    unattributed: "unknown cause", used_reclaimed: "used of reclaimed",
    waiting: "message wait", waits_for: "objects waited for", wcet_violations: "execution limits exceeded", without_budget: "time without budget",
};

/** Keys whose headings differ from those of keys with the same beginning. @type {Record<string, string>} */
const SPECIAL = { first_ticks: "first event", last_ticks: "last event", task_ticks: "execution of tasks", without_budget_ticks: "time without budget, total" };

/** What the end of a key says about the figure before it. @type {Record<string, string>} */
const STATISTICS = { min: "shortest", mean: "mean", max: "longest", count: "number" };

/** The parts of a wait. */
const PART = /^(lock_wait|semaphores)_split_(own|blocking|interference|interrupt|unattributed)$/;

/** Figures that are durations in ticks, although their keys do not say so. */
const DURATIONS = /^(first|between|step|waiting|response|duration)_(min|mean|max)$/;

/** Figures that are times in the trace, not durations. */
const TIMES = /(^|_)(from|until|at|first|last|posted|taken|dispatched|done|release|start|completion|deadline_passed)_ticks$/;

/** Returns true if the value of a key is a time in the trace. @param {string} key */
export function isTime(key) {
    return TIMES.test(key);
}

/** Returns true if the value of a key is a duration in ticks. @param {string} key */
export function isDuration(key) {
    return !isTime(key) && (key.endsWith("_ticks") || key === "ticks" || DURATIONS.test(key));
}

/** Returns true if the value of a key is a duration in nanoseconds. @param {string} key */
export function isNanoseconds(key) {
    return /(^|_)ns($|_)/.test(key);
}

/** Returns the heading of a column. @param {string} key */
export function heading(key) {
    const within = /^most_ns_within_(\d+)ms$/.exec(key);
    if (within) return `most in any ${within[1]} ms`;
    const plain = key.replace(/_(ticks|ns)$/, "");
    const part = PART.exec(plain);
    if (part) return `${part[1] === "lock_wait" ? "mutex" : "semaphore"} waits, ${part[2] === "own" ? "own execution" : part[2]}`;
    if (SPECIAL[key] !== undefined) return SPECIAL[key];
    if (FIGURES[plain] !== undefined) return FIGURES[plain];
    const figure = /^(.*?)_?(min|mean|max|count)$/.exec(plain);
    if (!figure) return plain === "ticks" ? "total" : plain.replaceAll("_", " ");
    const [, stem, statistic] = figure;
    const name = FIGURES[stem] ?? stem.replaceAll("_", " ");
    return name === "" ? STATISTICS[statistic] : `${name}, ${STATISTICS[statistic]}`;
}
