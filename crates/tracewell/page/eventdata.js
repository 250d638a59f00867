// The events that a page lists, as columns: their times, contexts, kinds and arguments, and the user's filter of them.

import { lowerBound } from "./bounds.js";

/** The events of the page, in order. */
export class Events {
    /** @param {import("./model.js").Model} model */
    constructor(model) {
        this.model = model;
        this.at = model.ticks("event.ticks");
        /** Sorted numbers by which rows and arrows refer to events. */
        this.seq = model.column("event.seq");
        /** The numbers of the events in their own traces. */
        this.own = model.files.length > 0 ? model.column("event.number") : this.seq;
        this.cpu = model.column("event.cpu");
        this.context = model.column("event.context");
        this.kind = model.column("event.kind");
        this.args = model.column("event.args");
        this.count = this.at.length;
        /** The indices of the events that the user's filter accepts, or null if there is no filter. @type {Uint32Array | null} */
        this.accepted = null;
        const lengths = model.column("text.length");
        this.ends = new Float64Array(lengths.length);
        let end = 0;
        lengths.forEach((length, index) => {
            end += length;
            this.ends[index] = end;
        });
        this.bytes = /** @type {Uint8Array} */ (model.column("text.bytes"));
        this.decoder = new TextDecoder();
        /** @type {Float64Array[] | null} */
        this.shown = null;
    }

    /** Returns the index of the event with a number in the trace, or -1. @param {number} seq */
    find(seq) {
        const index = lowerBound(this.seq, seq);
        return this.seq[index] === seq ? index : -1;
    }

    /** Returns the sequence number that an event has in its own trace. @param {number} index */
    number(index) {
        return this.own[index];
    }

    /** Returns the index of the event with this number in its own trace, or -1. @param {number} number  @param {number} [file] */
    numbered(number, file = 0) {
        if (this.own === this.seq) return this.find(number);
        return this.own.findIndex((/** @type {number} */ own, /** @type {number} */ i) =>
            own === number && this.model.fileOf(this.context[i]) === file);
    }

    /** Returns a text of arguments. @param {number} index */
    text(index) {
        return this.decoder.decode(this.bytes.subarray(this.ends[index - 1] ?? 0, this.ends[index]));
    }

    /**
     * Lists and draws only some events.
     * @param {number[] | null} accepted indices of these events, or null for all
     */
    filter(accepted) {
        this.accepted = accepted && Uint32Array.from(accepted);
        this.shown = null;
    }

    /** Returns true if the user's filter accepts an event. @param {number} index */
    accepts(index) {
        return this.accepted === null || this.accepted[lowerBound(this.accepted, index)] === index;
    }

    /** Returns the times of each context's events that the user's filter accepts. */
    get shownByContext() {
        const { accepted } = this;
        if (accepted === null) return this.byContext;
        if (!this.shown) {
            /** @type {number[][]} */
            const lists = this.model.contexts.map(() => []);
            accepted.forEach((index) => lists[this.context[index]].push(this.at[index]));
            this.shown = lists.map((list) => Float64Array.from(list));
        }
        return this.shown;
    }

    /** Returns the times of each context's events, for traces without states. */
    get byContext() {
        if (!this.lists) {
            const { contexts } = this.model;
            const counts = new Uint32Array(contexts.length);
            this.context.forEach((context) => { counts[context] += 1; });
            /** @type {Float64Array[]} */
            const lists = Array.from(counts, (count) => new Float64Array(count));
            counts.fill(0);
            this.context.forEach((context, index) => {
                lists[context][counts[context]] = this.at[index];
                counts[context] += 1;
            });
            this.lists = lists;
        }
        return this.lists;
    }
}
