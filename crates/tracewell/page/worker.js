// The worker of the static page. It runs the reader, a WebAssembly module with the trace in its memory,
// and answers the requests of `reader.js` one after the other. crates/web/src/abi.rs documents the calls.

/** The values of `kind` for reserved memory. */
const TRACE = 0;
const REQUEST = 1;

/** Minimum time between two reports of progress, in milliseconds. */
const INTERVAL = 100;

/**
 * @typedef {{
 *   memory: WebAssembly.Memory, reserve: (kind: number, length: number) => number, ask: () => number,
 *   answer: () => number, answer_length: () => number
 * }} Calls
 */

/** For TypeScript, `self` has the type of a window. A worker has different functions, such as this `postMessage`. */
const page = /** @type {Worker} */ (/** @type {unknown} */ (self));

/** Size of the trace in bytes, for reports of progress. */
let size = 0;
let reported = -Infinity;

/** @type {(done: number, events: number, isReading: boolean) => void} */
function report(bytes, events, isReading) {
    const now = performance.now();
    if (now - reported < INTERVAL) return;
    reported = now;
    page.postMessage({ progress: { reading: isReading, bytes, size, events, edition: 0, failure: null } });
}

/** @returns {Promise<Calls>} */
async function loaded() {
    const response = await fetch("tracewell.wasm");
    if (!response.ok) throw new Error(`cannot load the reader: ${response.status} ${response.statusText}`);
    const progress = (/** @type {number} */ bytes, /** @type {number} */ events) => report(bytes, events, true);
    // `instantiateStreaming` needs a media type that not every server sends.
    const { instance } = await WebAssembly.instantiate(await response.arrayBuffer(), { worker: { progress } });
    return /** @type {Calls} */ (/** @type {unknown} */ (instance.exports));
}

/** Returns a view of the answer in the memory of the reader. @param {Calls} calls */
function answered({ memory, answer, answer_length: length }) {
    return new Uint8Array(memory.buffer, answer() >>> 0, length() >>> 0);
}

/** Reserves memory in the reader, and returns its address. @type {(calls: Calls, kind: number, length: number) => number} */
function reserved(calls, kind, length) {
    const address = calls.reserve(kind, length) >>> 0;
    if (address === 0) throw new Error(new TextDecoder().decode(answered(calls)));
    return address;
}

/** Copies a file into the memory of the reader. @type {(calls: Calls, file: File) => Promise<void>} */
async function fill(calls, file) {
    size = file.size;
    const start = reserved(calls, TRACE, file.size);
    const room = new Uint8Array(calls.memory.buffer, start, file.size);
    const stream = file.stream().getReader();
    let done = 0;
    for (;;) {
        const { value } = await stream.read();
        if (!value) break;
        if (done + value.length > room.length) throw new Error(`${file.name} changed while it was read`);
        room.set(value, done);
        done += value.length;
        report(done, 0, false);
    }
    if (done < room.length) throw new Error(`${file.name} changed while it was read`);
}

/** @type {(calls: Calls, request: any, file: File | null) => Promise<ArrayBuffer>} */
async function ask(calls, request, file) {
    if (file) await fill(calls, file);
    const text = new TextEncoder().encode(JSON.stringify(request));
    const address = reserved(calls, REQUEST, text.length);
    new Uint8Array(calls.memory.buffer, address, text.length).set(text);
    const isAnswered = calls.ask() === 1;
    const answer = answered(calls).slice();
    if (!isAnswered) throw new Error(new TextDecoder().decode(answer));
    return answer.buffer;
}

const loading = loaded();
/** Resolves at the end of the last request. @type {Promise<void>} */
let last = Promise.resolve();

page.addEventListener("message", ({ data }) => {
    last = last.then(async () => {
        try {
            const answer = await ask(await loading, data.request, data.file);
            page.postMessage({ answer }, [answer]);
        } catch (error) {
            // WebAssembly reports a fault with a technical message, so put "the reader failed"
            // before it.
            const isFault = error instanceof WebAssembly.RuntimeError;
            const { message } = /** @type {Error} */ (error);
            page.postMessage({ failure: isFault ? `the reader failed: ${message}` : message });
        }
    });
});
