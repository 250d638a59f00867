// The panel of distributions: a list, and the histogram of the chosen distribution. A click on a bar selects its longest span; another
// click selects the next span.

import { bars, distributions, quantile, ticks } from "./distributions.js";
import { element } from "./elements.js";
import { counted } from "./rows.js";
import { grouped } from "./time.js";

/** The nouns for the spans in each group of distributions. */
const NOUNS = new Map([["Waits", "wait"], ["Held", "hold"], ["Ready until it runs", "time"], ["Preempted", "preemption"],
    ["Running without a break", "run"]]);

export class DistributionPanel {
    /**
     * @param {HTMLElement} panel
     * @param {import("./places.js").Places} places
     */
    constructor(panel, places) {
        this.panel = panel;
        this.places = places;
        this.model = places.model;
        /** @type {import("./distributions.js").Distribution[] | null} */
        this.list = null;
        this.chosen = 0;
        /** The bar that was clicked last, and the position of the selected span in this bar: 0 for the longest. */
        this.bar = { index: -1, step: 0 };
    }

    /** Updates the panel after the content of the model was replaced. */
    refill() {
        this.list = null;
        this.chosen = 0;
        this.bar = { index: -1, step: 0 };
    }

    draw() {
        if (this.panel.hidden || this.list) return;
        // A view of a large trace joins spans that are too short to see.
        this.list = this.model.part ? [] : distributions(this.model);
        this.fill();
    }

    fill() {
        /** @type {import("./distributions.js").Distribution[]} */
        const list = this.list ?? [];
        /** @type {HTMLElement[]} */
        const entries = [];
        list.forEach(({ group, name, lengths }, index) => {
            if (group !== list[index - 1]?.group) entries.push(element("h2", [group]));
            const button = element("button", [`${name} · ${grouped(lengths.length)}`], index === this.chosen ? "chosen" : "");
            button.setAttribute("aria-pressed", String(index === this.chosen));
            button.addEventListener("click", () => {
                this.chosen = index;
                this.bar = { index: -1, step: 0 };
                this.fill();
                /** @type {HTMLElement | undefined} */ (this.panel.querySelectorAll("nav button")[index])?.focus();
            });
            entries.push(button);
        });
        const nav = element("nav", entries);
        nav.setAttribute("aria-label", "Distributions");
        const scroll = this.panel.querySelector("nav")?.scrollTop ?? 0;
        const none = this.model.part ? "The trace is too large for distributions: open a part of it with --from and --to."
            : "The trace has no states, so it has no distributions.";
        this.panel.replaceChildren(nav, element("div", list.length > 0 ? this.histogram(list[this.chosen]) : [none], "histogram"));
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
            element("p", [`${counted(lengths.length, noun)} · ${figures.join(" · ")}`]),
            element("div", columns, "bars"), ends,
        ];
    }

    /** @type {(distribution: import("./distributions.js").Distribution, list: import("./distributions.js").Bar[]) => string} */
    state(distribution, list) {
        const bar = list[this.bar.index];
        if (!bar) return "Click a bar to select its longest span; click again for the next.";
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
        this.places.span(distribution.rows[place], distribution.spans[place]);
    }
}
