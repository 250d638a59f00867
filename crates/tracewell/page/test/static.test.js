// Tests the static page: the user drops or chooses traces, and the WebAssembly module reads them.
//
// The tests need the folder PAGE_FOLDER, which `cargo xtask page` makes.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, truncateSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";

import { PROGRAM, ROOT, hash, keep, launched, opened, options as needed, temporary } from "./chromium.js";
import { writeLarge } from "./large.js";
import { writeRkh, writeSpans } from "./recorders.js";

const FOLDER = process.env.PAGE_FOLDER;
if (!FOLDER && process.env.CI === "true") throw new Error("CI needs PAGE_FOLDER (cargo xtask page)");
const options = FOLDER ? needed : { skip: "skipped: no PAGE_FOLDER (cargo xtask page)" };

const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

/** Traces of all dialects in the repository, with options. */
const TRACES = [
    ["examples/scheduling.trx", { rate: "100MHz" }],
    ["crates/tracewell/tests/fixtures/threadx/tiny.trx"],
    ["crates/tracewell/tests/fixtures/threadx/tiny.hex"],
    ["crates/tracewell/tests/fixtures/rkh/ahsm-overrun.bin"],
    ["crates/tracewell/tests/fixtures/compressed/ahsm-a.bin.zst"],
    ["crates/tracewell/tests/fixtures/compressed/ahsm-a.bin.gz"],
    ["crates/tracewell/tests/fixtures/shark/b_cyclic.dat"],
    ["crates/tracewell/tests/fixtures/systemview/long.bin"],
    ["fuzz/corpus/aix/big"],
    ["examples/mill.bin"],
    ["examples/hooks.twx"],
    ["fuzz/corpus/native/small_log"],
    ["fuzz/corpus/posix_log/append"],
];

launched();

let address = "";
/** Requests that the server received. */
const requests = [];
const server = createServer((request, response) => {
    requests.push(request);
    const { pathname } = new URL(request.url, "http://localhost");
    const file = join(FOLDER, pathname === "/" ? "index.html" : pathname.slice(1));
    if (!existsSync(file)) {
        response.writeHead(404).end();
        return;
    }
    response.writeHead(200, { "Content-Type": TYPES[extname(file)] ?? "application/octet-stream" }).end(readFileSync(file));
});
before(async () => {
    await new Promise((done) => { server.listen(0, "127.0.0.1", done); });
    address = `http://127.0.0.1:${server.address().port}/`;
});
after(() => server.close());

/** Opens the static page. The page may send requests only to its own server. */
async function start(query = "", more = {}) {
    const allowed = new RegExp(`^(data:|${address.replaceAll(".", "\\.")})`);
    const drawn = query !== "";
    return opened(address + query, { allowed, drawn, ...more });
}

/** Waits until the page has read a trace. If it cannot read the trace, fails with the message of the page. */
async function shown(page) {
    await page.waitForFunction(() => document.querySelector("#start .failure")?.textContent
        || (!document.querySelector("#start").open && Number(document.documentElement.dataset.drawn) > 1), undefined, { timeout: 120_000 });
    assert.equal(await page.locator("#start .failure").count(), 0, await page.textContent("#message"));
}

/** Returns those texts of a page that come from the reader. */
async function texts(page) {
    const read = (name) => page.textContent(name);
    return Promise.all(["#title", "#facts", "#count", "#details"].map(read));
}

for (const [trace, given = {}] of TRACES) {
    test(`the static page reads ${trace} as the program does`, options, async () => {
        const { page, faults } = await start();
        await page.click("#start summary");
        for (const [key, value] of Object.entries(given)) await page.fill(`#start input[name=${key}]`, value);
        await page.setInputFiles("#file", join(ROOT, trace));
        await shown(page);
        const found = await texts(page);
        const events = await page.locator(".event").allTextContents();
        assert.ok(events.length > 0);
        await keep(page, `static-${trace.split("/").at(-1)}`);
        assert.deepEqual(faults, []);
        await page.close();
        const file = temporary(`static-${trace.replaceAll("/", "-")}.html`);
        const flags = Object.entries(given).flatMap(([key, value]) => ["-O", `${key}=${value}`]);
        const { stderr } = spawnSync(PROGRAM, ["convert", ...flags, join(ROOT, trace), "-o", file]);
        assert.ok(existsSync(file), String(stderr));
        const other = await opened(pathToFileURL(file).href);
        assert.deepEqual(found, await texts(other.page));
        assert.deepEqual(events, await other.page.locator(".event").allTextContents());
        await other.page.close();
    });
}

