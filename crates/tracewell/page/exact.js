// The exact figures of a large trace and of its ranges. The page cannot compute them, because it loads only parts of the trace, in which
// short states are combined. So it asks for the figures of `analyze`.

/** Time in milliseconds between the last change of a range and the request for its figures. */
const RANGE_PAUSE = 300;

/** The state of a request: the figures, or a text that says why there are none. @typedef {{ json: any, text: string }} Answer */

/** The text of a request without an answer yet. */
const COMPUTING = "computing from the whole trace …";

/** The answer while the server reads the trace. @type {Answer} */
const READ_FIRST = { json: null, text: "these figures follow when the trace has been read" };

export class Exact {
    /**
     * @param {import("./asks.js").Asks | null} asks null if the page contains its whole trace
     * @param {() => void} changed is called after each change of an answer
     */
    constructor(asks, changed) {
        this.asks = asks;
        this.changed = changed;
        /** True while the server reads the trace for the first time. The figures would soon be out of date. */
        this.isReading = false;
        this.whole = new Inquiry();
        this.part = new Inquiry();
    }

    /** True if an answer can still arrive. */
    get isAsked() {
        return this.isReading || [this.whole, this.part].some(({ isSent, answer }) => isSent && answer.text === COMPUTING);
    }

    /** Forgets all figures, because the trace has changed. */
    clear() {
        this.whole.end();
        this.part.end();
        this.whole = new Inquiry();
        this.part = new Inquiry();
    }

    /** Returns the figures of the whole trace, and asks for them if this has not happened. @returns {Answer} */
    ofWhole() {
        return this.answer(this.whole, null, 0);
    }

    /** Returns the figures of a range of ticks, and asks for them if they are not known. @type {(from: bigint, to: bigint) => Answer} */
    ofRange(from, to) {
        const key = `${from}-${to}`;
        if (this.part.key !== key) {
            this.part.end();
            this.part = new Inquiry(key);
        }
        return this.answer(this.part, [from, to], RANGE_PAUSE);
    }

    /** @type {(request: Inquiry, range: [bigint, bigint] | null, pause: number) => Answer} */
    answer(request, range, pause) {
        if (this.isReading) return READ_FIRST;
        if (!request.isSent && this.asks) {
            request.isSent = true;
            request.timer = setTimeout(() => this.send(request, range), pause);
        }
        return request.answer;
    }

    /** @type {(request: Inquiry, range: [bigint, bigint] | null) => Promise<void>} */
    async send(request, range) {
        const { signal } = request.control;
        try {
            const json = await /** @type {import("./asks.js").Asks} */ (this.asks).figures(range, signal);
            request.answer = { json, text: "" };
        } catch (error) {
            request.answer = { json: null, text: /** @type {Error} */ (error).message };
        }
        if (!signal.aborted) this.changed();
    }
}

class Inquiry {
    constructor(key = "") {
        this.key = key;
        this.isSent = false;
        this.control = new AbortController();
        /** @type {Answer} */
        this.answer = { json: null, text: COMPUTING };
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        this.timer = undefined;
    }

    /** Ends the request. Its answer is not needed any more. */
    end() {
        clearTimeout(this.timer);
        this.control.abort();
    }
}

/** The figures that a payload contains, by their column. @type {WeakMap<import("./source.js").Column, any>} */
const byColumn = new WeakMap();

/** Returns the figures in a column, which are the JSON of `analyze` without lists of single waits. @param {import("./source.js").Column} column */
export function figuresIn(column) {
    // If the user moves a file on the time axis, its figures stay the same.
    const json = byColumn.get(column) ?? JSON.parse(new TextDecoder().decode(/** @type {Uint8Array} */ (column.values)));
    byColumn.set(column, json);
    return json;
}
