// The panel of distributions: a list, and the histogram of the chosen distribution. A click on a bar selects its longest duration;
// another click selects the next.

import { bars, distributions, quantile, ticks } from "./distributions.js";
import { element } from "./elements.js";
import { counted } from "./rows.js";
import { grouped } from "./time.js";

/** The nouns for the durations in each group of distributions. */
const NOUNS = new Map([["Response", "response"], ["Start latency", "start"], ["Waits", "wait"], ["Held", "hold"],
    ["Ready until it runs", "time"], ["Preempted", "preemption"], ["Running without a break", "run"], ["Interrupts", "interrupt"],
    ["Messages until they are received", "message"], ["Steps", "step"], ["Stays in a state", "stay"]]);

export class DistributionPanel {
    /**
     * @param {HTMLElement} panel
     * @param {import("./places.js").Places} places
     */
    constructor(panel, places) {
        this.panel = panel;
        this.places = places;
        this.model = places.model;
        this.view = places.view;
        /** @type {import("./distributions.js").Distribution[] | null} */
        this.list = null;
        /** The range of the list, as text. */
        this.ranged = "";
        /** The group and the name of the chosen distribution. */
        this.chosen = "";
        /** The bar that was clicked last, and the position of the selected span in this bar: 0 for the longest. */
        this.bar = { index: -1, step: 0 };
    }

    /** Updates the panel after the content of the model was replaced. */
    refill() {
        this.list = null;
        this.bar = { index: -1, step: 0 };
    }

    draw() {
        if (this.panel.hidden) return;
        const range = this.view.measured;
        const ranged = range?.join(" ") ?? "";
        if (this.list && ranged === this.ranged) return;
        this.ranged = ranged;
        this.bar = { index: -1, step: 0 };
        // A view of a large trace joins spans that are too short to see.
        this.list = this.model.part ? [] : distributions(this.model, ...range ?? [0, this.model.length]);
        this.fill();
    }

    /** The time that the distributions cover, in words. */
    get scope() {
        const { model } = this;
        const range = this.view.measured;
        if (!range) return `whole trace, ${model.span(0, model.length)}`;
        const [from, to] = range.map((time) => model.time(model.exact(time)));
        return `selected range ${from} to ${to}`;
    }

    /** The reason why there are no distributions. */
    get none() {
        if (this.model.part) {
            return "The trace is too large for distributions on the page. `analyze --show distributions` prints them, and "
                + "`convert --from --to -o part.html` makes a page of a part.";
        }
        return this.view.measured ? `Nothing that the page measures begins and ends in the ${this.scope}.`
            : "The trace records no jobs, states, interrupts, messages or spans, so it has no distributions.";
    }

    fill() {
        /** @type {import("./distributions.js").Distribution[]} */
        const list = this.list ?? [];
        const keyOf = (/** @type {import("./distributions.js").Distribution} */ { group, name }) => `${group}\n${name}`;
        const place = Math.max(list.findIndex((each) => keyOf(each) === this.chosen), 0);
        /** @type {HTMLElement[]} */
        const entries = [];
        list.forEach(({ group, name, lengths }, index) => {
            if (group !== list[index - 1]?.group) entries.push(element("h2", [group]));
            const button = element("button", [`${name} · ${grouped(lengths.length)}`], index === place ? "chosen" : "");
            button.setAttribute("aria-pressed", String(index === place));
            button.addEventListener("click", () => {
                this.chosen = keyOf(list[index]);
                this.bar = { index: -1, step: 0 };
                this.fill();
                /** @type {HTMLElement | undefined} */ (this.panel.querySelectorAll("nav button")[index])?.focus();
            });
            entries.push(button);
        });
        const nav = element("nav", entries);
        nav.setAttribute("aria-label", "Distributions");
        const scroll = this.panel.querySelector("nav")?.scrollTop ?? 0;
        this.panel.replaceChildren(nav, element("div", list.length > 0 ? this.histogram(list[place]) : [this.none], "histogram"));
        nav.scrollTop = scroll;
    }

    /** @param {import("./distributions.js").Distribution} distribution */
    histogram(distribution) {
        const { lengths, group, name } = distribution;
        const text = (/** @type {number} */ ticks) => this.model.span(0, Math.round(ticks));
        const figures = [["least", 0], ["median", 0.5], ["90 %", 0.9], ["99 %", 0.99], ["most", 1]].map(([word, share]) =>
            `${word} ${text(quantile(lengths, Number(share)))}`);
        const list = bars(lengths);
        const noun = NOUNS.get(group) ?? "span";
        const most = Math.max(...list.map(({ count }) => count));
        const columns = list.map((bar, index) => {
            const fill = element("i", []);
            // The number stands above the bar.
            fill.style.height = bar.count > 0 ? `max(3px, (100% - 18px) * ${bar.count / most})` : "0";
            const label = `${counted(bar.count, noun)} from ${text(bar.from)} to ${text(bar.to)}`;
            const button = element("button", [element("b", [bar.count > 0 ? String(bar.count) : ""]), fill], index === this.bar.index ? "chosen" : "");
            button.title = label;
            button.setAttribute("aria-label", label);
            button.toggleAttribute("disabled", bar.count === 0);
            button.addEventListener("click", () => this.step(distribution, bar, index));
            return button;
        });
        const ends = element("div", ticks(list).map(({ place, time }) => {
            const tick = element("span", [text(time)]);
            tick.style.left = `${100 * place}%`;
            return tick;
        }), "ends");
        return [
            element("div", [
                element("h2", [`${group}: ${name}`]),
                element("p", [this.state(distribution, list)], "hint"),
            ], "head"),
            element("p", [element("b", [this.scope]), ` · ${counted(lengths.length, noun)} · ${figures.join(" · ")}`]),
            element("div", columns, "bars"), ends,
        ];
    }

    /** @type {(distribution: import("./distributions.js").Distribution, list: import("./distributions.js").Bar[]) => string} */
    state(distribution, list) {
        const bar = list[this.bar.index];
        if (!bar) return `Click a bar to select its longest ${NOUNS.get(distribution.group) ?? "span"}; click again for the next.`;
        const index = bar.first + bar.count - 1 - this.bar.step;
        return `${this.bar.step + 1} of ${bar.count} in this bar: ${this.model.span(0, distribution.lengths[index])}`;
    }

    /** @type {(distribution: import("./distributions.js").Distribution, bar: import("./distributions.js").Bar, index: number) => void} */
    step(distribution, bar, index) {
        const step = index === this.bar.index ? (this.bar.step + 1) % bar.count : 0;
        this.bar = { index, step };
        const place = bar.first + bar.count - 1 - step;
        this.fill();
        /** @type {HTMLElement | undefined} */ (this.panel.querySelectorAll(".bars button")[index])?.focus();
        this.show(distribution.places[place]);
    }

    /** Shows a duration on the timeline. @param {import("./durations.js").Place} place */
    show(place) {
        if ("row" in place) this.places.span(place.row, place.span);
        else if ("job" in place) this.places.job(place.job);
        else if (place.event < 0) this.places.zoom(place.from, place.to);
        else this.places.event(place.event);
    }
}
