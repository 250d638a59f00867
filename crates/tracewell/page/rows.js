// The lanes of the timeline from top to bottom: groups, cores, interrupts, contexts, locks. If the
// page shows several files, a lane with the name of each file precedes the lanes of that file.

import { ALL, INTERRUPTS } from "./loads.js";
import { INTERRUPT } from "./model.js";
import { serverName, sizeText } from "./servers.js";
import { grouped } from "./time.js";
import { counted, inUnits } from "./words.js";

/**
 * A lane. `row` is a row of the model; lanes of events and loads have only a context. `who` is the number of the context whose load a lane
 * shows, or stands for interrupts or everything. `key` distinguishes lanes of equal group and label. `file` and `tree` exist if the page shows several files. The names of the file's
 * groups begin with `tree`.
 * @typedef {{
 *   kind: "file" | "group" | "core" | "interrupts" | "context" | "lock" | "events" | "machine" | "steps" | "level" | "server" | "load",
 *   label: string, detail: string, group: string, row?: any, context?: number, who?: number,
 *   key?: string, badge?: number | null, hidden?: number, file?: number, tree?: string, y: number, height: number
 * }} Lane
 */

const HEIGHTS = { file: 34, group: 22, core: 34, interrupts: 22, context: 32, lock: 26, events: 28, machine: 26, steps: 16, level: 34, server: 34, load: 26 };

/** The name of the group of loads. At first, it is folded: it has a row for each context, and most users do not need it. */
export const LOAD = "Load";

/** If there are more lanes than this, each lane has a smaller height. */
const MANY = 18;

/** If there is room, lanes are higher, at most by this factor. */
const MAX_GROWTH = 1.5;

/**
 * Returns the rows of the contexts, the most urgent first, and rows with unknown priority last.
 * @param {import("./model.js").Model} model @param {any[]} [all] the rows among which to look
 */
export function contextOrder(model, all = model.rows) {
    const rows = all.filter((/** @type {any} */ row) => row.kind === "context");
    const isUnknown = (/** @type {any} */ row) => Number(model.priority(row.context) === null);
    const isAfter = (/** @type {any} */ a, /** @type {any} */ b) => Number(model.isMoreUrgent(b.context, a.context));
    // The sort is stable: contexts of equal priority stay in the order in which the trace first mentions them.
    return rows.sort((/** @type {any} */ a, /** @type {any} */ b) =>
        isUnknown(a) - isUnknown(b) || isAfter(a, b) - isAfter(b, a));
}

/**
 * Returns all lanes without positions.
 * @param {import("./model.js").Model} model
 * @returns {Lane[]}
 */
export function lanes(model) {
    const { files } = model;
    if (!files?.length) return distinguished(lanesOf(model, model.rows));
    return distinguished(files.flatMap((/** @type {any} */ { title }, /** @type {number} */ file) => {
        const tree = `${file + 1}:`;
        const rows = model.rows.filter((/** @type {any} */ row) => row.file === file);
        const lanes = lanesOf(model, rows, file).map((lane) => ({ ...lane, file, tree, group: tree + lane.group }));
        return [{ kind: "file", label: title, detail: "", group: tree, file, tree, y: 0, height: 0 }, ...lanes];
    }));
}

/**
 * Returns the lanes of the rows of one file.
 * @param {import("./model.js").Model} model
 * @param {any[]} all
 * @param {number} [file]
 * @returns {Lane[]}
 */
function lanesOf(model, all, file = 0) {
    /** @type {Lane[]} */
    const list = [];
    const add = (/** @type {any} */ lane) => list.push({ detail: "", y: 0, height: 0, ...lane });
    const of = (/** @type {string} */ kind) => all.filter((/** @type {any} */ row) => row.kind === kind);
    const cores = of("core");
    if (cores.length > 0) {
        const group = cores.length === 1 ? "Processor" : "Processors";
        add({ kind: "group", label: group, group, detail: counted(cores.length, "core") });
        for (const row of cores) add({ kind: "core", label: `core ${row.number}`, group, row });
        const serves = cores.some((/** @type {any} */ row) => row.spans.state.includes(INTERRUPT));
        if (serves) add({ kind: "interrupts", label: "interrupts", group });
    }
    const rows = contextOrder(model, all);
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
        recorders(model, file, add);
    }
    const locks = of("lock");
    const kinds = [...new Set(locks.map((/** @type {any} */ row) => row.what))];
    for (const what of kinds) {
        const group = plural(what);
        const rows = locks.filter((/** @type {any} */ row) => row.what === what);
        add({ kind: "group", label: group, group, detail: String(rows.length) });
        for (const row of rows) add({ kind: "lock", label: row.name, group, row });
    }
    objects(all, add);
    servers(model, of("server"), add);
    if (cores.length > 0) loadLanes(model, cores, rows, add);
    return list;
}

