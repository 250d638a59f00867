// Opens a page from disk in Firefox, and fails if the page does not draw or reports an error.
//
//     node --experimental-websocket test/firefox.mjs PAGE.html
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

const WAITS = `new Promise((done) => {
    const look = () => (document.documentElement.dataset.drawn ? done(document.getElementById("facts").textContent)
        : document.getElementById("problem").hidden ? setTimeout(look, 20)
        : done("problem: " + document.getElementById("problem").textContent));
    look();
})`;

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
    const url = pathToFileURL(resolve(process.argv[2])).href;
    await send("browsingContext.navigate", { context, url, wait: "complete" });
    const { result } = await send("script.evaluate", { expression: WAITS, target: { context }, awaitPromise: true });
    assert.match(result.value, /1,096 events/);
    assert.deepEqual(faults, []);
    console.log(`Firefox shows the page: ${result.value}`);
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
