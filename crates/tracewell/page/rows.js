// The lanes of the timeline from top to bottom: groups, cores, interrupts, contexts, locks.

import { INTERRUPT } from "./model.js";

/**
 * A lane. `row` is a row of the model; lanes of events have only a context. `key` distinguishes lanes of
 * equal group and label.
 * @typedef {{
 *   kind: "group" | "core" | "interrupts" | "context" | "lock" | "events" | "machine" | "steps" | "level",
 *   label: string, detail: string, group: string, row?: any, context?: number,
 *   key?: string, badge?: number | null, hidden?: number, y: number, height: number
 * }} Lane
 */

const HEIGHTS = { group: 22, core: 34, interrupts: 22, context: 32, lock: 26, events: 28, machine: 26, steps: 16, level: 34 };

/** With more lanes than this, lanes are lower. */
const MANY = 18;

/**
 * Returns the rows of the contexts, the most urgent first, and those of unknown priority last.
 * @param {import("./model.js").Model} model
 */
export function contextOrder(model) {
    const rows = model.rows.filter((/** @type {any} */ row) => row.kind === "context");
    const isUnknown = (/** @type {any} */ row) => Number(model.priority(row.context) === null);
    const isAfter = (/** @type {any} */ a, /** @type {any} */ b) => Number(model.isMoreUrgent(b.context, a.context));
    // The sort is stable: equal priorities stay in the order of first mention.
    return rows.sort((/** @type {any} */ a, /** @type {any} */ b) =>
        isUnknown(a) - isUnknown(b) || isAfter(a, b) - isAfter(b, a));
}

/**
 * Returns all lanes without positions.
 * @param {import("./model.js").Model} model
 * @returns {Lane[]}
 */
export function lanes(model) {
    /** @type {Lane[]} */
    const list = [];
    const add = (/** @type {any} */ lane) => list.push({ detail: "", y: 0, height: 0, ...lane });
    const of = (/** @type {string} */ kind) => model.rows.filter((/** @type {any} */ row) => row.kind === kind);
    const cores = of("core");
    if (cores.length > 0) {
        const group = cores.length === 1 ? "Processor" : "Processors";
        add({ kind: "group", label: group, group, detail: counted(cores.length, "core") });
        for (const row of cores) add({ kind: "core", label: `core ${row.number}`, group, row });
        const serves = cores.some((/** @type {any} */ row) => row.spans.state.includes(INTERRUPT));
        if (serves) add({ kind: "interrupts", label: "interrupts", group });
    }
    const rows = contextOrder(model);
    if (rows.length > 0) {
        const group = "Threads";
        const byPriority = rows.some((/** @type {any} */ row) => model.contexts[row.context].priority !== null);
        const detail = `${rows.length}${byPriority ? ", by priority" : ""}`;
        add({ kind: "group", label: group, group, detail });
        for (const row of rows) {
            const { name, priority } = model.contexts[row.context];
            add({ kind: "context", label: name, group, row, context: row.context, badge: priority });
        }
    } else {
        recorders(model, add);
    }
    const locks = of("lock");
    const kinds = [...new Set(locks.map((/** @type {any} */ row) => row.what))];
    for (const what of kinds) {
        const group = plural(what);
        const rows = locks.filter((/** @type {any} */ row) => row.what === what);
        add({ kind: "group", label: group, group, detail: String(rows.length) });
        for (const row of rows) add({ kind: "lock", label: row.name, group, row });
    }
    objects(model, add);
    return distinguished(list);
}

/**
 * Gives a key to each lane whose group and label another lane has too. The names of all other lanes
 * stay short, as addresses contain them.
 * @param {Lane[]} list
 */
function distinguished(list) {
    const seen = new Map();
    for (const lane of list) seen.set(laneName(lane), (seen.get(laneName(lane)) ?? 0) + 1);
    return list.map((lane) => {
        const isAlone = lane.kind === "group" || seen.get(laneName(lane)) === 1;
        return isAlone ? lane : { ...lane, key: String(lane.context ?? lane.row.key) };
    });
}

/**
 * Adds the lanes of state machines, each with its steps, and of levels.
 * @param {import("./model.js").Model} model
 * @param {(lane: any) => void} add
 */
function objects({ rows }, add) {
    const of = (/** @type {string} */ kind) => rows.filter((/** @type {any} */ row) => row.kind === kind);
    const machines = rows.filter((/** @type {any} */ { kind }) => kind === "machine" || kind === "steps");
    let group = "State machines";
    if (machines.length > 0) add({ kind: "group", label: group, group, detail: String(of("machine").length) });
    for (const row of machines) {
        const isStep = row.kind === "steps";
        add({ kind: row.kind, label: isStep ? `${row.name} steps` : row.name, group, row, detail: isStep ? "" : `${row.states.length} states` });
    }
    group = "Levels";
    const levels = of("level");
    if (levels.length > 0) add({ kind: "group", label: group, group, detail: String(levels.length) });
    for (const row of levels) add({ kind: "level", label: row.name, group, row, detail: `0–${row.most} ${row.unit}` });
}

