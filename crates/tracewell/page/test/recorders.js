// Creates large traces that show only which context recorded an event: an RKH stream with state machines and queues, and a log of a native
// stream with spans. `docs/rkh.md` and `docs/native-format.md` describe the formats.

import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";

/** The records of a message to an active object, from its allocation to its release: their ids, and the sizes of their arguments. */
const CLUSTER = [
    [0x01, 4, 1, 1], [0xA3, 2, 1, 1, 1, 1, 1, 4], [0x22, 4, 1, 1], [0x43, 4, 1, 1, 1, 1, 1], [0x26, 4], [0x42, 4, 1, 1, 1, 1, 1], [0x71, 4, 1, 4],
    [0x62, 4, 4, 4], [0x68, 4, 4], [0x65, 4, 4], [0x70, 1, 4, 4, 4], [0x64, 4, 4], [0x66, 4, 1, 1], [0x63, 4, 4], [0x69, 4],
    [0xA5, 1, 1, 1, 1, 1, 4], [0x02, 4, 1],
];

/** The configuration record: version 3.4, timestamps of four bytes, 1000 ticks per second. */
const CONFIGURATION = [0xAC, 0x00, 0x34, 0x00, 0x98, 0x03, 0x00, 0x14, 0x42, 0x11, 0x02, 0x14, 0xE8, 0x03];

/** Number of active objects, and number of states of each. */
const [OBJECTS, STATES] = [4, 5];

/** Writes an RKH stream with about this number of events, and returns the exact number. @param {string} target @param {number} wanted */
export function writeRkh(target, wanted) {
    const out = Buffer.alloc(40 * wanted + 100);
    let length = 0;
    out[length++] = 0x7E;
    const add = (/** @type {number[]} */ frame) => {
        const sum = frame.reduce((all, byte) => all + byte, 0);
        for (const byte of [...frame, -sum & 0xFF]) {
            const isEscaped = byte === 0x7E || byte === 0x7D;
            if (isEscaped) out[length++] = 0x7D;
            out[length++] = isEscaped ? byte ^ 0x20 : byte;
        }
        out[length++] = 0x7E;
    };
    add(CONFIGURATION);
    const bytes = (/** @type {number} */ value, /** @type {number} */ size) => Array.from({ length: size }, (_, i) => (value >>> (8 * i)) & 0xFF);
    const states = Array(OBJECTS).fill(0);
    let events = 1;
    for (let round = 0; events < wanted; round += 1) {
        const object = (round * 7 + (round >> 3)) % OBJECTS;
        const address = 0x2000_1000 + 64 * object;
        const state = (/** @type {number} */ number) => 0x0800_1000 + 64 * (STATES * object + number);
        const from = state(states[object]);
        states[object] = (states[object] + 1 + (round % 2)) % STATES;
        const to = state(states[object]);
        for (const [id, ...sizes] of CLUSTER) {
            // The number of messages in a queue has a peak every 50,000 rounds.
            const level = round % 50_000 === 20_000 ? 40 : 1 + (round % 3);
            const values = sizes.map((_, index) => {
                if (id <= 0x02) return index === 0 ? 0x2000_0800 : level;
                if (id === 0x22 || id === 0x26) return index === 0 ? address + 32 : level;
                if (index === 0 && id >= 0x42 && id !== 0x70 && id < 0xA0) return address;
                if ((id === 0x70 && index === 1) || (id === 0xA3 && index === 6) || (id === 0xA5 && index === 5)) return address;
                if ((id === 0x62 || id === 0x65) && index === 1) return from;
                if ((id === 0x71 && index === 2)) return from;
                if ([0x63, 0x64, 0x68].includes(id) && index === 1) return to;
                if ((id === 0x62 || id === 0x70) && index === 2) return to;
                if (id === 0x70 && index === 3) return 0x0801_0000;
                return 1;
            });
            const [number, stamp] = [(events - 1) & 0xFF, (1_000_000 + 5 * events) >>> 0];
            add([id, number, ...bytes(stamp, 4), ...sizes.flatMap((size, i) => bytes(values[i], size))]);
            events += 1;
        }
    }
    writeFileSync(target, out.subarray(0, length));
    return events;
}

