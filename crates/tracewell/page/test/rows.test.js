// Tests the rows of servers and of load: they show what `analyze` computes, for small traces and for a trace that is loaded in parts.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";

import { PROGRAM, ROOT, converted, hash, keep, launched, opened, options, shows, temporary } from "./chromium.js";
import { writeLarge } from "./large.js";

launched();

/** A trace with a server whose budget is exhausted several times. */
const SERVER = "crates/tracewell/tests/fixtures/shark/cbs_server.dat";
const EXAMPLE = "examples/scheduling.trx";
const RATE = ["-O", "rate=100MHz"];

/** Width of the names at the left of the timeline, and height of the axis above the lanes. */
const [LEFT, AXIS] = [200, 100];

/** Returns what `analyze --json` prints for a trace. @param {string[]} args */
function analyzed(...args) {
    const { stdout } = spawnSync(PROGRAM, ["analyze", "--json", ...args], { maxBuffer: 1 << 28, cwd: ROOT });
    return JSON.parse(String(stdout)).traces[0];
}

/** Shows a time range, and waits until it is drawn. @type {(page: any, from: number, to: number) => Promise<void>} */
async function zoom(page, from, to) {
    const drawn = await page.evaluate(() => document.documentElement.dataset.drawn);
    await page.evaluate(([begin, end]) => {
        location.hash = location.hash.replace(/^#|t=[^&]*&?/g, "").replace(/^/, `t=${begin}-${end}&`).replace(/&$/, "");
    }, [from, to]);
    await page.waitForFunction((/** @type {string} */ old) => document.documentElement.dataset.drawn !== old, drawn);
}

/** Returns the area of the timeline to the right of the names. @param {any} page */
async function area(page) {
    const { x, y, width, height } = await page.locator("#timeline").boundingBox();
    return { left: x + LEFT, top: y, width: width - LEFT, height };
}

/** Moves the pointer, and returns the text that the page shows for the place. @type {(page: any, x: number, y: number) => Promise<string>} */
async function tip(page, x, y) {
    await page.mouse.move(x, y);
    return page.evaluate(() => {
        const shown = document.getElementById("tip");
        return shown.hidden ? "" : shown.textContent;
    });
}

/** Returns the height of a row: the first at which the text at the pointer begins like this. @type {(page: any, pattern: RegExp) => Promise<number>} */
async function heightOf(page, pattern) {
    const { left, top, width, height } = await area(page);
    for (let y = top + AXIS; y < top + height; y += 8) {
        for (const share of [0.35, 0.5, 0.65]) if (pattern.test(await tip(page, left + width * share, y))) return y + 4;
    }
    throw new Error(`no row shows ${pattern}`);
}

/** Returns a length such as `1.25 ms` in nanoseconds. @param {string} text */
function nanoseconds(text) {
    const [, number, unit] = /(−?[\d.,]+) (s|ms|µs|ns)/.exec(text);
    return Number(number.replaceAll(",", "").replace("−", "-")) * { s: 1e9, ms: 1e6, "µs": 1e3, ns: 1 }[unit];
}

test("the budget of a server decreases and is exhausted as analyze says", options, async () => {
    const { servers: [server] } = analyzed("--budgets", SERVER);
    const { page, faults } = await opened(converted(SERVER), { height: 1000 });
    await keep(page, "server");
    const y = await heightOf(page, /^server of pid 6: /);
    const { left, width } = await area(page);
    const middle = left + width / 2;
    assert.ok(server.without_budget.length > 3);
    for (const [from, to] of server.without_budget) {
        await zoom(page, from, to);
        assert.match(await tip(page, middle, y), /^server of pid 6: budget exhausted\n/);
        // Before the exhaustion and after the replenishment, the budget is not exhausted.
        await zoom(page, from - 40, from - 20);
        assert.match(await tip(page, middle, y), / left of 2 ms/);
        await zoom(page, to + 20, to + 40);
        assert.match(await tip(page, middle, y), /: 2 ms left of 2 ms/);
    }
    const falls = server.budget_used.map((/** @type {any} */ point, /** @type {number} */ i) => [point, server.budget_used[i + 1]])
        .filter(([a, b]) => b && a[1] !== null && b[1] !== null && b[0] - a[0] > 10_000);
    // The budget is kept, or it decreases by one tick per tick. Each abrupt change has two points at the same time.
    assert.ok(falls.every(([a, b]) => [0, b[0] - a[0]].includes(b[1] - a[1])));
    assert.ok(falls.some(([a, b]) => b[1] > a[1]) && falls.some(([a, b]) => b[1] === a[1]));
    for (const [[from, used], [to, usedLater]] of falls.slice(0, 12)) {
        await zoom(page, from, to);
        const text = await tip(page, middle, y);
        const left = server.budget_ticks - (used + usedLater) / 2;
        // A pixel covers some ticks. Texts have four digits.
        assert.ok(Math.abs(nanoseconds(text) - left) < 2 * (to - from) / width + left / 1000, `${text}: ${left}`);
        assert.equal(/pid 6 runs/.test(text), usedLater > used, text);
    }
    // The panel of a span names the events that exhausted and replenished the budget.
    const [from, to] = server.without_budget[0];
    await zoom(page, from - 100_000, to + 100_000);
    await page.mouse.click(middle, y);
    await shows(page, "#details", /server of pid 6: budget exhausted.*first eventevent \d+ server_exhaust.*last eventevent \d+ server_replenish/);
    await keep(page, "server-exhausted");
    // The table of servers leads to the longest time without budget, and to the row.
    await page.keyboard.press("2");
    await page.locator("#figures nav button", { hasText: /^Servers$/ }).click();
    await page.locator("#figures tbody a, #figures tbody button, #figures tbody .go").first().click();
    await shows(page, "#details", new RegExp(`exhausted${server.exhausted} times`));
    assert.deepEqual(faults, []);
    await page.close();
});

/** Returns the share, the ends and the subject in the text about a window of load. @param {string} text */
function windowIn(text) {
    const found = /^load by (.*): ([\d.]+) %\nof (.*), from (.*) to (.*)$/.exec(text);
    assert.ok(found, text);
    return { who: found[1], percent: Number(found[2]) };
}

/** Returns the percentage that `analyze` computes for a window of ticks. @type {(figures: any, who: string, ticks: number) => number} */
function percentOf({ tasks, interrupts, cores }, who, ticks) {
    const of = (/** @type {string} */ name) => tasks.filter((/** @type {any} */ task) => task.name === name)
        .reduce((/** @type {number} */ sum, /** @type {any} */ task) => sum + task.execution_ticks, 0);
    const busy = cores.reduce((/** @type {number} */ sum, /** @type {any} */ core) => sum + core.task_ticks + core.interrupt_ticks, 0);
    const own = who === "interrupts" ? interrupts.ticks : who === "contexts and interrupts" ? busy : of(who);
    return (100 * own) / (ticks * cores.length);
}

/** Checks windows of load at some places against `analyze`. @type {(page: any, file: string, names: string[], shares: number[]) => Promise<void>} */
async function checkLoads(page, file, names, shares) {
    const { left, width } = await area(page);
    const rows = [];
    for (const name of names) rows.push({ name, y: await heightOf(page, new RegExp(`^load by ${name}:`)) });
    for (const share of shares) {
        const x = left + width * share;
        await page.mouse.click(x, rows[0].y);
        await hash(page, /r=\d+-\d+/);
        const [, from, to] = (/r=(\d+)-(\d+)/.exec(new URL(page.url()).hash)).map(Number);
        assert.ok(from % (to - from) === 0, "a window begins at a multiple of its width");
        const figures = analyzed(...RATE, "--from", `${from}`, "--to", `${to - 1}`, file);
        for (const { name, y } of rows) {
            const { who, percent } = windowIn(await tip(page, x, y));
            assert.equal(who, name);
            const expected = percentOf(figures, name, to - from);
            assert.ok(Math.abs(percent - expected) < 0.051, `${name} from ${from} to ${to}: ${percent} %, ${expected} %`);
        }
        // The address follows with a delay, and the next range must not be read too early.
        await page.keyboard.press("Escape");
        await page.waitForFunction(() => !/r=\d/.test(location.hash));
    }
}

test("rows of load are folded at first, and show what analyze computes for a window", options, async () => {
    const { page, faults } = await opened(converted(EXAMPLE, "rate=100MHz"), { height: 1400 });
    await assert.rejects(heightOf(page, /^load by/));
    await page.keyboard.press("l");
    await keep(page, "load");
    const names = ["contexts and interrupts", "control", "telemetry", "interrupts"];
    await checkLoads(page, EXAMPLE, names, [0.1, 0.45, 0.7]);
    // The width of the windows follows the zoom.
    const height = await heightOf(page, /^load by telemetry/);
    const { left, width } = await area(page);
    const wide = /\nof ([^,]*)/.exec(await tip(page, left + width / 2, height))[1];
    await zoom(page, 4_155_000, 4_352_000);
    const narrow = /\nof ([^,]*)/.exec(await tip(page, left + width / 2, height))[1];
    assert.ok(nanoseconds(narrow) < nanoseconds(wide) / 20, `${wide}, ${narrow}`);
    await checkLoads(page, EXAMPLE, names, [0.3, 0.6]);
    await keep(page, "load-near");
    // The address contains that the group is unfolded, and the key folds it again.
    assert.match(await page.evaluate(() => location.hash), /f=Load/);
    await page.keyboard.press("l");
    await page.waitForFunction(() => !location.hash.includes("f=Load"));
    await assert.rejects(heightOf(page, /^load by/));
    assert.deepEqual(faults, []);
    await page.close();
});

/** @type {import("node:child_process").ChildProcess | undefined} */
let server;
after(() => server?.kill());

test("rows of load are exact in a trace that is loaded in parts", options, async () => {
    const file = temporary("rows.trx");
    writeLarge(join(ROOT, EXAMPLE), file, 2_050_000);
    const env = { ...process.env, XDG_CACHE_HOME: temporary("cache") };
    server = spawn(PROGRAM, ["serve", ...RATE, file], { cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] });
    let address = "";
    for await (const line of createInterface({ input: server.stdout })) {
        address = line;
        break;
    }
    const { page, faults } = await opened(address, { height: 1400, allowed: new RegExp(`^(data:|${address.replace(/[.?]/g, "\\$&")})`) });
    await page.waitForFunction(() => document.getElementById("progress").textContent === ""
        && document.getElementById("facts").textContent.includes("2,0"), undefined, { timeout: 240_000 });
    const view = page.waitForResponse((/** @type {any} */ response) => /window=[1-9]/.test(response.url()), { timeout: 120_000 });
    await page.keyboard.press("l");
    await view;
    await page.waitForTimeout(500);
    await keep(page, "load-large");
    const names = ["contexts and interrupts", "control", "telemetry"];
    await checkLoads(page, file, names, [0.2, 0.77]);
    // A window in the middle of the trace, at another zoom.
    const near = page.waitForResponse((/** @type {any} */ response) => /window=[1-9]/.test(response.url()), { timeout: 120_000 });
    await zoom(page, 3_000_000_000, 3_100_000_000);
    await near;
    await page.waitForTimeout(500);
    await checkLoads(page, file, names, [0.4]);
    assert.deepEqual(faults, []);
    await page.close();
});
