// Tests the page of a trace that is loaded in parts: its figures, links, addresses, counts, search and sequence are about the whole trace.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";

import { PROGRAM, ROOT, converted, hash, keep, launched, opened, options, temporary } from "./chromium.js";
import { writeLarge } from "./large.js";
import { duration } from "../time.js";

launched();

const RATE = ["-O", "rate=100MHz"];

/** The address of the server, the number of events, and the figures of `analyze`. */
let address = "";
let count = 0;
/** @type {any} */
let figures;
/** @type {import("node:child_process").ChildProcess} */
let server;

/** Starts the server, when the first test begins. */
async function start() {
    const file = temporary("parts.trx");
    count = writeLarge(join(ROOT, "examples/scheduling.trx"), file, 2_050_000);
    const env = { ...process.env, XDG_CACHE_HOME: temporary("cache") };
    server = spawn(PROGRAM, ["serve", ...RATE, file], { cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: server.stdout })) {
        address = line;
        break;
    }
    const { stdout } = spawnSync(PROGRAM, ["analyze", "--json", ...RATE, file], { maxBuffer: 1 << 28 });
    figures = JSON.parse(String(stdout)).traces[0];
}
/** @type {Promise<void> | undefined} */
let started;
after(() => server?.kill());

/** Opens the page, and waits until the server has read the trace. */
async function shown(fragment = "", more = {}) {
    const { page, faults } = await opened(address + fragment, {
        allowed: new RegExp(`^(data:|${address.replace(/[.?]/g, "\\$&")})`), ...more,
    });
    await page.waitForFunction((/** @type {string} */ all) => document.getElementById("facts").textContent.includes(all)
        && document.getElementById("progress").textContent === "", ` ${count.toLocaleString("en")} events`, { timeout: 240_000 });
    return { page, faults };
}

/** Waits until an element contains a text. */
function contains(/** @type {any} */ page, /** @type {string} */ id, /** @type {string} */ text, timeout = 120_000) {
    return page.waitForFunction((/** @type {string[]} */ [of, wanted]) => document.getElementById(of).textContent.includes(wanted), [id, text], { timeout });
}

/** Returns ticks of the trace as the page shows them. */
const shownTicks = (/** @type {number} */ ticks) => duration(BigInt(ticks) * 10n);

/** Returns a table of the figures panel: for each row, its cells by the titles of their columns. */
async function table(/** @type {any} */ page, /** @type {string} */ name) {
    await page.locator("#figures nav button", { hasText: new RegExp(`^${name}$`) }).first().click();
    return page.evaluate(() => {
        const texts = (/** @type {any} */ list) => [...list].map((each) => each.textContent.replace(/ [▾▴]$/, ""));
        const titles = texts(document.querySelectorAll("#figures thead th"));
        const rows = [...document.querySelectorAll("#figures tbody tr")].map((row) => texts(row.children));
        return rows.map((row) => Object.fromEntries(row.map((/** @type {string} */ text, /** @type {number} */ i) => [titles[i], text])));
    });
}

/** Checks the tables of the whole trace against the figures of `analyze`. */
async function areExact(/** @type {any} */ page) {
    await page.waitForFunction(() => !document.querySelector("#figures .scope")?.textContent.includes("computing"), undefined, { timeout: 120_000 });
    const locks = await table(page, "Mutexes and semaphores");
    for (const lock of figures.locks) {
        const row = locks.find((/** @type {any} */ each) => each.name === lock.name);
        const ticks = { "longest wait from request": lock.wait?.max_ticks, "longest hold": lock.hold?.max_ticks,
            "worst inversion": lock.inversions?.inverted_max_ticks || undefined };
        for (const [column, most] of Object.entries(ticks)) {
            const text = row[column]?.replace(/ by .*/, "") ?? "";
            assert.equal(text, most === undefined ? "" : shownTicks(most), `${lock.name}: ${column}`);
        }
        assert.equal(row.requests, lock.requests.toLocaleString("en"));
        assert.equal(row["times held"] ?? "", lock.hold?.count.toLocaleString("en") ?? "");
    }
    const threads = await table(page, "Threads");
    for (const task of figures.tasks) {
        const row = threads.find((/** @type {any} */ each) => each.name === task.name);
        const waits = [task.lock_wait_max_ticks, ...(task.waits_for ?? []).map((/** @type {any} */ each) => each.wait?.max_ticks)];
        const most = Math.max(...waits.map((ticks) => ticks ?? -1));
        assert.equal(row["CPU time"], shownTicks(task.execution_ticks));
        assert.equal((row["longest wait from request"] ?? "").replace(/ for .*/, ""), most < 0 ? "" : shownTicks(most), task.name);
        assert.equal(row["longest run"], undefined, "analyze has no such figure");
    }
}

