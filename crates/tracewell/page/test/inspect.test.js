// Tests the parts of a page that a user reads and clicks: labels, rows, links, ranges, times, the legend, the borders.

import assert from "node:assert/strict";
import { test } from "node:test";

import { converted, hash, keep, launched, opened, options } from "./chromium.js";

launched();

/** Fragment of an address that shows and selects a wait of `control`. This wait contains the second longest inversion. */
const WAIT = "#t=4155000-4352000&s=2.59";

/** Opens the page of the example. @param {string} [fragment] @param {any} [more] */
function example(fragment = "", more = {}) {
    return opened(`${converted("examples/scheduling.trx", "rate=100MHz")}${fragment}`, more);
}

/** Waits until the side panel contains a text. @type {(page: any, text: string) => Promise<void>} */
async function stated(page, text) {
    await page.waitForFunction((/** @type {string} */ wanted) => document.getElementById("details").textContent.includes(wanted), text);
}

test("each inversion has its label in the panel, with the inheritance of its mutex", options, async () => {
    const { page, faults } = await example();
    for (const [length, rank] of [["191.8", "longest of 6"], ["83.8", "2nd longest of 6"]]) {
        await page.keyboard.press("Escape");
        await page.getByText(`unbounded inversion of control, ${length} µs, at 4`).click();
        await stated(page, rank);
        assert.equal(await page.textContent("#details .tag"), "unbounded inversion");
        const panel = await page.textContent("#details");
        assert.match(panel, /log file was created without priority inheritance \(event 4\)/);
        assert.doesNotMatch(panel, /in total/);
    }
    assert.deepEqual(faults, []);
    await page.close();
});

test("the link to the holder selects the hold, and a step back returns to the wait", options, async () => {
    const { page, faults } = await example(WAIT);
    await page.locator("#details dd").first().getByText("logger").click();
    await stated(page, "mutex log file held by logger");
    assert.match(await page.textContent("#details"), /41\.60445 ms to 42\.78765 ms/);
    await page.click("#back");
    await stated(page, "control waits for mutex log file");
    await page.click("#forward");
    await stated(page, "mutex log file held by logger");
    assert.deepEqual(faults, []);
    await page.close();
});

test("a click on the name of a row selects the row and shows its figures", options, async () => {
    const { page, faults } = await example();
    // Above the first mutex are the processor (78 pixels), a group, five threads of 32 pixels each,
    // and a group.
    await page.locator("#timeline").click({ position: { x: 60, y: 44 + 78 + 22 + 160 + 22 + 13 } });
    await hash(page, /w=6/);
    const panel = await page.textContent("#details");
    for (const text of ["log file", "none (event 4)", "1.183 ms by logger", "685.2 µs by control from the suspension, 685.5 µs from the request", "25 times", "20.02 ms"]) {
        assert.ok(panel.includes(text), `${text}: ${panel}`);
    }
    await keep(page, "row");
    await page.keyboard.press("p");
    await hash(page, /f=%2BMutexes%2Flog%20file/);
    await page.keyboard.press("h");
    await hash(page, /f=-Mutexes%2Flog%20file(&|$)/);
    await page.getByText("1.183 ms").first().click();
    await stated(page, "mutex log file held by logger");
    assert.deepEqual(faults, []);
    await page.close();
});

test("labels on the timeline accept clicks, and do not pass them on", options, async () => {
    const { page, faults } = await example(`${WAIT.replace(/&.*/, "")}&n=4300000%20here`);
    const box = await page.locator("#timeline").boundingBox();
    // 4,300,000 ticks are at 145/197 of 772 pixels.
    await page.mouse.click(box.x + 200 + (145 / 197) * 772 + 20, box.y + box.height - 12);
    assert.equal(await page.getByLabel("Text of the mark").inputValue(), "here");
    await page.getByRole("button", { name: "remove mark" }).click();
    await page.waitForFunction(() => !location.hash.includes("n="));
    await page.mouse.click(box.x + 200 + (59.5 / 197) * 772 + 20, box.y + 31);
    await stated(page, "control waits for mutex log file");
    assert.deepEqual(faults, []);
    await page.close();
});

