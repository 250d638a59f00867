// The histograms of a large trace, or of a range of it, from the figures of `analyze`. Each bar leads to its longest time. The page loads the
// part of the trace that contains this time.

import { counted } from "./words.js";

/** @typedef {import("./distributions.js").Histogram} Histogram */

/** The nouns for the times of a kind. @type {Record<string, string>} */
const TIME_NOUNS = { response: "response", wait: "wait", "mutex wait": "wait", hold: "hold", interrupt: "interrupt", span: "span" };

/** The percentiles that the panel shows, with their names in the JSON. @type {[string, string][]} */
const PERCENTILES = [["least", "min_ticks"], ["median", "p50_ticks"], ["90 %", "p90_ticks"], ["99 %", "p99_ticks"], ["most", "max_ticks"]];

/**
 * Returns the histograms of the distributions in the JSON of `analyze`.
 * @param {import("./places.js").Places} places
 * @param {any} json
 * @returns {Histogram[]}
 */
export function measured(places, json) {
    return (json.distributions ?? []).map((/** @type {any} */ row) => histogramOf(places, row));
}

/** @type {(places: import("./places.js").Places, row: any) => Histogram} */
function histogramOf(places, row) {
    const { model } = places;
    const span = (/** @type {number} */ ticks) => model.span(0, ticks);
    const { measure, count, bars } = row;
    const noun = TIME_NOUNS[measure] ?? "time";
    const end = span(row.max_ticks);
    return {
        group: measure.charAt(0).toUpperCase() + measure.slice(1), name: row.of, count, noun,
        figures: PERCENTILES.map(([word, key]) => `${word} ${span(row[key])}`),
        note: row.exact ? "" : "percentiles at most 0.8 % too high",
        bars: bars.map((/** @type {any} */ { from, count: within, longest }, /** @type {number} */ index) => ({
            count: within, label: `${counted(within, noun)} from ${from} to ${bars[index + 1]?.from ?? end}`,
            // The server sends the place of the longest time only.
            places: longest ? 1 : 0,
            length: () => span(longest.ticks),
            show: () => places.ended(longest.event, longest.until_ticks - longest.ticks, longest.until_ticks),
        })),
        ticks: bounds(bars, end),
    };
}

/** Maximum number of ticks of an axis before its end. */
const MAX_BOUNDS = 6;

/** Returns ticks for the axis: the lower bounds of bars at equal distances, and the end. @type {(bars: any[], end: string) => import("./distributions.js").AxisTick[]} */
function bounds(bars, end) {
    const stride = Math.ceil(bars.length / MAX_BOUNDS);
    const starts = bars.map(({ from }, i) => ({ place: i / bars.length, text: from })).filter((_, i) => i % stride === 0);
    return [...starts.filter(({ place }) => place === 0 || place <= 1 - stride / bars.length + 1e-9), { place: 1, text: end }];
}
