// Tests functions of the page that need no browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { boundBy, lowerBound, upperBound } from "../bounds.js";
import { culprits } from "../causes.js";
import { needed, partOf } from "../detail.js";
import { bars, quantile } from "../distributions.js";
import { Figures, sorted } from "../figures.js";
import { isGone, readFrom, showsAll, spanIn, written } from "../identity.js";
import { Intervals } from "../intervals.js";
import { inWords } from "../live.js";
import { BLOCKED, Model, Spans, TASK } from "../model.js";
import { grid } from "../paint.js";
import { UserMarks } from "../marks.js";
import { objectText } from "../objects.js";
import { Pace } from "../pace.js";
import { paintOf } from "../paints.js";
import { Pixels } from "../pixels.js";
import { Reader } from "../reader.js";
import { Sheet } from "../rectangles.js";
import { contextOrder, laneName, lanes, ordered as arranged, placed, reordered } from "../rows.js";
import { listHeight } from "../splitters.js";
import { Sequence } from "../scale.js";
import { Seeker } from "../seeker.js";
import { inflated, numbers, payload, wideNumbers } from "../source.js";
import { SvgInk, svg } from "../svg.js";
import { contextColours } from "../theme.js";
import { Clock, duration, fixed, grouped, parsed, step } from "../time.js";
import { View } from "../view.js";
import { counted } from "../words.js";

test("numbers and deltas of a column", () => {
    const bytes = Uint8Array.from([0x05, 0xac, 0x02, 0x00]);
    assert.deepEqual([...numbers(bytes, 3, false)], [5, 300, 0]);
    // The bytes encode 10, then the differences -7 and 300.
    const deltas = Uint8Array.from([0x14, 0x0f, 0xd8, 0x04]);
    assert.deepEqual([...numbers(deltas, 3, true)], [10, 3, 303]);
    assert.deepEqual([...wideNumbers(deltas, 3, true)], [10n, 3n, 303n]);
});

test("a column of 64-bit ticks is exact", () => {
    const bytes = [];
    let rest = 2n ** 64n - 1n;
    while (rest >= 0x80n) {
        bytes.push(Number(rest & 0x7fn) | 0x80);
        rest >>= 7n;
    }
    bytes.push(Number(rest));
    assert.deepEqual([...wideNumbers(Uint8Array.from(bytes), 1, false)], [18446744073709551615n]);
});

test("a payload is header and columns", async () => {
    const header = JSON.stringify({ columns: [{ name: "a", form: "numbers", count: 2, bytes: 2, wide: false }] });
    const bytes = Uint8Array.from([header.length, 0, 0, 0, ...new TextEncoder().encode(header), 7, 9]);
    const packed = await new Response(new Blob([bytes]).stream().pipeThrough(new CompressionStream("deflate"))).arrayBuffer();
    const base64 = Buffer.from(packed).toString("base64");
    // Lines are decoded one by one, so each line has a whole number of base64 groups.
    const text = `${base64.slice(0, 8)}\n${base64.slice(8)}`;
    const { columns } = payload(await inflated(text));
    assert.deepEqual([...columns.get("a").values], [7, 9]);
});

test("nanoseconds are exact, and a clock can change its rate", () => {
    const third = new Clock([["0", "0", "3", "1"]]);
    assert.equal(third.ns(1n), 333333333n);
    assert.equal(third.ns(3n * 10n ** 15n + 2n), 10n ** 24n + 666666666n);
    const faster = new Clock([["0", "0", "1000000", "1"], ["1000", "1000000", "2000000", "1"]]);
    assert.equal(faster.ns(1004n), 1002000n);
    assert.equal(faster.ticks(1002000n), 1004n);
    assert.equal(new Clock([]).isKnown, false);
});

test("times as text", () => {
    assert.equal(duration(642500n), "642.5 µs");
    assert.equal(duration(0n), "0 ns");
    assert.equal(duration(58761900n), "58.76 ms");
    assert.equal(fixed(42145500n, 1e6, 5), "42.14550");
    assert.equal(fixed(-1n, 1e6, 6), "-0.000001");
    assert.equal(grouped(1234567), "1,234,567");
    assert.equal(parsed("42.1455 ms"), 42145500n);
    assert.equal(parsed("1,000 us"), 1000000n);
    assert.equal(parsed("mutex"), null);
    assert.deepEqual([1, 3, 70, 501].map((least) => step(least)), [1, 5, 100, 1000]);
});

test("bounds in sorted values", () => {
    const values = [1, 3, 3, 7];
    assert.deepEqual([0, 3, 4, 9].map((value) => lowerBound(values, value)), [0, 1, 3, 4]);
    assert.deepEqual([0, 3, 4, 9].map((value) => upperBound(values, value)), [0, 3, 3, 4]);
});

test("a search that starts before a value ends at most twice as far from its start", () => {
    const values = [1, 3, 3, 7, 7, 7, 8];
    for (let from = 0; from <= values.length; from += 1) {
        for (let value = 0; value <= 9; value += 1) {
            const end = boundBy(values, value, from);
            const found = Math.max(upperBound(values, value), from);
            assert.ok(end >= found && end <= values.length && end - from <= 2 * (found - from) + 1, `${value} from ${from}: ${end}`);
            assert.equal(upperBound(values, value, from, end), found);
        }
    }
});

