// Tests the pages of large traces that show only which context recorded an event: an RKH stream and a native stream with spans.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";

import { PROGRAM, ROOT, keep, launched, opened, options, temporary } from "./chromium.js";
import { writeRkh, writeSpans } from "./recorders.js";

launched();

/** Number of events of each trace, approximately. */
const EVENTS = 2_050_000;

/** @type {import("node:child_process").ChildProcess[]} */
const servers = [];
after(() => servers.forEach((server) => server.kill()));

/** Starts a server, and returns its address. Each file has a cache of its own. @param {string} file */
async function served(file) {
    const env = { ...process.env, XDG_CACHE_HOME: `${file}.cache` };
    const server = spawn(PROGRAM, ["serve", file], { cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] });
    servers.push(server);
    for await (const line of createInterface({ input: server.stdout })) return { address: line, server };
    throw new Error("the server has no address");
}

/** Opens the page, and waits until the server has read the trace. @type {(address: string, count: number, fragment?: string) => Promise<any>} */
async function shown(address, count, fragment = "") {
    const { page, faults } = await opened(address + fragment, { allowed: new RegExp(`^(data:|${address.replace(/[.?]/g, "\\$&")})`) });
    await page.waitForFunction((/** @type {string} */ all) => document.getElementById("facts").textContent.includes(all)
        && document.getElementById("progress").textContent === "", ` ${count.toLocaleString("en")} events`, { timeout: 400_000 });
    return { page, faults };
}

/** Waits until an element contains a text. @type {(page: any, id: string, text: string) => Promise<any>} */
function contains(page, id, text) {
    return page.waitForFunction((/** @type {string[]} */ [of, wanted]) => document.getElementById(of).textContent.includes(wanted), [id, text],
        { timeout: 240_000 });
}

/** Returns the share of the timeline's pixels that do not have the most frequent colour. @param {any} page */
function drawn(page) {
    return page.evaluate(() => {
        const canvas = /** @type {HTMLCanvasElement} */ (document.getElementById("timeline"));
        const copy = new OffscreenCanvas(canvas.width - 200, canvas.height).getContext("2d", { willReadFrequently: true });
        copy.drawImage(canvas, -200, 0);
        const { data } = copy.getImageData(0, 0, canvas.width - 200, canvas.height);
        const words = new Uint32Array(data.buffer);
        const counts = new Map();
        words.forEach((word) => counts.set(word, (counts.get(word) ?? 0) + 1));
        return 1 - Math.max(...counts.values()) / words.length;
    });
}

/** Returns the number of the file with the summary of a trace in the file system, or null if there is none. @param {string} file */
function summaryOf(file) {
    const folder = join(`${file}.cache`, "tracewell");
    const name = existsSync(folder) && readdirSync(folder).find((each) => each.endsWith(".summary"));
    return name ? statSync(join(folder, name)).ino : null;
}

/** Clicks places of the timeline, from top to bottom, until the state of a machine or a span of a thread is selected. @param {any} page */
async function selectState(page) {
    const { x, y, width, height } = await page.locator("#timeline").boundingBox();
    for (let down = 40; down < height; down += 9) {
        await page.mouse.click(x + width * 0.6, y + down);
        if (/S=machine/.test(await page.evaluate(() => location.hash))) return;
        await page.waitForTimeout(250);
        if (/S=machine/.test(await page.evaluate(() => location.hash))) return;
    }
    throw new Error("the timeline has no row of states");
}

/**
 * Checks the pages of a trace: rows, zoom, search, selection, and the start from the stored summary.
 * @param {string} file
 * @param {number} count number of events
 * @param {{ query: string, found: number, title: RegExp }} about a search, the number of events that it finds, and the title of a state
 */
async function check(file, count, { query, found, title }) {
    const { stdout } = spawnSync(PROGRAM, ["analyze", "--json", file], { maxBuffer: 1 << 28 });
    const figures = JSON.parse(String(stdout)).traces[0];
    const first = await served(file);
    const { page, faults } = await shown(first.address, count);
    const name = file.replace(/.*large\./, "recorders-");
    assert.ok(await drawn(page) > 0.05, "rows are drawn");
    await keep(page, name);
    await contains(page, "count", "zoom in to list at most 50,000");
    await page.keyboard.press("/");
    await page.fill("#query", query);
    await contains(page, "matches", `${found.toLocaleString("en")} events in the trace`);
    await page.keyboard.press("Enter");
    await contains(page, "details", "event ");
    // The page lists events when few are visible.
    const middle = Math.floor(figures.span_ticks / 2);
    await page.evaluate((/** @type {string} */ fragment) => { location.hash = fragment; }, `t=${middle}-${middle + Math.floor(figures.span_ticks / 20_000)}`);
    await contains(page, "count", "events in the loaded part");
    await page.waitForFunction(() => document.querySelectorAll(".event").length > 5, undefined, { timeout: 240_000 });
    assert.ok(await drawn(page) > 0.05, "rows are drawn");
    await keep(page, `${name}-events`);
    await selectState(page);
    const heading = await page.textContent("#details h2");
    assert.match(heading, title);
    const { hash: fragment } = new URL(page.url());
    assert.deepEqual(faults, []);
    await page.close();
    // The next server shows the summary from the cache. If it read the trace, it would replace the file.
    while (summaryOf(file) === null) await new Promise((resolve) => { setTimeout(resolve, 100); });
    first.server.kill();
    const summary = summaryOf(file);
    const second = await served(file);
    const again = await shown(second.address, count, fragment);
    await contains(again.page, "details", heading);
    assert.ok(await drawn(again.page) > 0.05, "rows are drawn");
    assert.equal(summaryOf(file), summary);
    assert.deepEqual(again.faults, []);
    await again.page.close();
    second.server.kill();
}

test("a large RKH stream has rows, a search, a list of events and a stored summary", options, async () => {
    const file = temporary("large.rkh");
    const count = writeRkh(file, EVENTS);
    await check(file, count, { query: "event:SM_DCH", found: (count - 1) / 17, title: /in state/ });
});

test("a large native stream has rows of spans, a search, a list of events and a stored summary", options, async () => {
    const file = temporary("large.twlog");
    const count = writeSpans(file, EVENTS);
    await check(file, count, { query: "event:request", found: count / 12, title: /in (request|query|no span)/ });
});
