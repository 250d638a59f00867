// Opens pages of the example in Firefox, from disk or from a server. Fails if a page does not draw, reports an error, or requests data twice.
//
//     node --experimental-websocket test/firefox.mjs PAGE.html http://127.0.0.1:8000/…/
//
// Controls Firefox with WebDriver BiDi. The variable FIREFOX names the program; by default, it is
// `firefox-esr`.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const profile = mkdtempSync(join(tmpdir(), "page-firefox-"));
const program = process.env.FIREFOX ?? "firefox-esr";
const firefox = spawn(program, ["--headless", "--no-remote", "--profile", profile, "--remote-debugging-port", "0"],
    { stdio: ["ignore", "ignore", "pipe"] });

/** Returns the address at which the browser listens. */
function listening() {
    return new Promise((found, failed) => {
        let text = "";
        firefox.on("error", failed);
        firefox.on("exit", () => failed(new Error(`${program} ended: ${text}`)));
        firefox.stderr.on("data", (data) => {
            text += data;
            const match = /WebDriver BiDi listening on (ws:\S+)/.exec(text);
            if (match) found(match[1]);
        });
    });
}

/** Returns a function that sends a command and waits for its result. Messages in the browser's log count as faults. */
async function connected(address, faults) {
    const socket = new WebSocket(`${address}/session`);
    await new Promise((open, failed) => {
        socket.onopen = open;
        socket.onerror = () => failed(new Error(`no connection to ${address}`));
    });
    const waiting = new Map();
    socket.onmessage = ({ data }) => {
        const message = JSON.parse(data);
        if (message.method === "log.entryAdded") faults.push(message.params.text);
        const { done, failed } = waiting.get(message.id) ?? {};
        if (message.type === "error") failed?.(new Error(message.message));
        else done?.(message.result);
    };
    let last = 0;
    return (method, params) => new Promise((done, failed) => {
        last += 1;
        waiting.set(last, { done, failed });
        socket.send(JSON.stringify({ id: last, method, params }));
    });
}

/** Returns the address of a page, which may be a path. @param {string} page */
function addressOf(page) {
    return page.startsWith("http:") ? page : pathToFileURL(resolve(page)).href;
}

/** Waits for the page. Returns the facts that it shows, or its problem. */
const WAITS = `new Promise((done) => {
    const look = () => (document.documentElement.dataset.drawn ? done(document.getElementById("facts").textContent)
        : document.getElementById("problem").hidden ? setTimeout(look, 20)
        : done("problem: " + document.getElementById("problem").textContent));
    look();
})`;

/** Returns the addresses that the page requested, in JSON: WebDriver BiDi has its own form for lists. */
const REQUESTED = `JSON.stringify(performance.getEntriesByType("resource").map(({ name }) => name))`;

// If the script of a page does not run, the page draws nothing and reports nothing.
const limit = setTimeout(() => {
    console.error("Firefox did not show the page in a minute");
    firefox.kill();
    process.exit(1);
}, 60_000);

try {
    const faults = [];
    const send = await connected(await listening(), faults);
    await send("session.new", { capabilities: {} });
    await send("session.subscribe", { events: ["log.entryAdded"] });
    const { contexts } = await send("browsingContext.getTree", {});
    const { context } = contexts[0];
    const evaluated = async (/** @type {string} */ expression) =>
        (await send("script.evaluate", { expression, target: { context }, awaitPromise: true })).result.value;
    for (const url of process.argv.slice(2).map(addressOf)) {
        await send("browsingContext.navigate", { context, url, wait: "complete" });
        const facts = await evaluated(WAITS);
        assert.match(facts, /1,096 events/);
        const requested = JSON.parse(await evaluated(REQUESTED));
        assert.deepEqual(requested, [...new Set(requested)]);
        assert.deepEqual(faults, []);
        console.log(`Firefox shows the page: ${facts}`);
    }
} finally {
    clearTimeout(limit);
    firefox.removeAllListeners("exit");
    const ended = new Promise((done) => firefox.once("exit", done));
    if (firefox.exitCode === null) {
        firefox.kill();
        await ended;
    }
    rmSync(profile, { recursive: true, force: true });
}
process.exit(0);