/**
 * Adds the lanes of servers. @type {(model: import("./model.js").Model, rows: any[], add: (lane: any) => void) => void}
 */
function servers(model, rows, add) {
    const group = "Servers";
    if (rows.length > 0) add({ kind: "group", label: group, group, detail: "budget left" });
    for (const row of rows) {
        const { task } = row;
        const about = task === null ? {} : { context: task, badge: model.contexts[task].priority };
        add({ kind: "server", label: serverName(model, row), group, row, detail: sizeText(model, row), ...about });
    }
}

/**
 * Adds the lanes of load: of everything, of interrupts, and of each context.
 * @type {(model: import("./model.js").Model, cores: any[], contexts: any[], add: (lane: any) => void) => void}
 */
function loadLanes(model, cores, contexts, add) {
    const group = LOAD;
    const detail = cores.length === 1 ? "% of time" : "% of all cores";
    add({ kind: "group", label: group, group, detail });
    add({ kind: "load", label: "all", group, who: ALL });
    if (cores.some(({ spans }) => spans.state.includes(INTERRUPT))) add({ kind: "load", label: "interrupts", group, who: INTERRUPTS });
    for (const { context } of contexts) {
        const { name, priority } = model.contexts[context];
        add({ kind: "load", label: name, group, context, who: context, badge: priority });
    }
}

/**
 * Gives a key to each lane that shares its group and label with another lane. The names of all other lanes stay short, because addresses
 * contain them. @param {Lane[]} list
 */
function distinguished(list) {
    const seen = new Map();
    for (const lane of list) seen.set(laneName(lane), (seen.get(laneName(lane)) ?? 0) + 1);
    return list.map((lane) => {
        const isAlone = isHead(lane) || seen.get(laneName(lane)) === 1;
        return isAlone ? lane : { ...lane, key: String(lane.context ?? lane.row?.key ?? lane.who) };
    });
}

/**
 * Adds the lanes of spans, then those of state machines and their steps, then those of levels.
 * @param {any[]} rows
 * @param {(lane: any) => void} add
 */
function objects(rows, add) {
    const of = (/** @type {string} */ kind) => rows.filter((/** @type {any} */ row) => row.kind === kind);
    const all = rows.filter((/** @type {any} */ { kind }) => kind === "machine" || kind === "steps");
    const spans = all.filter((/** @type {any} */ row) => row.group);
    for (const row of spans) {
        if (row === spans[0]) add({ kind: "group", label: row.group, group: row.group, detail: "by thread" });
        add({ kind: row.kind, label: row.name, group: row.group, row, detail: counted(row.states.length, "name") });
    }
    const machines = all.filter((/** @type {any} */ row) => !row.group);
    const count = machines.filter((/** @type {any} */ { kind }) => kind === "machine").length;
    let group = "State machines";
    if (machines.length > 0) add({ kind: "group", label: group, group, detail: String(count) });
    for (const row of machines) {
        const isStep = row.kind === "steps";
        add({ kind: row.kind, label: isStep ? `${row.name} steps` : row.name, group, row, detail: isStep ? "" : counted(row.states.length, "state") });
    }
    group = "Levels";
    const levels = of("level");
    if (levels.length > 0) add({ kind: "group", label: group, group, detail: String(levels.length) });
    for (const row of levels) add({ kind: "level", label: row.name, group, row, detail: row.most > 0 ? `0–${inUnits(row.most, row.unit)}` : inUnits(0, row.unit) });
}

/**
 * For one file, adds a lane for each context with events.
 * @param {import("./model.js").Model} model
 * @param {number} file
 * @param {(lane: any) => void} add
 */
