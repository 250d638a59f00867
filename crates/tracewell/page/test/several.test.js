// Tests several traces on one axis, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { Model } from "../model.js";
import { lanes, placed } from "../rows.js";
import { budgetText } from "../servers.js";
import { Several, mergedTimes } from "../several.js";
import { parsedOffset } from "../time.js";
import { View, offsetsIn } from "../view.js";

const EMPTY = ["wait.from", "wait.from_seq", "wait.until", "wait.until_seq", "wait.context", "wait.owner",
    "job.from", "job.from_seq", "job.until", "job.until_seq", "job.context", "job.missed", "job.missed_seq",
    "arrow.from", "arrow.from_seq", "arrow.until", "arrow.until_seq", "arrow.kind", "arrow.by", "arrow.context",
    "gap.from", "gap.from_seq", "gap.until", "gap.until_seq", "gap.events", "gap.cause", "mark.ticks", "mark.seq", "mark.context",
    "inversion.from", "inversion.until", "inversion.context", "inversion.lock", "inversion.ticks"];

/**
 * The content of a trace with two contexts and one core. Context 1 runs from the second event of the trace on. It
 * blocks at the last event, for a mutex that context 0 holds.
 * @param {string} title
 * @param {number[]} times of its events
 * @param {any} [more] members of the header
 * @param {Record<string, number[]>} [others] columns
 */
function content(title, times, more = {}, others = {}) {
    const last = times.length - 1;
    const lists = {
        ...Object.fromEntries(EMPTY.map((name) => [name, []])),
        "event.ticks": times, "event.seq": times.map((_, i) => i), "event.cpu": times.map(() => 0),
        "event.context": times.map((_, i) => i % 2), "event.kind": times.map(() => 0), "event.args": times.map(() => 0),
        "text.length": [title.length],
        "change.ticks": [times[0], times[1], times[1], times[last]], "change.seq": [0, 1, 1, last],
        "change.state": [3, 1, 1, 5], "change.value": [0, 1, 0, 0], ...others,
    };
    const columns = new Map(Object.entries(lists).map(([name, list]) => [name, { values: Float64Array.from(list), exact: null }]));
    columns.set("text.bytes", { values: new TextEncoder().encode(title), exact: null });
    const header = {
        title, format: "threadx", events: times.length, span: String(times[last]), from: "0", until: String(times[last]),
        start: null, rates: [["0", "0", "1000000", "1"]], losses: [], causes: [], cpus: 1, needed: null, largerIsUrgent: false,
        leftOut: 0, moreWaits: 0, contexts: [{ name: "a", priority: 1 }, { name: "b", priority: 2 }], kinds: [{ id: 7, label: "e" }],
        reasons: [{ what: "mutex", object: "m", holder: 1 }],
        rows: [{ kind: "core", number: 0, changes: [0, 2] }, { kind: "context", context: 1, changes: [2, 4] }], ...more,
    };
    return { header, columns };
}

/** @param {import("../several.js").Content[]} contents  @param {number[]} offsets */
function model(contents, offsets) {
    const several = new Several(contents, contents.map(({ header }) => header.title));
    const { header, columns } = several.content(offsets);
    return new Model(header, columns);
}

test("a comma in a number separates groups of three digits", () => {
    assert.deepEqual(["1,5 ms", "1,500 ms", "-1,000.5 us", "1,50,0 ms", "15,00 ms"].map((text) => parsedOffset(text, true)),
        [null, 1500000000n, -1000500n, null, null]);
    assert.deepEqual(["1,5", "1,500 ticks", "-15"].map((text) => parsedOffset(text, false)), [null, 1500n, -15n]);
});

test("sorted lists are merged, and equal values keep the order of the lists", () => {
    const { files, indices } = mergedTimes([Float64Array.of(1, 5, 5), Float64Array.of(0, 5, 9)]);
    assert.deepEqual([...files], [1, 0, 0, 0, 1, 1]);
    assert.deepEqual([...indices], [0, 0, 1, 2, 1, 2]);
});

