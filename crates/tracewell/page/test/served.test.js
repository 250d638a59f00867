// The page in a browser, from the server: the same page as from disk, while the trace grows too.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";

import { PROGRAM, ROOT, hash, keep, launched, opened, options, temporary } from "./chromium.js";

launched();

/** Starts a server. Returns it and its address. @param {string[]} files */
async function served(...files) {
    const child = spawn(PROGRAM, ["serve", ...files], { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
    for await (const address of createInterface({ input: child.stdout })) return { child, address };
    throw new Error("the server ended without an address");
}

/** Opens the page of a server, which may send requests to this server only. */
async function openedAt(/** @type {string} */ address, more = {}) {
    return opened(address, { allowed: new RegExp(`^(data:|${address.replace(/[.?]/g, "\\$&")})`), ...more });
}

test("the server shows the page, and the page asks only the server", options, async () => {
    const { child, address } = await served("-O", "rate=100MHz", "examples/scheduling.trx");
    const { page, faults } = await openedAt(address);
    assert.equal(await page.textContent("#title"), "scheduling.trx");
    assert.equal(await page.title(), "scheduling.trx");
    assert.ok(await page.locator(".event").count() > 0);
    await page.keyboard.press("/");
    await page.fill("#query", "tx_mutex_get");
    await page.keyboard.press("Enter");
    await hash(page, /e=\d+/);
    await keep(page, "served");
    assert.ok(await page.locator("#pause").isHidden());
    assert.deepEqual(faults, []);
    await page.close();
    child.kill();
});

test("a growing trace is followed, and a pause stops that", options, async () => {
    const whole = readFileSync(join(ROOT, "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin"));
    const file = temporary("growing.bin");
    const grow = (/** @type {number} */ share) => writeFileSync(file, whole.subarray(0, whole.length * share));
    grow(0.25);
    const { child, address } = await served(file);
    const { page, faults } = await openedAt(address);
    const count = async () => Number((await page.textContent("#count")).split(" ")[0].replaceAll(",", ""));
    const more = (/** @type {number} */ than) => page.waitForFunction((old) => {
        const text = document.getElementById("count").textContent.split(" ")[0].replaceAll(",", "");
        return Number(text) > old;
    }, than);
    const quarter = await count();
    await page.keyboard.press("j");
    await hash(page, /e=0/);
    grow(0.5);
    await more(quarter);
    // The selection is still the same event, and the whole trace is still shown.
    assert.match(await page.evaluate(() => location.hash), /^#e=0$/);
    const half = await count();
    await page.click("#pause");
    assert.equal(await page.textContent("#pause"), "continue");
    const asked = page.waitForResponse((/** @type {any} */ response) => response.url().endsWith("api/v1/page"));
    grow(0.75);
    // The server reports the change; the page loads it after the pause.
    await page.waitForFunction(async () => {
        const { edition } = await (await fetch("api/v1/trace")).json();
        return edition >= 3;
    });
    assert.equal(await count(), half);
    await page.click("#pause");
    await asked;
    await more(half);
    await keep(page, "growing");
    assert.deepEqual(faults, []);
    await page.close();
    child.kill();
});
