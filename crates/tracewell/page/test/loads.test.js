// Tests the load in windows, without a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { ALL, INTERRUPTS, loads, shownWidth, visitLoads } from "../loads.js";
import { loadAt } from "../loadrows.js";
import { IDLE, INTERRUPT, Spans, TASK } from "../model.js";

/** Returns pseudo-random numbers below `limit`. @param {number} seed */
function random(seed) {
    let state = seed;
    return (/** @type {number} */ limit) => {
        state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
        return Math.floor((state / 2 ** 31) * limit);
    };
}

/** Returns a model with the rows of two cores, which run some of 4 contexts, and the list of its spans. @param {number} seed */
function twoCores(seed) {
    const next = random(seed);
    /** @type {{ at: number[], seq: number[], state: number[], value: number[] }} */
    const change = { at: [], seq: [], state: [], value: [] };
    const places = [0, 1].map(() => {
        const start = change.at.length;
        for (let at = next(9), i = 0; i < 400; i += 1, at += next(30)) {
            change.at.push(at);
            change.seq.push(i);
            change.state.push([TASK, TASK, TASK, INTERRUPT, IDLE, 0][next(6)]);
            change.value.push(next(4));
        }
        return [start, change.at.length];
    });
    const typed = Object.fromEntries(Object.entries(change).map(([name, list]) => [name, Float64Array.from(list)]));
    /** @type {any} */
    const model = { change: typed, length: Math.max(...change.at) + 20, files: [], origin: 0n, clock: { isKnown: false },
        endOf: () => model.length, has: () => true };
    model.rows = places.map((place, number) => ({ kind: "core", number, spans: new Spans(model, place) }));
    return model;
}

/** Returns the share of a window in which the cores are in a state, span by span. @type {(model: any, who: number, from: number, to: number) => number} */
function naive(model, who, from, to) {
    let ticks = 0;
    for (const { spans } of model.rows) {
        for (let i = 0; i < spans.count; i += 1) {
            const isTask = spans.state[i] === TASK;
            const isInterrupt = spans.state[i] === INTERRUPT;
            const counts = who === ALL ? isTask || isInterrupt : who === INTERRUPTS ? isInterrupt : isTask && spans.value[i] === who;
            if (counts) ticks += Math.max(Math.min(spans.to(i), to) - Math.max(spans.from(i), from), 0);
        }
    }
    return ticks / ((to - from) * model.rows.length);
}

const near = (/** @type {number} */ a, /** @type {number} */ b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} is not ${b}`);

test("the load of each window is the sum of its spans", () => {
    for (const seed of [1, 2, 3]) {
        const model = twoCores(seed);
        const windows = loads(model, 0, 17, model.length - 5);
        assert.ok(windows.length > 20 && windows.length <= 50);
        for (const { from, to, contexts, interrupts, total } of windows) {
            near(total, naive(model, ALL, from, to));
            near(interrupts, naive(model, INTERRUPTS, from, to));
            for (const who of [0, 1, 2, 3]) near(contexts.get(who) ?? 0, naive(model, who, from, to));
        }
    }
});

test("the windows of a row begin at multiples of their width, and do not move with the view", () => {
    const model = twoCores(4);
    const width = shownWidth(model, { from: 0, to: model.length });
    for (const who of [ALL, INTERRUPTS, 0, 3]) {
        for (const range of [[0, model.length], [333.5, 2000.25], [model.length - 10, model.length + 50]]) {
            let last = -1;
            visitLoads(model, 0, who, width, /** @type {[number, number]} */ (range), (from, to, share) => {
                assert.ok(from % width === 0 && (to === from + width || to === model.length));
                assert.ok(last < 0 ? from <= Math.max(range[0], 0) : from === last);
                near(share, naive(model, who, from, to));
                last = to;
            });
            assert.ok(last >= Math.min(range[1], model.length));
        }
    }
    const lane = /** @type {any} */ ({ kind: "load", who: 2 });
    const found = loadAt(model, { from: 0, to: model.length }, lane, 1234.5);
    assert.ok(found && found.from <= 1234.5 && found.to > 1234.5);
    near(found.share, naive(model, 2, found.from, found.to));
    assert.equal(loadAt({ ...model, has: () => false }, { from: 0, to: model.length }, lane, 1234.5), null);
});

test("a page that begins later in the trace has the windows of the whole trace", () => {
    const model = { ...twoCores(5), origin: 1003n };
    visitLoads(model, 0, ALL, 50, [0, 500], (from, to) => {
        assert.ok(from === 0 || (from + 1003) % 50 === 0);
        assert.ok((to + 1003) % 50 === 0);
    });
});
