// The search in all events of a large trace. The page lists only the events of a part, so the server or the worker searches.

import { lowerBound } from "./bounds.js";
import { numberIn } from "./matching.js";
import { grouped } from "./time.js";
import { counted } from "./words.js";

/** Time in milliseconds between the last change of the text and the request. */
const TYPING_PAUSE = 250;

/** Maximum number of events in the first answer, which arrives early, and in others. */
const [FIRST, MORE] = [1000, 100_000];

/** An event that was found. @typedef {{ seq: number, ticks: number }} Found */
/**
 * The current place: the number of the selected event, if there is one; the time at which the view begins; and the number of an event
 * shortly before this time. @typedef {{ seq: number | null, ticks: number, near: number }} Here
 */

export class Seeker {
    /**
     * @param {import("./asks.js").Asks | null} asks null if the page contains its whole trace
     * @param {() => void} changed is called after each change of the result
     */
    constructor(asks, changed) {
        this.asks = asks;
        this.changed = changed;
        /** Number of events in the trace. */
        this.events = 0;
        this.wanted = "";
        /** The event whose number is the text. It arrives before the found events, for which the whole trace may have to be read. @type {Found | null} */
        this.numbered = null;
        this.control = new AbortController();
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        this.timer = undefined;
        /** Consecutive events that contain the text. @type {Found[]} */
        this.found = [];
        /** Number of events with the text before those in `found`, if it is known. @type {number | null} */
        this.before = 0;
        /** True if more events with the text follow those in `found`. */
        this.more = false;
        /** Number of all events with the text, if it is known. @type {number | null} */
        this.count = null;
        this.isSearching = false;
        this.failure = "";
        /** Resolves when the first answer has arrived. @type {Promise<void>} */
        this.ready = Promise.resolve();
    }

    /** Ends the search. */
    clear() {
        this.control.abort();
        clearTimeout(this.timer);
        this.control = new AbortController();
        this.wanted = this.failure = "";
        this.found = [];
        this.numbered = null;
        this.before = 0;
        this.more = this.isSearching = false;
        this.count = null;
        this.ready = Promise.resolve();
    }

    /**
     * Searches for another text. Ends the search for the previous one.
     * @param {string} text
     * @param {number} events number of events in the trace
     */
    run(text, events) {
        const wanted = text.trim();
        this.events = events;
        if (wanted === this.wanted) return;
        this.clear();
        this.wanted = wanted;
        if (wanted === "") return;
        const { signal } = this.control;
        this.isSearching = true;
        this.ready = new Promise((resolve) => {
            this.timer = setTimeout(() => {
                this.askNumbered(signal);
                this.begin(signal).then(resolve);
            }, TYPING_PAUSE);
        });
    }

    /** Searches again, because the trace has changed. */
    again() {
        const text = this.wanted;
        this.clear();
        this.run(text, this.events);
    }

    /** Asks for the event whose number is the text. @param {AbortSignal} signal */
    async askNumbered(signal) {
        const number = Number(numberIn(this.wanted) ?? -1);
        if (number < 0 || number >= this.events) return;
        const after = number === 0 ? undefined : number - 1;
        const wanted = { text: this.wanted, after, before: number + 1, limit: 1, count: false };
        // If this fails, the search fails as well, and says why.
        const { events } = await /** @type {import("./asks.js").Asks} */ (this.asks).search(wanted, signal).catch(() => ({ events: [] }));
        if (signal.aborted || events.length === 0) return;
        const [{ seq, ticks }] = events;
        this.numbered = { seq, ticks: Number(ticks) };
        this.changed();
    }

    /** Finds the first events, and then counts all of them. @param {AbortSignal} signal */
    async begin(signal) {
        await this.ask({ limit: FIRST, count: false }, signal);
        if (signal.aborted || this.failure !== "") return;
        if (this.more) this.ask({ limit: MORE, count: true }, signal);
        else this.count = this.found.length;
        this.changed();
    }

