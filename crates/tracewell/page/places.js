// Shows places of the timeline: spans, events, inversions, jobs. Links in panels and tables use this module.

import { waitOf } from "./causes.js";
import { BLOCKED } from "./model.js";

/** Number of events in the time around an event of a large trace. */
const EVENTS_SHOWN = 500;

export class Places {
    /** @param {import("./timeline.js").Timeline} timeline */
    constructor(timeline) {
        this.timeline = timeline;
        this.model = timeline.model;
        this.view = timeline.view;
    }

    /** @type {(from: number, to: number) => void} */
    zoom(from, to) {
        const margin = Math.max((to - from) * 0.6, 20);
        this.view.jump(from - margin, to + margin);
    }

    /**
     * Shows and selects a span. Zooms if the span is out of sight or too short to see.
     * @param {number} row
     * @param {number} span
     */
    span(row, span) {
        const { spans } = this.model.rows[row];
        const [from, to] = [spans.from(span), spans.to(span)];
        const isInSight = from >= this.view.from && to <= this.view.to;
        if (!isInSight || to - from < this.view.span / 40) this.zoom(from, to);
        else this.view.remember();
        this.view.select({ row, span });
        this.timeline.scrollToRow(row);
    }

    /**
     * Shows a time of a large trace, and selects a span of a row as soon as the page has loaded it: the span from `from` to `until` or, if
     * `state` is given, the longest span with this state within this time. Times are ticks of the trace.
     * @type {(row: any, from: number, until: number, state?: number) => void}
     */
    seek(row, from, until, state) {
        const { model, view } = this;
        const origin = Number(model.origin);
        this.zoom(from - origin, until - origin);
        view.seek({ key: model.keyOf(row), from, until, state });
        this.timeline.scrollToRow(row.index);
        view.changed();
    }

    /** Shows a time of a large trace, and selects an event as soon as the page has loaded it. @type {(seq: number, at: number) => void} */
    seekEvent(seq, at) {
        const { model, view } = this;
        const offset = at - Number(model.origin);
        view.remember();
        // The page can list the event only if the view contains few events.
        const most = (model.length / Math.max(model.header.events, 1)) * EVENTS_SHOWN;
        const isInSight = offset >= view.from && offset <= view.to;
        if (!isInSight || (model.part && !model.part.listed && view.span > most)) {
            const span = Math.min(view.span, most);
            view.show(offset - span / 2, offset + span / 2);
        }
        view.seek({ seq, at });
        view.changed();
    }

    /**
     * Shows a time of a large trace, and selects the event that ended it as soon as the page has loaded it. Times are ticks of the trace.
     * @type {(seq: number, from: number, until: number) => void}
     */
    ended(seq, from, until) {
        const { model, view } = this;
        const origin = Number(model.origin);
        this.zoom(from - origin, until - origin);
        view.seek({ seq, at: until });
        view.changed();
    }

    /** Shows what has an identity. @param {import("./identity.js").Identity} identity */
    identified({ key, seq = 0, at = 0, from, until, state }) {
        const row = this.model.rows.find((/** @type {any} */ each) => this.model.keyOf(each) === key);
        if (key === undefined) this.seekEvent(seq, at);
        else if (row && from !== undefined && until !== undefined) this.seek(row, from, until, state);
    }

    /** Selects a time range, and shows it with its surroundings. @type {(from: number, to: number) => void} */
    range(from, to) {
        this.view.showRange(from, to);
    }

    /** Shows and selects a whole row. @param {number} row */
    whole(row) {
        this.view.remember();
        this.view.select({ whole: row });
        this.timeline.scrollToRow(row);
    }

    /** Shows and selects an event. @param {number} index */
    event(index) {
        this.view.remember();
        this.view.reveal(this.model.events.at[index]);
        this.view.select({ event: index });
    }

    /** Returns the row of a context, or undefined. @param {number} context */
    rowOf(context) {
        return this.model.rows.find((/** @type {any} */ row) => row.kind === "context" && row.context === context);
    }

    /** Shows a priority inversion, and selects the wait. @param {number} i */
    inversion(i) {
        const { from, until, context } = this.model.inversion;
        const waiter = this.rowOf(context[i]);
        if (this.model.part && waiter) {
            const ticks = (/** @type {number} */ offset) => Number(this.model.exact(offset));
            this.seek(waiter, ticks(from[i]), ticks(until[i]), BLOCKED);
            return;
        }
        const wait = waitOf(this.model, i);
        this.zoom(from[i], until[i]);
        if (wait) this.view.select({ row: wait.row.index, span: wait.span });
    }

    /** Shows a duration. @param {import("./durations.js").Place} place */
    duration(place) {
        if ("row" in place) this.span(place.row, place.span);
        else if ("job" in place) this.job(place.job);
        else if (place.event < 0) this.zoom(place.from, place.to);
        else this.event(place.event);
    }

    /** Shows a job. @param {number} i */
    job(i) {
        const { job } = this.model;
        this.zoom(job.from[i], job.untilSeq[i] > 0 ? job.until[i] : Math.max(job.missed[i], job.from[i]));
    }
}
