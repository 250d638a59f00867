// Counts in words: "1 event", "2 events".

import { grouped } from "./time.js";

/** Returns a count with a noun, in the plural unless the count is 1. @type {(count: number | bigint, noun: string) => string} */
export function counted(count, noun) {
    return `${grouped(count)} ${noun}${Number(count) === 1 ? "" : "s"}`;
}

/** Returns a number of units, which are given in the plural: "1 item", "2 items". @type {(count: number, units: string) => string} */
export function inUnits(count, units) {
    return counted(count, units.replace(/s$/, ""));
}
