// Tests what the page of a large trace asks from its server: distributions, missed deadlines, and the times for which a kind of events was hidden.

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { after, test } from "node:test";

import { PROGRAM, ROOT, hash, keep, launched, opened, options, shows, temporary } from "./chromium.js";
import { writeJobs } from "./large.js";
import { duration } from "../time.js";

launched();

const READING = ["--format-in", "shark", "-O", "kind=records", "-O", "rate=1GHz"];

/** The addresses of the server and of its figures, and the path of the trace. */
let [address, file] = ["", ""];
/** @type {import("node:child_process").ChildProcess} */
let server;
after(() => server?.kill());

/** Returns the output of `analyze`. @param {string[]} given */
function analyze(...given) {
    const { stdout, stderr } = spawnSync(PROGRAM, ["analyze", ...READING, ...given, file], { maxBuffer: 1 << 28 });
    assert.equal(String(stderr), "");
    return String(stdout);
}

/** Returns the distributions of `analyze`. @param {string[]} given @returns {any[]} */
function distributions(...given) {
    return JSON.parse(analyze("--json", "--show", "distributions", ...given)).traces[0].distributions;
}

/** Starts the server, when the first test begins. */
async function start() {
    file = temporary("jobs.dat");
    writeJobs(file, 2_050_000);
    const env = { ...process.env, XDG_CACHE_HOME: temporary("cache") };
    server = spawn(PROGRAM, ["serve", ...READING, file], { cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] });
    for await (const line of createInterface({ input: server.stdout })) {
        address = line;
        break;
    }
}
/** @type {Promise<void> | undefined} */
let started;

/** Opens the page, and waits until the server has read the trace. */
async function shown(fragment = "") {
    const { page, faults } = await opened(address + fragment, { allowed: new RegExp(`^(data:|${address.replace(/[.?]/g, "\\$&")})`) });
    await page.waitForFunction(() => /2,05\d,\d\d\d events/.test(document.getElementById("facts").textContent), undefined, { timeout: 120_000 });
    return { page, faults };
}

/** Waits until the panel shows a histogram of a time, and returns the labels of the bars that are not empty. */
async function bars(/** @type {any} */ page, /** @type {string} */ group, /** @type {string} */ time) {
    await page.waitForFunction((/** @type {string} */ scope) => document.querySelector("#distributions .bars")
        && document.querySelector("#distributions .histogram").textContent.includes(scope), time, { timeout: 120_000 });
    const heading = page.locator("#distributions nav h2", { hasText: new RegExp(`^${group}$`) });
    await heading.locator("xpath=following-sibling::button[1]").click();
    return page.evaluate(() => [...document.querySelectorAll("#distributions .bars button")]
        .map((button) => button.getAttribute("aria-label")).filter((label) => !label.startsWith("0 ")));
}

