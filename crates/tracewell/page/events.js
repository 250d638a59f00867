// The list of events. Only the visible lines exist as elements.

import { lowerBound } from "./bounds.js";
import { element } from "./elements.js";
import { argumentsIn, telling } from "./locks.js";
import { grouped } from "./time.js";
import { counted } from "./words.js";

/** Height of a line in pixels. */
const LINE = 22;

/** Browsers limit the height of an element; longer lists scroll in proportion. */
const MAX_HEIGHT = 8_000_000;

export class EventList {
    /**
     * @param {HTMLElement} scroller
     * @param {HTMLElement} lines
     * @param {import("./timeline.js").Timeline} timeline
     */
    constructor(scroller, lines, timeline) {
        this.scroller = scroller;
        this.lines = lines;
        this.timeline = timeline;
        this.events = timeline.model.events;
        this.first = 0;
        /** @type {Set<number>} indices of found events */
        this.found = new Set();
        /** The text that was searched for, in lower case. */
        this.wanted = "";
        this.ignored = -1;
        this.followed = -1;
        /** The range to which the list has scrolled. */
        this.ranged = "";
        /** Height of the whole list in pixels. */
        this.full = 0;
        this.shown = "";
        this.refill();
        scroller.addEventListener("scroll", () => this.scrolled());
        scroller.addEventListener("wheel", (event) => {
            if (this.count * LINE <= MAX_HEIGHT) return;
            event.preventDefault();
            this.goTo(this.first + Math.sign(event.deltaY) * 3);
        }, { passive: false });
        lines.addEventListener("click", (event) => {
            const line = /** @type {HTMLElement} */ (event.target).closest(".event");
            if (!line) return;
            this.timeline.view.remember();
            this.choose(Number(/** @type {HTMLElement} */ (line).dataset.index));
        });
        // Reading the height during each frame would make the browser compute the layout twice.
        this.height = scroller.clientHeight;
        new ResizeObserver(() => {
            this.height = scroller.clientHeight;
            this.draw();
        }).observe(scroller);
    }

    /** Updates the list after the content of the model or the filter was replaced. */
    refill() {
        this.events = this.timeline.model.events;
        const filler = /** @type {HTMLElement} */ (this.scroller.querySelector("#filler"));
        this.full = Math.min(this.count * LINE, MAX_HEIGHT);
        filler.style.height = `${this.full}px`;
        this.shown = "";
    }

    /** Number of listed events: those that the filter accepts, or all. */
    get count() {
        return this.events.accepted?.length ?? this.events.count;
    }

    /** Returns the index of the event at a place in the list. @param {number} place */
    indexAt(place) {
        return this.events.accepted?.[place] ?? place;
    }

    /** Returns the place of an event in the list, or the place of the next event if the filter does not accept it. @param {number} index */
    placeOf(index) {
        return this.events.accepted ? lowerBound(this.events.accepted, index) : index;
    }

    /** Returns the place of the first listed event that is not before a time. @param {number} time */
    placeAt(time) {
        return this.placeOf(lowerBound(this.events.at, time));
    }

    get rows() {
        return Math.ceil(this.height / LINE) + 1;
    }

    get last() {
        return Math.max(this.count - Math.floor(this.height / LINE), 0);
    }

    scrolled() {
        const { scrollTop, scrollHeight, clientHeight } = this.scroller;
        if (Math.abs(scrollTop - this.ignored) < 1.5) return;
        this.ignored = -1;
        const room = Math.max(scrollHeight - clientHeight, 1);
        this.first = Math.min(Math.round((scrollTop / room) * this.last), this.last);
        this.draw();
    }

    /** @param {number} place in the list */
    goTo(place) {
        this.first = Math.min(Math.max(Math.round(place), 0), this.last);
        const room = Math.max(this.full - this.height, 0);
        const top = Math.round(this.last > 0 ? (this.first / this.last) * room : 0);
        this.scroller.scrollTop = top;
        this.ignored = top;
        this.draw();
    }

    /** Selects an event, and shows it. @param {number} index */
    choose(index) {
        if (this.events.count === 0) return;
        const { view } = this.timeline;
        const chosen = Math.min(Math.max(index, 0), this.events.count - 1);
        this.chosen = chosen;
        view.reveal(this.events.at[chosen]);
        view.select({ event: chosen });
    }

    /** Selects the next or the previous listed event. @param {1 | -1} direction */
    step(direction) {
        if (this.count === 0) return;
        const place = this.placeOf(Math.max(this.current, 0));
        const isOn = this.current >= 0 && this.indexAt(place) === this.current;
        const next = direction > 0 ? place + Number(isOn) : place - 1;
        this.choose(this.indexAt(Math.min(Math.max(next, 0), this.count - 1)));
    }

