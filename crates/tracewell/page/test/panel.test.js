// Tests the content and the layout of the page without a browser: labels, shares, locks, colours,
// history, search.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ticks } from "../distributions.js";
import { parts } from "../events.js";
import { Intervals } from "../intervals.js";
import { argumentsIn, holders, inheritance, lockOf, telling } from "../locks.js";
import { BLOCKED, Model, Spans } from "../model.js";
import { Notice } from "../notice.js";
import { invertedPart } from "../overlays.js";
import { cut, setFont } from "../paint.js";
import { separate, sharedLabels } from "../pills.js";
import { placed } from "../rows.js";
import { offered, rangeIn, timeIn } from "../search.js";
import { rankText, shares } from "../shares.js";
import { listHeight } from "../splitters.js";
import { DARK, LIGHT, contextColours, contrast, textOn } from "../theme.js";
import { Clock } from "../time.js";
import { nearest } from "../pointer.js";
import { View } from "../view.js";

/** Spans that begin at `at`. @type {(at: number[], state: number[], value: number[], length: number) => Spans} */
function spansOf(at, state, value, length) {
    const [all, states, values] = [at, state, value].map((list) => Float64Array.from(list));
    const model = /** @type {any} */ ({ change: { at: all, seq: all, state: states, value: values }, length });
    return new Spans(model, [0, at.length]);
}

test("items whose labels would overlap share one label, and other items keep their own", () => {
    const label = (/** @type {number} */ items) => ({ text: items === 1 ? "label" : `${items} items` });
    const join = (/** @type {number} */ a, /** @type {number} */ b) => a + b;
    const width = (/** @type {string} */ text) => 10 * text.length;
    const at = (/** @type {number[]} */ ...places) => sharedLabels(places.map((x) => ({ x, item: 1 })), join, label, width, [0, 400])
        .map(({ text, x }) => [text, x]);
    assert.deepEqual(at(0, 60, 200), [["label", 0], ["label", 60], ["label", 200]]);
    assert.deepEqual(at(0, 50, 200), [["2 items", 0], ["label", 200]]);
    // The label at the right edge moves to the left, so it meets the label before it.
    assert.deepEqual(at(0, 340, 399), [["label", 0], ["2 items", 330]]);
    // The shared label is longer, so it meets the label before it.
    assert.deepEqual(at(0, 320, 390, 398), [["label", 0], ["3 items", 320]]);
    assert.deepEqual(at(), []);
});

test("a shown interval counts the intervals that it hides", () => {
    const all = new Intervals([0, 1, 2, 50], [10, 2, 3, 51], [0, 1, 2, 3]);
    const seen = (/** @type {number} */ least) => {
        /** @type {number[][]} */
        const list = [];
        all.visit(0, 100, least, (index, _, __, count) => list.push([index, count]));
        return list;
    };
    assert.deepEqual(seen(1), [[0, 3], [3, 1]]);
    assert.deepEqual(seen(0), [[0, 1], [1, 1], [2, 1], [3, 1]]);
});

test("a label that would cover another is below it", () => {
    const pill = (/** @type {number} */ x, y = 23) => ({ text: "", x, y, width: 100, colour: "" });
    const pills = [pill(0), pill(50), pill(90), pill(300), pill(40, 90)];
    separate(pills);
    assert.deepEqual(pills.map(({ y }) => y), [23, 41, 59, 23, 90]);
});

test("the label of an inversion compares it with the whole wait, in one unit if possible", () => {
    const clock = new Clock([["0", "0", "1000000", "1"]]);
    const row = { kind: "context", context: 0, spans: spansOf([0, 100, 790], [1, BLOCKED, 1], [0, 0, 0], 10_000) };
    const model = Object.assign(Object.create(Model.prototype), { clock, origin: 0n, rows: [row],
        inversion: { from: [90], until: [790], context: [0], ticks: [190] } });
    assert.equal(invertedPart(model, 0), "190 of 690 µs");
    model.rows[0].spans = spansOf([0, 100, 9000], [1, BLOCKED, 1], [0, 0, 0], 10_000);
    assert.equal(invertedPart(model, 0), "190 µs of 8.9 ms");
});

