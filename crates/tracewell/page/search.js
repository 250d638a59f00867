// Finds events: matching.js decides which events match the text. Recognises a time or a range that is typed
// instead. Contexts and objects whose names contain the text, and the event with the typed number, are offered first.

import { lowerBound } from "./bounds.js";
import { element } from "./elements.js";
import { matching, numberIn, terms } from "./matching.js";
import { grouped, parsed } from "./time.js";

/** Maximum number of offered contexts and objects. */
const MAX_OFFERS = 8;

/**
 * Returns the lanes whose name contains a text, in upper or lower case.
 * @param {import("./rows.js").Lane[]} lanes
 * @param {string} text
 */
export function offered(lanes, text) {
    const wanted = text.trim().toLowerCase();
    if (wanted === "") return [];
    return lanes.filter(({ row, label }) => row !== undefined && label.toLowerCase().includes(wanted)).slice(0, MAX_OFFERS);
}

/**
 * Returns the time that a text such as `42.5 ms` or `4,250 ticks` names, as an offset from the start of the page, or null.
 * @param {import("./model.js").Model} model
 * @param {string} text
 */
export function timeIn(model, text) {
    const ns = model.clock.isKnown ? parsed(text) : null;
    if (ns !== null) return Number(model.clock.ticks(ns) - model.origin);
    const match = /^(\d{1,20}|\d{1,3}(?:,\d{3}){1,6}) ?ticks?$/.exec(text.trim());
    return match ? Number(BigInt(match[1].replaceAll(",", "")) - model.origin) : null;
}

/**
 * Returns the range that a text names, as offsets from the start of the page, or null. Such texts are `42.1..42.5 ms`,
 * `42.1 ms to 42.5 ms`, `2 ms before 42.5 ms` and `2 ms after 42.5 ms`.
 * @param {import("./model.js").Model} model
 * @param {string} text
 * @returns {[number, number] | null}
 */
export function rangeIn(model, text) {
    const match = /^(.*?)\s*(\.\.|\bto\b|\bbefore\b|\bafter\b)\s*(.*)$/.exec(text.trim());
    if (!match) return null;
    const [, first, how, second] = match;
    // The unit of the first number can be omitted.
    const [unit] = /[a-zµ]*$/.exec(second) ?? [""];
    const [one, end] = [timeIn(model, /[a-zµ]$/.test(first) ? first : `${first} ${unit}`), timeIn(model, second)];
    if (one === null || end === null) return null;
    const length = one - (timeIn(model, "0 ticks") ?? 0);
    if (how === "before") return [end - length, end];
    if (how === "after") return [end, end + length];
    return one <= end ? [one, end] : null;
}

export class Search {
    /**
     * @param {HTMLInputElement} input
     * @param {HTMLElement} output
     * @param {HTMLElement} offers
     * @param {import("./events.js").EventList} list
     * @param {import("./overview.js").Overview} overview
     * @param {import("./places.js").Places} places
     * @param {import("./seeker.js").Seeker} seeker searches the whole trace if the page contains only a part
     */
    constructor(input, output, offers, list, overview, places, seeker) {
        this.seeker = seeker;
        this.input = input;
        this.offers = offers;
        this.places = places;
        this.output = output;
        this.list = list;
        this.overview = overview;
        /** @type {number[]} */
        this.indices = [];
        this.done = "";
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        this.timer = undefined;
        input.addEventListener("input", () => {
            clearTimeout(this.timer);
            this.timer = setTimeout(() => this.run(), 150);
        });
        input.addEventListener("keydown", (event) => this.key(event));
        input.form?.addEventListener("submit", (event) => event.preventDefault());
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        if (event.key === "Escape") {
            this.input.value = "";
            this.run();
            this.list.timeline.canvas.focus();
        } else if (event.key === "Enter") {
            clearTimeout(this.timer);
            this.run();
            this.next(event.shiftKey ? -1 : 1);
        } else {
            return;
        }
        event.preventDefault();
        event.stopPropagation();
    }

    /** Forgets the text and the found events. */
    clear() {
        this.input.value = this.done = "";
        this.seeker.clear();
        this.indices = [];
        this.list.found.clear();
        this.list.wanted = "";
        this.overview.found = [];
        this.offer();
        this.show();
    }

    /** Offers the event with the typed number, and the contexts and objects whose names contain the text. */
    offer() {
        const { timeline } = this.list;
        const lanes = offered(timeline.all, this.done);
        const button = (/** @type {string} */ label, /** @type {string} */ more, /** @type {() => void} */ go) => {
            const made = element("button", [label, element("small", [more])]);
            made.setAttribute("type", "button");
            made.addEventListener("click", () => {
                go();
                timeline.canvas.focus();
            });
            return made;
        };
        const buttons = lanes.map(({ label, group, tree, row }) =>
            button(label, group.slice(tree?.length ?? 0), () => this.places.whole(row.index)));
        const event = this.numbered;
        const { events, kinds } = timeline.model;
        const { numbered } = this.seeker;
        if (event >= 0) {
            buttons.unshift(button(`event ${events.number(event)}`, kinds[events.kind[event]].label, () => this.places.event(event)));
        } else if (numbered) {
            buttons.unshift(button(`event ${numbered.seq}`, "", () => this.places.seekEvent(numbered.seq, numbered.ticks)));
        }
        this.offers.replaceChildren(...buttons);
        this.offers.hidden = buttons.length === 0;
    }

