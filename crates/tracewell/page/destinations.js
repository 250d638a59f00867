// Finds the places to which the rows of the figures of `analyze` lead: rows of the timeline, their longest spans, and events.

import { longest } from "./causes.js";
import { argumentsIn } from "./locks.js";
import { INTERRUPT } from "./model.js";
import { isExhausted } from "./servers.js";

/** @typedef {import("./places.js").Places} Places */

/** Functions that show places, by the keys of a row's figures. @typedef {Record<string, (() => void) | undefined>} Links */

/**
 * Returns the links of a row of figures.
 * @param {Places} places
 * @param {string} name of the list in the JSON
 * @param {any} figures
 * @param {number} file
 * @returns {Links}
 */
export function links(places, name, figures, file) {
    const { model } = places;
    const rowOf = (/** @type {string} */ kind, /** @type {(row: any) => boolean} */ is) =>
        model.rows.find((/** @type {any} */ row) => row.kind === kind && (row.file ?? 0) === file && is(row));
    const whole = (/** @type {any} */ row) => row && (() => places.whole(row.index));
    const worst = (/** @type {any} */ row, /** @type {(state: number, value: number) => boolean} */ accepts) => {
        const span = row ? longest(row, 0, model.length, accepts) : -1;
        return span < 0 ? undefined : () => places.span(row.index, span);
    };
    const context = (/** @type {(each: any) => boolean} */ is) => {
        const index = model.contexts.findIndex((/** @type {any} */ each) => (each.file ?? 0) === file && is(each));
        return whole(places.rowOf(index));
    };
    const ofContext = () => context(({ key, name: own }) => key === figures.context && own === figures.name);
    switch (name) {
        case "tasks": return { context: ofContext(), name: ofContext() };
        case "stacks": return { context: ofContext(), name: ofContext(), event: event(places, figures.event, file), at_ticks: event(places, figures.event, file) };
        case "cores": return { core: whole(rowOf("core", ({ number }) => number === figures.core)) };
        case "servers": {
            const row = rowOf("server", ({ key }) => key === figures.key);
            const longestWithout = worst(row, isExhausted);
            return {
                key: whole(row), task: context(({ name: own }) => own === figures.task), exhausted: longestWithout,
                without_budget_ticks: longestWithout, without_budget_max_ticks: longestWithout,
            };
        }
        case "levels": {
            const row = rowOf("level", ({ name: own }) => own === figures.object);
            return { object: whole(row), most: row && worst(row, (state, value) => state === 1 && value === figures.most) };
        }
        case "locks": {
            const row = rowOf("lock", ({ key, what }) => key === figures.key && what === figures.kind);
            return { key: whole(row), name: whole(row), hold_max_ticks: worst(row, (state) => state === 1) };
        }
        case "machines": return { name: whole(rowOf("machine", ({ name: own, group }) => !group && own === figures.name)) };
        case "timers": return { timer: event(places, naming(model, figures.timer, file), file) };
        case "interrupt sources": return { number: interrupt(places, figures.number, file), max_ticks: interrupt(places, figures.number, file) };
        case "spans": {
            const rows = model.rows.filter((/** @type {any} */ row) => row.group && (row.file ?? 0) === file);
            return { name: worstOf(places, rows, (row, state, value) => state === 1 && row.states[value] === figures.name) };
        }
        default: return {};
    }
}

/** Returns a function that shows an event, if the page contains the event. @type {(places: Places, seq: number | null | undefined, file: number) => (() => void) | undefined} */
function event(places, seq, file) {
    const index = typeof seq === "number" ? places.model.events.numbered(seq, file) : -1;
    return index < 0 ? undefined : () => places.event(index);
}

/** Returns the number of the first event with an argument of this value, or null. @type {(model: import("./model.js").Model, value: string, file: number) => number | null} */
function naming({ events }, value, file) {
    const accepted = Array.from(events.ends, (_, i) => argumentsIn(events.text(i)).some((arg) => arg.slice(arg.indexOf("=") + 1) === value));
    for (let i = 0; i < events.count; i += 1) {
        if (accepted[events.args[i]] && events.model.fileOf(events.context[i]) === file) return events.number(i);
    }
    return null;
}

/** Returns a function that shows the longest part of an interrupt. @type {(places: Places, number: number | null, file: number) => (() => void) | undefined} */
function interrupt(places, number, file) {
    const cores = places.model.rows.filter((/** @type {any} */ row) => row.kind === "core" && (row.file ?? 0) === file);
    return worstOf(places, cores, (_, state, value) => state === INTERRUPT && value === (number === null ? 0 : number + 1));
}

/** Returns a function that shows the longest accepted span of several rows. @type {(places: Places, rows: any[], accepts: (row: any, state: number, value: number) => boolean) => (() => void) | undefined} */
function worstOf(places, rows, accepts) {
    const found = rows.map((row) => ({ row, span: longest(row, 0, places.model.length, (state, value) => accepts(row, state, value)) }))
        .filter(({ span }) => span >= 0);
    if (found.length === 0) return undefined;
    const length = (/** @type {{ row: any, span: number }} */ { row, span }) => row.spans.to(span) - row.spans.from(span);
    const best = found.reduce((a, b) => (length(b) > length(a) ? b : a));
    return () => places.span(best.row.index, best.span);
}
