// Tests the page of a trace with a hundred million events, and reports how long it draws. With FRAME_MS, it draws a frame in less time.
//
// A debug build would need minutes for the trace. So HUGE_PROGRAM is an optimised build, and HUGE_TRACE is a dump that
// `make-trace 3200MiB FILE program` of bench/ has written. Without these variables the test is skipped; with CI=true, it fails.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { test } from "node:test";

import { hash, keep, launched, options, shows } from "./chromium.js";
import { FIRST_PICTURE, frames, openedAt, servedBy, stored } from "./server.js";
import { duration } from "../time.js";

launched();

const PROGRAM = process.env.HUGE_PROGRAM ?? "";
const TRACE = process.env.HUGE_TRACE ?? "";
const absent = PROGRAM && TRACE ? options.skip : "skipped: no HUGE_PROGRAM or no HUGE_TRACE; .ci/page sets both";
if (absent && process.env.CI === "true") throw new Error(`CI needs this test: ${absent}`);
const RATE = ["-O", "rate=100MHz"];

/** Runs the program, and returns what it prints as JSON. @param {string} verb */
function json(verb) {
    const { stdout, stderr } = spawnSync(PROGRAM, [verb, "--json", ...RATE, TRACE], { maxBuffer: 1 << 28 });
    assert.ok(stdout.length > 0, String(stderr));
    return JSON.parse(String(stdout)).traces[0];
}

/** Returns the milliseconds from the request of the page to its first picture. @param {any} page @returns {Promise<number>} */
const firstPicture = (page) => page.evaluate(() => Math.round(globalThis.first.ms));

test("a page of a hundred million events has the figures of analyze, finds any event, shows single ticks, and needs little memory", { skip: absent }, async (context) => {
    const figures = json("analyze");
    const all = ` ${figures.events.toLocaleString("en")} events`;
    assert.ok(figures.events > 100e6, all);
    const prepare = (/** @type {any} */ page) => page.addInitScript(FIRST_PICTURE);
    const start = performance.now();
    const { page, faults } = await openedAt(await servedBy(PROGRAM, ...RATE, TRACE), { width: 2508, height: 1600, prepare });
    context.diagnostic(`first picture after ${await firstPicture(page)} ms`);
    await page.waitForFunction((/** @type {string} */ text) => document.getElementById("facts").textContent.includes(text)
        && document.getElementById("progress").textContent === "", all, { timeout: 240_000 });
    context.diagnostic(`all events after ${((performance.now() - start) / 1000).toFixed(1)} s`);
    await keep(page, "huge");
    context.diagnostic(`whole trace: ${await frames(page)}`);

    // The figures are those of `analyze`.
    await page.keyboard.press("2");
    await page.locator("#figures nav button", { hasText: /^Threads$/ }).first().click();
    for (const task of figures.tasks) {
        const row = page.locator("#figures tbody tr", { has: page.getByText(task.name, { exact: true }) }).first();
        assert.ok((await row.textContent()).includes(duration(BigInt(task.execution_ticks) * 10n)), task.name);
    }

    // An event near the end is found by its number, and listed.
    const wanted = figures.events - 1_000_000;
    await page.keyboard.press("/");
    await page.fill("#query", String(wanted));
    await page.locator("#offers button", { hasText: `event ${wanted}` }).click();
    await hash(page, new RegExp(`E=${wanted}@`));
    // The picture comes first. For the list, the server reads the trace up to the event.
    await shows(page, "#count", /^\d/, 240_000);
    await keep(page, "huge-found");
    context.diagnostic(`around event ${wanted}: ${await frames(page)}`);

    // From there, the keys lead to single ticks.
    await page.locator("#timeline").focus();
    for (let i = 0; i < 60; i += 1) await page.keyboard.press("w");
    const window = async () => {
        const [, from, to] = /t=(\d+)-(\d+)/.exec(await page.evaluate(() => location.hash)) ?? [];
        return Number(to) - Number(from);
    };
    await page.waitForFunction(() => /t=\d+-\d+/.test(location.hash));
    assert.ok(await window() <= 10, String(await window()));
    await keep(page, "huge-ticks");

    const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
    context.diagnostic(`heap ${Math.round(heap / 1e6)} MB`);
    assert.ok(heap < 300e6);
    await stored();
    await page.close();

    const second = await openedAt(await servedBy(PROGRAM, ...RATE, TRACE), { prepare });
    context.diagnostic(`second server: first picture after ${await firstPicture(second.page)} ms`);
    assert.ok((await second.page.textContent("#facts")).includes(all), "the first picture shows all events");
    assert.deepEqual([...faults, ...second.faults], []);
    await second.page.close();
});
