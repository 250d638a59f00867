// Creates a large ThreadX trace that repeats the events of the example with later times.

import { readFileSync, writeFileSync } from "node:fs";

/** Offsets in the control header, as in crates/wire/src/threadx/header.rs. */
const BASE = 8;
const START = 24;
const END = 28;
const CURRENT = 32;

const ENTRY = 32;
const TICKS = 12;

/** Ticks between two repetitions. */
const PAUSE = 5000;

/**
 * Writes a trace with about this number of events, and returns their exact number.
 * @param {string} example path of a trace whose buffer has not wrapped
 * @param {string} target
 * @param {number} wanted
 */
export function writeLarge(example, target, wanted) {
    const trace = readFileSync(example);
    const start = trace.readUInt32LE(START);
    const first = start - trace.readUInt32LE(BASE);
    const length = trace.readUInt32LE(CURRENT) - start;
    const entries = trace.subarray(first, first + length);
    const count = length / ENTRY;
    const times = Math.max(Math.floor(wanted / count), 1);
    const large = Buffer.alloc(first + times * length + ENTRY);
    trace.copy(large, 0, 0, first);
    large.writeUInt32LE(start + times * length + ENTRY, END);
    large.writeUInt32LE(start + times * length, CURRENT);
    const period = entries.readUInt32LE(length - ENTRY + TICKS) - entries.readUInt32LE(TICKS) + PAUSE;
    for (let i = 0; i < times; i += 1) {
        const place = first + i * length;
        entries.copy(large, place);
        for (let entry = 0; entry < count; entry += 1) {
            const at = place + entry * ENTRY + TICKS;
            // The 32-bit counter wraps.
            large.writeUInt32LE((large.readUInt32LE(at) + i * period) % 2 ** 32, at);
        }
    }
    writeFileSync(target, large);
    return times * count;
}