    /** The index of the event whose number was typed, or -1. */
    get numbered() {
        const number = numberIn(this.done);
        return number === null ? -1 : this.list.timeline.model.events.numbered(Number(number));
    }

    run() {
        const { value } = this.input;
        if (value === this.done) return;
        this.done = value;
        this.refill();
        this.offer();
        this.show();
        this.list.timeline.view.changed();
    }

    /** Searches for the text again after the events were replaced. */
    refill() {
        const { model } = this.list.timeline;
        this.indices = matching(model, this.done).filter((index) => model.events.accepts(index));
        this.list.found = new Set(this.indices);
        this.list.wanted = terms(this.done, [])[0]?.text ?? "";
        this.overview.found = this.indices.map((index) => model.events.at[index]);
        if (!model.part) return;
        // The list contains only events of a part, so the seeker searches the whole trace.
        const isTime = rangeIn(model, this.done) !== null || timeIn(model, this.done) !== null;
        this.seeker.run(isTime ? "" : this.done, model.header.events);
        this.showFound();
    }

    /** Shows the events that the seeker found in the whole trace, and offers the event whose number was typed. */
    showFound() {
        this.offer();
        const origin = Number(this.list.timeline.model.origin);
        this.overview.found = this.seeker.found.map(({ ticks }) => ticks - origin);
    }

    /** The number of the selected event in the whole trace, or null. @returns {number | null} */
    get seq() {
        const { timeline: { model, view }, current } = this.list;
        if (current >= 0) return model.events.number(current);
        return view.sought && view.sought.key === undefined ? view.sought.seq : null;
    }

    /** Selects the next event that contains the text in the whole trace. @param {1 | -1} direction */
    async nextInTrace(direction) {
        const { timeline: { model, view } } = this.list;
        const near = Math.max(0, ...model.rows.map((/** @type {any} */ { spans }) => (spans.count > 0 ? spans.seq[Math.max(spans.find(view.from), 0)] : 0)));
        const here = { seq: this.seq, ticks: Number(model.exact(Math.max(view.from, 0))), near };
        const event = await this.seeker.next(direction, here);
        if (event) this.places.seekEvent(event.seq, event.ticks);
    }

    /**
     * Shows the number of events that were found, and the place of the selected event among them. If none was found, shows the time or the
     * range that was typed.
     */
    show() {
        const { model } = this.list.timeline;
        if (this.done.trim() === "") {
            this.output.textContent = "";
            return;
        }
        if (model.part && this.seeker.wanted !== "") {
            this.output.textContent = this.seeker.text(this.seq);
            return;
        }
        if (this.indices.length === 0) {
            const time = timeIn(model, this.done);
            const range = rangeIn(model, this.done);
            this.output.textContent = range ? `select ${model.span(...range)}`
                : time === null ? "nothing found" : `go to ${model.time(model.exact(time))}`;
            return;
        }
        const { current } = this.list;
        const place = current < 0 ? -1 : lowerBound(this.indices, current);
        const count = grouped(this.indices.length);
        const isFound = place >= 0 && this.indices[place] === current;
        this.output.textContent = isFound ? `${place + 1} of ${count}` : `${count} event${count === "1" ? "" : "s"}`;
    }

    /** Selects the next event that was found, selects a range, or goes to a time. @param {1 | -1} direction */
    next(direction) {
        const { timeline } = this.list;
        if (timeline.model.part && this.seeker.wanted !== "") {
            this.nextInTrace(direction);
            return;
        }
        if (this.indices.length === 0) {
            const { model, view } = timeline;
            const inside = (/** @type {number} */ offset) => Math.min(Math.max(offset, 0), model.length);
            const range = rangeIn(model, this.done);
            const time = timeIn(model, this.done);
            if (range) view.showRange(inside(range[0]), inside(range[1]));
            else if (time !== null) view.goTo(inside(time));
            return;
        }
        const { current } = this.list;
        const count = this.indices.length;
        const start = current < 0 ? lowerBound(timeline.model.events.at, timeline.view.from) : current;
        const at = lowerBound(this.indices, start);
        const isOn = current >= 0 && this.indices[at] === current;
        const place = direction > 0 ? at + (isOn ? 1 : 0) : at - 1;
        this.list.choose(this.indices[(place + count) % count]);
        this.show();
    }
}
