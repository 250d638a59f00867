// Compares the distributions of pages with those of `analyze`, and selects their durations in a browser.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { distributions } from "../distributions.js";
import { Model } from "../model.js";
import { inflated, payload } from "../source.js";
import { PROGRAM, ROOT, converted, hash, keep, launched, opened, options } from "./chromium.js";

const EXAMPLE = ["examples/scheduling.trx", "rate=100MHz"];

/** Traces with jobs, interrupts and messages. */
const TRACES = [EXAMPLE, ["crates/tracewell/tests/fixtures/shark/b_cyclic.dat"], ["crates/tracewell/tests/fixtures/rkh/ahsm-overrun.bin"]];

launched();

/** Returns the model of the page of a trace. @param {string} trace @param {string} [rate] */
async function modelOf(trace, rate) {
    const html = readFileSync(fileURLToPath(converted(trace, rate)), "utf8");
    const [, text] = /id="payload">([^<]*)</.exec(html) ?? [];
    const { header, columns } = payload(await inflated(text));
    return new Model(header, columns);
}

/** Returns the distributions of `analyze`. @param {string} trace @param {string} [rate] @returns {any[]} */
function analyzed(trace, rate) {
    const given = rate ? ["-O", rate] : [];
    const { stdout } = spawnSync(PROGRAM, ["analyze", "--json", "--show", "distributions", ...given, join(ROOT, trace)]);
    return JSON.parse(String(stdout)).traces[0].distributions;
}

test("distributions have the numbers and the maxima of analyze", options, async () => {
    const names = { response: "Response", "start latency": "Start latency", hold: "Held", interrupt: "Interrupts",
        "message wait": "Messages until they are received" };
    const seen = new Set();
    for (const [trace, rate] of TRACES) {
        const model = await modelOf(trace, rate);
        const all = distributions(model, 0, model.length);
        const printed = analyzed(trace, rate);
        for (const measure of Object.keys(names)) {
            const group = names[measure];
            // `analyze` separates messages by their types.
            const summed = measure === "message wait";
            const theirs = printed.filter((each) => each.measure === measure);
            const ours = all.filter((each) => each.group === group);
            if (theirs.length > 0) seen.add(measure);
            // `analyze` measures only messages of state machines. The page also has those of queues.
            else if (summed) continue;
            const figures = (/** @type {any[]} */ list, /** @type {(each: any) => [number, number]} */ of) => {
                const pairs = list.map(of).sort((a, b) => a[0] - b[0] || a[1] - b[1]);
                if (!summed) return pairs;
                return [pairs.reduce((sum, [count]) => sum + count, 0), Math.max(...pairs.map(([, most]) => most))];
            };
            // The page does not know when the scheduler chooses a task that runs already.
            const known = (/** @type {number} */ most) => (measure === "start latency" ? Math.round(most / 1000) : most);
            assert.deepEqual(figures(ours, ({ lengths }) => [lengths.length, known(lengths[lengths.length - 1])]),
                figures(theirs, ({ count, max_ticks: most }) => [count, known(most)]), `${trace}: ${measure}`);
        }
    }
    assert.deepEqual([...seen].sort(), Object.keys(names).sort());
});

test("distributions cover the selected range, and a bar leads to a job", options, async () => {
    const { page, faults } = await opened(converted("crates/tracewell/tests/fixtures/shark/b_cyclic.dat"));
    await page.keyboard.press("3");
    await page.locator("#distributions nav button").first().click();
    const text = () => page.textContent("#distributions .histogram");
    assert.match(await text(), /^Response: context 0x0118.*whole trace.*19 responses/);
    await page.locator("#distributions .bars button:not([disabled])").last().click();
    await hash(page, /t=/);
    await keep(page, "responses");
    const { from, to } = await page.evaluate(() => {
        const [, from, to] = /t=(\d+)-(\d+)/.exec(location.hash) ?? [];
        return { from, to };
    });
    await page.evaluate(({ from, to }) => { location.hash = `#p=distributions&t=${from}-${to}&r=${from}-${to}`; }, { from, to });
    await page.waitForFunction(() => /selected range/.test(document.querySelector("#distributions .histogram")?.textContent ?? ""));
    assert.doesNotMatch(await text(), /19 responses/);
    await page.keyboard.press("Escape");
    await page.waitForFunction(() => /whole trace/.test(document.querySelector("#distributions .histogram")?.textContent ?? ""));
    assert.deepEqual(faults, []);
    await page.close();
});

test("a trace without states has distributions of its messages and machines", options, async () => {
    const { page, faults } = await opened(`${converted("crates/tracewell/tests/fixtures/rkh/ahsm-overrun.bin")}#p=distributions`);
    const names = await page.locator("#distributions nav").textContent();
    for (const part of ["Messages until they are received", "to my · 13", "Steps", "Stays in a state", "my: S1 "]) assert.ok(names.includes(part), `${part}: ${names}`);
    await page.locator("#distributions .bars button:not([disabled])").last().click();
    await hash(page, /e=\d+/);
    await keep(page, "messages");
    assert.deepEqual(faults, []);
    await page.close();
});