function spans() {
    const change = {
        at: Float64Array.from([10, 20, 30]), seq: Float64Array.from([1, 2, 3]),
        state: Float64Array.from([1, 5, 1]), value: Float64Array.from([0, 0, 0]),
    };
    return new Spans(/** @type {any} */ ({ change, length: 40 }), [0, 3]);
}

test("spans of a row, and the time in which it ran", () => {
    const row = spans();
    assert.deepEqual([5, 10, 19, 20, 99].map((time) => row.find(time)), [-1, 0, 0, 1, 2]);
    assert.deepEqual(row.within(15, 30), [0, 2]);
    assert.equal(row.to(2), 40);
    assert.deepEqual([5, 15, 25, 35, 50].map((time) => row.before(1, time)), [0, 5, 10, 15, 20]);
    const parts = [];
    row.overlap(15, 35, (index, ticks) => parts.push([index, ticks]));
    assert.deepEqual(parts, [[0, 5], [1, 10], [2, 5]]);
});

test("each pixel has the spans and the shares that a search in the whole row finds", () => {
    // Some changes are at equal times, and some are long after the previous change. The generator is deterministic.
    let random = 7;
    const next = (/** @type {number} */ most) => {
        random = (random * 1103515245 + 12345) % 2 ** 31;
        return Math.floor((random / 2 ** 31) * most);
    };
    const at = [];
    for (let time = 5; at.length < 500; time += next(3) * next(40)) at.push(time);
    const state = at.map(() => next(4));
    const change = { at: Float64Array.from(at), seq: Float64Array.from(at.keys()), state: Uint8Array.from(state), value: Uint8Array.from(state) };
    const row = new Spans(/** @type {any} */ ({ change, length: at[499] + 50 }), [0, 500]);
    for (const width of [1, 7, 33.5]) {
        const times = Float64Array.from({ length: Math.ceil((at[499] + 80) / width) + 1 }, (_, column) => -20 + column * width);
        const pixels = new Pixels(row, times);
        for (let column = 0; column + 1 < times.length; column += 1) {
            const [from, to] = times.slice(column, column + 2);
            pixels.go(column);
            const [first, end] = row.within(from, to);
            assert.deepEqual([pixels.from, pixels.to, Math.max(pixels.first, 0), pixels.end], [from, to, first, end]);
            assert.equal(pixels.middle, row.find((from + to) / 2));
            const share = (row.before(2, to) - row.before(2, from)) / width;
            assert.ok(Math.abs(pixels.share(2) - share) < 1e-9, `${from}: ${share}`);
        }
    }
});

test("the shares of wide pixels of a long row, from stored sums, are those of its spans", () => {
    const count = 20_000;
    const at = Float64Array.from({ length: count }, (_, i) => 10 * i + (i % 7));
    const state = Uint8Array.from({ length: count }, (_, i) => (i % 3 === 0 ? 1 : 5));
    const row = new Spans(/** @type {any} */ ({ change: { at, seq: at, state, value: state }, length: 10 * count }), [0, count]);
    const width = 1000;
    const times = Float64Array.from({ length: 210 }, (_, column) => -1500 + column * width);
    assert.ok(!new Pixels(row, Float64Array.of(0, 5, 10), true, 1).isSimple);
    const pixels = new Pixels(row, times, true, 1);
    assert.ok(pixels.isSimple);
    for (let column = 0; column + 1 < times.length; column += 1) {
        const from = times[column];
        pixels.go(column);
        const share = (row.before(1, from + width) - row.before(1, from)) / width;
        assert.ok(Math.abs(pixels.share(1) - share) < 0.01, `${from}: ${pixels.share(1)}, ${share}`);
    }
});

test("the pixels of a long row have the spans that a search in the whole row finds, and long spans may be runs", () => {
    // Groups of changes at equal times, some of them at the boundaries of pixels, and a long span in the middle.
    const count = 20_000;
    const at = Float64Array.from({ length: count }, (_, i) => 10 * (i - (i % 3)) + (i < count / 2 ? 0 : 40_000));
    const state = Uint8Array.from({ length: count }, (_, i) => (i % 2 === 0 ? 1 : 5));
    const row = new Spans(/** @type {any} */ ({ change: { at, seq: at, state, value: state }, length: 10 * count + 40_000 }), [0, count]);
    // Each pixel has about 30 changes.
    const width = 307;
    const times = Float64Array.from({ length: 820 }, (_, column) => -1500 + column * width);
    for (const own of [undefined, 1]) {
        const pixels = new Pixels(row, times, true, own);
        assert.equal(pixels.isSimple, own === 1);
        let runs = 0;
        for (let column = 0; column + 1 < times.length; column += 1) {
            const [from, to] = times.slice(column, column + 2);
            pixels.go(column);
            const [first, end] = row.within(from, to);
            assert.deepEqual([Math.max(pixels.first, 0), pixels.end], [first, end], String(from));
            assert.equal(pixels.middle, row.find((from + to) / 2));
            if (!pixels.isSingle || row.to(first) < to + 3 * width) continue;
            runs += 1;
            assert.ok(pixels.mayLast(1, 3), String(from));
        }
        assert.ok(runs > 120, String(runs));
    }
});