/** The event types of the log. @type {[number, number, string][]} id, family, text */
const TYPES = [
    [64, 1, "app/step(number:u64)"], [65, 2, "info/app:request(span:u64,parent:u64)"], [66, 2, "debug/app:query(span:u64,parent:u64)"],
    [67, 3, "span/enter(span:u64)"], [68, 3, "span/exit(span:u64)"], [69, 3, "span/close(span:u64)"],
];

/** The events of a round: their types, and the spans to which they belong. */
const ROUND = [[65, 1], [67, 1], [64, 0], [66, 2], [67, 2], [64, 0], [64, 0], [68, 2], [69, 2], [64, 0], [68, 1], [69, 1]];

/** Number of rounds in a packet. */
const ROUNDS = 50;

/** CRC-32C of each byte. */
const CRC = Uint32Array.from({ length: 256 }, (_, byte) => {
    let sum = byte;
    for (let bit = 0; bit < 8; bit += 1) sum = (sum >>> 1) ^ (sum & 1 ? 0x82F6_3B78 : 0);
    return sum;
});

/** Returns a block of a log. @type {(number: number, kind: number, body: bigint[], text?: string) => Buffer} */
function block(number, kind, body, text = "") {
    const bytes = Buffer.alloc(24 + 8 * body.length + 8 * Math.ceil(text.length / 8));
    bytes.writeUInt32LE(0x3142_5754, 0);
    bytes.writeUInt32LE(kind, 4);
    bytes.writeUInt32LE(bytes.length, 8);
    bytes.writeBigUInt64LE(BigInt(number), 16);
    body.forEach((word, i) => bytes.writeBigUInt64LE(word, 24 + 8 * i));
    bytes.write(text, 24 + 8 * body.length, "latin1");
    let sum = 0xFFFF_FFFF;
    for (const byte of bytes) sum = CRC[(sum ^ byte) & 0xFF] ^ (sum >>> 8);
    bytes.writeUInt32LE(~sum >>> 0, 12);
    return bytes;
}

/** Writes a log of two threads with about this number of events, and returns the exact number. @param {string} target @param {number} wanted */
export function writeSpans(target, wanted) {
    const file = openSync(target, "w");
    let blocks = 0;
    const put = (/** @type {number} */ kind, /** @type {bigint[]} */ body, text = "") => writeSync(file, block(blocks++, kind, body, text));
    put(1, [1n | (3n << 32n), 3n, 1_000_000n, 0n, 0n, 0n, 7n]);
    for (const [id, family, text] of TYPES) put(2, [BigInt(id) | (BigInt(family) << 16n) | (BigInt(text.length) << 32n)], text);
    const lanes = ["first", "second"].map((name, lane) => ({ name: Buffer.alloc(16, 0), lane, packets: 0, events: 0, text: name }));
    lanes.forEach(({ name, text }) => name.write(text, "latin1"));
    let [events, time, span] = [0, 0, 0];
    while (events < wanted) {
        const lane = lanes[(events / (ROUND.length * ROUNDS)) % 2];
        const base = time;
        /** @type {bigint[]} */
        const words = [];
        for (let round = 0; round < ROUNDS; round += 1) {
            span += 1;
            for (const [id, which] of ROUND) {
                time += 3 + (span % 5);
                const fields = id === 64 ? [events] : id < 67 ? [2 * span + which, which === 2 ? 2 * span + 1 : 0] : [2 * span + which];
                words.push(BigInt(time - base) | (BigInt(id) << 32n) | (BigInt(fields.length) << 48n), ...fields.map(BigInt));
                events += 1;
            }
        }
        put(3, [BigInt(lane.packets), BigInt(base), 7n | (BigInt(8 + lane.lane) << 32n), BigInt(lane.events), 0n,
            BigInt(words.length + 10) | (BigInt(lane.lane) << 32n), BigInt(time), lane.name.readBigUInt64LE(0), lane.name.readBigUInt64LE(8), 0n,
            ...words]);
        lane.packets += 1;
        lane.events += ROUND.length * ROUNDS;
    }
    put(6, [0n]);
    closeSync(file);
    return events;
}