test("the figures of a large trace are those of analyze at every zoom", options, async () => {
    await (started ??= start());
    const { page, faults } = await shown();
    await page.keyboard.press("2");
    await areExact(page);
    await keep(page, "parts-figures");
    const middle = Math.floor(figures.span_ticks / 2);
    await page.evaluate((/** @type {string} */ fragment) => { location.hash = fragment; }, `t=${middle}-${middle + 300_000_000}&p=figures`);
    await areExact(page);
    // The panel of a mutex shows the same figures.
    const bus = figures.locks.find((/** @type {any} */ lock) => lock.name === "log file");
    await page.keyboard.press("/");
    await page.fill("#query", "log file");
    await page.locator("#offers button", { hasText: "log file" }).first().click();
    await contains(page, "details", shownTicks(bus.hold.max_ticks));
    assert.ok((await page.textContent("#details")).includes(`longest wait from request${shownTicks(bus.wait.max_ticks)} by `));
    assert.deepEqual(faults, []);
    await page.close();
});

test("the figures of a selected range are those of analyze for this range", options, async () => {
    await (started ??= start());
    const [from, to] = [Math.floor(figures.span_ticks / 3), Math.floor(figures.span_ticks / 2)];
    const file = temporary("parts.trx");
    const range = ["--from", `${from}`, "--to", `${to}`];
    const { stdout } = spawnSync(PROGRAM, ["analyze", "--json", ...RATE, ...range, file], { maxBuffer: 1 << 28 });
    const { locks } = JSON.parse(String(stdout)).traces[0];
    const { page, faults } = await shown(`#r=${from}-${to}&p=figures`);
    const part = page.locator("#figures nav h2", { hasText: "Selected range" });
    // The table of the whole trace has the same name, and comes first.
    const table = page.locator("#figures nav button", { hasText: /^Mutexes and semaphores$/ }).nth(1);
    await table.click({ timeout: 120_000 });
    assert.equal(await part.count(), 1);
    const rows = await page.evaluate(() => [...document.querySelectorAll("#figures tbody tr")].map((row) => row.textContent));
    for (const lock of locks.filter((/** @type {any} */ each) => each.wait)) {
        assert.ok(rows.some((/** @type {string} */ row) => row.includes(lock.kind) && row.includes(shownTicks(lock.wait.max_ticks))), rows.join("\n"));
    }
    await keep(page, "parts-range");
    assert.deepEqual(faults, []);
    await page.close();
});

test("a link of a large trace selects its wait, and the address selects it again at any width", options, async () => {
    await (started ??= start());
    const { page, faults } = await shown();
    const link = page.locator("#details li a").first();
    const [, name, at] = /unbounded inversion of (.*), .*, at (.*)$/.exec(await link.textContent());
    await link.click();
    await contains(page, "details", `${name} waits for`);
    const title = await page.textContent("#details h2");
    const about = await page.textContent("#details p");
    await hash(page, /S=context/);
    await keep(page, "parts-link");
    const { hash: fragment } = new URL(page.url());
    const again = await shown(fragment, { width: 1000 });
    await contains(again.page, "details", title);
    assert.equal(await again.page.textContent("#details p"), about);
    // The wait begins at the request or a little later.
    const seconds = (/** @type {string} */ text) => Number(/^[\d.]+/.exec(text)[0]);
    assert.ok(Math.abs(seconds(about) - seconds(at)) < 0.001, `${about}: ${at}`);
    // The wait stays selected if the part that contains it is replaced by a coarse one and is loaded again.
    await page.keyboard.press("f");
    await contains(page, "details", "show it");
    await page.locator("#details a", { hasText: "show it" }).click();
    await contains(page, "details", title);
    assert.equal(await page.textContent("#details p"), about);
    // A link of a table leads to its wait, too.
    await page.keyboard.press("2");
    const waits = page.locator("#figures nav button", { hasText: /^Longest waits$/ });
    // The table of the whole trace arrives later than that of the visible time, and is the first one then.
    await waits.nth(1).waitFor({ timeout: 120_000 });
    await waits.first().click();
    const row = page.locator("#figures tbody tr").nth(3);
    const cells = await row.locator("td").allTextContents();
    await row.locator("a").first().click();
    await page.waitForFunction((/** @type {number} */ begins) => Math.abs(parseFloat(document.querySelector("#details p").textContent) - begins) < 0.0005,
        seconds(cells.at(-1)), { timeout: 120_000 });
    assert.match(await page.textContent("#details h2"), new RegExp(`^${cells[0]} waits for`));
    assert.deepEqual([...faults, ...again.faults], []);
    await page.close();
    await again.page.close();
});

test("an event of a large trace stays selected when the page loads another part, and its address selects it", options, async () => {
    await (started ??= start());
    const middle = Math.floor(figures.span_ticks / 2);
    const { page, faults } = await shown(`#t=${middle}-${middle + 200_000}`);
    await page.waitForFunction(() => document.querySelectorAll(".event").length > 5, undefined, { timeout: 120_000 });
    await page.evaluate(() => { document.getElementById("scroller").scrollTop = 0; });
    // The first lines of the list are before the visible time, so the view moves.
    await page.waitForFunction(() => document.querySelectorAll(".event")[2]?.classList.contains("outside"));
    const line = page.locator(".event").nth(2);
    const number = await line.locator(".number").textContent();
    await line.click();
    await hash(page, new RegExp(`E=${number}@`));
    await page.waitForFunction(() => document.querySelector(".event.chosen"), undefined, { timeout: 120_000 });
    await contains(page, "details", `event ${number}:`);
    for (const width of [900, 1600]) {
        const again = await shown(new URL(page.url()).hash, { width });
        await contains(again.page, "details", `event ${number}:`);
        assert.deepEqual(again.faults, []);
        await again.page.close();
    }
    assert.deepEqual(faults, []);
    await page.close();
});

