// Decides whether an event matches what the user searches or filters for. `src/export/page/matching.rs` does the same for large traces,
// docs/viewing.md defines it, and test/matching.json contains cases that both pass.
//
// A query has one or more terms with ` & ` between them, and an event must match all of them. A term is a text, which may follow
// `context:`, `event:` or `object:`. In quotes, it must equal the whole of a name or value.

import { argumentsIn } from "./locks.js";

/**
 * A term. `number` is the number that the text names, in decimal. `names` are the names of the contexts and objects that have this
 * number as their key.
 * @typedef {{ field: string, text: string, isExact: boolean, number: string | null, names: Set<string> }} Term
 */

/** A name of a context or object: its key and the name. @typedef {[string, string]} Named */

/** The number in a text: decimal, decimal in groups, or hexadecimal. */
const NUMBER = /^-?(0x[\da-f]+|\d+|\d{1,3}(,\d{3})+)$/;

/** A number within other text. */
const INNER = /(?<![\w.])-?(?:0x[\da-f]+|\d+)(?!\w|\.\d)/g;

/** Returns a number in decimal. @param {string} text that is a number, in lower case */
function decimal(text) {
    const isNegative = text.startsWith("-");
    const value = BigInt(text.slice(isNegative ? 1 : 0).replaceAll(",", ""));
    return String(isNegative ? -value : value);
}

/** Returns the number that a text names, in decimal, or null. @param {string} text */
export function numberIn(text) {
    const lower = text.trim().toLowerCase();
    return NUMBER.test(lower) ? decimal(lower) : null;
}

/**
 * Returns the terms of a query, none if it is empty.
 * @param {string} query
 * @param {Named[]} named the contexts and objects of the trace
 * @returns {Term[]}
 */
export function terms(query, named) {
    return query.split(" & ").map((part) => term(part.trim().toLowerCase(), named)).filter(({ text }) => text !== "");
}

/** @type {(part: string, named: Named[]) => Term} */
function term(part, named) {
    const field = /^(context|event|object):/.exec(part)?.[1] ?? "";
    const rest = field === "" ? part : part.slice(field.length + 1).trim();
    const isExact = rest.length > 2 && rest.startsWith('"') && rest.endsWith('"');
    const text = isExact ? rest.slice(1, -1) : rest;
    const number = numberIn(text);
    const keyed = number === null ? [] : named.filter(([key]) => numberIn(key) === number);
    return { field, text, isExact, number, names: new Set(keyed.map(([, name]) => name.toLowerCase())) };
}

/** @type {(term: Term, text: string) => boolean} */
function accepts({ text, isExact }, candidate) {
    const lower = candidate.toLowerCase();
    return isExact ? lower === text : lower.includes(text);
}

/** Returns true if a term accepts events of a type. @type {(term: Term, kind: { id: number, name: string, label: string }) => boolean} */
export function acceptsKind(term, { id, name, label }) {
    if (term.field !== "" && term.field !== "event") return false;
    return accepts(term, name) || accepts(term, label) || term.number === String(id);
}

/** Returns true if a term accepts events of a context. @type {(term: Term, context: { name: string, key: string }) => boolean} */
export function acceptsContext(term, { name, key }) {
    if (term.field !== "" && term.field !== "context") return false;
    return accepts(term, name) || accepts(term, key) || (term.number !== null && term.number === numberIn(key));
}

/** Returns true if a term accepts events with these arguments. @type {(term: Term, args: string) => boolean} */
export function acceptsArguments(term, args) {
    if (term.field !== "" && term.field !== "object") return false;
    if (term.field === "" && !term.isExact && accepts(term, args)) return true;
    if (term.number !== null) {
        const lower = args.toLowerCase();
        for (const [number] of lower.matchAll(INNER)) if (decimal(number) === term.number) return true;
    }
    const values = argumentsIn(args).map((arg) => arg.slice(arg.indexOf("=") + 1));
    return values.some((value) => term.names.has(value.toLowerCase()) || ((term.field !== "" || term.isExact) && accepts(term, value)));
}

/** Returns true if a term accepts the event with this number. @type {(term: Term, number: number) => boolean} */
export function acceptsNumber(term, number) {
    return term.field === "" && term.number === String(number);
}

/**
 * Returns the indices of the events that match a query. No event matches an empty query.
 * @param {import("./model.js").Model} model
 * @param {string} query
 */
export function matching(model, query) {
    const { events } = model;
    const texts = Array.from({ length: events.ends.length }, (_, i) => i);
    const tests = terms(query, model.named).map((term) => {
        const kinds = model.kinds.map((/** @type {any} */ kind) => acceptsKind(term, kind));
        const contexts = model.contexts.map((/** @type {any} */ context) => acceptsContext(term, context));
        const args = Uint8Array.from(texts, (i) => Number(acceptsArguments(term, events.text(i))));
        return (/** @type {number} */ i) => kinds[events.kind[i]] || contexts[events.context[i]] || args[events.args[i]] === 1
            || acceptsNumber(term, events.number(i));
    });
    /** @type {number[]} */
    const indices = [];
    if (tests.length === 0) return indices;
    for (let i = 0; i < events.count; i += 1) if (tests.every((test) => test(i))) indices.push(i);
    return indices;
}