/** The bars of the first histogram of a kind in the output of `analyze --histogram`. */
function drawn(/** @type {string} */ text, /** @type {string} */ kind) {
    const lines = text.split("\n");
    const first = lines.findIndex((line) => line.startsWith(`${kind} `) && /: \d[\d,]*$/.test(line)) + 1;
    const own = lines.slice(first, first + lines.slice(first).findIndex((line) => !line.startsWith("  ")));
    return own.map((line) => /^ {2}from +(.*?) {2,}([\d,]+) +#+$/.exec(line)).filter((found) => found !== null).map(([, from, count]) => ({ from, count }));
}

test("a large trace has the histograms of analyze, and each bar leads to its longest time", options, async () => {
    await (started ??= start());
    const { page, faults } = await shown("#p=distributions");
    const text = `${analyze("--histogram", "--show", "distributions")}\n`;
    const all = distributions();
    for (const [group, kind] of [["Response", "response of"], ["Hold", "hold of"]]) {
        const labels = await bars(page, group, "whole trace");
        const expected = drawn(text, kind);
        assert.ok(expected.length > 3, text);
        assert.deepEqual(labels.map((/** @type {string} */ label) => /^([\d,]+) \S+ from (.*) to /.exec(label.replaceAll(",", "")).slice(1)),
            expected.map(({ from, count }) => [count, from]), group);
        const { worst: [worst], max_ticks: max } = all.find(({ measure }) => measure === group.toLowerCase());
        assert.equal(await page.locator("#distributions .bars button[disabled]").count(), await page.locator("#distributions .bars button").count() - labels.length);
        await page.locator("#distributions .bars button:not([disabled])").last().click();
        await hash(page, new RegExp(`E=${worst.event}@`));
        await shows(page, "#distributions .hint", new RegExp(`longest of .* in this bar: ${duration(BigInt(max))}`));
    }
    await keep(page, "measured");
    // The server answers with the longest time of each bar. It is the event with which the time ends.
    const { distributions: own } = await (await fetch(`${address}api/v1/analysis?worst=200`)).json().then((json) => json.traces[0]);
    for (const { bars: list, worst } of own) {
        for (const { count, longest } of list) assert.equal(longest === null, count === 0);
        assert.deepEqual(list.at(-1).longest, worst[0]);
    }
    assert.deepEqual(faults, []);
    await page.close();
});

test("the distributions of a range of a large trace are those of analyze", options, async () => {
    await (started ??= start());
    const span = JSON.parse(analyze("--json", "--show", "cores")).traces[0].span_ticks;
    const [from, to] = [Math.floor(span / 4), Math.floor(span / 2)];
    const { page, faults } = await shown(`#p=distributions&t=${from}-${to}&r=${from}-${to}`);
    const labels = await bars(page, "Response", "selected range");
    const expected = drawn(`${analyze("--histogram", "--show", "distributions", "--from", String(from), "--to", String(to))}\n`, "response of");
    assert.deepEqual(labels.map((/** @type {string} */ label) => /^\d+/.exec(label.replaceAll(",", ""))[0]), expected.map(({ count }) => count));
    assert.deepEqual(faults, []);
    await page.close();
});

test("a large trace lists the worst missed deadlines", options, async () => {
    await (started ??= start());
    const { page, faults } = await shown("#p=figures");
    const button = page.locator("#figures nav button", { hasText: /^Missed deadlines$/ });
    await button.first().click({ timeout: 120_000 });
    const { tasks } = JSON.parse(analyze("--json", "--show", "tasks")).traces[0];
    const all = tasks.reduce((/** @type {number} */ sum, /** @type {any} */ task) => sum + task.deadline_misses, 0);
    assert.ok(all > 1000);
    await shows(page, "#figures .scope", new RegExp(`the 200 latest of ${all.toLocaleString("en")}`));
    const { misses } = await (await fetch(`${address}api/v1/analysis?worst=200`)).json().then((json) => json.traces[0]);
    const late = misses.map((/** @type {any} */ miss) => miss.completed_ticks - miss.missed_ticks);
    assert.equal(late[0], Math.max(...distributions().filter(({ measure }) => measure === "lateness").map((each) => each.max_ticks)));
    assert.deepEqual(late, [...late].sort((a, b) => b - a));
    const row = await page.locator("#figures tbody tr").first().locator("td").allTextContents();
    assert.equal(await page.locator("#figures tbody tr").count(), 200);
    assert.deepEqual([row[0], row[3]], [misses[0].name, duration(BigInt(misses[0].completed_ticks - misses[0].released_ticks))]);
    await page.locator("#figures tbody tr a").first().click();
    await page.waitForFunction(([begin, end]) => {
        const [, from, to] = /t=(\d+)-(\d+)/.exec(location.hash) ?? [];
        return Number(from) <= begin && Number(to) >= end && Number(to) - Number(from) < 4 * (end - begin);
    }, [misses[0].released_ticks, misses[0].completed_ticks]);
    assert.deepEqual(faults, []);
    await page.close();
});

test("each part of a large trace shows for which times a kind of events was hidden", options, async () => {
    await (started ??= start());
    const { page, faults } = await shown();
    const { hidden: [{ from_ticks: from, until_ticks: until }] } = JSON.parse(analyze("--json", "--show", "cores")).traces[0];
    await shows(page, "#details", /not recorded: filter_ipoint, from /);
    const middle = Math.floor((from + until) / 2);
    await page.evaluate((/** @type {string} */ fragment) => { location.hash = fragment; }, `t=${middle}-${middle + 1_000_000}`);
    await page.waitForFunction(() => document.querySelectorAll(".event").length > 5, undefined, { timeout: 120_000 });
    assert.match(await page.textContent("#facts"), /not all recorded/);
    await keep(page, "measured-hidden");
    assert.deepEqual(faults, []);
    await page.close();
});
