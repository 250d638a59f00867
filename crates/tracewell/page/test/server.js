// Functions that tests of served pages share: they start servers, open their pages, and measure frames and first pictures.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after } from "node:test";

import { PROGRAM, ROOT, opened, temporary } from "./chromium.js";

/** The servers that were started. @type {import("node:child_process").ChildProcess[]} */
const servers = [];
// If the server continued to run, the tests would never end.
after(() => servers.forEach((server) => server.kill()));

/** Starts a server, which ends after the tests. Returns its address. @param {string[]} files */
export async function served(...files) {
    return servedBy(PROGRAM, ...files);
}

/** As `served`, with another build of the program. @param {string} program  @param {string[]} files */
export async function servedBy(program, ...files) {
    const env = { ...process.env, XDG_CACHE_HOME: temporary("cache") };
    const child = spawn(program, ["serve", ...files], { cwd: ROOT, env, stdio: ["ignore", "pipe", "inherit"] });
    servers.push(child);
    for await (const address of createInterface({ input: child.stdout })) return address;
    throw new Error("the server ended without an address");
}

/** Opens the page of a server. The page may send requests only to this server. */
export async function openedAt(/** @type {string} */ address, more = {}) {
    return opened(address, { allowed: new RegExp(`^(data:|${address.replace(/#.*/, "").replace(/[.?]/g, "\\$&")})`), ...more });
}

/** Waits until a server has stored the summary of a large trace. */
export async function stored() {
    const folder = join(temporary("cache"), "tracewell");
    while (!existsSync(folder) || !readdirSync(folder).some((name) => name.endsWith(".summary"))) {
        await new Promise((resolve) => { setTimeout(resolve, 100); });
    }
}

/**
 * Presses keys that move the view. Returns a text with the median time of drawing a frame and with
 * the mean processor time per frame. The processor time is that of the page's thread: it includes
 * the handling of the key, but does not depend on other programs.
 */
export async function frames(/** @type {any} */ page) {
    const times = [];
    const session = await page.context().newCDPSession(page);
    await session.send("Performance.enable", { timeDomain: "threadTicks" });
    const spent = async () => {
        const { metrics } = await session.send("Performance.getMetrics");
        return metrics.find((/** @type {{ name: string }} */ { name }) => name === "TaskDuration").value * 1000;
    };
    const before = await spent();
    for (let i = 0; i < 40; i += 1) {
        const drawn = await page.evaluate(() => document.documentElement.dataset.drawn);
        await page.keyboard.press(["w", "a", "s", "d"][i % 4]);
        await page.waitForFunction((/** @type {string} */ old) => document.documentElement.dataset.drawn !== old, drawn);
        times.push(Number(await page.evaluate(() => document.documentElement.dataset.frame)));
    }
    const processor = (await spent() - before) / times.length;
    await session.detach();
    const median = times.sort((a, b) => a - b)[times.length / 2];
    if (process.env.FRAME_MS) assert.ok(median < Number(process.env.FRAME_MS), `${median} ms`);
    return `median of a frame ${median} ms, processor time ${processor.toFixed(1)} ms`;
}

/** Stores, when the page draws its first picture, the milliseconds since the page was requested, and the facts that the page shows. */
export const FIRST_PICTURE = `new MutationObserver((_, observer) => {
    if (document.documentElement?.dataset.drawn === undefined) return;
    observer.disconnect();
    globalThis.first = {
        ms: performance.now(),
        facts: document.getElementById("facts").textContent,
    };
}).observe(document, { attributes: true, subtree: true });`;