    /**
     * Replaces the found events by those of another request. `before` is the number of events with the text before them.
     * @param {Omit<import("./asks.js").Wanted, "text">} wanted
     * @param {AbortSignal} signal
     * @param {(length: number) => number | null} [before]
     */
    async ask(wanted, signal, before = () => 0) {
        this.isSearching = true;
        this.changed();
        try {
            const { events, more, count } = await /** @type {import("./asks.js").Asks} */ (this.asks).search({ text: this.wanted, ...wanted }, signal);
            if (signal.aborted) return;
            this.found = events.map(({ seq, ticks }) => ({ seq, ticks: Number(ticks) }));
            // A search backwards may report that more events precede. Others follow, except after the last event of the trace.
            const isBackwards = wanted.before !== undefined;
            this.before = isBackwards && !more ? 0 : before(events.length);
            this.more = isBackwards || more;
            this.count = count ?? this.count;
        } catch (error) {
            if (signal.aborted) return;
            this.failure = /** @type {Error} */ (error).message;
        }
        this.isSearching = false;
        this.changed();
    }

    /**
     * Returns the next event with the text, or the previous one. After the last event follows the first.
     * @param {1 | -1} direction
     * @param {Here} here
     * @returns {Promise<Found | null>}
     */
    async next(direction, here) {
        const { signal } = this.control;
        await this.ready;
        if (signal.aborted || this.found.length === 0) return null;
        let place = this.placeOf(direction, here);
        if (place === null) {
            await this.load(direction, here, signal);
            place = direction > 0 ? 0 : this.found.length - 1;
        }
        if (!signal.aborted && place >= this.found.length) {
            if (this.before !== 0) await this.ask({ limit: MORE, count: false }, signal);
            place = 0;
        } else if (!signal.aborted && place < 0) {
            const { count } = this;
            const last = { before: Number.MAX_SAFE_INTEGER, limit: MORE, count: false };
            if (this.more) await this.ask(last, signal, (length) => (count === null ? null : count - length));
            this.more = false;
            place = this.found.length - 1;
        }
        return signal.aborted || this.failure !== "" ? null : this.found[place] ?? null;
    }

    /** Loads the events with the text that follow or precede the current place. @type {(direction: 1 | -1, here: Here, signal: AbortSignal) => Promise<void>} */
    async load(direction, { seq, near }, signal) {
        const { found: [first], before } = this;
        const last = this.found[this.found.length - 1];
        if (direction > 0) {
            const after = seq ?? near - 1;
            const known = after === last.seq && before !== null ? before + this.found.length : null;
            await this.ask({ after, limit: MORE, count: false }, signal, () => known);
        } else {
            const end = seq ?? near;
            await this.ask({ before: end, limit: MORE, count: false }, signal, (length) => (end === first.seq && before !== null ? before - length : null));
        }
    }

    /**
     * Returns the place of the next or previous event among those that were sent. Returns -1 if it is the last event of the trace, their number
     * if it is the first, and null if it was not sent.
     * @type {(direction: 1 | -1, here: Here) => number | null}
     */
    placeOf(direction, { seq, ticks }) {
        const { found, before, more } = this;
        const place = lowerBound(found.map((each) => (seq === null ? each.ticks : each.seq)), seq ?? ticks);
        const isOn = seq !== null && found[place]?.seq === seq;
        const isWithin = isOn || ((place > 0 || before === 0) && (place < found.length || !more));
        if (!isWithin) return null;
        const next = direction > 0 ? place + (isOn ? 1 : 0) : place - 1;
        if ((next < 0 && before !== 0) || (next === found.length && more)) return null;
        return next;
    }

    /** Returns the state of the search in words. @param {number | null} seq the number of the selected event */
    text(seq) {
        if (this.failure !== "") return this.failure;
        const { found, before, count } = this;
        if (found.length === 0) return this.isSearching ? "searching …" : "nothing found in the whole trace";
        const place = seq === null ? -1 : lowerBound(found.map((each) => each.seq), seq);
        const number = place >= 0 && found[place]?.seq === seq && before !== null ? `${grouped(before + place + 1)} of ` : "";
        if (count === null) return `${number}more than ${grouped(found.length)}, counting …`;
        const all = `${number}${number === "" ? counted(count, "event") : grouped(count)} in the trace`;
        return this.isSearching ? `${all}, searching …` : all;
    }
}
