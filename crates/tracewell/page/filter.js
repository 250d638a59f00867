// The filter of events: the list and the timeline show only the events that match a text, by the same rules as a search.

import { argumentsIn } from "./locks.js";
import { matching } from "./matching.js";

/** Time in milliseconds from the last typed letter to the use of the filter. */
const FILTER_DELAY = 150;

export class Filter {
    /**
     * @param {HTMLFormElement} form
     * @param {HTMLInputElement} input
     * @param {import("./events.js").EventList} list
     * @param {() => void} filtered is called after the listed events have changed
     */
    constructor(form, input, list, filtered) {
        this.form = form;
        this.input = input;
        this.list = list;
        this.filtered = filtered;
        this.timeline = list.timeline;
        /** The filter in use. */
        this.used = "";
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        this.timer = undefined;
        input.addEventListener("input", () => {
            clearTimeout(this.timer);
            this.timer = setTimeout(() => this.set(input.value), FILTER_DELAY);
        });
        input.addEventListener("keydown", (event) => this.key(event));
        form.addEventListener("submit", (event) => event.preventDefault());
        form.addEventListener("reset", () => {
            this.set("");
            this.timeline.canvas.focus();
        });
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        if (event.key !== "Escape" && event.key !== "Enter") return;
        this.set(event.key === "Enter" ? this.input.value : "");
        this.timeline.canvas.focus();
        event.preventDefault();
        event.stopPropagation();
    }

    /** Lists only the events that match a text, or all if it is empty. @param {string} text */
    set(text) {
        clearTimeout(this.timer);
        this.timeline.view.filter = text.trim();
        this.timeline.view.changed();
    }

    /** Uses the filter of the view, if another one is in use. */
    draw() {
        if (this.timeline.view.filter !== this.used) this.refill();
    }

    /** Uses the filter after it has changed, or after the content of the model was replaced. */
    refill() {
        const { model, view } = this.timeline;
        this.used = view.filter;
        const isActive = this.used !== "";
        model.events.filter(isActive ? matching(model, this.used) : null);
        model.intervals.showMarks();
        if (this.input.value.trim() !== this.used) this.input.value = this.used;
        this.form.classList.toggle("active", isActive);
        this.form.querySelector("button")?.toggleAttribute("hidden", !isActive);
        this.filtered();
    }
}

/** Returns filters for the events like one event: of its context, of its type, and of the objects in its arguments. @type {(model: import("./model.js").Model, event: number) => { text: string, filter: string }[]} */
export function similar(model, event) {
    const { events, contexts, kinds, header } = model;
    const { name } = contexts[events.context[event]];
    const { label } = kinds[events.kind[event]];
    const values = argumentsIn(events.text(events.args[event])).map((arg) => arg.slice(arg.indexOf("=") + 1));
    const names = new Set([...header.objects.map((/** @type {[string, string]} */ named) => named[1])]);
    const objects = [...new Set(values)].filter((value) => names.has(value) && value !== name);
    return [
        ...(name === "" ? [] : [{ text: name, filter: `context:"${name}"` }]),
        { text: label, filter: `event:"${label}"` },
        ...objects.map((value) => ({ text: value, filter: `object:"${value}"` })),
    ];
}
