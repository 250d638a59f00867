// The panel of distributions: a list, and the histogram of the chosen distribution. A click on a bar selects its longest duration;
// another click selects the next.

import { distributions, histogram } from "./distributions.js";
import { element } from "./elements.js";
import { measured } from "./measured.js";
import { grouped } from "./time.js";
import { counted } from "./words.js";

/** @typedef {import("./distributions.js").Histogram} Histogram */

export class DistributionPanel {
    /**
     * @param {HTMLElement} panel
     * @param {import("./places.js").Places} places
     * @param {import("./exact.js").Exact} exact the figures of a large trace
     */
    constructor(panel, places, exact) {
        this.panel = panel;
        this.places = places;
        this.model = places.model;
        this.view = places.view;
        this.exact = exact;
        /** The small trace's histograms are made when they are shown. @type {{ group: string, name: string, count: number, made: () => Histogram }[] | null} */
        this.list = null;
        /** For a large trace: the answer from which the list was made. @type {import("./exact.js").Answer | null} */
        this.answer = null;
        /** The range of the list, as text. */
        this.ranged = "";
        /** The group and the name of the chosen distribution. */
        this.chosen = "";
        /** The bar that was clicked last, and the position of the selected span in this bar: 0 for the longest. */
        this.bar = { index: -1, step: 0 };
    }

    /** Updates the panel after the content of the model was replaced. The histograms of a large trace do not depend on the loaded part. */
    refill() {
        if (this.model.part && this.answer) return;
        this.list = this.answer = null;
        this.bar = { index: -1, step: 0 };
    }

    draw() {
        if (this.panel.hidden) return;
        const range = this.view.measured;
        const ranged = range?.join(" ") ?? "";
        const answer = this.model.part ? this.asked(range) : null;
        if (this.list && ranged === this.ranged && answer === this.answer) return;
        this.ranged = ranged;
        this.answer = answer;
        this.bar = { index: -1, step: 0 };
        this.list = answer ? measured(this.places, answer.json ?? {}).map((each) => ({ ...each, made: () => each }))
            : distributions(this.model, ...range ?? [0, this.model.length]).map((each) =>
                ({ group: each.group, name: each.name, count: each.lengths.length, made: () => histogram(this.places, each) }));
        this.fill();
    }

    /** Asks for the figures of a large trace, or of a range of it. @param {[number, number] | null} range */
    asked(range) {
        const { exact, model } = this;
        return range ? exact.ofRange(model.exact(range[0]), model.exact(range[1])) : exact.ofWhole();
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
        if (this.answer?.text) return this.answer.text;
        return this.view.measured ? `Nothing that the page measures begins and ends in the ${this.scope}.`
            : "The trace records no jobs, states, interrupts, messages or spans, so it has no distributions.";
    }

    fill() {
        const list = /** @type {NonNullable<DistributionPanel["list"]>} */ (this.list ?? []);
        const keyOf = (/** @type {{ group: string, name: string }} */ { group, name }) => `${group}\n${name}`;
        const place = Math.max(list.findIndex((each) => keyOf(each) === this.chosen), 0);
        /** @type {HTMLElement[]} */
        const entries = [];
        list.forEach(({ group, name, count }, index) => {
            if (group !== list[index - 1]?.group) entries.push(element("h2", [group]));
            const button = element("button", [`${name} · ${grouped(count)}`], index === place ? "chosen" : "");
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
        const isWaiting = this.answer?.json === null && this.exact.isAsked;
        const none = isWaiting ? [element("p", [this.none]), element("progress", [])] : [element("p", [this.none])];
        this.panel.replaceChildren(nav, element("div", list.length > 0 ? this.histogram(list[place].made()) : none, "histogram"));
        nav.scrollTop = scroll;
    }

    /** @param {Histogram} shown */
    histogram(shown) {
        const { group, name, noun, count, figures, note, bars, ticks } = shown;
        const most = Math.max(...bars.map((bar) => bar.count));
        const columns = bars.map((bar, index) => {
            const fill = element("i", []);
            // The number stands above the bar.
            fill.style.height = bar.count > 0 ? `max(3px, (100% - 18px) * ${bar.count / most})` : "0";
            const button = element("button", [element("b", [bar.count > 0 ? String(bar.count) : ""]), fill], index === this.bar.index ? "chosen" : "");
            button.title = bar.label;
            button.setAttribute("aria-label", bar.label);
            button.toggleAttribute("disabled", bar.places === 0);
            button.addEventListener("click", () => this.step(shown, index));
            return button;
        });
        const ends = element("div", ticks.map(({ place, text }) => {
            const tick = element("span", [text]);
            tick.style.left = `${100 * place}%`;
            return tick;
        }), "ends");
        return [
            element("div", [element("h2", [`${group}: ${name}`]), element("p", [this.state(shown)], "hint")], "head"),
            element("p", [element("b", [this.scope]), ` · ${[counted(count, noun), ...figures, note].filter((text) => text !== "").join(" · ")}`]),
            element("div", columns, "bars"), ends,
        ];
    }

    /** Returns the use of the bars, or the selected duration, in words. @param {Histogram} shown */
    state({ noun, bars }) {
        const bar = bars[this.bar.index];
        if (!bar) return `Click a bar to select its longest ${noun}${this.answer ? "." : "; click again for the next."}`;
        const length = bar.length(this.bar.step);
        return this.answer ? `longest of ${grouped(bar.count)} in this bar: ${length}` : `${this.bar.step + 1} of ${bar.count} in this bar: ${length}`;
    }

    /** Shows the next duration of a bar. @type {(shown: Histogram, index: number) => void} */
    step({ bars }, index) {
        const bar = bars[index];
        const step = index === this.bar.index ? (this.bar.step + 1) % bar.places : 0;
        this.bar = { index, step };
        this.fill();
        /** @type {HTMLElement | undefined} */ (this.panel.querySelectorAll(".bars button")[index])?.focus();
        bar.show(step);
    }
}
