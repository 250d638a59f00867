// Functions that the browser tests share: they start the browser, open pages, and report each fault of a page.
//
// The tests need Tracewell, Chromium and playwright-core; see .ci/page. The variables TRACEWELL and
// CHROMIUM override the paths of the two programs. If one of the three is missing, the tests are
// skipped. With CI=true, they fail instead. Screenshots go to the folder SCREENSHOTS if it is set.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";

export const ROOT = fileURLToPath(new URL("../../../../", import.meta.url));
export const PROGRAM = process.env.TRACEWELL ?? join(ROOT, "target/debug/tracewell");
const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Returns the reason why the tests cannot run, or null. */
async function missing() {
    if (!existsSync(PROGRAM)) return `no program ${PROGRAM} (TRACEWELL)`;
    if (!existsSync(CHROMIUM)) return `no browser ${CHROMIUM} (CHROMIUM)`;
    return import("playwright-core").then(() => null, () => "no playwright-core (npm ci)");
}

const absent = await missing();
if (absent && process.env.CI === "true") throw new Error(`CI needs these tests: ${absent}`);

/** Options of each test that needs a browser. */
export const options = { skip: absent ? `skipped: ${absent}` : false };

/** @type {any} */
let browser;
/** @type {string} */
let folder;

/** Starts a browser before the tests of a file, and ends it after them. */
export function launched() {
    before(async () => {
        if (absent) return;
        const { chromium } = await import("playwright-core");
        folder = mkdtempSync(join(tmpdir(), "page-"));
        const args = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"];
        browser = await chromium.launch({ executablePath: CHROMIUM, args });
    });
    after(async () => {
        await browser?.close();
        if (folder) rmSync(folder, { recursive: true });
    });
}

/** Returns the path of a file in a folder that exists during the tests. @param {string} name */
export function temporary(name) {
    return join(folder, name);
}

/** Writes the page of a trace, and returns its address. @param {string} trace  @param {string} [rate] */
export function converted(trace, rate) {
    const file = temporary(`${trace.replaceAll("/", "-")}.html`);
    const given = rate ? ["-O", rate] : [];
    const { stderr } = spawnSync(PROGRAM, ["convert", ...given, join(ROOT, trace), "-o", file]);
    // If a trace is damaged, the exit status is 3, but the page is complete.
    assert.ok(existsSync(file), String(stderr));
    return pathToFileURL(file).href;
}

/**
 * Opens a page. Each message, each error, and each request that `allowed` excludes counts as a fault. Waits until the
 * page has drawn its trace or, if `drawn` is false, until it shows a dialog. `prepare` receives the page before it has
 * an address.
 * @param {string} address
 */
export async function opened(address, {
    width = 1280, height = 800, scheme = "light", allowed = /^(file|data):/, drawn = true,
    prepare = async (/** @type {any} */ _) => {},
} = {}) {
    const page = await browser.newPage({ viewport: { width, height }, colorScheme: scheme });
    /** @type {string[]} */
    const faults = [];
    page.on("console", (/** @type {any} */ message) => faults.push(`console: ${message.text()}`));
    page.on("pageerror", (/** @type {Error} */ error) => faults.push(`error: ${error.message}`));
    page.on("request", (/** @type {any} */ request) => {
        if (!allowed.test(request.url())) faults.push(`request: ${request.url()}`);
    });
    await prepare(page);
    await page.goto(address);
    // On a busy computer, a debug build needs half a minute for two million events.
    // The first frame is only the picture. Lists and tables follow in the second.
    if (drawn) await page.waitForFunction(() => Number(document.documentElement.dataset.drawn) > 1, undefined, { timeout: 120_000 });
    else await page.waitForSelector("dialog[open]");
    return { page, faults };
}

/**
 * Waits until the address of a page has this form.
 * @param {any} page
 * @param {RegExp} pattern
 */
export async function hash(page, pattern) {
    await page.waitForFunction((/** @type {string} */ source) => new RegExp(source).test(location.hash), pattern.source);
}

/** Waits until the text of an element has this form. @param {any} page @param {string} selector @param {RegExp} pattern */
export function shows(page, selector, pattern, timeout = 30_000) {
    return page.waitForFunction(([query, source]) => new RegExp(source, "s").test(document.querySelector(query)?.textContent ?? ""),
        [selector, pattern.source], { timeout });
}

/**
 * Saves a screenshot, if the folder for screenshots is set.
 * @param {any} page
 * @param {string} name
 */
export async function keep(page, name) {
    const target = process.env.SCREENSHOTS;
    if (target) await page.screenshot({ path: join(target, `${name}.png`) });
}
