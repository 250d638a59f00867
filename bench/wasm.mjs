// Reads a trace with the WebAssembly module of the static page. Prints the processor time of this thread in milliseconds, and the number of
// bytes of the page. `bench/wasm` starts this script: `node bench/wasm.mjs MODULE TRACE`. crates/web/src/abi.rs documents the calls.

import { readFileSync } from "node:fs";

const [module, trace] = process.argv.slice(2);

/** The values of `kind` for reserved memory. */
const [TRACE, REQUEST] = [0, 1];

/** Returns the processor time of this thread in milliseconds. Linux counts it in nanoseconds. */
function spent() {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[0]) / 1e6;
}

const { instance } = await WebAssembly.instantiate(readFileSync(module), { worker: { progress() {} } });
const { memory, reserve, ask, answer, answer_length: length } = instance.exports;

/** Copies bytes into the memory of the module. */
function put(kind, bytes) {
    const address = reserve(kind, bytes.length) >>> 0;
    if (address === 0) throw new Error("the module has no memory for the trace");
    new Uint8Array(memory.buffer, address, bytes.length).set(bytes);
}

const before = spent();
put(TRACE, readFileSync(trace));
put(REQUEST, new TextEncoder().encode(JSON.stringify({ ask: "open", name: trace, options: [] })));
const isAnswered = ask() === 1;
const time = spent() - before;
if (!isAnswered) throw new Error(new TextDecoder().decode(new Uint8Array(memory.buffer, answer() >>> 0, length() >>> 0)));
console.log(time.toFixed(0), length() >>> 0);
