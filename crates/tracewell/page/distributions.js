// Distributions of durations in a time range. durations.js collects the durations. Each bar of a histogram can show
// the places of its durations. `measured.js` makes the histograms of a large trace.

import { durations } from "./durations.js";
import { counted } from "./words.js";

/** Maximum number of bars of a histogram. */
const MAX_BARS = 24;

/** If the longest duration is longer than the shortest by this factor, bars are logarithmic. */
const WIDE = 100;

/** The groups of distributions in the order in which the panel lists them. */
const DISTRIBUTIONS = ["Response", "Start latency", "Waits", "Held", "Ready until it runs", "Preempted", "Running without a break", "Interrupts",
    "Messages until they are received", "Steps", "In a span without a break", "Stays in a state"];

/**
 * A distribution. The duration `lengths[i]` is at `places[i]`. Both lists are sorted by length.
 * @typedef {{ group: string, name: string, lengths: number[], places: import("./durations.js").Place[] }} Distribution
 */

/**
 * A bar of a histogram. It stands for `count` lengths between `from` and `to`. `first` is the index of the shortest of them.
 * @typedef {{ from: number, to: number, first: number, count: number }} Bar
 */

/**
 * A bar as the panel shows it. It leads to `places` of its `count` durations, the longest first. `length` returns the length of one of them as
 * text, and `show` shows it on the timeline. @typedef {{ count: number, label: string, places: number, length: (place: number) => string,
 * show: (place: number) => void }} ShownBar
 */

/** A tick of an axis, at a place from 0 to 1. @typedef {{ place: number, text: string }} AxisTick */

/**
 * A histogram as the panel shows it. `note` says how exact the figures are.
 * @typedef {{ group: string, name: string, noun: string, count: number, figures: string[], note: string, bars: ShownBar[], ticks: AxisTick[] }} Histogram
 */

/** The nouns for the durations in each group of distributions. */
const NOUNS = new Map([["Response", "response"], ["Start latency", "start"], ["Waits", "wait"], ["Held", "hold"],
    ["Ready until it runs", "time"], ["Preempted", "preemption"], ["Running without a break", "run"], ["Interrupts", "interrupt"],
    ["Messages until they are received", "message"], ["Steps", "step"], ["Stays in a state", "stay"]]);

/** Returns a distribution of a small trace as the panel shows it. @type {(places: import("./places.js").Places, distribution: Distribution) => Histogram} */
export function histogram(places, { group, name, lengths, places: found }) {
    const text = (/** @type {number} */ length) => places.model.span(0, Math.round(length));
    const noun = NOUNS.get(group) ?? "span";
    const list = bars(lengths);
    const shown = list.map(({ from, to, first, count }) => {
        const index = (/** @type {number} */ place) => first + count - 1 - place;
        return {
            count, label: `${counted(count, noun)} from ${text(from)} to ${text(to)}`, places: count,
            length: (/** @type {number} */ place) => text(lengths[index(place)]), show: (/** @type {number} */ place) => places.duration(found[index(place)]),
        };
    });
    const figures = [["least", 0], ["median", 0.5], ["90 %", 0.9], ["99 %", 0.99], ["most", 1]].map(([word, share]) =>
        `${word} ${text(quantile(lengths, Number(share)))}`);
    return { group, name, noun, count: lengths.length, figures, note: "", bars: shown, ticks: ticks(list).map(({ place, time }) => ({ place, text: text(time) })) };
}

/**
 * Returns all distributions of the durations that begin and end in a time range.
 * @param {import("./model.js").Model} model
 * @param {number} first
 * @param {number} last
 * @returns {Distribution[]}
 */
export function distributions(model, first, last) {
    /** @type {Map<string, { group: string, name: string, entries: [number, import("./durations.js").Place][] }>} */
    const found = new Map();
    durations(model, ({ group, name, from, to, length, place }) => {
        if (from < first || to > last) return;
        const key = `${group}\n${name}`;
        const known = found.get(key) ?? { group, name, entries: [] };
        known.entries.push([length ?? to - from, place]);
        found.set(key, known);
    });
    // The name of an object follows its kind. A reason without an object is a single word.
    const isBare = (/** @type {string} */ name) => Number(!name.includes(" "));
    return [...found.values()]
        .sort((a, b) => DISTRIBUTIONS.indexOf(a.group) - DISTRIBUTIONS.indexOf(b.group)
            || (a.group === "Waits" ? isBare(a.name) - isBare(b.name) : 0) || b.entries.length - a.entries.length)
        .map(({ group, name, entries }) => {
            entries.sort((a, b) => a[0] - b[0]);
            return { group, name, lengths: entries.map((e) => e[0]), places: entries.map((e) => e[1]) };
        });
}

/**
 * Returns the bars of sorted lengths. The bars divide the range of lengths evenly, or logarithmically if
 * the lengths differ much.
 * @param {number[]} lengths
 * @returns {Bar[]}
 */
export function bars(lengths) {
    if (lengths.length === 0) return [];
    const [least, most] = [lengths[0], lengths[lengths.length - 1]];
    const count = most > least ? Math.min(MAX_BARS, Math.max(4, Math.ceil(Math.sqrt(lengths.length) * 2))) : 1;
    const isWide = least > 0 && most / least > WIDE;
    const edge = (/** @type {number} */ i) => (isWide ? least * (most / least) ** (i / count) : least + ((most - least) * i) / count);
    /** @type {Bar[]} */
    const list = [];
    let first = 0;
    for (let i = 0; i < count; i += 1) {
        const to = i === count - 1 ? most : edge(i + 1);
        let end = first;
        while (end < lengths.length && (lengths[end] < to || i === count - 1)) end += 1;
        list.push({ from: edge(i), to, first, count: end - first });
        first = end;
    }
    return list;
}

/**
 * Returns a quantile of sorted lengths, for example the median for a share of 0.5.
 * @param {number[]} lengths not empty
 * @param {number} share
 */
export function quantile(lengths, share) {
    return lengths[Math.max(Math.ceil(lengths.length * share) - 1, 0)];
}

/** Maximum number of ticks of an axis between its ends. */
const MAX_TICKS = 5;

/**
 * Returns ticks for the axis of a histogram: its ends, and the beginnings of bars at equal distances.
 * @param {Bar[]} list
 * @returns {{ place: number, time: number }[]} places from 0 to 1
 */
export function ticks(list) {
    if (list.length === 0) return [];
    const stride = Math.ceil(list.length / (MAX_TICKS + 1));
    const starts = list.map(({ from }, i) => ({ place: i / list.length, time: from })).filter((_, i) => i % stride === 0);
    // The inner ticks leave one stride free before the last tick, which is at the end.
    const inner = starts.filter(({ place }) => place === 0 || place <= 1 - stride / list.length + 1e-9);
    return [...inner, { place: 1, time: list[list.length - 1].to }];
}
