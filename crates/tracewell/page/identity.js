// Selections in a form that does not depend on the loaded part of a trace: an event by its number, a span by its row and its times. If the
// page loads only parts of a trace, the address of the page contains this form, and links use it.

/**
 * The identity of an event, a row or a span. An event has its number `seq` and its time `at`. A row has its `key` and no `from`.
 * A span has `from` and `until`. If it has a `state`, it is the longest span with this state in this time. Times are ticks since the first
 * event of the trace. `resolution` is that of the part in which the user selected the span, because this part may have combined states.
 * @typedef {{ key?: string, seq?: number, file?: number, at?: number, from?: number, until?: number, state?: number, resolution?: number }} Identity
 */

/**
 * Returns the index of the span of a row that has an identity, or -1.
 * @param {import("./model.js").Model} model
 * @param {any} row
 * @param {Identity} identity
 */
export function spanIn(model, { spans }, { from = 0, until = 0, state }) {
    const origin = Number(model.origin);
    const [begin, end] = [from - origin, until - origin];
    if (state !== undefined) return longestIn(model, spans, state, begin, end);
    const span = spans.find(begin);
    if (span < 0 || spans.from(span) !== begin) return -1;
    return spans.to(span) === end || span + 1 === spans.count ? span : -1;
}

/**
 * Returns the longest span with a state in a time range, or -1 if the loaded part is too coarse for the range.
 * @type {(model: import("./model.js").Model, spans: import("./model.js").Spans, state: number, from: number, until: number) => number}
 */
function longestIn({ part }, spans, state, from, until) {
    // A coarse part combines short spans with what is next to them.
    if (part && (from < part.from || until > part.until || part.resolution * 8 > until - from)) return -1;
    const [first, last] = spans.within(from, until);
    let best = -1;
    for (let i = first; i < last; i += 1) {
        const isLonger = best < 0 || spans.to(i) - spans.from(i) > spans.to(best) - spans.from(best);
        if (spans.state[i] === state && isLonger) best = i;
    }
    return best;
}

/**
 * Returns true if the loaded part contains all states in the time of a span.
 * @param {import("./model.js").Model} model
 * @param {Identity} identity
 */
export function showsAll({ part, origin }, { from, until }) {
    const offset = Number(origin);
    return part !== null && from !== undefined && until !== undefined && part.resolution === 0 && part.from <= from - offset && until - offset <= part.until;
}

/**
 * Returns true if no part can contain what the user selected: a coarse part combined several states, and the loaded part shows them.
 * @param {import("./model.js").Model} model
 * @param {Identity} identity
 */
export function isGone({ part, origin }, { from, until, resolution }) {
    if (!part || resolution === undefined || from === undefined || until === undefined) return false;
    const offset = Number(origin);
    return part.resolution < resolution && part.from <= from - offset && until - offset <= part.until;
}

/**
 * Returns an identity as a part of an address: `E=` an event, `S=` a span, `W=` a row.
 * @param {Identity} identity
 */
export function written({ key, seq, at, from, until, state }) {
    if (key === undefined) return `E=${seq}@${at}`;
    return from === undefined ? `W=${key}` : `S=${key}@${from}-${until}${state === undefined ? "" : `~${state}`}`;
}

/**
 * Returns the identity in the parts of an address, or null if they contain none.
 * @param {Map<string, string>} parts
 * @returns {Identity | null}
 */
export function readFrom(parts) {
    const event = /^(\d{1,16})@(\d{1,16})$/.exec(parts.get("E") ?? "");
    if (event) return { seq: Number(event[1]), at: Number(event[2]) };
    const span = /^([^@]{1,300})@(\d{1,16})-(\d{1,16})(?:~(\d))?$/.exec(parts.get("S") ?? "");
    if (span) return { key: span[1], from: Number(span[2]), until: Number(span[3]), state: span[4] ? Number(span[4]) : undefined };
    const whole = parts.get("W");
    return whole ? { key: whole, seq: -1 } : null;
}

/**
 * Describes a selection that the loaded part does not contain.
 * @param {import("./model.js").Model} model
 * @param {Identity} identity
 */
export function absent(model, { key, seq, at, from, until }) {
    const time = (/** @type {number} */ ticks) => model.time(BigInt(ticks));
    if (key === undefined) return `event ${seq}${at === undefined ? "" : `, at ${time(at)}`}`;
    const row = model.rows.find((/** @type {any} */ each) => model.keyOf(each) === key);
    const name = !row ? "a row" : row.kind === "context" ? model.name(row.context) : row.kind === "core" ? `core ${row.number}` : row.name;
    return from === undefined || until === undefined ? name : `${name}, ${time(from)} to ${time(until)}`;
}
