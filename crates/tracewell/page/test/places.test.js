// Follows the links of the figures on pages in a browser, and reads their headings.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { test } from "node:test";

import { heading, isDuration, isTime } from "../headings.js";
import { PROGRAM, ROOT, converted, hash, keep, launched, opened, options } from "./chromium.js";

const EXAMPLE = ["examples/scheduling.trx", "rate=100MHz"];

launched();

test("headings are words, and no two columns of a table have the same", options, () => {
    assert.equal(heading("lock_wait_split_own_ticks"), "mutex waits, own execution");
    assert.equal(heading("most_ns_within_10ms"), "most in any 10 ms");
    assert.deepEqual(["duration_max", "step_mean", "total_ticks", "ticks", "first_ticks", "delay", "count"].map(isDuration), [true, true, true, true, false, false, false]);
    assert.deepEqual(["at_ticks", "last_ticks", "start_latency_max_ticks", "execution_ticks"].map(isTime), [true, true, false, false]);
    const keys = (/** @type {any} */ row, prefix = "") => Object.entries(row).flatMap(([key, value]) =>
        (value !== null && typeof value === "object" && !Array.isArray(value) ? keys(value, `${prefix}${key}_`) : [prefix + key]));
    for (const trace of ["examples/scheduling.trx", "crates/tracewell/tests/fixtures/shark/b_cyclic.dat", "crates/tracewell/tests/fixtures/rkh/ahsm-overrun.bin"]) {
        const { stdout } = spawnSync(PROGRAM, ["analyze", "--json", "--show", "all", join(ROOT, trace)]);
        const [json] = JSON.parse(String(stdout)).traces;
        for (const list of [...Object.values(json), json.interrupts?.sources].filter((each) => Array.isArray(each) && typeof each[0] === "object")) {
            const names = [...new Set(list.flatMap((/** @type {any} */ row) => keys(row)))].filter((key) => !key.endsWith("_ns"));
            const headings = names.map(heading);
            assert.equal(new Set(headings).size, headings.length, headings.join(", "));
            assert.ok(headings.every((each) => !each.includes("_")), headings.join(", "));
        }
    }
});

test("figures of stacks, cores, levels, timers, interrupts and preemptions lead to their places", options, async () => {
    const { page, faults } = await opened(`${converted(...EXAMPLE)}#p=figures`);
    const open = (/** @type {string} */ name) => page.getByRole("button", { name, exact: true }).first().click();
    const follow = async (/** @type {string} */ table, /** @type {string} */ column, /** @type {RegExp} */ address) => {
        await page.keyboard.press("Escape");
        await open(table);
        const headings = (await page.locator("#figures th").allTextContents()).map((text) => text.replace(/ [▾▴]$/, ""));
        const place = headings.indexOf(column);
        assert.ok(place >= 0, `${column}: ${headings.join(", ")}`);
        await page.locator(`#figures tbody td:nth-child(${place + 1}) a`).first().click();
        await hash(page, address);
    };
    await follow("Threads", "preempted", /s=\d+\.\d+/);
    await follow("Cores", "core", /w=0/);
    await follow("Stacks", "high-water event", /e=47/);
    await follow("Interrupt sources", "longest", /s=0\.\d+/);
    await follow("Levels", "object", /w=\d+/);
    await follow("Timers", "timer", /e=\d+/);
    await open("Interrupt sources");
    await keep(page, "sources");
    const cells = await page.locator("#figures tbody tr").first().locator("td").allTextContents();
    const units = new Set(cells.map((text) => /(?<= )(s|ms|µs|ns)$/.exec(text)?.[0]).filter((unit) => unit));
    assert.equal(units.size, 1, cells.join(", "));
    await open("Threads, all figures");
    await keep(page, "all-figures");
    assert.deepEqual(faults, []);
    await page.close();
});

test("the load over time has a row for each window, and leads to the window", options, async () => {
    const { page, faults } = await opened(`${converted(...EXAMPLE)}#p=figures`);
    await page.getByRole("button", { name: "Load over time", exact: true }).first().click();
    const rows = page.locator("#figures tbody tr");
    const shares = (await rows.locator("td:nth-child(2)").allTextContents()).map((text) => Number(/^([\d.]+) %$/.exec(text)?.[1] ?? 0));
    // Windows of 2 ms cover 58.76 ms. The last of them ends with the trace.
    assert.equal(shares.length, 30);
    const widths = shares.map((_, i) => (i < 29 ? 2 : 0.7619));
    const load = shares.reduce((sum, share, i) => sum + share * widths[i], 0) / 58.7619;
    // `analyze`: tasks and interrupts executed for 4,647,175 of 5,876,190 ticks.
    assert.ok(Math.abs(load - (100 * 4647175) / 5876190) < 0.1, String(load));
    await keep(page, "load");
    await rows.nth(20).locator("a").first().click();
    await hash(page, /r=4000000-4200000/);
    await page.waitForFunction(() => document.querySelector("#figures .scope")?.textContent?.includes("selected range 40.00000 ms to 42.00000 ms"));
    assert.deepEqual(faults, []);
    await page.close();
});

test("labels of the axis do not overlap at the deepest zoom", options, async () => {
    const { page, faults } = await opened(`${converted(...EXAMPLE)}#t=4619748-4619752`);
    const overlaps = await page.evaluate(() => {
        const { prototype } = CanvasRenderingContext2D;
        const { fillText } = prototype;
        /** @type {[number, number][]} */
        const labels = [];
        prototype.fillText = function (text, x, y) {
            if (y === 12 && this.textAlign === "center") labels.push([x - this.measureText(text).width / 2, x + this.measureText(text).width / 2]);
            fillText.call(this, text, x, y);
        };
        window.dispatchEvent(new KeyboardEvent("keydown", { key: "x" }));
        return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(labels))));
    });
    assert.ok(overlaps.length > 1);
    for (let i = 1; i < overlaps.length; i += 1) assert.ok(overlaps[i][0] > overlaps[i - 1][1], JSON.stringify(overlaps));
    await keep(page, "axis");
    assert.deepEqual(faults, []);
    await page.close();
});

test("times that were not recorded are findings, and the facts mention them", options, async () => {
    const { page, faults } = await opened(converted("crates/tracewell/tests/fixtures/shark/a_linear.dat"));
    assert.match(await page.textContent("#facts"), /not all recorded$/);
    const before = await page.evaluate(() => /** @type {HTMLCanvasElement} */ (document.getElementById("timeline")).toDataURL());
    await page.locator("#details a", { hasText: "not recorded: filter_user, from 199.352377 ms" }).click();
    await hash(page, /t=1724\d+-1733\d+/);
    assert.notEqual(await page.evaluate(() => /** @type {HTMLCanvasElement} */ (document.getElementById("timeline")).toDataURL()), before);
    await keep(page, "hidden");
    assert.deepEqual(faults, []);
    await page.close();
});
