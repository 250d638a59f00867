// The part of the side panel about a whole row: the figures of a mutex, a context, a core or an object.

import { longest } from "./causes.js";
import { breakable, element } from "./elements.js";
import { holders, inheritance, longestWait } from "./locks.js";
import { BLOCKED, IDLE, INTERRUPT, RUNNING, TASK } from "./model.js";
import { isExhausted, serverName, sizeText } from "./servers.js";
import { grouped } from "./time.js";
import { counted, inUnits } from "./words.js";

/** The kinds of rows in words, except locks. @type {Record<string, string>} */
const WORDS = { context: "context", core: "core", machine: "state machine", steps: "steps of a state machine", level: "level", server: "server" };

/** @typedef {import("./details.js").Details} Details */
/** @typedef {[string, import("./elements.js").Content]} Fact */

/** Returns the parts of the panel about a row. @type {(details: Details, row: any) => import("./elements.js").Content} */
export function wholeRow(details, row) {
    const { model } = details;
    const name = row.kind === "context" ? model.name(row.context) : row.kind === "core" ? `core ${row.number}`
        : row.kind === "server" ? serverName(model, row) : row.name;
    const what = row.group ? "spans of a thread" : WORDS[row.kind] ?? row.what;
    const facts = model.part ? partFacts(details, row) : row.kind === "lock" ? lockFacts(details, row) : row.kind === "context" ? contextFacts(details, row)
        : row.kind === "core" ? coreFacts(details, row) : row.kind === "server" ? serverFacts(details, row) : objectFacts(row);
    if (row.file !== undefined) facts.unshift(["file", [model.files[row.file].title]]);
    const about = [row.kind === "core" ? "" : what, model.part ? "figures of the whole trace" : "", model.part ? details.exact.ofWhole().text : ""].filter((text) => text !== "").join(" · ");
    const parts = [element("h2", breakable(name)), element("p", [about]), details.list(facts)];
    // The spans of a part do not show all holders.
    if (row.kind === "lock" && row.spans.count > 0 && !model.part) parts.push(holderTable(details, row));
    if (row.kind === "server") parts.push(details.narrowing([{ text: `server ${row.key}`, filter: `server=${row.key}` }]));
    const field = row.kind === "context" ? "context" : row.kind === "lock" || row.kind === "level" ? "object" : "";
    if (field !== "" && name) parts.push(details.narrowing([{ text: name, filter: `${field}:"${name}"` }]));
    return parts;
}

/** Returns the length of a span as a link to it. @type {(details: Details, row: any, span: number) => HTMLElement} */
function spanLink({ model, places, link }, row, span) {
    const text = model.span(row.spans.from(span), row.spans.to(span));
    return link(text, () => places.span(row.index, span));
}

/** @type {(details: Details, row: any) => Fact[]} */
function lockFacts(details, row) {
    const { model, places } = details;
    /** @type {Fact[]} */
    const facts = [["address", [row.key]]];
    const created = inheritance(model, row);
    if (created) facts.push(["inheritance", [created.inherits ? "yes (" : "none (", details.eventLink(created.event, false), ")"]]);
    const hold = longest(row, 0, model.length, (state) => state === 1);
    if (hold >= 0) facts.push(["longest hold", [spanLink(details, row, hold), ` by ${model.name(row.spans.value[hold] - 1)}`]]);
    facts.push(["waits", [grouped(row.waits[1] - row.waits[0])]]);
    const wait = longestWait(model, row);
    if (wait >= 0) {
        const [from, to, context] = [model.wait.from[wait], model.ended(model.wait, wait), model.wait.context[wait]];
        const waiter = places.rowOf(context);
        const span = waiter ? longest(waiter, from, to, (state) => state === BLOCKED) : -1;
        const shown = span >= 0 ? spanLink(details, waiter, span) : details.link(model.span(from, to), () => places.zoom(from, to));
        // The context asks for the object some time before it is suspended.
        const isLater = span >= 0 && waiter.spans.from(span) > from;
        const how = isLater ? ` from the suspension, ${model.span(from, to)} from the request` : "";
        facts.push(["longest wait", [shown, ` by ${model.name(context)}${how}`]]);
    }
    return facts;
}