    /** Returns the event to which the selection refers: the selected event, or the first event of the selected span. */
    get current() {
        const { selection } = this.timeline.view;
        if (!selection || "whole" in selection) return -1;
        if ("event" in selection) return selection.event;
        const { spans } = this.timeline.model.rows[selection.row];
        const index = lowerBound(this.events.seq, spans.seq[selection.span]);
        return index < this.events.count ? index : -1;
    }

    /** Scrolls to the range, the selection or the start of the visible time, if one of these has changed. */
    follow() {
        const { view } = this.timeline;
        const { current } = this;
        const key = `${view.from} ${view.to} ${view.cursor}`;
        const range = view.measured;
        const isNew = range !== null && range.join(" ") !== this.ranged;
        this.ranged = range?.join(" ") ?? "";
        if (isNew) {
            this.followed = current;
            this.goTo(this.placeAt(range[0]));
        } else if (current !== this.followed) {
            this.followed = current;
            const visible = Math.floor(this.height / LINE);
            const place = this.placeOf(current);
            const isInSight = place >= this.first && place < this.first + visible;
            if (current >= 0 && !isInSight) this.goTo(place - Math.floor(visible / 2));
        } else if (key !== this.shown && current < 0) {
            this.goTo(this.placeAt(view.cursor ?? range?.[0] ?? view.from));
        }
        this.shown = key;
        this.draw();
    }

    draw() {
        const last = Math.min(this.first + this.rows, this.count);
        const lines = [];
        for (let place = this.first; place < last; place += 1) lines.push(this.line(this.indexAt(place)));
        this.lines.replaceChildren(...lines);
        this.scroller.setAttribute("aria-rowcount", String(this.count));
    }

    /** @param {number} index */
    line(index) {
        const { model, view, contexts } = this.timeline;
        const { events } = this;
        const dot = element("i", [], "dot");
        dot.style.background = contexts[events.context[index]];
        const line = element("div", [
            element("span", [String(events.number(index))], "number"),
            element("span", [model.time(model.exact(events.at[index])).replace(/ (s|ms|µs|ns|ticks)$/, "")], "time"),
            element("span", [dot, ...this.marked(model.name(events.context[index]), index)], "context"),
            element("span", this.marked(model.kinds[events.kind[index]].label, index), "label"),
            element("span", this.marked(telling(argumentsIn(events.text(events.args[index]))).join(", "), index), "args"),
        ], "event");
        line.dataset.index = String(index);
        line.setAttribute("role", "row");
        for (const part of line.children) part.setAttribute("role", "gridcell");
        const time = events.at[index];
        const [from, to] = view.measured ?? [view.from, view.to];
        line.classList.toggle("outside", time < from || time > to);
        line.classList.toggle("match", this.found.has(index));
        line.classList.toggle("chosen", index === this.current);
        return line;
    }

    /** Returns a text. If the search found the event, marks each occurrence of the wanted text. @type {(text: string, index: number) => (string | Node)[]} */
    marked(text, index) {
        if (!this.found.has(index)) return [text];
        return parts(text, this.wanted).map((part, i) => (i % 2 === 1 ? element("mark", [part]) : part));
    }

    /**
     * Returns the heading: the number of listed events in the selected range, if there is one, the number of listed events, if there is a
     * filter, the number of all events, and the unit of times.
     */
    heading() {
        const { model, view } = this.timeline;
        const sample = model.time(model.exact(0));
        const range = view.measured;
        const parts = [
            ...(range ? [grouped(this.placeAt(range[1] + 1) - this.placeAt(range[0]))] : []),
            ...(this.events.accepted ? [grouped(this.count)] : []),
        ];
        const of = parts.map((part) => `${part} of `).join("");
        const scope = model.part ? " in the loaded part" : "";
        return `${of}${counted(this.events.count, "event")}${scope} · time in ${sample.slice(sample.lastIndexOf(" ") + 1)}`;
    }
}

/**
 * Splits a text before and after each occurrence of a wanted text. Ignores the case of letters. Every second part is an occurrence.
 * @param {string} text
 * @param {string} wanted in lower case
 * @returns {string[]}
 */
export function parts(text, wanted) {
    const lower = text.toLowerCase();
    const list = [];
    let from = 0;
    // Some letters become longer in lower case; positions in the two texts then differ, so mark
    // nothing.
    for (let at = wanted && lower.length === text.length ? lower.indexOf(wanted) : -1; at >= 0; at = lower.indexOf(wanted, from)) {
        list.push(text.slice(from, at), text.slice(at, at + wanted.length));
        from = at + wanted.length;
    }
    return [...list, text.slice(from)];
}