test("texts follow a single movement at once, and follow a long movement a few times per second", () => {
    const pace = new Pace();
    const still = ["selection"];
    assert.equal(pace.isMoving({ from: 0, to: 10 }, still, 0), false);
    assert.equal(pace.isMoving({ from: 1, to: 11 }, still, 500), false);
    const followed = [];
    for (let now = 516; now < 1516; now += 16) {
        if (!pace.isMoving({ from: now, to: now + 10 }, still, now)) followed.push(now);
    }
    assert.ok(followed.length >= 3 && followed.length <= 4, String(followed));
    // If an update of the texts takes longer, the page updates them less often.
    pace.cost = 100;
    assert.equal(pace.isMoving({ from: 1508.5, to: 1518 }, still, 1900), true);
    pace.cost = 0;
    // The page updates the texts if a frame shows no movement, or if the selection changes.
    assert.equal(pace.isMoving({ from: 1508.5, to: 1518 }, still, 1916), false);
    assert.equal(pace.isMoving({ from: 1509, to: 1519 }, still, 1932), true);
    assert.equal(pace.isMoving({ from: 1510, to: 1520 }, ["other"], 1948), false);
});

test("in a file, equal neighbouring rectangles are one", () => {
    const ink = new SvgInk(() => ({ width: 0, rise: 0 }));
    const rects = new Sheet(/** @type {any} */ (ink)).rectangles({ left: 0, top: 0, width: 100, height: 10 });
    for (const x of [0, 1, 2, 4]) {
        rects.add(x, 5, 1, 5, paintOf("#111111"));
        rects.add(x, 0, 1, x < 2 ? 5 : 4, paintOf("#222222"));
    }
    rects.end();
    const boxes = [...ink.content.matchAll(/x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)"/g)].map((each) => each.slice(1).join(" "));
    assert.deepEqual(boxes.sort(), ["0 0 2 5", "0 5 3 5", "2 0 1 4", "4 0 1 4", "4 5 1 5"]);
});

test("the axis shows round times in the unit that fits its largest time", () => {
    const clock = new Clock([["0", "0", "100000000", "1"]]);
    const model = { clock, origin: 0n, unit: { unit: "ms", ns: 1e6 }, exact: (/** @type {number} */ offset) => BigInt(Math.round(offset)) };
    const { unit, lines } = grid(/** @type {any} */ (model), 4155000, 4352000, 900);
    assert.equal(unit, "ms");
    assert.deepEqual(lines.slice(0, 2), [{ at: 4160000, label: "41.6" }, { at: 4180000, label: "41.8" }]);
    const unknown = { ...model, clock: new Clock([]) };
    assert.deepEqual(grid(/** @type {any} */ (unknown), 0, 5000, 400).lines[1], { at: 1000, label: "1,000" });
});

test("the axis and the list have the same unit, which fits the length of the page", () => {
    const timed = (/** @type {number} */ length) => Object.assign(Object.create(Model.prototype),
        { clock: new Clock([["0", "0", "100000000", "1"]]), origin: 0n, length });
    // A tick is 10 ns.
    for (const [length, unit, time] of [[3e8, "s", "1.23456789 s"], [4e7, "ms", "1,234.56789 ms"], [3e4, "µs", "1,234,567.89 µs"], [50, "ns", "1,234,567,890 ns"]]) {
        const model = timed(length);
        assert.equal(model.time(123456789n), time);
        assert.equal(grid(model, 0, length, 900).unit, unit);
        // Labels of a short range have more decimals, but the same unit and enough room.
        const part = grid(model, length / 2, length / 2 + 20, 900);
        assert.equal(part.unit, unit);
        assert.equal(new Set(part.lines.map(({ label }) => label)).size, part.lines.length);
        const longest = Math.max(...part.lines.map(({ label }) => label.length));
        const distance = ((part.lines[1].at - part.lines[0].at) / 20) * 900;
        assert.ok(distance >= longest * 6.5, `${unit}: ${distance} pixels for ${longest} characters`);
    }
});

test("a reader reports no progress after the page has ended it", () => {
    /** @type {any} */
    let worker;
    const { Worker } = globalThis;
    globalThis.Worker = /** @type {any} */ (class extends EventTarget {
        constructor() {
            super();
            worker = this;
        }
        terminate() {}
    });
    const seen = [];
    const reader = new Reader((progress) => seen.push(progress.events));
    globalThis.Worker = Worker;
    const send = (/** @type {number} */ events) => worker.dispatchEvent(new MessageEvent("message", { data: { progress: { events } } }));
    send(1);
    reader.end("");
    send(2);
    assert.deepEqual(seen, [1]);
});

test("a picture of intervals leaves out only intervals that others already cover", () => {
    // The second interval lies within the first. The third begins at the same place as the second, but
    // is longer.
    const all = new Intervals([0, 1, 1, 50, 51, 90], [10, 2, 40, 51, 52, 91], [7, 8, 9, 10, 11, 12]);
    const seen = (/** @type {number[]} */ ...[from, to, least]) => {
        const list = [];
        all.visit(from, to, least, (index) => list.push(index));
        return list;
    };
    assert.deepEqual(seen(0, 100, 0), [7, 8, 9, 10, 11, 12]);
    assert.deepEqual(seen(0, 100, 1), [7, 9, 10, 11, 12]);
    assert.deepEqual(seen(0, 100, 5), [7, 9, 10, 12]);
    assert.deepEqual(seen(20, 30, 0), [9]);
    assert.equal(all.find(5, 8, (index) => index === 9), 9);
    assert.equal(all.find(60, 80, () => true), -1);
});

test("a sequence places distinct times at equal distances, and other times between them", () => {
    const sequence = new Sequence([10, 20, 20, 100]);
    assert.deepEqual([10, 15, 20, 60, 100].map((time) => sequence.place(time)), [0, 0.5, 1, 1.5, 2]);
    for (const time of [-30, 10, 33, 100, 500]) assert.equal(Math.round(sequence.time(sequence.place(time))), time);
});

test("each length is in exactly one bar", () => {
    const lengths = [1, 2, 3, 5, 8, 8, 9, 400];
    const list = bars(lengths);
    assert.equal(list.reduce((sum, { count }) => sum + count, 0), lengths.length);
    assert.ok(list.every(({ from, to, first, count }) =>
        lengths.slice(first, first + count).every((length) => length >= from - 1e-9 && length <= to + 1e-9)));
    assert.deepEqual(bars([7, 7, 7]), [{ from: 7, to: 7, first: 0, count: 3 }]);
    assert.deepEqual([0, 0.5, 0.99, 1].map((share) => quantile(lengths, share)), [1, 5, 400, 400]);
});

test("the ticks per state equal the spans of the state, in any range", () => {
    const count = 500;
    const at = Float64Array.from({ length: count }, (_, i) => i * 10 + (i % 7));
    const state = Float64Array.from({ length: count }, (_, i) => (i * 13) % 9);
    const change = { at, seq: at, state, value: state };
    const row = new Spans(/** @type {any} */ ({ change, length: 6000 }), [0, count]);
    for (const [from, to] of [[0, 6000], [333, 334], [17, 4711], [4990, 5999]]) {
        const sums = new Array(10).fill(0);
        row.overlap(from, to, (index, ticks) => { sums[state[index]] += ticks; });
        assert.deepEqual(row.times(from, to), sums);
    }
});

test("rows are sorted by value, and empty cells come last", () => {
    const row = (/** @type {string} */ text, /** @type {any} */ value) => [{ text, value }];
    const rows = [row("", -Infinity), row("2", 2), row("10", 10)];
    const texts = (/** @type {boolean} */ down) => sorted(rows, 0, down).map(([cell]) => cell.text);
    assert.deepEqual([texts(true), texts(false)], [["10", "2", ""], ["2", "10", ""]]);
});

test("a view zooms around a point, and goes back and forward", () => {
    const view = new View(1000);
    view.show(100, 300);
    view.zoom(0.5, 150);
    assert.deepEqual([view.from, view.to], [125, 225]);
    view.jump(500, 600);
    view.back();
    assert.deepEqual([view.from, view.to], [125, 225]);
    view.forward();
    assert.deepEqual([view.from, view.to], [500, 600]);
    view.zoom(1e-9, 550);
    assert.equal(view.span, 4);
    view.show(-5000, 9000);
    assert.deepEqual([view.from, view.to], [-10, 1010]);
});

test("an address stores the view, the range and the selection, and nonsense in it is ignored", () => {
    const view = new View(1000);
    view.show(100, 300);
    view.measure([250, 150]);
    view.select({ row: 2, span: 7 });
    const exact = (/** @type {number} */ offset) => BigInt(offset) + 2n ** 60n;
    const address = view.address(exact);
    const other = new View(1000);
    other.restore(address, 2n ** 60n, () => true);
    assert.deepEqual([other.from, other.to, other.range, other.selection],
        [100, 300, [150, 250], { row: 2, span: 7 }]);
    const third = new View(1000);
    third.restore("t=x-&s=..&e=-1&&=", 0n, () => true);
    assert.deepEqual([third.from, third.to, third.selection], [-10, 1010, null]);
});

test("each context has its own colour, and interrupts share one", () => {
    const contexts = Array.from({ length: 40 }, (_, index) => ({ kind: index < 2 ? "interrupt" : "thread" }));
    const colours = contextColours(contexts, [5, 3]);
    assert.equal(colours[0], colours[1]);
    assert.equal(new Set(colours).size, 39);
    assert.equal(colours[5], contextColours(contexts, [5])[5]);
});

/**
 * Returns a model with a context for each of these priorities. Its rows are in the same order as
 * the contexts.
 * @param {boolean} largerIsUrgent
 * @param {(number | null)[]} priorities
 * @returns {any}
 */
function ordered(largerIsUrgent, priorities) {
    const contexts = priorities.map((priority, index) => ({ name: `c${index}`, priority }));
    const rows = contexts.map((_, context) => ({ kind: "context", context }));
    return Object.assign(Object.create(Model.prototype), { header: { largerIsUrgent }, contexts, rows });
}

test("contexts are sorted by urgency, whether low or high numbers are urgent", () => {
    const order = (/** @type {boolean} */ largerIsUrgent) =>
        contextOrder(ordered(largerIsUrgent, [null, 0, 3, 7, 3])).map((/** @type {any} */ row) => row.context);
    assert.deepEqual(order(true), [3, 2, 4, 1, 0]);
    assert.deepEqual(order(false), [1, 2, 4, 3, 0]);
});

test("only contexts that are less urgent than the waiting context delay it", () => {
    // Context 2 waits for an object that context 4 holds. Interrupts have the number -1.
    const times = new Map([-1, 0, 1, 2, 3, 4, 5].map((who) => [who, 1]));
    const found = (/** @type {boolean} */ larger, /** @type {number | null} */ own) =>
        culprits(ordered(larger, [1, 9, own, null, 0, 5]), 2, 4, times);
    assert.deepEqual(found(true, 5), [0]);
    assert.deepEqual(found(false, 5), [1]);
    assert.deepEqual([found(true, null), found(false, null)], [[], []]);
});

test("two lanes with the same name are hidden one by one", () => {
    const contexts = ["worker", "worker", "main"].map((name) => ({ name, priority: null }));
    const rows = [...contexts.map((_, context) => ({ kind: "context", context })),
        ...["0x10", "0x20"].map((key) => ({ kind: "lock", what: "mutex", name: "bus", key }))];
    const model = Object.assign(Object.create(Model.prototype), { header: {}, contexts, rows });
    const all = lanes(model);
    const names = all.filter(({ kind }) => kind !== "group").map(laneName);
    assert.deepEqual(names, ["Threads/worker/0", "Threads/worker/1", "Threads/main", "Mutexes/bus/0x10", "Mutexes/bus/0x20"]);
    const { shown } = placed(all, new Set(["-Threads/worker/1", "+Mutexes/bus/0x20"]));
    assert.deepEqual(shown.map((lane) => lane.row && laneName(lane)).filter((name) => name),
        ["Mutexes/bus/0x20", "Threads/worker/0", "Threads/main", "Mutexes/bus/0x10"]);
});

test("spans of threads are a group of their own, before the state machines", () => {
    const span = { kind: "machine", group: "Spans", name: "first", key: "7:8/0", states: ["request", "query"] };
    const machine = { kind: "machine", name: "motor", key: "0x10", states: ["idle"] };
    const steps = { kind: "steps", name: "motor", key: "0x10" };
    const rows = [machine, steps, span];
    const model = Object.assign(Object.create(Model.prototype), { header: {}, contexts: [{ name: "first", priority: null }],
        rows: [{ kind: "context", context: 0 }, ...rows] });
    const heads = lanes(model).filter(({ kind }) => kind === "group").map(({ label, detail }) => `${label}: ${detail}`);
    assert.deepEqual(heads, ["Threads: 1", "Spans: by thread", "State machines: 1"]);
    assert.equal(objectText(span, 1, 1), "first in query");
    assert.equal(objectText(span, 2, 0), "first in no span");
    assert.equal(objectText(machine, 0, 0), "motor in an unknown state");
});

/**
 * Returns the figures of inversions of context 0, which waits for two mutexes in turn while context 1 runs. Also
 * counts the searches in spans, and the passes over all rows.
 * @param {number} count
 */
function inverted(count) {
    const done = { spans: 0, passes: 0 };
    const change = { at: Float64Array.of(0), seq: Float64Array.of(0), state: Float64Array.of(TASK), value: Float64Array.of(1) };
    const blocked = { ...change, state: Float64Array.of(BLOCKED), value: Float64Array.of(0) };
    const of = (/** @type {any} */ values) => new Spans(/** @type {any} */ ({ change: values, length: 1e6 }), [0, 1]);
    const core = { kind: "core", spans: of(change) };
    const waiter = { kind: "context", context: 0, spans: of(blocked) };
    for (const { spans } of [core, waiter]) {
        const { within } = spans;
        spans.within = (from, to) => { done.spans += 1; return within.call(spans, from, to); };
    }
    const locks = ["a", "b"].map((key) => ({ kind: "lock", what: "mutex", name: "same", key, spans: of(change), waits: [0, 0] }));
    const model = {
        get rows() { done.passes += 1; return [core, waiter, ...locks]; },
        locks, header: { largerIsUrgent: true }, contexts: [{ name: "high", priority: 9 }, { name: "low", priority: 1 }],
        columns: new Map(), files: [], reasons: [{ holder: 0 }], wait: {}, length: 1e6, clock: new Clock([]),
        inversion: { from: Float64Array.from({ length: count }, (_, i) => i), until: Float64Array.from({ length: count }, (_, i) => i + 5),
            context: new Uint8Array(count), lock: Float64Array.from({ length: count }, (_, i) => 1 + (i % 2)),
            ticks: Float64Array.from({ length: count }, (_, i) => 1 + i) },
        exact: BigInt, span: (/** @type {number} */ from, /** @type {number} */ to) => `${to - from}`, time: String,
        priority: Model.prototype.priority, isMoreUrgent: Model.prototype.isMoreUrgent, name: Model.prototype.name,
        fileOf: Model.prototype.fileOf,
    };
    const places = { model, rowOf: (/** @type {number} */ context) => (context === 0 ? waiter : undefined) };
    const figures = new Figures(/** @type {any} */ (places));
    const json = { locks: ["a", "b"].map((key) => ({ kind: "mutex", name: "same", key })) };
    return { figures, json, done };
}

test("the table of inversions computes only the rows that are read", () => {
    const { figures, done } = inverted(2000);
    const { rows } = figures.inversions(0, 0, 1e6);
    assert.deepEqual([rows.length, done.spans], [2000, 0]);
    assert.deepEqual(rows[0].map(({ text }) => text), ["high", "same", "", "low 5", "2000", "5", "1999"]);
    assert.equal(done.spans, 2);
    sorted(rows, 5, true);
    assert.equal(done.spans, 2);
});

test("one pass finds the worst inversions of all mutexes, and mutexes with the same name stay apart", () => {
    const { figures, json, done } = inverted(2000);
    assert.deepEqual(figures.locks({ file: 0, json }).rows.map((row) => row[4].text), ["1999", "2000"]);
    assert.ok(done.passes <= 2, `${done.passes} passes over the rows`);
});

test("folded groups have no lanes", () => {
    const lanes = /** @type {any} */ ([
        { kind: "group", group: "Threads" }, { kind: "context", group: "Threads" }, { kind: "group", group: "Mutexes" },
    ]);
    const all = placed(lanes, new Set());
    const folded = placed(lanes, new Set(["Threads"]));
    assert.deepEqual([all.shown.length, folded.shown.length], [3, 2]);
    assert.ok(all.height > folded.height);
    const named = /** @type {any} */ ([{ kind: "group", group: "Threads", label: "Threads" },
        ...["a", "b", "c"].map((label) => ({ kind: "context", group: "Threads", label }))]);
    const { shown } = placed(named, new Set(["+Threads/c", "-Threads/a"]));
    assert.deepEqual(shown.map(({ label }) => label), ["c", "Threads", "b"]);
    assert.equal(shown[1].hidden, 1);
    assert.deepEqual([counted(1, "event"), counted(1096, "event")], ["1 event", "1,096 events"]);
});

test("the folded group of loads changes neither the other lanes nor the room that they need", () => {
    const rows = Array.from({ length: 17 }, (_, i) => ({ kind: "context", group: "Threads", label: `${i}` }));
    const lanes = /** @type {any} */ ([{ kind: "group", group: "Threads", label: "Threads" }, ...rows]);
    const load = [{ kind: "group", group: "Load", label: "Load" }, { kind: "load", group: "Load", label: "all" }];
    const [without, folded] = [placed(lanes, new Set()), placed([...lanes, ...load], new Set())];
    const heights = (/** @type {any} */ { shown }) => shown.slice(0, 18).map((/** @type {any} */ lane) => [lane.y, lane.height]);
    assert.deepEqual(heights(folded), heights(without));
    assert.equal(folded.natural - folded.spare, without.natural);
    assert.equal(placed([...lanes, ...load], new Set(["Load"])).spare, 0);
    // The timeline gives up the folded group to show all other lanes.
    assert.equal(listHeight(800, 630, 0), 170);
    assert.equal(listHeight(800, 650, 22), 172);
    assert.equal(listHeight(800, 670, 22), 256);
});

test("the page requests a view of a large trace if the loaded view is too small or too coarse", () => {
    const part = { from: 1000, until: 4000, resolution: 2, window: 20, events: 9, most: 50, listed: false, inversions: 7 };
    const view = (from, to) => ({ from, to, length: 10000 });
    assert.equal(needed(part, view(2000, 3000), 500), null);
    assert.equal(needed({ ...part, from: 0, until: 10000, resolution: 10 }, view(-100, 10100), 1000), null);
    // Four ticks per part are enough for 250 pixels, but not for 1000.
    assert.deepEqual(needed({ ...part, resolution: 4 }, view(2000, 3000), 250), null);
    assert.deepEqual(needed({ ...part, resolution: 4 }, view(2000, 3000), 1000), { from: 1500, to: 3500, parts: 2000 });
    assert.deepEqual(needed(part, view(500, 1500), 500), { from: 0, to: 2000, parts: 1000 });
    // A view with rows of load needs windows of the wanted width, unless the part contains all states.
    assert.equal(needed(part, view(2000, 3000), 500, 20), null);
    assert.deepEqual(needed(part, view(2000, 3000), 500, 10), { from: 1500, to: 3500, parts: 1000 });
    assert.equal(needed({ ...part, resolution: 0 }, view(2000, 3000), 500, 10), null);
    const header = { from: "5", part: { from: "1005", until: "4005", resolution: "2", window: "20", events: 9, most: 50, listed: false, inversions: 7 } };
    assert.deepEqual(partOf(header), part);
    assert.equal(partOf({ from: "0" }), null);
});

test("progress in words", () => {
    const progress = { edition: 0, reading: true, events: 1234567, bytes: 50, size: 200, failure: null };
    assert.equal(inWords(progress), "reading: 25 %, 1,234,567 events");
    assert.equal(inWords({ ...progress, size: null }), "reading: 1,234,567 events");
    assert.equal(inWords({ ...progress, reading: false }), "");
    assert.equal(inWords({ ...progress, failure: "damaged" }), "damaged");
});

test("a view that shows the end follows a growing page", () => {
    const view = new View(1000);
    view.resize(2000);
    assert.ok(view.from <= 0 && view.to >= 2000, "the view still shows the whole page");
    view.show(1900, 2020);
    view.resize(3000);
    assert.ok(view.to >= 3000 && Math.round(view.span) === 120);
    view.show(500, 600);
    view.resize(4000);
    assert.deepEqual([view.from, view.to], [500, 600]);
});

test("each mark is a line of a file, and other lines stay unchanged", () => {
    const file = "# tracewell marks 1\n50-70 a  wait\n7 first\nnot a mark\n18446744073709551615 end\n";
    const marks = new UserMarks(file);
    assert.deepEqual(marks.list.map(({ from, until, text }) => [from, until, text]),
        [[7n, 7n, "first"], [50n, 70n, "a  wait"], [2n ** 64n - 1n, 2n ** 64n - 1n, "end"]]);
    marks.remove(marks.list[0]);
    marks.add(60n, 60n, " two\nlines ");
    assert.equal(marks.content,
        "# tracewell marks 1\nnot a mark\n50-70 a  wait\n60 two lines\n18446744073709551615 end\n");
    assert.deepEqual(new UserMarks("").list, []);
});

test("marks are in the address, unless a server stores them", () => {
    const view = new View(1000);
    view.marks.add(5n, 9n, "a, b & c=ä");
    const address = view.address((offset) => BigInt(offset));
    const other = new View(1000);
    other.restore(address, 0n, () => false);
    assert.deepEqual(other.marks.list, view.marks.list);
    view.keepsMarks = false;
    assert.doesNotMatch(view.address((offset) => BigInt(offset)), /n=/);
});

test("lanes and groups can be moved, and new lanes follow the moved ones", () => {
    const lane = (group, label) => ({ kind: label ? "context" : "group", group, label: label ?? group, detail: "", y: 0, height: 0 });
    const all = [lane("A"), lane("A", "1"), lane("A", "2"), lane("A", "3"), lane("B"), lane("B", "4")];
    const names = (list) => list.map((each) => each.label).join("");
    const up = reordered(all, [], all[3], all[1]);
    assert.equal(names(arranged(all, up)), "A312B4");
    const groups = reordered(arranged(all, up), up, all[4], all[0]);
    assert.equal(names(arranged(all, groups)), "B4A312");
    const more = [...all.slice(0, 4), lane("A", "0"), ...all.slice(4)];
    assert.equal(names(arranged(more, groups)), "B4A3120");
    assert.equal(reordered(all, up, all[1], all[5]), up);
    assert.equal(arranged(all, []), all);
});

test("an SVG file contains the shapes that were drawn, and escapes text", () => {
    const ink = new SvgInk((text) => ({ width: text.length * 6, rise: 4 }), 100);
    ink.font = "600 11.5px \"A B\", sans";
    ink.fillStyle = "#123456";
    ink.save();
    ink.beginPath();
    ink.rect(0, 0, 50, 60);
    ink.clip();
    ink.globalAlpha = 0.5;
    ink.fillRect(1, 2, 3.333333, 4);
    ink.fillText("<a> & \"b\"", 5, 6);
    ink.restore();
    ink.fillStyle = ink.hatch("#654321");
    assert.equal(ink.hatch("#654321"), ink.fillStyle);
    ink.fillRect(0, 0, 1, 1);
    const file = svg([ink], "t & u", 50, 160);
    assert.equal(ink.measureText("four").width, 24);
    for (const part of [
        '<title>t &#38; u</title>', '<rect x="1" y="102" width="3.33" height="4" fill="#123456" opacity="0.5"/>',
        '<text x="5" y="110"', '>&#60;a&#62; &#38; &#34;b&#34;</text>', 'font-weight="600"', 'font-size="11.5"', 'fill="url(#100h1)"', 'id="100h1"',
    ]) assert.ok(file.includes(part), part);
    assert.equal(file.split("<g ").length, file.split("</g>").length);
});

test("an address names events by their numbers, and spans by their rows and times", () => {
    for (const [identity, text] of [
        [{ seq: 2097235, at: 4235719082 }, "E=2097235@4235719082"],
        [{ key: "context:3", from: 10, until: 25, state: undefined }, "S=context:3@10-25"],
        [{ key: "lock:0x10:mutex", from: 10, until: 25, state: 1 }, "S=lock:0x10:mutex@10-25~1"],
        [{ key: "core:0", seq: -1 }, "W=core:0"],
    ]) {
        assert.equal(written(identity), text);
        assert.deepEqual(readFrom(new Map([text.split("=")])), identity);
    }
    assert.equal(readFrom(new Map([["E", "7"], ["S", "core:0@x"], ["s", "0.30"], ["e", "48"]])), null);
});

test("a part of a trace contains a selected span only if it has the same ends, or exactly enough to find it", () => {
    const spans = (/** @type {number[]} */ ...at) => ({
        at, state: at.map((_, i) => [1, 5][i % 2]), count: at.length,
        from: (/** @type {number} */ i) => at[i], to: (/** @type {number} */ i) => at[i + 1] ?? 900,
        find: (/** @type {number} */ time) => at.filter((each) => each <= time).length - 1,
        within: (/** @type {number} */ from, /** @type {number} */ to) => [at.filter((each) => each <= from).length - 1, at.filter((each) => each < to).length],
    });
    const part = (/** @type {number} */ resolution) => ({ origin: 100n, part: { from: 0, until: 900, resolution } });
    const row = { spans: spans(0, 100, 300, 420, 440) };
    assert.equal(spanIn(part(0), row, { from: 200, until: 400 }), 1);
    // A coarse part combines the span with the next ones.
    assert.equal(spanIn(part(50), { spans: spans(0, 100, 420) }, { from: 200, until: 400 }), -1);
    const longest = { from: 190, until: 545, state: 5 };
    assert.equal(spanIn(part(0), row, longest), 1);
    assert.equal(spanIn(part(100), row, longest), -1, "the part is too coarse");
    const all = [part(0), part(50)].map((each) => showsAll(each, { from: 200, until: 300 }));
    assert.deepEqual([...all, showsAll(part(0), { from: 200, until: 2000 })], [true, false, false]);
    const gone = { from: 200, until: 400, resolution: 50 };
    assert.deepEqual([isGone(part(50), gone), isGone(part(10), gone), isGone(part(10), { ...gone, until: 2000 })], [false, true, false]);
});

/** Answers searches as the server does, in a trace in which each tenth of 3000 events contains the text. */
const asks = {
    figures: async () => null,
    /** @param {any} wanted */
    search: async ({ after = -1, before = Infinity, limit, count }) => {
        const all = Array.from({ length: 300 }, (_, i) => i * 10).filter((seq) => seq > after && seq < before);
        const shown = before < Infinity ? all.slice(-Math.min(limit, 40)) : all.slice(0, Math.min(limit, 40));
        const events = shown.map((seq) => ({ seq, ticks: String(seq * 7) }));
        return { events, more: events.length < all.length, ...(count ? { count: 300 } : {}) };
    },
};

test("the next and previous event with a text are found in the whole trace, also beyond the events that were sent", async () => {
    const seeker = new Seeker(asks, () => undefined);
    seeker.run(" text ", 3000);
    assert.equal(seeker.text(null), "searching …");
    const here = (/** @type {number | null} */ seq, ticks = 0) => ({ seq, ticks, near: Math.floor(ticks / 7) });
    assert.equal((await seeker.next(1, here(null, 36)))?.seq, 10);
    await new Promise((resolve) => { setTimeout(resolve, 20); });
    assert.equal(seeker.text(20), "3 of 300 in the trace");
    assert.equal((await seeker.next(1, here(10)))?.seq, 20);
    assert.equal((await seeker.next(-1, here(20)))?.seq, 10);
    // After the last event that was sent follow others.
    assert.equal((await seeker.next(1, here(390)))?.seq, 400);
    assert.equal(seeker.text(400), "41 of 300 in the trace");
    assert.equal((await seeker.next(-1, here(400)))?.seq, 390);
    assert.equal(seeker.text(390), "40 of 300 in the trace");
    // The search goes round at both ends.
    assert.equal((await seeker.next(-1, here(0)))?.seq, 2990);
    assert.equal((await seeker.next(1, here(55)))?.seq, 60, "from an event that was not found, far from those that were sent");
    assert.equal((await seeker.next(-1, here(0)))?.seq, 2990);
    assert.equal(seeker.text(2990), "300 of 300 in the trace");
    assert.equal((await seeker.next(1, here(2990)))?.seq, 0);
    // Without a selection, the search begins at the view, even if the events there were not sent.
    assert.equal((await seeker.next(1, here(null, 14_010)))?.seq, 2010);
    assert.equal(seeker.text(2010), "300 events in the trace");
});

test("the event with the typed number arrives before the found events", async () => {
    /** @type {Record<string, any>[]} */
    const requests = [];
    const search = async (/** @type {any} */ wanted) => {
        requests.push(wanted);
        // The search in the whole trace never ends here.
        if (wanted.before === undefined) await new Promise(() => undefined);
        return { events: [{ seq: wanted.before - 1, ticks: "77" }], more: false };
    };
    for (const [text, found] of [["0", 0], ["2,999", 2999], ["0xbb7", 2999], ["3000", null], ["-1", null], ["event", null]]) {
        await new Promise((/** @type {(_: void) => void} */ resolve) => {
            const seeker = new Seeker({ ...asks, search }, () => seeker.numbered && resolve());
            seeker.run(String(text), 3000);
            if (found === null) setTimeout(resolve, 400);
            else seeker.ready.then(() => assert.fail("the whole trace was searched"));
        });
        const { before, after, limit } = requests.find((each) => each.before !== undefined) ?? {};
        assert.deepEqual(found === null ? before : [after, before, limit], found === null ? undefined : [found === 0 ? undefined : found - 1, found + 1, 1]);
        requests.length = 0;
    }
});

test("a search that finds nothing says so only after it has searched the whole trace", async () => {
    const none = { ...asks, search: async () => ({ events: [], more: false }) };
    const seeker = new Seeker(none, () => undefined);
    seeker.run("x", 3000);
    assert.equal(seeker.text(null), "searching …");
    assert.equal(await seeker.next(1, { seq: null, ticks: 0, near: 0 }), null);
    assert.equal(seeker.text(null), "nothing found in the whole trace");
    const failing = new Seeker({ ...asks, search: async () => Promise.reject(new Error("no such file")) }, () => undefined);
    failing.run("x", 3000);
    await failing.ready;
    assert.equal(failing.text(null), "no such file");
});