test("the page states the rank of a length among others", () => {
    assert.deepEqual([[5, [5, 3, 4]], [4, [5, 3, 4]], [3, [5, 4, 3, 3]], [3, [3, 3]], [3, [3, 3, 3]], [3, [3]]]
        .map(([length, all]) => rankText(Number(length), /** @type {number[]} */ (all))),
    ["longest of 3", "2nd longest of 3", "3rd longest of 4", "both are equal", "all 3 are equal", ""]);
    const many = Array.from({ length: 30 }, (_, i) => i);
    assert.deepEqual([28, 19, 18, 17, 8].map((length) => rankText(length, many)),
        ["2nd longest of 30", "11th longest of 30", "12th longest of 30", "13th longest of 30", "22nd longest of 30"]);
});

test("the shares of each context, and those of a core, add up to the whole time", () => {
    // States: running, preempted, blocked, sleeping, interrupted.
    const a = { kind: "context", label: "a", context: 0, row: { spans: spansOf([0, 10, 30, 60], [1, 3, BLOCKED, 6], [0, 0, 0, 0], 100) } };
    const b = { kind: "context", label: "b", context: 1, row: { spans: spansOf([0, 10, 25, 30], [4, 1, 2, 6], [0, 0, 0, 0], 100) } };
    const idle = { kind: "context", label: "c", context: 2, row: { spans: spansOf([0], [6], [0], 100) } };
    const core = { kind: "core", spans: spansOf([0, 25, 30], [1, 2, 3], [0, 0, 0], 100) };
    const model = /** @type {any} */ ({ rows: [core] });
    const { columns, rows } = shares(model, /** @type {any} */ ([a, b, idle]), 0, 100);
    assert.deepEqual(columns, ["runs", "ready or preempted", "blocked", "sleeping"]);
    assert.deepEqual(rows.map(({ name, times }) => [name, ...times]),
        [["b", 15, 15, 0, 70], ["a", 10, 20, 30, 40], ["c", 0, 0, 0, 100], ["interrupts", 5], ["idle", 70]]);
    assert.equal(rows.reduce((sum, { times }) => sum + times[0], 0), 100);
    // A context whose state is not known yet has no row, and does not change the heading of the
    // column.
    const absent = { ...a, row: { spans: spansOf([0], [0], [0], 100) } };
    assert.deepEqual(shares(model, /** @type {any} */ ([b, absent]), 0, 100).columns, columns);
    const unknown = { ...a, row: { spans: spansOf([0, 10], [0, 1], [0, 0], 100) } };
    assert.equal(shares(model, /** @type {any} */ ([unknown]), 0, 100).columns[3], "other");
});

/**
 * A model with the events that create three mutexes, and waits of context 0.
 * @returns {any}
 */
function mutexes() {
    const texts = ["semaphore=log, count=1", "mutex=bus, inheritance=inherit, stack ptr=0x20", "mutex=0x9, name=a, b, inheritance=none", "mutex=log, inheritance=none"];
    const events = { count: 4, kind: [0, 0, 0, 1], context: [0, 0, 0, 0], args: [0, 1, 2, 3], text: (/** @type {number} */ i) => texts[i] };
    const lock = (/** @type {string} */ name, /** @type {string} */ key) => ({ kind: "lock", what: "mutex", name, key,
        spans: spansOf([0, 10, 15, 40], [1, 0, 1, 1], [3, 0, 2, 3], 60) });
    return Object.assign(Object.create(Model.prototype), { events, kinds: [{ means: "Create" }, { means: "Lock" }], contexts: [{}],
        locks: [lock("bus", "0x5"), lock("logs", "0x9")], reasons: [{ what: "mutex", object: "logs", holder: 3 }] });
}

test("the event that creates a mutex shows whether it has priority inheritance", () => {
    const model = mutexes();
    assert.deepEqual(model.locks.map((/** @type {any} */ lock) => inheritance(model, lock)),
        [{ event: 1, inherits: true }, { event: 2, inherits: false }]);
    assert.equal(inheritance(model, { what: "mutex", name: "log", key: "0x7" }), null);
});

test("holders of a lock, and the lock for which a context waits", () => {
    const model = mutexes();
    assert.deepEqual(holders(model.locks[0]), [{ context: 2, count: 2, ticks: 30, longest: 3 }, { context: 1, count: 1, ticks: 25, longest: 2 }]);
    const waiter = { spans: spansOf([0, 45], [1, BLOCKED], [0, 0], 60) };
    assert.equal(lockOf(model, waiter, 1), model.locks[1]);
    assert.equal(lockOf(model, { spans: spansOf([0], [BLOCKED], [7], 60) }, 0), null);
});

