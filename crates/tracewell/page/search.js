// Search in events: by label, name, context and arguments; or for a time.

import { lowerBound } from "./bounds.js";
import { parsed } from "./time.js";

/**
 * Returns the indices of the events that contain a text, in upper or lower case.
 * @param {import("./model.js").Model} model
 * @param {string} text
 */
export function found(model, text) {
    const wanted = text.trim().toLowerCase();
    if (wanted === "") return [];
    const has = (/** @type {string} */ each) => each.toLowerCase().includes(wanted);
    const kinds = model.kinds.map((/** @type {any} */ kind) => has(kind.label) || has(kind.name));
    const contexts = model.contexts.map((/** @type {any} */ each) => has(each.name));
    const { events } = model;
    const texts = new Uint8Array(events.ends.length);
    for (let i = 0; i < texts.length; i += 1) texts[i] = has(events.text(i)) ? 1 : 0;
    const indices = [];
    for (let i = 0; i < events.count; i += 1) {
        const isFound = kinds[events.kind[i]] || contexts[events.context[i]] || texts[events.args[i]];
        if (isFound) indices.push(i);
    }
    return indices;
}

export class Search {
    /**
     * @param {HTMLInputElement} input
     * @param {HTMLElement} output
     * @param {import("./events.js").EventList} list
     * @param {import("./overview.js").Overview} overview
     */
    constructor(input, output, list, overview) {
        this.input = input;
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
        this.indices = [];
        this.list.found.clear();
        this.overview.found = [];
        this.show();
    }

    run() {
        const { value } = this.input;
        if (value === this.done) return;
        this.done = value;
        const { model, view } = this.list.timeline;
        this.indices = found(model, value);
        this.list.found = new Set(this.indices);
        this.overview.found = this.indices.map((index) => model.events.at[index]);
        this.show();
        view.changed();
    }

    /** Searches for the text again after the events were replaced. */
    refill() {
        const { model } = this.list.timeline;
        this.indices = found(model, this.done);
        this.list.found = new Set(this.indices);
        this.overview.found = this.indices.map((index) => model.events.at[index]);
    }

    /** Shows how many events were found, and which of them is selected. */
    show() {
        const { current } = this.list;
        const place = current < 0 ? -1 : lowerBound(this.indices, current);
        const count = this.indices.length.toLocaleString("en");
        const isFound = place >= 0 && this.indices[place] === current;
        const scope = this.list.timeline.model.part ? " listed" : "";
        const text = (isFound ? `${place + 1} of ${count}` : count) + scope;
        this.output.textContent = this.done.trim() === "" ? "" : text;
    }

    /** Selects the next event that was found, or goes to a time. @param {1 | -1} direction */
    next(direction) {
        const { timeline } = this.list;
        if (this.indices.length === 0) {
            this.goToTime(timeline.model, timeline.view);
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

    /** @type {(model: import("./model.js").Model, view: import("./view.js").View) => void} */
    goToTime(model, view) {
        const ns = parsed(this.done);
        if (ns === null || !model.clock.isKnown) {
            this.output.textContent = this.done.trim() === "" ? "" : "0";
            return;
        }
        const at = Number(model.clock.ticks(ns) - model.origin);
        const span = Math.min(view.span, model.length / 10);
        view.jump(at - span / 2, at + span / 2);
    }
}
