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
