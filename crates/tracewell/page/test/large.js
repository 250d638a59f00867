// Creates large ThreadX traces: one that repeats the events of the example with later times, and one with many threads.

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
 * Writes a trace with about the wanted number of events, and returns the exact number of its events.
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

/** Sizes of the parts of the dump that `writeWide` writes. */
const [HEAD, SLOT] = [48, 48];

/** The address of the first byte of that dump, and of the first object. */
const [IMAGE, OBJECTS] = [0x1000_0000, 0x2000_0000];

/** Ids of events, and codes of types of objects, as in crates/wire/src/threadx/ids.rs. */
const [RESUME, SUSPEND, MUTEX_GET, MUTEX_PUT, QUEUE_SEND, QUEUE_RECEIVE] = [1, 2, 52, 57, 69, 68];
const [THREAD, QUEUE, MUTEX] = [1, 3, 5];

/** Number of mutexes in that dump, and also number of queues. */
const OTHERS = 8;

/**
 * Writes a ThreadX trace with many threads, which run in a pseudo-random order, each for a short time. So each row is dense. Returns the
 * number of events.
 * @param {string} target
 * @param {number} events
 * @param {number} threads
 */
export function writeWide(target, events, threads) {
    const kinds = [...Array(threads).fill([THREAD, "thread"]), ...Array(OTHERS).fill([MUTEX, "mutex"]), ...Array(OTHERS).fill([QUEUE, "queue"])];
    const first = HEAD + SLOT * kinds.length;
    const dump = Buffer.alloc(first + ENTRY * events);
    const words = [0x5458_5442, 0xFFFF_FFFF, IMAGE, IMAGE + HEAD, 32 << 16, IMAGE + first, IMAGE + first, IMAGE + dump.length, IMAGE + first,
        0xAAAA_AAAA, 0xBBBB_BBBB, 0xCCCC_CCCC];
    words.forEach((word, i) => dump.writeUInt32LE(word, 4 * i));
    const address = (/** @type {number} */ number) => OBJECTS + 256 * number;
    kinds.forEach(([kind, name], number) => {
        const slot = HEAD + SLOT * number;
        dump[slot + 1] = kind;
        if (kind === THREAD) dump.set([0x80, number % 32], slot + 2);
        dump.writeUInt32LE(address(number), slot + 4);
        dump.write(`${name} ${number}`, slot + 16);
    });
    let random = 1;
    const below = (/** @type {number} */ limit) => {
        // A xorshift generator with 32 bits, by G. Marsaglia.
        random ^= random << 13;
        random ^= random >>> 17;
        random ^= random << 5;
        return (random >>> 0) % limit;
    };
    let [running, next, time] = [0, 1, 0];
    for (let i = 0; i < events; i += 1) {
        time = (time + 50 + below(400)) % 2 ** 32;
        const step = i % 6;
        if (step === 0) next = below(threads);
        const mutex = address(threads + (running % OTHERS));
        const queue = address(threads + OTHERS + below(OTHERS));
        const [id, info] = [
            [MUTEX_GET, [mutex, 0xFFFF_FFFF, 0, 0]],
            below(2) === 0 ? [QUEUE_SEND, [queue, 0, 0, 3]] : [QUEUE_RECEIVE, [queue, 0, 0, 3]],
            [MUTEX_PUT, [mutex, address(running), 1, 0]],
            [RESUME, [address(below(threads)), 6, 0, address(running)]],
            [RESUME, [address(next), 6, 0, address(running)]],
            [SUSPEND, [address(running), 4 + below(4), 0, address(next)]],
        ][step];
        const priority = running % 32;
        const entry = [address(running), priority, id, time, ...info];
        entry.forEach((word, place) => dump.writeUInt32LE(word, first + ENTRY * i + 4 * place));
        if (id === SUSPEND) running = next;
    }
    writeFileSync(target, dump);
    return events;
}

/** Codes of records of S.Ha.R.K., as in crates/wire/src/shark/ids.rs and crates/tracewell/schemas/shark.toml. */
const [STARTS, ACTIVATE, SCHEDULE, LOCK, UNLOCK, END_CYCLE, MISSES, FILTER] = [0x20, 0x12, 0x82, 0x16, 0x36, 0x62, 0xB2, 0xF1];

/** Size of a record of S.Ha.R.K. */
const RECORD = 16;

/** Number of records of a job. */
const OF_JOB = 7;

/**
 * Writes records of S.Ha.R.K. with jobs of three tasks. The jobs have pseudo-random lengths, some miss their deadlines, and a filter hides a kind
 * of events in the middle third. Returns the number of records.
 * @param {string} target
 * @param {number} wanted
 */
export function writeJobs(target, wanted) {
    const jobs = Math.floor(wanted / OF_JOB);
    const records = Buffer.alloc(RECORD * (OF_JOB * jobs + 3));
    let [place, time, random] = [0, 1000, 1];
    const put = (/** @type {number} */ code, /** @type {number} */ first, /** @type {number} */ second, /** @type {number} */ pause) => {
        time += pause;
        records.writeUInt16LE(code, place);
        records.writeUInt16LE(first, place + 2);
        records.writeUInt32LE(Math.floor(time / 2 ** 32), place + 4);
        records.writeUInt32LE(time % 2 ** 32, place + 8);
        records.writeUInt32LE(second, place + 12);
        place += RECORD;
    };
    const below = (/** @type {number} */ limit) => {
        // A linear congruential generator with 31 bits.
        random = (random * 48271) % (2 ** 31 - 1);
        return random % limit;
    };
    put(STARTS, 0x100, 1000, 0);
    for (let job = 0; job < jobs; job += 1) {
        if (job === Math.floor(jobs / 3)) put(FILTER, 1, 0, 10);
        if (job === Math.floor((2 * jobs) / 3)) put(FILTER, 0, 0, 10);
        const task = 0x108 + 8 * below(3);
        const length = 500 + below(10 ** (3 + below(3)));
        put(ACTIVATE, task, 0, 100);
        put(SCHEDULE, task, task, 50 + below(200));
        put(LOCK, task, 1, below(300));
        put(UNLOCK, task, 1, 20 + below(400));
        put(length > 90_000 ? MISSES : SCHEDULE, task, length > 90_000 ? 0 : task, length);
        put(END_CYCLE, task, 1, 10 + below(length));
        put(SCHEDULE, 0x100, 0x100, 30);
    }
    writeFileSync(target, records);
    return place / RECORD;
}
