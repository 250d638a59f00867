// Searches and filters events on pages in a browser.

import assert from "node:assert/strict";
import { test } from "node:test";

import { converted, hash, keep, launched, opened, options, shows } from "./chromium.js";

const EXAMPLE = ["examples/scheduling.trx", "rate=100MHz"];

launched();

test("a search finds numbers, ids, addresses and ticks", options, async () => {
    const { page, faults } = await opened(converted(...EXAMPLE));
    await page.keyboard.press("/");
    const finds = async (/** @type {string} */ text, /** @type {RegExp} */ shown) => {
        await page.fill("#query", text);
        await shows(page, "#matches", shown);
    };
    // `events` prints 25 events with this id, 101 with this mutex, and 25 requests of `control`.
    await finds("0x1001", /^25 events$/);
    await finds("4097", /^25 events$/);
    await finds("0x40", /event/);
    await finds("context:control & event:tx_mutex_get", /^25 events$/);
    await finds("0x20000640", /^101 events$/);
    await finds("4210000 ticks", /^go to 42.10000 ms$/);
    await finds("nothing like this", /^nothing found$/);
    await finds("842", /event/);
    await page.locator("#offers button", { hasText: "event 842" }).click();
    await shows(page, "#details h2", /^event 842: thread resumes/);
    assert.deepEqual(faults, []);
    await page.close();
});

test("a filter limits the list and the marks, stays in the address, and is cleared by a key", options, async () => {
    const { page, faults } = await opened(converted(...EXAMPLE));
    const picture = () => page.evaluate(() => /** @type {HTMLCanvasElement} */ (document.getElementById("timeline")).toDataURL());
    await page.locator("#timeline").focus();
    const before = await picture();
    await page.keyboard.press("e");
    await page.keyboard.type("context:logger & event:tx_mutex_get");
    await page.keyboard.press("Enter");
    await hash(page, /l=context%3Alogger%20%26%20event%3Atx_mutex_get/);
    await shows(page, "#count", /^\d+ of 1,096 events/);
    const labels = await page.locator(".event .label").allTextContents();
    assert.ok(labels.length > 2 && labels.every((label) => label === "tx_mutex_get"), labels.join());
    const contexts = await page.locator(".event .context").allTextContents();
    assert.ok(contexts.every((context) => context === "logger"), contexts.join());
    assert.notEqual(await picture(), before);
    await keep(page, "filter");
    // The keys go from one listed event to the next.
    await page.keyboard.press("j");
    await page.keyboard.press("j");
    await hash(page, /e=\d+/);
    assert.equal(await page.locator(".event.chosen .label").textContent(), "tx_mutex_get");
    const address = await page.evaluate(() => location.href);
    const again = await opened(address);
    await shows(again.page, "#count", /^\d+ of 1,096 events/);
    assert.equal(await again.page.inputValue("#accepted"), "context:logger & event:tx_mutex_get");
    await again.page.locator("#filter button").click();
    await shows(again.page, "#count", /^1,096 events/);
    await again.page.close();
    await page.keyboard.press("e");
    await page.keyboard.press("Escape");
    await shows(page, "#count", /^1,096 events/);
    await page.waitForFunction(() => !location.hash.includes("l="));
    assert.deepEqual([...faults, ...again.faults], []);
    await page.close();
});

test("the panel of an event offers filters for events like it", options, async () => {
    const { page, faults } = await opened(`${converted(...EXAMPLE)}#e=836`);
    await page.locator("#details p a", { hasText: "log file" }).click();
    await hash(page, /l=object%3A%22log%20file%22/);
    await shows(page, "#count", /^\d+ of 1,096 events/);
    const args = await page.locator(".event .args").allTextContents();
    assert.ok(args.every((text) => text.includes("mutex=log file")), args.join("\n"));
    assert.deepEqual(faults, []);
    await page.close();
});