test("the page shows two traces that are dropped one after the other, with and without a rate, and uploads nothing", options, async () => {
    requests.length = 0;
    const { page, faults } = await start();
    await keep(page, "static-start");
    const drop = async (path) => {
        const bytes = [...readFileSync(join(ROOT, path))];
        const data = await page.evaluateHandle(([content, name]) => {
            const transfer = new DataTransfer();
            transfer.items.add(new File([Uint8Array.from(content)], name));
            return transfer;
        }, [bytes, path.split("/").at(-1)]);
        await page.dispatchEvent("body", "dragover", { dataTransfer: data });
        await page.dispatchEvent("body", "drop", { dataTransfer: data });
    };
    await drop("examples/scheduling.trx");
    await shown(page);
    assert.match(await page.textContent("#facts"), /1,096 events · [\d,]+ ticks · clock rate unknown/);
    await page.keyboard.press("o");
    await page.click("#start summary");
    await page.fill("#start input[name=rate]", "1.5 bananas");
    await page.getByRole("button", { name: "read again" }).click();
    await page.waitForFunction(() => /rate/.test(document.querySelector("#start .failure")?.textContent ?? ""));
    await keep(page, "static-failure");
    // The page still shows the old trace.
    assert.match(await page.textContent("#facts"), /1,096 events/);
    await page.fill("#start input[name=rate]", "100MHz");
    await page.keyboard.press("Enter");
    await shown(page);
    assert.match(await page.textContent("#facts"), /58\.76 ms · 100 MHz/);
    await page.keyboard.press("ArrowDown");
    await hash(page, /s=/);
    await drop("crates/tracewell/tests/fixtures/shark/b_cyclic.dat");
    await page.waitForFunction(() => document.getElementById("title").textContent === "b_cyclic.dat");
    await shown(page);
    assert.equal(await page.evaluate(() => location.hash), "");
    assert.ok(requests.length > 20);
    assert.ok(requests.every(({ method, headers }) => method === "GET" && !("content-length" in headers)));
    assert.deepEqual(faults, []);
    await page.close();
});

test('a click on "sample" or the address "?sample" opens the sample', options, async () => {
    const { page, faults } = await start();
    await page.getByRole("button", { name: "sample" }).click();
    await shown(page);
    assert.match(await page.textContent("#facts"), /1,096 events · 58\.76 ms · 100 MHz/);
    await page.close();
    const linked = await start("?sample#t=4155000-4352000&s=2.59");
    assert.match(await linked.page.textContent("#details"), /control waits for mutex log file/);
    await keep(linked.page, "static-sample");
    assert.deepEqual([...faults, ...linked.faults], []);
    await linked.page.close();
});

test("the page refuses files that are not traces or are too large, with a message", options, async () => {
    const { page, faults } = await start();
    const nothing = temporary("nothing.bin");
    writeFileSync(nothing, "this is no trace");
    await page.setInputFiles("#file", nothing);
    await page.waitForFunction(() => /nothing\.bin: .*expected one of/.test(document.querySelector("#start .failure")?.textContent ?? ""));
    const large = temporary("large.bin");
    writeFileSync(large, "");
    truncateSync(large, 513 * 2 ** 20);
    await page.setInputFiles("#file", large);
    await page.waitForFunction(() => /at most 512 MiB, found 513 MiB/.test(document.querySelector("#start .failure")?.textContent ?? ""));
    assert.deepEqual(faults, []);
    await page.close();
});

test("the page shows a trace of more than two million events in parts, and stays responsive", options, async () => {
    const file = temporary("two-million.trx");
    const count = writeLarge(join(ROOT, "examples/scheduling.trx"), file, 2_010_000);
    const { page, faults } = await start();
    await page.click("#start summary");
    await page.fill("#start input[name=rate]", "100MHz");
    await page.setInputFiles("#file", file);
    await page.waitForFunction(() => /reading: \d+ %/.test(document.getElementById("message").textContent), undefined, { timeout: 120_000 });
    await shown(page);
    assert.match(await page.textContent("#facts"), new RegExp(`${count.toLocaleString("en")} events`));
    assert.match(await page.textContent("#count"), /zoom in to list/);
    await keep(page, "static-large");
    await page.evaluate(() => { location.hash = "t=4155000-4352000"; });
    await page.waitForFunction(() => /^\d+ events/.test(document.getElementById("count").textContent), undefined, { timeout: 120_000 });
    assert.ok(await page.getByText("tx_mutex_get").count() > 0);
    // The worker computes the figures of the whole trace, and searches all of it.
    await page.keyboard.press("2");
    const waits = page.locator("#figures nav button", { hasText: /^Longest waits$/ });
    // The table of the visible time is there at once.
    await waits.nth(1).waitFor({ timeout: 120_000 });
    await waits.first().click();
    assert.match(await page.textContent("#figures .scope"), /^whole trace, .* the 200 longest of [\d,]+/);
    await page.keyboard.press("/");
    await page.fill("#query", "no such text");
    await page.waitForFunction(() => document.getElementById("matches").textContent === "nothing found in the whole trace", undefined, { timeout: 120_000 });
    await page.fill("#query", "tx_mutex_get");
    await page.waitForFunction(() => /^[\d,]{6,} events in the trace$/.test(document.getElementById("matches").textContent), undefined, { timeout: 120_000 });
    assert.deepEqual(faults, []);
    await page.close();
});

for (const [name, write] of /** @type {[string, (target: string, wanted: number) => number][]} */ ([["RKH", writeRkh], ["native", writeSpans]])) {
    test(`the page shows a large ${name} stream, which records no switches, and lists its events in a short time`, options, async () => {
        const file = temporary(`static-large.${name}`);
        const count = write(file, 2_010_000);
        const { page, faults } = await start();
        await page.setInputFiles("#file", file);
        await page.waitForFunction((/** @type {string} */ all) => document.getElementById("facts").textContent.includes(all)
            && document.getElementById("progress").textContent === "", ` ${count.toLocaleString("en")} events`, { timeout: 240_000 });
        assert.match(await page.textContent("#count"), /zoom in to list/);
        await keep(page, `static-large-${name}`);
        // The whole trace has millions of ticks.
        await page.evaluate(() => { location.hash = "t=100000-100200"; });
        await page.waitForFunction(() => /^\d[\d,]* events/.test(document.getElementById("count").textContent), undefined, { timeout: 120_000 });
        assert.ok(await page.locator(".event").count() > 0);
        assert.deepEqual(faults, []);
        await page.close();
    });
}
