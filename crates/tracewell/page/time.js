// Ticks and times. Ticks are exact: 64-bit integers (BigInt), or offsets from the start of the page
// as numbers. Nanoseconds exist only if the clock's rate is known.

const UNITS = [
    { unit: "s", ns: 1e9 },
    { unit: "ms", ns: 1e6 },
    { unit: "µs", ns: 1e3 },
    { unit: "ns", ns: 1 },
];

/** The clock of a trace. */
export class Clock {
    /** @param {string[][]} rates for each rate: ticks and nanoseconds at its start, a number of ticks, and the seconds that they take */
    constructor(rates) {
        this.rates = rates.map(([ticks, ns, count, seconds]) => ({
            ticks: BigInt(ticks),
            ns: BigInt(ns),
            count: BigInt(count),
            seconds: BigInt(seconds),
        }));
    }

    get isKnown() {
        return this.rates.length > 0;
    }

    /**
     * Converts a tick to nanoseconds since the first event, rounded down.
     * @param {bigint} ticks
     */
    ns(ticks) {
        const later = this.rates.findIndex((rate) => rate.ticks > ticks);
        const index = later < 0 ? this.rates.length - 1 : Math.max(later - 1, 0);
        const rate = this.rates[index];
        const product = (ticks - rate.ticks) * rate.seconds * 1000000000n;
        const down = product < 0n ? -((-product + rate.count - 1n) / rate.count) : product / rate.count;
        return rate.ns + down;
    }

    /**
     * Converts nanoseconds since the first event to the nearest tick.
     * @param {bigint} ns
     */
    ticks(ns) {
        const later = this.rates.findIndex((rate) => rate.ns > ns);
        const index = later < 0 ? this.rates.length - 1 : Math.max(later - 1, 0);
        const rate = this.rates[index];
        const divisor = rate.seconds * 1000000000n;
        return rate.ticks + ((ns - rate.ns) * rate.count + divisor / 2n) / divisor;
    }
}

/** @param {number | bigint} value */
export function grouped(value) {
    return String(value).replace(/\B(?=(\d{3})+$)/g, ",");
}

/**
 * Returns a time as text in the unit that fits, with at most `digits` significant digits.
 * @param {bigint} ns
 */
export function duration(ns, digits = 4) {
    const value = Number(ns);
    const fit = UNITS.find((each) => Math.abs(value) >= each.ns) ?? UNITS[3];
    const scaled = value / fit.ns;
    const before = Math.max(1, Math.floor(Math.log10(Math.abs(scaled) || 1)) + 1);
    const after = fit.ns === 1 ? 0 : Math.max(0, digits - before);
    const text = scaled.toFixed(after);
    return `${after > 0 ? text.replace(/\.?0+$/, "") : text} ${fit.unit}`;
}

/**
 * Returns a time as a number of units, with at most `decimals` decimals. Further decimals are cut off.
 * @param {bigint} ns
 * @param {number} unit nanoseconds of the unit
 * @param {number} decimals
 */
export function fixed(ns, unit, decimals) {
    const sign = ns < 0n ? "-" : "";
    const magnitude = ns < 0n ? -ns : ns;
    const factor = BigInt(unit);
    const fraction = (magnitude % factor).toString().padStart(String(unit).length - 1, "0");
    const whole = `${sign}${grouped(magnitude / factor)}`;
    return decimals > 0 && unit > 1 ? `${whole}.${fraction.slice(0, decimals)}` : whole;
}

/**
 * Returns a step of 1, 2 or 5 times a power of ten that is at least `least`.
 * @param {number} least
 */
export function step(least) {
    const power = 10 ** Math.floor(Math.log10(Math.max(least, 1)));
    return [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= least) ?? power * 10;
}

/**
 * Returns the largest unit that is not longer than a time.
 * @param {number} length in nanoseconds
 */
export function unitFor(length) {
    return UNITS.find((each) => length >= each.ns) ?? UNITS[3];
}

/**
 * Parses a text such as `-42.5 ms` or `+300 ticks`, with or without a sign. Returns the number of
 * nanoseconds or ticks, or null if the text is invalid.
 * @param {string} text
 * @param {boolean} isTime if false, the text names ticks
 */
export function parsedOffset(text, isTime) {
    const match = /^\s*([+\-−]?)\s*(.*)$/s.exec(text);
    const size = match?.[2].trim() ?? "";
    const ticks = /^(\d{1,20}|\d{1,3}(?:,\d{3}){1,6})(?:\s*ticks?)?$/.exec(size);
    const value = size === "0" ? 0n : isTime ? parsed(size) : ticks && BigInt(ticks[1].replaceAll(",", ""));
    if (value === null || value === undefined) return null;
    return ["-", "−"].includes(match?.[1] ?? "") ? -value : value;
}

/**
 * Returns the nanoseconds that a text such as `42.5 ms` names, or null.
 * @param {string} text
 */
export function parsed(text) {
    // A comma separates groups of three digits. Otherwise, `1,5 ms` would be 15 ms.
    const match = /^(\d+|\d{1,3}(?:,\d{3})+)(?:\.(\d+))?\s*(ns|us|µs|ms|s)$/.exec(text.trim());
    if (!match) return null;
    const name = match[3] === "us" ? "µs" : match[3];
    const zeros = { s: 9, ms: 6, "µs": 3, ns: 0 }[name] ?? 0;
    const fraction = (match[2] ?? "").padEnd(zeros, "0").slice(0, zeros);
    return BigInt(match[1].replaceAll(",", "") + fraction);
}