test("addresses follow the other arguments", () => {
    const args = argumentsIn("stack ptr=0x20007FC8, isr number=7, text=one, two, next thread=control");
    assert.deepEqual(args, ["stack ptr=0x20007FC8", "isr number=7", "text=one, two", "next thread=control"]);
    assert.deepEqual(telling(args), ["isr number=7", "text=one, two", "next thread=control", "stack ptr=0x20007FC8"]);
    assert.deepEqual(telling(["arg1=0x00000014", "arg2=0x0000002E"]), ["arg1=0x00000014", "arg2=0x0000002E"]);
    assert.deepEqual(argumentsIn(""), []);
});

test("the label of a wait names the object after `for`, and the label of a state names none", () => {
    const model = Object.assign(Object.create(Model.prototype), { reasons: [
        { what: "mutex", object: "log", code: "mutex", holder: 0 }, { what: null, object: null, code: "suspended", holder: 0 }] });
    assert.deepEqual([0, 1, 2].map((reason) => model.waitText(reason)), ["for mutex log", "suspended", "for not recorded"]);
});

test("back restores the time, the range and the selection, and forward repeats the step", () => {
    const view = new View(1000);
    view.show(100, 300);
    view.select({ row: 1, span: 2 });
    view.measure([150, 200]);
    view.jump(500, 600);
    view.measure(null);
    view.select({ whole: 4 });
    view.back();
    assert.deepEqual([view.from, view.to, view.range, view.selection], [100, 300, [150, 200], { row: 1, span: 2 }]);
    view.forward();
    assert.deepEqual([view.from, view.to, view.range, view.selection], [500, 600, null, { whole: 4 }]);
    // The second call adds no step, because the view has not changed. The step back then changes
    // the selection, but not the time.
    const before = view.past.length;
    view.remember();
    view.remember();
    view.select({ event: 3 });
    assert.equal(view.past.length, before + 1);
    view.back();
    assert.deepEqual([view.from, view.to, view.selection], [500, 600, { whole: 4 }]);
});

test("an address stores a selected row, but not a measurement without an end", () => {
    const view = new View(1000);
    view.select({ whole: 3 });
    view.begun = 20;
    view.measure([20, 20]);
    assert.equal(view.measured, null);
    const address = view.address((offset) => BigInt(offset));
    assert.equal(address, "w=3");
    const other = new View(1000);
    other.restore(address, 0n, () => true);
    assert.deepEqual(other.selection, { whole: 3 });
    view.measure(null);
    assert.equal(view.begun, null);
});

test("a range snaps to the nearest value within its limits", () => {
    assert.deepEqual([nearest([10, 20], 13, [8, 18]), nearest([10, 20], 16, [11, 21]), nearest([10, 20], 15, [12, 18]), nearest([], 1, [0, 2])],
        [10, 20, undefined, undefined]);
});

test("a message is visible for three seconds, unless another follows", () => {
    /** @type {[() => void, number][]} */
    const timers = [];
    const output = { textContent: "" };
    const notice = new Notice(output, () => "9 events", (action, milliseconds) => timers.push([action, milliseconds]));
    notice.draw();
    assert.equal(output.textContent, "9 events");
    notice.show("address copied");
    notice.draw();
    assert.equal(output.textContent, "address copied");
    notice.show("address copied again");
    timers[0][0]();
    assert.equal(output.textContent, "address copied again");
    timers[1][0]();
    assert.equal(output.textContent, "9 events");
    assert.deepEqual(timers.map(([, milliseconds]) => milliseconds), [3000, 3000]);
});