test("events of two files are in chronological order, with their own numbers and contexts", () => {
    const all = model([content("x", [0, 10, 20]), content("y", [0, 4, 8])], [0, 7]);
    assert.deepEqual([...all.events.at], [0, 7, 10, 11, 15, 20]);
    assert.deepEqual([...all.events.at.keys()].map((i) => all.events.number(i)), [0, 0, 1, 1, 2, 2]);
    assert.deepEqual([...all.events.context], [0, 2, 1, 3, 2, 0]);
    assert.deepEqual([0, 1, 3].map((i) => all.events.text(all.events.args[i])), ["x", "y", "y"]);
    assert.deepEqual([all.events.numbered(1, 0), all.events.numbered(1, 1), all.events.numbered(9, 1)], [2, 3, -1]);
    assert.deepEqual([all.kinds.length, all.length, all.header.events], [1, 20, 6]);
});

test("a file that is still being read is shown without its events", () => {
    const none = Object.fromEntries(["event.ticks", "event.seq", "event.cpu", "event.context", "event.kind", "event.args"].map((name) => [name, []]));
    const part = { from: "0", until: "20", resolution: "1", events: 3, most: 5, listed: false };
    const all = model([content("x", [0, 10, 20], { part }, none), content("y", [0, 4, 8])], [0, 0]);
    assert.deepEqual([all.part, all.events.count, all.length], [null, 3, 20]);
    // The facts count the events of both files.
    assert.deepEqual([all.header.isReading, all.header.events], [true, 6]);
    assert.equal(model([content("x", [0, 10, 20]), content("y", [0, 4, 8])], [0, 0]).header.isReading, false);
    assert.deepEqual([...all.rows[0].spans.at], [0, 10]);
});

test("rows refer to the contexts, reasons and events of their file, and end where the file ends", () => {
    const all = model([content("x", [0, 10, 20]), content("y", [0, 4, 8])], [0, 7]);
    const [core, context] = all.rows.slice(2);
    assert.deepEqual([...core.spans.at], [7, 11]);
    assert.deepEqual([core.spans.value[1], core.spans.seq[1], core.spans.to(1)], [3, 3, 15]);
    assert.equal(context.context, 3);
    const { holder } = all.reasons[context.spans.value[1]];
    assert.deepEqual([holder - 1, all.fileOf(holder - 1)], [2, 1]);
    assert.equal(all.isMoreUrgent(0, 1), true);
    assert.equal(all.isMoreUrgent(0, 3), false);
});

test("if a file moves before the first file, its times are negative, and the view does not move", () => {
    const contents = [content("x", [0, 10, 20]), content("y", [0, 4, 8])];
    const all = model(contents, [0, -30]);
    assert.deepEqual([all.origin, all.length], [-30n, 50]);
    assert.deepEqual([...all.events.at], [0, 4, 8, 30, 40, 50]);
    const view = new View(20);
    view.show(5, 15);
    view.moveOrigin(-30, 50);
    assert.deepEqual([view.from, view.to, view.length], [35, 45, 50]);
});

test("clocks of different rates share an axis in nanoseconds", () => {
    const slow = content("x", [0, 10, 20], { rates: [["0", "0", "1000", "1"]] });
    const fast = content("y", [0, 4, 8]);
    const all = model([slow, fast], []);
    assert.deepEqual([...all.events.at], [0, 0, 4_000, 8_000, 10_000_000, 20_000_000]);
    assert.equal(all.time(all.exact(4_000)), "0.004000 ms");
    const changing = content("z", [0, 1000, 3000], { rates: [["0", "0", "1000000", "1"], ["1000", "1000000", "2000000", "1"]] });
    assert.deepEqual([...model([changing, changing], []).events.at].filter((_, i) => i % 2 === 0), [0, 1_000_000, 2_000_000]);
});

