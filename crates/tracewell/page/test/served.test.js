// Tests the page of a server in a browser, including a trace that grows.

import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gzipSync } from "node:zlib";

import { ROOT, hash, keep, launched, options, temporary } from "./chromium.js";
import { FIRST_PICTURE, frames, openedAt, served, stored } from "./server.js";

launched();

test("the server sends the page, and the page sends requests only to the server", options, async () => {
    const address = await served("-O", "rate=100MHz", "examples/scheduling.trx");
    const { page, faults } = await openedAt(address);
    assert.equal(await page.textContent("#title"), "scheduling.trx");
    assert.equal(await page.title(), "scheduling.trx");
    assert.ok(await page.locator(".event").count() > 0);
    await page.keyboard.press("/");
    await page.fill("#query", "tx_mutex_get");
    await page.keyboard.press("Enter");
    await hash(page, /e=\d+/);
    await keep(page, "served");
    await page.locator("#timeline").click({ position: { x: 20, y: 20 } });
    await page.keyboard.press("2");
    await page.waitForFunction(() => document.querySelector("#figures tbody tr")?.textContent.startsWith("logger30.28 ms"));
    assert.ok(await page.locator("#pause").isHidden());
    assert.deepEqual(faults, []);
    await page.close();
});

test("the browser sends the first requests once, before it has read the script", options, async () => {
    const trace = "examples/scheduling.trx";
    for (const files of [[trace], [trace, "crates/tracewell/tests/fixtures/threadx/tiny.trx"]]) {
        const { page, faults } = await openedAt(await served("-O", "rate=100MHz", ...files));
        const requests = await page.evaluate(() => performance.getEntriesByType("resource")
            .filter(({ name }) => /\/(trace|page\?.*)$/.test(name))
            .map(({ name, initiatorType, startTime }) => ({ name, initiatorType, startTime })));
        const { domInteractive } = await page.evaluate(() => performance.getEntriesByType("navigation")[0].toJSON());
        assert.equal(requests.length, 1 + files.length);
        for (const { name, initiatorType, startTime } of requests) {
            assert.deepEqual([name, initiatorType], [name, "link"]);
            assert.ok(startTime < domInteractive, name);
        }
        assert.deepEqual(faults, []);
        await page.close();
    }
});