/**
 * Adds a lane for each context with events.
 * @param {import("./model.js").Model} model
 * @param {(lane: any) => void} add
 */
function recorders(model, add) {
    const counts = model.events.byContext.map((list) => list.length);
    const shown = counts.map((_, context) => context).filter((context) => counts[context] > 0);
    const group = "Events by context";
    add({ kind: "group", label: group, group, detail: String(shown.length) });
    for (const context of shown) {
        const detail = counted(counts[context], "event");
        add({ kind: "events", label: model.name(context), group, context, detail });
    }
}

/** @param {string} noun */
function plural(noun) {
    const word = noun.charAt(0).toUpperCase() + noun.slice(1);
    if (word.endsWith("flags")) return word;
    if (/(x|s|ch)$/.test(word)) return `${word}es`;
    return word.endsWith("y") ? `${word.slice(0, -1)}ies` : `${word}s`;
}

/**
 * @param {number} count
 * @param {string} noun
 */
export function counted(count, noun) {
    return `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
}

/** Returns the name of a lane in the set of folded, hidden and pinned lanes. @param {Lane} lane */
export function laneName({ group, label, key }) {
    return key === undefined ? `${group}/${label}` : `${group}/${label}/${key}`;
}

/**
 * Returns the lanes in the order that the user chose. Groups and lanes that `order` does not contain
 * follow the others, in their natural order.
 * @param {Lane[]} all
 * @param {string[]} order names of groups and lanes
 * @returns {Lane[]}
 */
export function ordered(all, order) {
    if (order.length === 0) return all;
    const places = new Map(order.map((name, place) => [name, place]));
    const rank = (/** @type {Lane} */ lane) => places.get(laneName(lane)) ?? Infinity;
    const groups = all.filter((lane) => lane.kind === "group");
    return inOrder(groups, rank).flatMap((group) =>
        [group, ...inOrder(all.filter((lane) => lane.kind !== "group" && lane.group === group.group), rank)]);
}

/** @type {(list: Lane[], rank: (lane: Lane) => number) => Lane[]} */
function inOrder(list, rank) {
    return [...list].sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
}

/**
 * Returns the order after a lane was moved to the place of another lane of its group, or a group to the
 * place of another group.
 * @param {Lane[]} all in their present order
 * @param {string[]} order
 * @param {Lane} lane
 * @param {Lane} target
 * @returns {string[]}
 */
export function reordered(all, order, lane, target) {
    const isGroup = lane.kind === "group";
    const others = all.filter((each) => (isGroup ? each.kind === "group" : each.kind !== "group" && each.group === lane.group));
    const list = others.map(laneName);
    const [from, to] = [list.indexOf(laneName(lane)), list.indexOf(laneName(target))];
    if (from < 0 || to < 0 || from === to) return order;
    list.splice(to, 0, ...list.splice(from, 1));
    return [...order.filter((name) => !list.includes(name)), ...list];
}

/**
 * Places the lanes that are neither folded nor hidden, pinned ones first. Returns them, and their
 * height.
 * @param {Lane[]} all
 * @param {Set<string>} folded names of folded groups; names of lanes, after `-` if hidden, after `+` if pinned
 * @returns {{ shown: Lane[], height: number }}
 */
export function placed(all, folded) {
    const isGroup = (/** @type {Lane} */ lane) => lane.kind === "group";
    const pinned = all.filter((lane) => !isGroup(lane) && folded.has(`+${laneName(lane)}`));
    const others = all.filter((lane) => isGroup(lane)
        || !(folded.has(lane.group) || folded.has(`-${laneName(lane)}`) || pinned.includes(lane)));
    const hidden = (/** @type {Lane} */ group) => all.filter((lane) => !isGroup(lane)
        && lane.group === group.group && folded.has(`-${laneName(lane)}`)).length;
    for (const lane of others.filter(isGroup)) lane.hidden = hidden(lane);
    const shown = [...pinned, ...others];
    const share = shown.length > MANY ? 0.75 : 1;
    let y = 0;
    for (const lane of shown) {
        lane.y = y;
        lane.height = Math.round(HEIGHTS[lane.kind] * (lane.kind === "group" ? 1 : share));
        y += lane.height;
    }
    return { shown, height: y };
}
