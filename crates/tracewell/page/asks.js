// Requests about a large trace as a whole: its figures, and a search in all of its events. The server or the worker of the static page
// reads the trace to answer them.

/** Number of the worst waits in an answer. The server keeps the answer about the whole trace. */
const WORST = 200;

/**
 * The events to find: those after or before an event. With `count`, the answer also contains the number of all events that contain the text.
 * @typedef {{ text: string, after?: number, before?: number, limit: number, count: boolean }} Wanted
 */
/** @typedef {{ events: { seq: number, ticks: string }[], more: boolean, count?: number }} FoundEvents */
/**
 * Answers requests about a large trace. `figures` returns the figures of a range of ticks or of the whole trace.
 * @typedef {{
 *   figures: (range: [bigint, bigint] | null, signal: AbortSignal) => Promise<any>,
 *   search: (wanted: Wanted, signal: AbortSignal) => Promise<FoundEvents>,
 * }} Asks
 */

/** Requests to the server of the page. @type {Asks} */
export const SERVER = {
    async figures(range, signal) {
        const part = range ? `from=${range[0]}&to=${range[1]}&` : "";
        return (await asked(`analysis?${part}worst=${WORST}`, signal)).traces[0];
    },
    search({ text, after, before, limit, count }, signal) {
        const from = after === undefined ? "" : `&after=${after}`;
        const to = before === undefined ? "" : `&before=${before}`;
        return asked(`search?q=${encodeURIComponent(text)}${from}${to}&limit=${limit}&count=${count ? 1 : 0}`, signal);
    },
};

/** @type {(path: string, signal: AbortSignal) => Promise<any>} */
async function asked(path, signal) {
    const response = await fetch(`api/v1/${path}`, { signal });
    if (!response.ok) throw new Error((await response.text()).trim());
    return response.json();
}

/**
 * Returns requests to the worker of the static page. The worker cannot end a request early, so an answer that is no longer needed is ignored.
 * @param {() => import("./reader.js").Reader} reader
 * @returns {Asks}
 */
export function ofReader(reader) {
    const json = async (/** @type {object} */ request, /** @type {AbortSignal} */ signal) => {
        const answer = await reader().json(request);
        signal.throwIfAborted();
        return answer;
    };
    return {
        async figures(range, signal) {
            const ticks = range && range.map(String);
            return (await json({ ask: "analysis", range: ticks, worst: WORST }, signal)).traces[0];
        },
        search: ({ text, after, before, limit, count }, signal) =>
            json({ ask: "search", text, after: after ?? null, before: before ?? null, limit, count }, signal),
    };
}