test("the server keeps marks next to the trace", options, async () => {
    const file = temporary("marked.trx");
    writeFileSync(file, readFileSync(join(ROOT, "examples/scheduling.trx")));
    const address = await served("-O", "rate=100MHz", file);
    const { page, faults } = await openedAt(address);
    await page.keyboard.press("b");
    await page.keyboard.type("the middle");
    const sent = page.waitForResponse((/** @type {any} */ response) => response.request().method() === "PUT");
    await page.keyboard.press("Enter");
    assert.equal((await sent).status(), 200);
    assert.match(readFileSync(`${file}.marks.txt`, "utf8"), /^# tracewell marks 1\n\d+ the middle\n$/);
    // Another page changes the file. The first page then reports that its own marks are outdated.
    const other = await openedAt(address);
    await other.page.waitForFunction(() => document.getElementById("details").textContent.includes("the middle"));
    await other.page.getByText("edit").click();
    await other.page.keyboard.type(", changed");
    const changed = other.page.waitForResponse((/** @type {any} */ response) => response.request().method() === "PUT");
    await other.page.keyboard.press("Enter");
    await changed;
    await page.getByText("delete").click();
    await page.waitForFunction(() => document.getElementById("progress").textContent.includes("has changed the marks"));
    assert.match(readFileSync(`${file}.marks.txt`, "utf8"), /the middle, changed\n$/);
    assert.equal(await page.evaluate(() => location.hash), "");
    assert.deepEqual([...faults.filter((fault) => !fault.includes("409")), ...other.faults], []);
    await page.close();
    await other.page.close();
});

test("a mark that is made before the stored marks arrive is stored together with them", options, async () => {
    const file = temporary("early.trx");
    writeFileSync(file, readFileSync(join(ROOT, "examples/scheduling.trx")));
    writeFileSync(`${file}.marks.txt`, "# tracewell marks 1\n0 the start\n");
    const address = await served("-O", "rate=100MHz", file);
    let arrive = () => {};
    const arrived = new Promise((/** @type {(value?: undefined) => void} */ resolve) => { arrive = resolve; });
    const { page, faults } = await openedAt(address, {
        prepare: (/** @type {any} */ page) => page.route("**/api/v1/marks", async (/** @type {any} */ route) => {
            await arrived;
            await route.continue();
        }),
    });
    await page.keyboard.press("b");
    await page.keyboard.type("the middle");
    await page.keyboard.press("Enter");
    await page.waitForFunction(() => document.getElementById("details").textContent.includes("the middle"));
    const sent = page.waitForResponse((/** @type {any} */ response) => response.request().method() === "PUT");
    arrive();
    assert.equal((await sent).status(), 200);
    assert.match(readFileSync(`${file}.marks.txt`, "utf8"), /^# tracewell marks 1\n0 the start\n\d+ the middle\n$/);
    await page.waitForFunction(() => document.getElementById("details").textContent.includes("the start"));
    assert.deepEqual(faults, []);
    await page.close();
});

test("the page follows a growing trace, and a pause stops this", options, async () => {
    const whole = readFileSync(join(ROOT, "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin"));
    const file = temporary("growing.bin");
    const grow = (/** @type {number} */ share) => writeFileSync(file, whole.subarray(0, whole.length * share));
    grow(0.25);
    const address = await served(file);
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
    const asked = page.waitForResponse((/** @type {any} */ response) => response.url().includes("api/v1/page"));
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
});

test("two files are two trees on one axis, and the user can drag them or type their offsets", options, async () => {
    const example = readFileSync(join(ROOT, "examples/scheduling.trx"));
    const files = ["left.trx", "right.trx"].map((name) => temporary(name));
    files.forEach((file) => writeFileSync(file, example));
    const address = await served("-O", "rate=100MHz", ...files);
    const { page, faults } = await openedAt(address);
    assert.equal(await page.title(), "left.trx + right.trx");
    assert.match(await page.textContent("#facts"), /2,192 events · 58\.76 ms/);
    await keep(page, "several");
    // Fold the tree of the first file: the bar of the second file is then the second lane.
    await page.mouse.click(60, 46 + 56 + 44 + 13);
    await hash(page, /f=1%3A/);
    const bar = 46 + 56 + 44 + 26 + 13;
    await page.mouse.move(600, bar);
    await page.mouse.down();
    await page.mouse.move(700, bar, { steps: 4 });
    await page.mouse.up();
    await hash(page, /d=0,\d{5,}/);
    const dragged = Number(/d=0,(\d+)/.exec(await page.evaluate(() => location.hash))[1]);
    // The timeline is 1280 - 308 - 200 pixels wide and shows 102 % of 5,876,190 ticks.
    assert.ok(Math.abs(dragged - (100 / 772) * 1.02 * 5_876_190) < 8000, String(dragged));
    assert.match(await page.textContent("#facts"), /66\.\d+ ms/);
    await keep(page, "several-dragged");
    await page.keyboard.press("y");
    await page.getByLabel("right.trx").fill("soon");
    await page.keyboard.press("Enter");
    assert.match(await page.textContent("dialog[open]"), /soon: expected a time such as 1\.5 ms/);
    await page.getByLabel("right.trx").fill("-10 ms");
    await keep(page, "several-offsets");
    await page.keyboard.press("Enter");
    await hash(page, /d=0,-1000000(&|$)/);
    await page.waitForFunction(() => document.getElementById("facts").textContent.includes("68.76 ms · 100 MHz"));
    await page.keyboard.press("f");
    await page.keyboard.press("j");
    await page.waitForFunction(() => document.getElementById("details").textContent.includes("right.trx"));
    assert.match(await page.textContent("#details"), /time-10\.\d+ ms/);
    await page.keyboard.press("2");
    await page.waitForFunction(() => document.querySelectorAll("#figures nav h2").length === 3);
    assert.deepEqual(await page.locator("#figures nav h2").allTextContents(), ["left.trx", "right.trx", "Visible time"]);
    await keep(page, "several-moved");
    // The address contains the offsets.
    const other = await openedAt(address + new URL(page.url()).hash);
    assert.match(await other.page.textContent("#facts"), /68\.76 ms/);
    // If one file changes, its tree changes.
    writeFileSync(files[1], example.subarray(0, example.length - 32 * 500));
    await other.page.waitForFunction(() => !document.getElementById("facts").textContent.includes("2,192 events"));
    assert.deepEqual([...faults, ...other.faults], []);
    await page.close();
    await other.page.close();
});

/**
 * Writes a trace that repeats the events of the example, and returns the number of its events.
 * @param {string} file
 * @param {number} copies
 */
function repeated(file, copies) {
    // The layout is that of crates/wire/src/threadx/header.rs, with 32-bit words.
    const example = readFileSync(join(ROOT, "examples/scheduling.trx"));
    const [bufferStart, bufferEnd, current] = [24, 28, 32];
    const start = example.readUInt32LE(bufferStart) - example.readUInt32LE(8);
    const end = example.readUInt32LE(current) - example.readUInt32LE(8);
    const events = example.subarray(start, end);
    const stamp = (/** @type {number} */ event) => events.readUInt32LE(event * 32 + 12);
    const count = events.length / 32;
    const length = stamp(count - 1) - stamp(0) + 1000;
    const all = Buffer.alloc(start + copies * events.length);
    example.copy(all, 0, 0, start);
    for (let copy = 0; copy < copies; copy += 1) {
        const place = start + copy * events.length;
        events.copy(all, place);
        for (let event = 0; event < count; event += 1) {
            all.writeUInt32LE((stamp(event) + copy * length) % 2 ** 32, place + event * 32 + 12);
        }
    }
    all.writeUInt32LE(example.readUInt32LE(bufferStart) + copies * events.length, bufferEnd);
    all.writeUInt32LE(example.readUInt32LE(bufferStart), current);
    writeFileSync(file, all);
    return { count: copies * count, length };
}

test("a page draws 60 tracks on 2000 pixels fast and in little memory", options, async (context) => {
    const names = ["a", "b", "c", "d", "e", "f", "g"].map((name) => temporary(`tracks-${name}.trx`));
    const counts = names.map((name) => repeated(name, Number(process.env.PAGE_COPIES ?? 10)).count);
    const address = await served("-O", "rate=100MHz", ...names);
    // Names and the side panel take 508 pixels.
    const { page, faults } = await openedAt(address, { width: 2000 + 508, height: 2600 });
    await keep(page, "tracks");
    const tracks = await page.evaluate(() => Number(document.documentElement.dataset.lanes));
    const times = await frames(page);
    const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
    const events = counts.reduce((sum, count) => sum + count, 0);
    context.diagnostic(`${events} events, ${tracks} tracks: ${times}, heap ${Math.round(heap / 1e6)} MB`);
    assert.ok(tracks >= 60, String(tracks));
    assert.ok(heap < 300e6);
    assert.deepEqual(faults, []);
    await page.close();
});

/**
 * Checks that the first picture of a page shows only the first events, because the server was still reading. Reports the time of the picture.
 * @type {(context: any, page: any, events: number) => Promise<void>}
 */
async function isEarly(context, page, events) {
    const { ms, facts } = await page.evaluate(() => globalThis.first);
    const early = Number(/([\d,]+) events/.exec(facts)[1].replaceAll(",", ""));
    context.diagnostic(`first picture ${ms.toFixed(0)} ms after the request, with ${early} of ${events} events`);
    // A picture of fewer events would be almost empty.
    assert.ok(early >= 16_384 && early < events, String(early));
}

/** Files that the server is still reading at the first picture: their description, and a function that writes them. The last test uses a larger dump. */
const EARLY = [
    ["a compressed dump", () => {
        const [dump, file] = [temporary("packed.trx"), temporary("packed.trx.gz")];
        const { count } = repeated(dump, 1200);
        writeFileSync(file, gzipSync(readFileSync(dump), { level: 1 }));
        return { files: [file], events: count };
    }],
    ["several files", () => {
        const files = ["one.trx", "two.trx"].map(temporary);
        return { files, events: files.reduce((sum, file) => sum + repeated(file, 700).count, 0) };
    }],
];

for (const [name, write] of EARLY) {
    test(`the first picture of ${name} shows the first events, and later pictures show all`, options, async (context) => {
        const { files, events } = write();
        // The page asks for its content as soon as the server has started.
        const address = await served("-O", "rate=100MHz", ...files);
        const { page, faults } = await openedAt(address, { prepare: (/** @type {any} */ page) => page.addInitScript(FIRST_PICTURE) });
        await isEarly(context, page, events);
        await keep(page, `first-of-${files.length}`);
        await page.waitForFunction((/** @type {string} */ all) => document.getElementById("facts").textContent.includes(all),
            ` ${events.toLocaleString("en")} events`, { timeout: 240_000 });
        await page.waitForFunction(() => document.getElementById("progress").textContent === "");
        assert.deepEqual(faults, []);
        await page.close();
    });
}

test("a long trace is first drawn as a view, and then lists its events", options, async () => {
    const file = temporary("long.trx");
    const { count } = repeated(file, 100);
    const address = await served("-O", "rate=100MHz", file);
    while ((await (await fetch(`${address}api/v1/trace`)).json()).reading) {
        await new Promise((resolve) => { setTimeout(resolve, 50); });
    }
    const { page, faults } = await openedAt(address, { prepare: (/** @type {any} */ page) => page.addInitScript(FIRST_PICTURE) });
    const all = `${count.toLocaleString("en")} events`;
    await page.waitForFunction((/** @type {string} */ text) => document.getElementById("count").textContent.startsWith(text), all);
    const requests = await page.evaluate(() => performance.getEntriesByType("resource")
        .filter(({ name }) => /\/page\?/.test(name)).map(({ name, startTime }) => ({ name: name.replace(/.*\?/, ""), startTime })));
    assert.deepEqual(requests.map(({ name }) => name), ["first=1", "so_far=1&parts=840"]);
    const { ms, facts } = await page.evaluate(() => globalThis.first);
    assert.ok(ms < requests[1].startTime, "the page loads the events after the first picture");
    assert.ok(facts.includes(` ${all} `), facts);
    // Only the whole trace contains the number of an event, so a link to an event needs the whole trace at once.
    const linked = await openedAt(`${address}#e=${count - 10}`);
    assert.ok(await linked.page.locator("#details h2").count() > 0);
    assert.equal(await linked.page.evaluate(() => location.hash), `#e=${count - 10}`);
    assert.deepEqual([...faults, ...linked.faults], []);
    await page.close();
    await linked.page.close();
});

test("a trace of more than two million events is loaded in parts", options, async (context) => {
    const file = temporary("large.trx");
    const { count, length } = repeated(file, 2000);
    assert.ok(count > 2_000_000);
    const address = await served("-O", "rate=100MHz", file);
    const { page, faults } = await openedAt(address, { prepare: (/** @type {any} */ page) => page.addInitScript(FIRST_PICTURE) });
    await isEarly(context, page, count);
    // While the server reads the trace, the page shows the events that the server has read so far.
    const all = ` ${count.toLocaleString("en")} events`;
    const hasAll = (/** @type {string} */ text) => document.getElementById("facts").textContent.includes(text);
    await page.waitForFunction(hasAll, all, { timeout: 120_000 });
    assert.match(await page.textContent("#count"), /zoom in to list/);
    await keep(page, "large");
    // Show the second to last copy of the example, which contains the same waits.
    const from = 1998 * length + 4_155_000;
    await page.evaluate((hash) => { location.hash = hash; }, `t=${from}-${from + 197_000}`);
    await page.waitForFunction(() => /^\d+ events/.test(document.getElementById("count").textContent));
    assert.ok(await page.getByText("tx_mutex_get").count() > 0);
    const listed = await page.textContent("#count");
    await keep(page, "large-part");
    await page.keyboard.press("f");
    await page.waitForFunction(() => /zoom in to list/.test(document.getElementById("count").textContent));
    const times = await frames(page);
    const heap = await page.evaluate(() => performance.memory.usedJSHeapSize);
    context.diagnostic(`${count} events: ${times}, heap ${Math.round(heap / 1e6)} MB`);
    assert.ok(heap < 300e6);
    await page.keyboard.press("f");
    // The first server stores a summary after the first picture. Wait for the summary, because the next server needs it.
    await stored();
    const again = await served("-O", "rate=100MHz", file);
    const second = await openedAt(again);
    assert.ok(await second.page.evaluate(hasAll, all), "the first picture shows all events");
    await second.page.evaluate((hash) => { location.hash = hash; }, `t=${from}-${from + 197_000}`);
    await second.page.waitForFunction(() => /^\d+ events/.test(document.getElementById("count").textContent));
    assert.equal(await second.page.textContent("#count"), listed);
    assert.deepEqual([...faults, ...second.faults], []);
    await page.close();
    await second.page.close();
});
