// Moves through pages in a browser: the history of views, rows chosen by keys, and the side panel that follows the visible time.

import assert from "node:assert/strict";
import { test } from "node:test";

import { converted, hash, keep, launched, opened, options, shows } from "./chromium.js";

const EXAMPLE = ["examples/scheduling.trx", "rate=100MHz"];

launched();

test("the panel of a selected event shows the figures of the visible time", options, async () => {
    const { page, faults } = await opened(converted(...EXAMPLE));
    await page.locator(".event").first().click();
    await hash(page, /e=0/);
    await shows(page, "#details", /Visible time.*1,096/);
    for (let i = 0; i < 8; i += 1) await page.keyboard.press("w");
    await page.waitForFunction(() => !document.getElementById("details").textContent.includes("1,096"));
    await shows(page, "#details", /Visible time/);
    assert.deepEqual(faults, []);
    await page.close();
});

test("keys and wheel leave one entry in the history for each gesture", options, async () => {
    const { page, faults } = await opened(converted(...EXAMPLE));
    const isAll = () => page.waitForFunction(() => !location.hash.includes("t="));
    await page.keyboard.press("w");
    await page.keyboard.press("w");
    await hash(page, /t=/);
    assert.ok(await page.locator("#back").isEnabled());
    await page.keyboard.press("Backspace");
    await isAll();
    assert.ok(await page.locator("#back").isDisabled());
    await page.keyboard.press("Shift+Backspace");
    await hash(page, /t=/);
    const keyed = await page.evaluate(() => location.hash);
    const box = await page.locator("#timeline").boundingBox();
    await page.mouse.move(box.x + 600, box.y + 150);
    await page.mouse.wheel(0, -300);
    await page.mouse.wheel(0, -300);
    await page.waitForFunction((old) => location.hash !== old, keyed);
    await page.locator("#back").click();
    await page.waitForFunction((old) => location.hash === old, keyed);
    assert.deepEqual(faults, []);
    await page.close();
});

test("the panel of a span links to the states before and after it", options, async () => {
    const { page, faults } = await opened(converted(...EXAMPLE));
    await page.getByText("unbounded inversion of control, 83.8 µs").click();
    await shows(page, "#details", /before.*running.*after.*(ready|running)/);
    const facts = page.locator("#details dl").first();
    const span = await page.evaluate(() => Number(/s=2\.(\d+)/.exec(location.hash)?.[1]));
    await facts.locator("dt", { hasText: /^after$/ }).locator("xpath=following-sibling::dd[1]").locator("a").click();
    await hash(page, new RegExp(`s=2\\.${span + 1}`));
    await facts.locator("dt", { hasText: /^before$/ }).locator("xpath=following-sibling::dd[1]").locator("a").click();
    await hash(page, new RegExp(`s=2\\.${span}`));
    await keep(page, "neighbours");
    assert.deepEqual(faults, []);
    await page.close();
});

test("keys fold a group and select a row by its name", options, async () => {
    const { page, faults } = await opened(converted(...EXAMPLE));
    await page.locator("#timeline").focus();
    await page.keyboard.press("g");
    await shows(page, "#status", /^group Processor, unfolded$/);
    await page.keyboard.press("Enter");
    await hash(page, /f=Processor/);
    await shows(page, "#status", /^group Processor, folded$/);
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => !location.hash.includes("f="));
    for (let i = 0; i < 5; i += 1) await page.keyboard.press("ArrowDown");
    await shows(page, "#status", /^row control$/);
    await keep(page, "framed");
    await page.keyboard.press("Enter");
    await hash(page, /w=2/);
    await shows(page, "#details h2", /^control$/);
    await page.keyboard.press("ArrowLeft");
    await hash(page, /f=Threads/);
    await page.keyboard.press("Escape");
    // The arrow keys move the view again.
    await page.keyboard.press("w");
    await page.keyboard.press("ArrowRight");
    await hash(page, /t=/);
    assert.deepEqual(faults, []);
    await page.close();
});

test("the chosen theme outlives a reload, also where the browser keeps nothing", options, async () => {
    const theme = (/** @type {any} */ page) => page.evaluate(() => document.documentElement.dataset.theme);
    const { page, faults } = await opened(converted(...EXAMPLE));
    await page.keyboard.press("t");
    assert.equal(await theme(page), "dark");
    await page.reload();
    await page.waitForFunction(() => document.documentElement.dataset.drawn !== undefined);
    assert.equal(await theme(page), "dark");
    await page.close();
    const refused = await opened(converted(...EXAMPLE), {
        prepare: (/** @type {any} */ next) => next.addInitScript(() => {
            Object.defineProperty(window, "localStorage", { get() { throw new Error("refused"); } });
        }),
    });
    await refused.page.keyboard.press("t");
    assert.equal(await theme(refused.page), "dark");
    assert.deepEqual([...faults, ...refused.faults], []);
    await refused.page.close();
});
