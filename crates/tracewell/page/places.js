// Shows places of the timeline: spans, events, inversions, jobs. Links in panels and tables use this module.

import { waitOf } from "./causes.js";

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
        const { from, until } = this.model.inversion;
        const wait = waitOf(this.model, i);
        this.zoom(from[i], until[i]);
        if (wait) this.view.select({ row: wait.row.index, span: wait.span });
    }

    /** Shows a job. @param {number} i */
    job(i) {
        const { job } = this.model;
        this.zoom(job.from[i], job.untilSeq[i] > 0 ? job.until[i] : Math.max(job.missed[i], job.from[i]));
    }
}
