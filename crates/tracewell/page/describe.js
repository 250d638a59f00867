// Describes spans, events and rows in words: the tooltips, and the text for screen readers.

import { STATES } from "./model.js";
import { objectText } from "./objects.js";
import { budgetText, serverName } from "./servers.js";

/**
 * Returns what the row of a span is or does in the span, without the name of the row.
 * @param {import("./model.js").Model} model
 * @param {{ row: number, span: number }} selection
 * @param {number} [at] a time within the span: budgets change during a span
 */
export function stateWords(model, { row, span }, at) {
    const { kind, spans, context } = model.rows[row];
    const [state, value] = [spans.state[span], spans.value[span]];
    if (kind === "lock") return state === 1 ? `held by ${model.name(value - 1)}` : "free";
    if (kind === "core") {
        const interrupt = value > 0 ? `interrupt ${value - 1}` : "an interrupt";
        return [`unknown`, `runs ${model.name(value)}`, `serves ${interrupt}`, "idle"][state];
    }
    if (kind === "server") return budgetText(model, model.rows[row], span, at);
    if (kind !== "context") return objectText(model.rows[row], state, value);
    const why = state === 5 ? ` on ${model.reason(value)}` : "";
    const of = state === 1 && value > 0 && value - 1 !== context ? ` on behalf of ${model.name(value - 1)}` : "";
    return `${STATES[state]}${why}${of}`;
}

/**
 * Describes a span: the context, its state, the reason and the duration.
 * @param {import("./model.js").Model} model
 * @param {{ row: number, span: number }} selection
 * @param {number} [at] a time within the span
 */
export function describeSpan(model, { row, span }, at) {
    const { kind, spans, name, what, number, context } = model.rows[row];
    const length = model.span(spans.from(span), spans.to(span));
    const since = `${length}, from ${model.time(model.exact(spans.from(span)))}`;
    /** @type {Record<string, string>} */
    const subjects = { lock: `${what} ${name}: `, core: `core ${number}: `, context: `${model.name(context)}: ` };
    const subject = kind === "server" ? `${serverName(model, model.rows[row])}: ` : subjects[kind] ?? "";
    return `${subject}${stateWords(model, { row, span }, at)}\n${since}`;
}

/** Describes a whole row. @type {(model: import("./model.js").Model, index: number) => string} */
export function describeRow(model, index) {
    const { kind, name, what, number, context } = model.rows[index];
    const text = kind === "context" ? model.name(context) : kind === "core" ? `core ${number}` : kind === "server" ? serverName(model, model.rows[index]) : name;
    return `row ${kind === "lock" ? `${what} ` : ""}${text}`;
}

/** @type {(model: import("./model.js").Model, index: number) => string} */
export function describeEvent(model, index) {
    const { label } = model.kinds[model.events.kind[index]];
    const args = model.events.text(model.events.args[index]);
    return `${model.time(model.exact(model.events.at[index]))}  ${label}\n${args}`;
}