/** @type {(details: Details, row: any) => HTMLElement} */
function holderTable(details, row) {
    const { model } = details;
    const lines = holders(row).map(({ context, count, ticks, longest: span }) => element("tr", [
        element("td", [details.context(context, row.spans.from(span))], "name"), element("td", [counted(count, "time")]),
        element("td", [model.span(0, ticks)]), element("td", [spanLink(details, row, span)]),
    ]));
    const head = element("tr", ["holder", "held", "in total", "longest"].map((text) => element("th", [text])));
    return element("section", [element("h3", ["Who held it"]), element("table", [head, ...lines])]);
}

/** @type {(details: Details, row: any) => Fact[]} */
function contextFacts(details, row) {
    const { model } = details;
    const { priority, key } = model.contexts[row.context];
    /** @type {Fact[]} */
    const facts = [[keyName(key), [key]]];
    if (priority !== null) facts.push(["priority", [String(priority)]]);
    const run = longest(row, 0, model.length, (state) => state === RUNNING);
    if (run >= 0) facts.push(["longest run", [spanLink(details, row, run)]]);
    const wait = longest(row, 0, model.length, (state) => state === BLOCKED);
    if (wait >= 0) facts.push(["longest wait", [spanLink(details, row, wait), ` ${model.waitText(row.spans.value[wait])}`]]);
    return facts;
}

/** @type {(details: Details, row: any) => Fact[]} */
function coreFacts({ model }, { spans }) {
    const times = spans.times(0, model.length);
    const share = (/** @type {number} */ state) => [`${((100 * times[state]) / model.length).toFixed(1)} %, ${model.span(0, times[state])}`];
    return [["tasks", share(TASK)], ["interrupts", share(INTERRUPT)], ["idle", share(IDLE)]];
}

/** @type {(details: Details, row: any) => Fact[]} */
function serverFacts(details, row) {
    const { model } = details;
    /** @type {Fact[]} */
    const facts = [...details.served(row, 0), ["budget", [sizeText(model, row)]]];
    // The loaded part of a large trace does not contain all times without budget.
    if (model.part) return facts;
    const exhausted = [...row.spans.state.keys()].filter((i) => isExhausted(row.spans.state[i]) && !isExhausted(row.spans.state[i - 1] ?? 0));
    facts.push(["exhausted", [counted(exhausted.length, "time")]]);
    const worst = longest(row, 0, model.length, isExhausted);
    if (worst >= 0) facts.push(["longest without budget", [spanLink(details, row, worst)]]);
    return facts;
}

/** Returns the facts about a row of a large trace. The loaded part does not contain all of its spans. @type {(details: Details, row: any) => Fact[]} */
function partFacts(details, row) {
    const { model } = details;
    const exact = details.large()?.facts(row, (text, follow) => details.link(text, follow)) ?? [];
    if (row.kind === "lock") {
        const created = inheritance(model, row);
        /** @type {Fact[]} */
        const how = created ? [["inheritance", [created.inherits ? "yes (" : "none (", details.eventLink(created.event, false), ")"]]] : [];
        return [["address", [row.key]], ...how, ...exact];
    }
    if (row.kind === "context") {
        const { key } = model.contexts[row.context];
        return [[keyName(key), [key]], ...exact];
    }
    if (row.kind === "server") return serverFacts(details, row);
    return row.kind === "core" ? exact : objectFacts(row).filter(([name]) => !["changes", "steps"].includes(name));
}

/** @type {(row: any) => Fact[]} */
function objectFacts({ kind, states, most, unit, spans, group }) {
    if (group) return [["spans", [states.join(", ")]], ["changes", [grouped(spans.count)]]];
    if (kind === "machine") return [["states", [states.join(", ")]], ["changes", [grouped(spans.count)]]];
    if (kind === "level") return [["at most", [inUnits(most, unit)]], ["changes", [grouped(spans.count)]]];
    return [["steps", [grouped(spans.state.reduce((/** @type {number} */ sum, /** @type {number} */ state) => sum + Number(state === 1), 0))]]];
}

/** Returns the label for the key of a context: `address` or `id`. @param {string} key */
export function keyName(key) {
    return key.startsWith("0x") ? "address" : "id";
}