test("a key hides the text at the pointer, but not the time at the pointer", options, async () => {
    const { page, faults } = await example();
    const box = await page.locator("#timeline").boundingBox();
    const tip = page.locator("#tip");
    await page.mouse.move(box.x + 500, box.y + 290);
    await tip.waitFor({ state: "visible" });
    await page.keyboard.press("ArrowDown");
    await tip.waitFor({ state: "hidden" });
    await page.mouse.move(box.x + 505, box.y + 290);
    await tip.waitFor({ state: "visible" });
    assert.match(await page.textContent("#hair"), /^\d+\.\d{5} ms$/);
    await page.mouse.wheel(0, -300);
    await tip.waitFor({ state: "hidden" });
    assert.ok(await page.locator("#hair").isVisible());
    await page.mouse.move(box.x + 60, box.y + 290);
    await page.locator("#hair").waitFor({ state: "hidden" });
    assert.deepEqual(faults, []);
    await page.close();
});

test("a range snaps to the ends of spans, and the list and the panel show the range", options, async () => {
    const { page, faults } = await example(WAIT.replace(/&.*/, ""));
    const box = await page.locator("#timeline").boundingBox();
    const x = (/** @type {number} */ ticks) => box.x + 200 + ((ticks - 4_155_000) / 197_000) * 772;
    // The wait of control lasts from 4,214,550 to 4,278,800. The pointer is a few pixels away from
    // the ends of the wait.
    await page.keyboard.down("Shift");
    await page.mouse.move(x(4_214_550) + 3, box.y + 294);
    await page.mouse.down();
    await page.mouse.move(x(4_278_800) - 3, box.y + 294, { steps: 4 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await hash(page, /r=4214550-4278800/);
    assert.match(await page.textContent("#details"), /from42\.14550 msto42\.78800 ms/);
    assert.match(await page.textContent("#count"), /^8 of 1,096 events/);
    await page.waitForFunction(() => document.querySelector(".event .number").textContent === "768");
    assert.deepEqual(faults, []);
    await page.close();
});

test("the first m asks for the end of the measurement", options, async () => {
    const { page, faults } = await example(WAIT);
    const before = await page.textContent("#count");
    await page.keyboard.press("m");
    await page.keyboard.press(".");
    await hash(page, /s=2\.60/);
    assert.doesNotMatch(await page.evaluate(() => location.hash), /r=/);
    assert.equal(await page.textContent("#count"), before);
    await page.keyboard.press("m");
    await hash(page, /r=4214550-4278800/);
    assert.deepEqual(faults, []);
    await page.close();
});

test("a search shows the time that was typed, contexts and objects, and what it did not find", options, async () => {
    const { page, faults } = await example();
    const shown = (/** @type {string} */ text) => page.waitForFunction((/** @type {string} */ wanted) =>
        document.getElementById("matches").textContent === wanted, text);
    await page.keyboard.press("/");
    await page.fill("#query", "42.1455 ms");
    await shown("go to 42.14550 ms");
    await page.keyboard.press("Enter");
    await hash(page, /t=/);
    await page.waitForFunction(() => document.querySelector(".event .number").textContent === "768");
    await page.fill("#query", "nowhere");
    await shown("nothing found");
    await page.fill("#query", "log");
    await page.locator("#offers button").first().waitFor();
    assert.deepEqual(await page.locator("#offers button").allTextContents(), ["loggerThreads", "log fileMutexes", "log requestsEvent flags"]);
    assert.equal((await page.textContent(".event mark")).toLowerCase(), "log");
    await keep(page, "search");
    await page.locator("#offers button").nth(1).click();
    await hash(page, /w=6/);
    assert.ok(await page.locator("#offers").isHidden());
    assert.deepEqual(faults, []);
    await page.close();
});

test("the help has a legend with pictures, in both themes", options, async () => {
    const { page, faults } = await example();
    for (const _ of ["light", "dark"]) {
        await page.keyboard.press("?");
        const empty = await page.evaluate(() => [...document.querySelectorAll(".legend canvas")].filter((each) => {
            const canvas = /** @type {HTMLCanvasElement} */ (each);
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return data.every((value) => value === 0);
        }).length);
        assert.equal(empty, 0);
        assert.ok(await page.locator(".legend canvas").count() > 10);
        await page.keyboard.press("?");
        await page.keyboard.press("t");
    }
    assert.deepEqual(faults, []);
    await page.close();
});

test("all rows are visible at first if they fit, and both borders can be moved with pointer and keys", options, async () => {
    const { page, faults } = await example();
    const size = (/** @type {string} */ id) => page.evaluate((/** @type {string} */ name) => {
        const { width, height } = document.getElementById(name).getBoundingClientRect();
        return { width, height };
    }, id);
    // Six groups, a core, interrupts, five threads, four objects and a level, below the axis.
    assert.ok((await size("timeline")).height >= 44 + 6 * 22 + 34 + 22 + 5 * 32 + 4 * 26 + 34);
    const [list, side] = [await size("list"), await size("details")];
    await page.locator("#splitter").focus();
    await page.keyboard.press("ArrowUp");
    assert.equal((await size("list")).height, list.height + 24);
    const divider = await page.locator("#divider").boundingBox();
    await page.mouse.move(divider.x + 4, divider.y + 100);
    await page.mouse.down();
    await page.mouse.move(divider.x - 96, divider.y + 100, { steps: 4 });
    await page.mouse.up();
    assert.ok(Math.abs((await size("details")).width - side.width - 100) < 6);
    await page.locator("#divider").focus();
    await page.keyboard.press("ArrowRight");
    assert.equal(await page.evaluate(() => location.hash), "");
    assert.deepEqual(faults, []);
    await page.close();
});

test("the longest waits are in a list, from the suspension and from the request, and lead to their places", options, async () => {
    const { page, faults } = await example("#p=figures");
    await page.getByRole("button", { name: "Longest waits" }).first().click();
    assert.match(await page.textContent("#figures .scope"), /^whole trace, 58\.76 ms/);
    const lengths = await page.evaluate(() => [...document.querySelectorAll("#figures tbody tr")].map((row) => {
        const [number, unit] = row.children[3].textContent.replace(", not ended", "").split(" ");
        return Number(number) * { ms: 1000, µs: 1, ns: 0.001 }[unit];
    }));
    assert.ok(lengths.length > 100 && lengths.every((length, i) => i === 0 || length <= lengths[i - 1]), String(lengths));
    const row = page.locator("#figures tbody tr", { hasText: "log file" }).first();
    assert.equal(await row.textContent(), "controlmutexlog file685.2 µs685.5 µslogger46.03750 ms");
    await row.getByText("685.2 µs").click();
    await stated(page, "control waits for mutex log file");
    assert.match(await page.textContent("#details"), /event 836 tx_mutex_get, 685\.5 µs from the request to the end/);
    assert.deepEqual(faults, []);
    await page.close();
});

test("figures are those of a range when it is selected, say so, and change to the whole trace by a click", options, async () => {
    const { page, faults } = await example("#p=figures");
    const scope = page.locator("#figures .scope");
    await page.getByRole("button", { name: "Longest waits" }).first().click();
    assert.equal(await scope.getByRole("button", { name: /^show/ }).count(), 0);
    const range = "selected range 42.14550 ms to 42.78800 ms";
    await page.evaluate(() => { location.hash = "#t=4155000-4352000&r=4214550-4278800&p=figures"; });
    await page.waitForFunction((text) => document.querySelector("#figures .scope")?.textContent.includes(text), range);
    // The panel shows the same table, but for the range.
    assert.equal(await page.locator("#figures nav .chosen").textContent(), "Longest waits");
    assert.match(await page.textContent("#figures tbody"), /controlmutexlog file642\.5 µs642\.9 µslogger/);
    assert.ok(await page.locator("#figures tbody tr").count() < 10);
    await scope.getByRole("button", { name: "show whole trace" }).click();
    assert.match(await scope.textContent(), /^whole trace, 58\.76 ms/);
    assert.ok(await page.locator("#figures tbody tr").count() > 100);
    await scope.getByRole("button", { name: `show ${range}` }).click();
    assert.ok((await scope.textContent()).startsWith(range));
    // Without a range, the table of the whole trace returns.
    await page.getByRole("button", { name: "Threads", exact: true }).click();
    await page.evaluate(() => { location.hash = "#t=4155000-4352000&p=figures"; });
    await page.waitForFunction(() => document.querySelector("#figures .scope")?.textContent.startsWith("whole trace"));
    assert.deepEqual(faults, []);
    await page.close();
});

test("a table that is wider than its place says so and has a button that shows its other columns", options, async () => {
    const { page, faults } = await example("#p=figures", { width: 1280 });
    await page.getByRole("button", { name: "Threads", exact: true }).click();
    const more = page.getByRole("button", { name: "more columns" });
    const left = () => page.evaluate(() => document.querySelector("#figures .table").scrollLeft);
    const wide = await page.evaluate(() => { const area = document.querySelector("#figures .table"); return area.scrollWidth - area.clientWidth; });
    assert.ok(wide > 0);
    await more.click();
    await page.waitForFunction(() => document.querySelector("#figures .table").scrollLeft > 0);
    assert.ok(await left() <= wide);
    await page.getByRole("button", { name: "Events by kind" }).click();
    assert.ok(await more.isHidden());
    assert.deepEqual(faults, []);
    await page.close();
});

test("in a narrow side panel, no table and no value is wider than the panel", options, async () => {
    // The longest waits, the holders of a mutex, and an event with long values.
    for (const [trace, rate, selected] of [["examples/scheduling.trx", "rate=100MHz", "s=2.59"],
        ["examples/scheduling.trx", "rate=100MHz", "w=8"], ["examples/hooks.twx", undefined, "e=1"]]) {
        const { page, faults } = await opened(`${converted(trace, rate)}#${selected}`, { width: 800, height: 600 });
        const wide = await page.evaluate(() => [...document.querySelectorAll("#details, #details section")]
            .filter((part) => part.scrollWidth > part.clientWidth).map((part) => part.textContent));
        assert.deepEqual(wide, [], selected);
        await keep(page, `narrow-${selected}`);
        assert.deepEqual(faults, []);
        await page.close();
    }
});

test("the bars of a histogram are proportional to their counts and leave room for the counts", options, async () => {
    const { page, faults } = await example("#p=distributions");
    await page.getByRole("button", { name: "mutex log file · 50" }).click();
    assert.match(await page.textContent("#distributions"), /50 holds · least .* median /);
    const bars = await page.evaluate(() => [...document.querySelectorAll(".bars button")].map((bar) => ({
        count: Number(bar.querySelector("b").textContent), height: bar.querySelector("i").getBoundingClientRect().height,
        isInside: bar.querySelector("b").getBoundingClientRect().top >= bar.getBoundingClientRect().top - 0.5,
    })));
    const most = bars.reduce((a, b) => (b.count > a.count ? b : a));
    for (const { count, height, isInside } of bars.filter((bar) => bar.count > 0)) {
        assert.ok(isInside);
        assert.ok(Math.abs(height - Math.max((most.height * count) / most.count, 3)) < 1, `${count}: ${height}`);
    }
    assert.deepEqual(faults, []);
    await page.close();
});