test("the search finds the events of the whole large trace", options, async () => {
    await (started ??= start());
    const { page, faults } = await shown();
    await page.keyboard.press("/");
    await page.fill("#query", "tx_mutex_get");
    // The search says that it is searching until it has found something.
    await contains(page, "matches", "searching");
    const copies = Number(count) / 1096;
    const { stdout } = spawnSync(PROGRAM, ["events", "--event", "tx_mutex_get", join(ROOT, "examples/scheduling.trx")], { maxBuffer: 1 << 26 });
    const own = String(stdout).trim().split("\n").length;
    const all = (copies * own).toLocaleString("en");
    await contains(page, "matches", `${all} events in the trace`);
    await page.keyboard.press("Enter");
    await contains(page, "matches", `1 of ${all} in the trace`);
    await contains(page, "details", "tx_mutex_get");
    await page.keyboard.press("Shift+Enter");
    await contains(page, "matches", `${all} of ${all} in the trace`);
    await contains(page, "details", "tx_mutex_get");
    const { hash: fragment } = new URL(page.url());
    assert.ok(Number(/E=(\d+)@/.exec(fragment)[1]) > count - 1096, fragment);
    await keep(page, "parts-search");
    await page.fill("#query", "no such text");
    await contains(page, "matches", "searching");
    await contains(page, "matches", "nothing found in the whole trace");
    assert.deepEqual(faults, []);
    await page.close();
});

test("counts of a large trace say what they cover", options, async () => {
    await (started ??= start());
    const { page, faults } = await shown();
    const findings = await page.textContent("#details p");
    const [inversions, gaps] = [/([\d,]+) unbounded inversions/, /([\d,]+) gaps?$/].map((pattern) => pattern.exec(findings)[1]);
    assert.match(findings, /^whole trace: /);
    assert.equal(gaps, String(figures.gaps));
    const middle = Math.floor(figures.span_ticks / 2);
    await page.evaluate((/** @type {string} */ fragment) => { location.hash = fragment; }, `t=${middle}-${middle + 9_000_000}`);
    await page.waitForFunction(() => /events in the loaded part/.test(document.getElementById("count").textContent), undefined, { timeout: 120_000 });
    assert.equal(await page.textContent("#details p"), findings, "the findings are those of the whole trace");
    await page.keyboard.press("2");
    await page.locator("#figures nav button", { hasText: /^Unbounded inversions$/ }).first().click({ timeout: 120_000 });
    await contains(page, "figures", `the 200 worst of ${inversions}`);
    assert.deepEqual(faults, []);
    await page.close();
});

test("the view in sequence works if a part of a large trace lists events, and says otherwise why not", options, async () => {
    await (started ??= start());
    const { page, faults } = await shown();
    await page.keyboard.press("q");
    await contains(page, "count", "zoom in until events are listed");
    assert.equal(await page.locator("#sequence").isDisabled(), true);
    const middle = Math.floor(figures.span_ticks / 2);
    await page.evaluate((/** @type {string} */ fragment) => { location.hash = fragment; }, `t=${middle}-${middle + 1_000_000}`);
    await page.waitForFunction(() => !document.getElementById("sequence").disabled, undefined, { timeout: 120_000 });
    await page.keyboard.press("q");
    await page.waitForFunction(() => document.getElementById("sequence").getAttribute("aria-pressed") === "true");
    await keep(page, "parts-sequence");
    // The sequence continues in the part that a move loads.
    for (let i = 0; i < 12; i += 1) await page.keyboard.press("d");
    await page.waitForFunction(() => document.getElementById("sequence").getAttribute("aria-pressed") === "true", undefined, { timeout: 120_000 });
    await hash(page, /q=1/);
    assert.deepEqual(faults, []);
    await page.close();
});

test("the findings state how many more there are, and a table lists all gaps", options, async () => {
    const { page, faults } = await opened(converted("crates/tracewell/tests/fixtures/rkh/ahsm-overrun.bin"));
    const gaps = Number(/(\d+) gaps/.exec(await page.textContent("#details p"))[1]);
    assert.ok(gaps > 5);
    assert.equal(await page.locator("#details li").last().textContent(), `${gaps - 5} more gap${gaps === 6 ? "" : "s"}: see Figures`);
    await page.keyboard.press("2");
    await page.locator("#figures nav button", { hasText: /^Gaps$/ }).first().click();
    assert.equal(await page.locator("#figures tbody tr").count(), gaps);
    assert.deepEqual(faults, []);
    await page.close();
});