test("clocks of unknown rate share an axis in ticks, but not with clocks of known rate", () => {
    const unknown = content("u", [0, 10, 20], { rates: [] });
    assert.deepEqual([...model([unknown, unknown], [0, 1]).events.at], [0, 1, 10, 11, 20, 21]);
    assert.throws(() => model([content("x", [0, 1, 2]), unknown], []), /u: the clock's rate is unknown/);
});

test("files with dates begin at their dates", () => {
    const first = content("x", [0, 10, 20], { start: "1700000000000000000" });
    const later = content("y", [0, 4, 8], { start: "1700000000000005000" });
    assert.deepEqual([...model([later, first], []).events.at], [0, 5, 9, 10, 13, 20]);
    assert.deepEqual([...model([later, first], [1, 0]).events.at], [0, 6, 10, 10, 14, 20]);
});

test("arrows of all files are sorted by their ends", () => {
    const arrow = (/** @type {number} */ from, /** @type {number} */ until) => ({ "arrow.from": [from], "arrow.until": [until],
        "arrow.from_seq": [0], "arrow.until_seq": [2], "arrow.kind": [0], "arrow.by": [1], "arrow.context": [1] });
    const all = model([content("x", [0, 10, 20], {}, arrow(1, 15)), content("y", [0, 4, 8], {}, arrow(2, 5))], []);
    assert.deepEqual([...all.arrow.until], [5, 15]);
    assert.deepEqual([[...all.arrow.by], [...all.arrow.context]], [[3, 1], [3, 1]]);
    // Each arrow ends at event 1 of its file. The column contains the number of the event plus 1.
    assert.deepEqual([...all.arrow.untilSeq].map((seq) => all.events.at[seq - 1]), [4, 10]);
});

test("each file is a tree that can be folded", () => {
    const all = lanes(model([content("x", [0, 10, 20]), content("y", [0, 4, 8])], []));
    const each = ["Processor", "core 0", "Threads", "b", "Load", "all", "b"];
    assert.deepEqual(all.map(({ label }) => label), ["x", ...each, "y", ...each]);
    assert.deepEqual(placed(all, new Set(["1:"])).shown.map(({ label }) => label), ["x", "y", ...each.slice(0, 5)]);
    assert.deepEqual(placed(all, new Set()).shown.length, 12, "the loads are folded at first");
    assert.deepEqual(placed(all, new Set(["2:Threads"])).shown.length, 11);
    assert.deepEqual(placed(all, new Set(["2:Load"])).shown.length, 14);
});

test("the budget of a server is in ticks of the page, and refers to the contexts of its file", () => {
    const server = { kind: "server", name: "s", key: "s", task: 1, size: 10, least: -2, most: 8, changes: [4, 6] };
    const of = (/** @type {string} */ rate) => {
        const { header, columns } = content("x", [0, 10, 20]);
        const more = { rates: [["0", "0", rate, "1"]], rows: [...header.rows, server] };
        const lists = Object.fromEntries([...columns].filter(([name]) => name.startsWith("change."))
            .map(([name, { values }]) => [name, [...values, ...{ "change.ticks": [0, 10], "change.seq": [0, 1], "change.state": [2, 3], "change.value": [6, 0] }[name]]]));
        return content("x", [0, 10, 20], more, lists);
    };
    const all = model([of("1000000"), of("500000")], []);
    const rows = all.rows.filter(({ kind }) => kind === "server");
    assert.deepEqual(rows.map(({ task, size, least, most }) => [task, size, least, most]), [[1, 10_000, -2000, 8000], [3, 20_000, -4000, 16_000]]);
    assert.deepEqual(rows.map((row) => budgetText(all, row, 0)), ["6 µs to −4 µs left of 10 µs, b runs", "12 µs to −8 µs left of 20 µs, b runs"]);
    assert.equal(budgetText(all, rows[1], 1), "budget exhausted");
});

test("the address contains the offsets, and invalid offsets are ignored", () => {
    const view = new View(100);
    view.place(1, -1500);
    assert.equal(view.address(BigInt), "d=0,-1500");
    assert.deepEqual(offsetsIn("t=0-100&d=0,-1500"), [0, -1500]);
    for (const wrong of ["d=", "d=1,x", "e=1", "d=--1"]) assert.deepEqual(offsetsIn(wrong), []);
});

test("offsets as people type them", () => {
    assert.deepEqual(["1.5 ms", "-20us", "+3 s", "−1 ns", "0"].map((text) => parsedOffset(text, true)),
        [1_500_000n, -20_000n, 3_000_000_000n, -1n, 0n]);
    assert.deepEqual(["1,500", "-20 ticks", "0"].map((text) => parsedOffset(text, false)), [1500n, -20n, 0n]);
    assert.deepEqual([parsedOffset("20", true), parsedOffset("1 ms", false), parsedOffset("", true)], [null, null, null]);
});
