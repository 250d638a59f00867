// Measures the first picture of pages from `tracewell serve`, in Chromium. This is a benchmark and not a test.
//
//     node test/first-picture.mjs [--delay MS | --cached] ROUNDS PROGRAM… -- ARGUMENT… [-- ARGUMENT…]
//
// Each group of arguments is a command line for `serve`. Each round starts a server for each command line and program, and opens its
// page: at once, or `--delay` milliseconds after the start of the server. Prints, for each of them, the time from the page's first request
// to its first picture: the median and the shortest. With several programs, the rounds are interleaved, so that other work of the computer
// slows all of them down. With `--cached`, each program first reads each trace and stores its summary, and all rounds read this summary.
// Otherwise, nothing is read from the cache.
//
// Each page gets its own window, for which Chromium also starts the list below its address bar. A round begins when this has ended, because
// the window of a user is open already.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

import { chromium } from "playwright-core";

const words = process.argv.slice(2);
const delay = words[0] === "--delay" ? Number(words.splice(0, 2)[1]) : 0;
const isCached = words[0] === "--cached" && words.shift() !== undefined;
/** The words between `--`. @type {string[][]} */
const groups = [[]];
for (const word of words) {
    if (word === "--") groups.push([]);
    else groups[groups.length - 1].push(word);
}
const [[rounds, ...programs], ...traces] = groups;

/** The longest time that Chromium needs for a new window, in milliseconds. */
const WINDOW = 1500;

/** Reports the time of the first picture on the console. Asking the page for it would take some of its time. */
const WATCH = `new MutationObserver((_, observer) => {
    if (document.documentElement?.dataset.drawn === undefined) return;
    observer.disconnect();
    console.debug("first picture", performance.now());
}).observe(document, { attributes: true, subtree: true });`;

const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-background-networking"],
});

/** The cache of each program and trace. @type {Map<string, string>} */
const caches = new Map();
process.on("exit", () => caches.forEach((folder) => rmSync(folder, { recursive: true })));

/** Starts a server. @type {(program: string, trace: string[]) => import("node:child_process").ChildProcess} */
function started(program, trace) {
    const env = { ...process.env, XDG_CACHE_HOME: caches.get([program, ...trace].join(" ")) };
    return spawn(program, ["serve", ...isCached ? [] : ["--no-cache"], ...trace], { env, stdio: ["ignore", "pipe", "inherit"] });
}

/** Starts a server that stores the summary of a trace, and waits for this summary. @type {(program: string, trace: string[]) => Promise<void>} */
async function store(program, trace) {
    const folder = mkdtempSync(join(tmpdir(), "first-picture-"));
    caches.set([program, ...trace].join(" "), folder);
    const server = started(program, trace);
    const isStored = () => readdirSync(folder, { recursive: true }).some((name) => String(name).endsWith(".summary"));
    while (!isStored()) await new Promise((resolve) => { setTimeout(resolve, 100); });
    server.kill();
    await once(server, "exit");
}

/** Returns the time of the first picture in milliseconds. @type {(program: string, trace: string[]) => Promise<number>} */
async function firstPicture(program, trace) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    await page.addInitScript(WATCH);
    const isFirst = (/** @type {import("playwright-core").ConsoleMessage} */ message) => message.text().startsWith("first picture");
    await new Promise((resolve) => { setTimeout(resolve, WINDOW); });
    const server = started(program, trace);
    try {
        const [address] = await once(createInterface({ input: server.stdout }), "line");
        await new Promise((resolve) => { setTimeout(resolve, delay); });
        const drawn = page.waitForEvent("console", { predicate: isFirst, timeout: 120_000 });
        await page.goto(address, { waitUntil: "commit" });
        return Number((await drawn).text().split(" ").pop());
    } finally {
        await page.close();
        server.kill();
    }
}

if (isCached) {
    for (const trace of traces) {
        for (const program of programs) await store(program, trace);
    }
}
/** The times of each trace and program. @type {number[][][]} */
const times = traces.map(() => programs.map(() => []));
for (let round = 0; round < Number(rounds); round += 1) {
    for (const [index, trace] of traces.entries()) {
        // Every second round has the reverse order, because the file is not in memory for the first program.
        const order = [...programs.keys()];
        if (round % 2 === 1) order.reverse();
        for (const program of order) times[index][program].push(await firstPicture(programs[program], trace));
    }
}
await browser.close();
for (const [index, trace] of traces.entries()) {
    for (const [program, list] of times[index].entries()) {
        list.sort((a, b) => a - b);
        const [median, least] = [list[Math.floor(list.length / 2)], list[0]].map((time) => time.toFixed(0));
        console.log(`${median} (${least}) ms: ${programs[program]} serve ${trace.join(" ")}`);
    }
}