function recorders(model, file, add) {
    // A payload that does not list its events contains their numbers.
    const counts = model.events.byContext.map((list, context) => model.contexts[context].events ?? list.length);
    const shown = counts.map((_, context) => context)
        .filter((context) => counts[context] > 0 && model.fileOf(context) === file);
    const group = "Events by context";
    add({ kind: "group", label: group, group, detail: String(shown.length) });
    for (const context of shown) {
        // Beside the number of events of a large trace, there would be no room for the word and the name.
        const detail = model.part ? grouped(counts[context]) : counted(counts[context], "event");
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

/** Returns true if other lanes belong to a lane. @param {Lane} lane */
export function isHead({ kind }) {
    return kind === "group" || kind === "file";
}

/**
 * Returns true if a group is folded. `folded` contains the groups that the user folded, and those that are folded at first and that the user
 * unfolded. @type {(folded: Set<string>, group: string) => boolean}
 */
export function isFolded(folded, group) {
    // If the page shows several files, the number of the file precedes the name of the group.
    const startsFolded = group.slice(group.indexOf(":") + 1) === LOAD;
    return folded.has(group) !== startsFolded;
}

/** Returns the name under which the page stores that a lane is hidden, pinned or moved. @param {Lane} lane */
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
    const trees = [...new Set(all.map(({ tree }) => tree))].map((tree) => all.filter((lane) => lane.tree === tree));
    return trees.flatMap((tree) => {
        const groups = tree.filter((lane) => lane.kind === "group");
        return [...tree.filter(({ kind }) => kind === "file"), ...inOrder(groups, rank).flatMap((group) =>
            [group, ...inOrder(tree.filter((lane) => !isHead(lane) && lane.group === group.group), rank)])];
    });
}

/** @type {(list: Lane[], rank: (lane: Lane) => number) => Lane[]} */
function inOrder(list, rank) {
    return [...list].sort((a, b) => (rank(a) === rank(b) ? 0 : rank(a) - rank(b)));
}

/**
 * Returns the order after `lane` was moved to the place of `target`. A lane moves within its group, and a
 * group moves within its file.
 * @param {Lane[]} all in their present order
 * @param {string[]} order
 * @param {Lane} lane
 * @param {Lane} target
 * @returns {string[]}
 */
export function reordered(all, order, lane, target) {
    const isGroup = lane.kind === "group";
    const others = all.filter((each) => each.tree === lane.tree
        && (isGroup ? each.kind === "group" : !isHead(each) && each.group === lane.group));
    const list = others.map(laneName);
    const [from, to] = [list.indexOf(laneName(lane)), list.indexOf(laneName(target))];
    if (from < 0 || to < 0 || from === to) return order;
    list.splice(to, 0, ...list.splice(from, 1));
    return [...order.filter((name) => !list.includes(name)), ...list];
}

/**
 * Places the lanes that are neither folded nor hidden, pinned lanes first. Returns these lanes, their total height, their total height
 * without growth into free room, and the part of it that the folded group of loads has.
 * @param {Lane[]} all
 * @param {Set<string>} folded names of groups, see `isFolded`; `-` and the name of each hidden lane; `+` and the name of each pinned lane
 * @param {number} [room] height that the lanes may fill
 * @returns {{ shown: Lane[], height: number, natural: number, spare: number }}
 */
export function placed(all, folded, room = 0) {
    const pinned = all.filter((lane) => !isHead(lane) && folded.has(`+${laneName(lane)}`));
    const isInFolded = (/** @type {Lane} */ { kind, tree }) => kind !== "file" && tree !== undefined && folded.has(tree);
    const others = all.filter((lane) => !isInFolded(lane) && (isHead(lane)
        || !(isFolded(folded, lane.group) || folded.has(`-${laneName(lane)}`) || pinned.includes(lane))));
    const hidden = (/** @type {Lane} */ group) => all.filter((lane) => !isHead(lane)
        && lane.group === group.group && folded.has(`-${laneName(lane)}`)).length;
    for (const lane of others.filter(isHead)) lane.hidden = hidden(lane);
    const shown = [...pinned, ...others];
    // The folded group of loads must not make the other lanes lower.
    const folds = shown.filter(({ kind, label, group }) => kind === "group" && label === LOAD && isFolded(folded, group));
    const share = shown.length - folds.length > MANY ? 0.75 : 1;
    const height = (/** @type {Lane} */ lane) => Math.round(HEIGHTS[lane.kind] * (isHead(lane) ? 1 : share));
    const sum = (/** @type {Lane[]} */ list) => list.reduce((all, lane) => all + height(lane), 0);
    const natural = sum(shown);
    const heads = sum(shown.filter(isHead));
    const growth = natural > heads ? Math.min(Math.max((room - heads) / (natural - heads), 1), MAX_GROWTH) : 1;
    let y = 0;
    for (const lane of shown) {
        lane.y = y;
        lane.height = isHead(lane) ? height(lane) : Math.floor(height(lane) * growth);
        y += lane.height;
    }
    return { shown, height: y, natural, spare: sum(folds) };
}