test("a search offers rows by name, and recognises a time", () => {
    const lanes = /** @type {any} */ ([{ label: "logger", row: {} }, { label: "Log file", row: {} }, { label: "log", kind: "group" }, { label: "bus", row: {} }]);
    assert.deepEqual(offered(lanes, " LOG ").map(({ label }) => label), ["logger", "Log file"]);
    assert.deepEqual(offered(lanes, ""), []);
    const model = /** @type {any} */ ({ clock: new Clock([["0", "0", "1000000", "1"]]), origin: 100n });
    assert.deepEqual([timeIn(model, "2.5 ms"), timeIn(model, "log"), timeIn(model, "5,000 ticks")], [2400, null, 4900]);
    const unknown = { ...model, clock: new Clock([]) };
    assert.deepEqual([timeIn(unknown, "2,500 ticks"), timeIn(unknown, "2.5 ms")], [2400, null]);
    const ranges = ["2..2.5 ms", "2 ms to 2.5 ms", "500 us before 2.5 ms", "1 ms after 2.5 ms", "2.5..2 ms", "semaphore to log", ".."];
    assert.deepEqual(ranges.map((text) => rangeIn(model, text)), [[1900, 2400], [1900, 2400], [1900, 2400], [2400, 3400], null, null, null]);
    assert.deepEqual(["2,000..2,500 ticks", "5 ticks before 205 ticks"].map((text) => rangeIn(unknown, text)), [[1900, 2400], [100, 105]]);
});

test("each occurrence of a found text is marked", () => {
    assert.deepEqual(parts("mutex=Log, logger", "log"), ["mutex=", "Log", ", ", "log", "ger"]);
    assert.deepEqual([parts("bus", "log"), parts("bus", ""), parts("İlog", "log")], [["bus"], ["bus"], ["İlog"]]);
});

test("a truncated text has at least six letters", () => {
    const ink = /** @type {any} */ ({ measureText: (/** @type {string} */ text) => ({ width: 10 * text.length }) });
    setFont(ink, "12px sans-serif");
    assert.deepEqual([cut(ink, "telemetry", 69), cut(ink, "telemetry", 70), cut(ink, "bus", 30)], ["", "teleme…", "bus"]);
});

test("text on each context colour has enough contrast in both themes", () => {
    const contexts = Array.from({ length: 40 }, () => ({ kind: "thread" }));
    // 21 is the contrast of black and white, and 4.5 the limit of WCAG 2.2 for small text.
    assert.equal(Math.round(contrast("#000000", "#ffffff")), 21);
    for (const theme of [LIGHT, DARK]) {
        for (const colour of contextColours(contexts, [], theme)) {
            assert.ok(contrast(colour, textOn(colour)) >= 4.5, `${colour} ${contrast(colour, textOn(colour))}`);
        }
    }
    // Thin lines on a dark ground need lighter colours than on a white one.
    for (const colour of contextColours(contexts, [], DARK)) assert.ok(contrast(colour, DARK.ground) >= 4.5, colour);
    assert.equal(textOn("#d98c00"), "#14171c");
    assert.equal(textOn("#0072b2"), "#ffffff");
});

test("rows grow into free room up to a limit, and never shrink", () => {
    const lanes = /** @type {any} */ ([{ kind: "group", group: "A" }, { kind: "context", group: "A", label: "a" }, { kind: "context", group: "A", label: "b" }]);
    const heights = (/** @type {number} */ room) => placed(lanes, new Set(), room).shown.map(({ height }) => height);
    assert.deepEqual([heights(0), heights(86), heights(106), heights(1000)], [[22, 32, 32], [22, 32, 32], [22, 42, 42], [22, 48, 48]]);
    assert.equal(placed(lanes, new Set(), 1000).natural, 86);
});

test("the list gets the room that the rows leave, within limits", () => {
    assert.deepEqual([[754, 584], [754, 700], [1394, 600], [300, 250]].map(([all, needed]) => listHeight(all, needed)), [170, 241, 627, 96]);
});

test("the axis of a histogram has ticks at the beginnings of bars and at both ends", () => {
    const bars = Array.from({ length: 14 }, (_, i) => ({ from: i, to: i + 1, first: 0, count: 1 }));
    assert.deepEqual(ticks(bars.slice(0, 12)).map(({ time }) => time), [0, 2, 4, 6, 8, 10, 12]);
    // A tick at 12 would be too close to the end.
    assert.deepEqual(ticks(bars).map(({ time }) => time), [0, 3, 6, 9, 14]);
    assert.deepEqual(ticks(bars.slice(0, 1)).map(({ time, place }) => [time, place]), [[0, 0], [1, 1]]);
    assert.deepEqual(ticks([]), []);
});
