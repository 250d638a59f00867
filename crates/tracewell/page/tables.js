// The panel of figures: a list of tables, and the chosen table with columns that can be sorted.

import { element } from "./elements.js";
import { sorted } from "./figures.js";
import { LargeTables } from "./large.js";
import { counted } from "./words.js";

/** Maximum number of rows that a table shows. */
const MAX_ROWS = 500;

/** Time in milliseconds from a change of the visible time to the update of the panel. */
const DELAY = 120;

/** Returns the key of a table, which is unique among the tables of all files and times. @param {import("./figures.js").Table} table */
function tableKey({ section, name, isPart }) {
    return isPart ? `\n${name}` : section === undefined ? name : `${section}\n${name}`;
}

/** Returns the table among `others` that has the same name as `table`, or the first of `others`. @type {(table: import("./figures.js").Table | undefined, others: import("./figures.js").Table[]) => import("./figures.js").Table | undefined} */
function counterpart(table, others) {
    return others.find(({ name }) => name === table?.name) ?? others[0];
}

export class FigurePanel {
    /**
     * @param {HTMLElement} panel
     * @param {import("./figures.js").Figures} figures
     * @param {import("./exact.js").Exact} exact the figures of a large trace
     */
    constructor(panel, figures, exact) {
        this.panel = panel;
        this.figures = figures;
        this.large = new LargeTables(figures, exact);
        this.view = figures.places.view;
        this.chosen = "";
        /** Key of the table that the panel shows again when no range is selected any more; empty if there is none. */
        this.before = "";
        /** True if a range was selected when the panel was last filled. */
        this.isRange = false;
        /** @type {Map<string, { column: number, isDescending: boolean }>} by table */
        this.orders = new Map();
        this.shown = "";
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        this.timer = undefined;
    }

    /** Updates the panel after the content of the model was replaced. */
    refill() {
        this.figures.refill();
        this.shown = "";
    }

    /** Draws the panel if it is visible and the time of its tables has changed. */
    draw() {
        if (this.panel.hidden) return;
        const [from, to] = this.time;
        const key = `${from} ${to} ${this.view.measured !== null}`;
        if (key === this.shown) return;
        const isFirst = this.shown === "";
        this.shown = key;
        clearTimeout(this.timer);
        if (isFirst) this.fill();
        else this.timer = setTimeout(() => this.fill(), DELAY);
    }

    /** The selected range, or the visible time. @returns {[number, number]} */
    get time() {
        const [from, to] = this.view.measured ?? [this.view.from, this.view.to];
        return [Math.max(from, 0), Math.min(to, this.view.length)];
    }

    fill() {
        const { figures, view } = this;
        const isLarge = figures.model.part !== null;
        const whole = isLarge ? this.large.whole() : figures.tables;
        const part = isLarge ? this.large.range(...this.time, view.measured !== null) : figures.range(...this.time);
        const title = view.measured ? "Selected range" : "Visible time";
        const all = [...whole, ...part];
        const find = (/** @type {string} */ key) => all.find((each) => tableKey(each) === key);
        let table = find(this.chosen) ?? all[0];
        // A user who selects a range wants the figures of that range, and those of the whole trace when the selection ends.
        const isRange = view.measured !== null;
        if (isRange && !this.isRange && !table?.isPart) {
            this.before = table ? tableKey(table) : "";
            table = counterpart(table, part) ?? table;
        } else if (!isRange && this.isRange && this.before !== "") {
            table = find(this.before) ?? table;
            this.before = "";
        }
        this.isRange = isRange;
        this.chosen = table ? tableKey(table) : "";
        const names = (/** @type {import("./figures.js").Table[]} */ tables) => tables.map((each) => this.entry(each, each === table));
        const sections = [...new Set(whole.map(({ section }) => section))];
        const parts = sections.flatMap((section) => [element("h2", [section ?? "Whole trace"]), ...names(whole.filter((each) => each.section === section))]);
        const list = element("nav", [...parts, element("h2", [title]), ...names(part)]);
        list.setAttribute("aria-label", "Tables");
        const content = element("div", table ? [this.scope(table, table.isPart ? whole : part), ...this.table(table)] : ["The trace has no figures."], "table");
        content.tabIndex = 0;
        content.setAttribute("role", "region");
        content.setAttribute("aria-label", table?.name ?? "Figures");
        const scroll = this.panel.querySelector("nav")?.scrollTop ?? 0;
        this.panel.replaceChildren(list, content);
        list.scrollTop = scroll;
        const more = content.querySelector(".more");
        if (more) more.toggleAttribute("hidden", content.scrollWidth <= content.clientWidth + 1);
    }

    /**
     * Returns a line that states which time a table covers. A button switches to the
     * whole trace, or to the selected range.
     * @type {(table: import("./figures.js").Table, others: import("./figures.js").Table[]) => HTMLElement}
     */
    scope(table, others) {
        const { figures: { model }, view } = this;
        const [from, to] = this.time.map((time) => model.time(model.exact(time)));
        const part = `${view.measured ? "selected range" : "visible time"} ${from} to ${to}`;
        const time = table.isPart ? part : `${table.section ?? "whole trace"}, ${model.span(0, model.length)}`;
        const text = table.scope ? `${time} · ${table.scope}` : time;
        const node = element("p", [element("b", [text])], "scope");
        const state = model.part ? this.large.state(table.isPart === true) : "";
        if (state !== "") node.append(element("span", [state], "hint"));
        const other = counterpart(table, others);
        if (other && (table.isPart || view.measured)) {
            const button = element("button", [table.isPart ? "show whole trace" : `show ${part}`]);
            button.addEventListener("click", () => {
                this.chosen = tableKey(other);
                this.before = "";
                this.fill();
                /** @type {HTMLElement | null} */ (this.panel.querySelector(".scope button"))?.focus();
            });
            node.append(button);
        }
        const more = element("button", ["more columns →"], "more");
        more.addEventListener("click", () => {
            const area = more.closest(".table");
            area?.scrollBy({ left: area.clientWidth / 2 });
        });
        node.append(more);
        return node;
    }

    /** @type {(table: import("./figures.js").Table, isChosen: boolean) => HTMLElement} */
    entry(table, isChosen) {
        const key = tableKey(table);
        const button = element("button", [table.name], isChosen ? "chosen" : "");
        button.dataset.table = key;
        button.setAttribute("aria-pressed", String(isChosen));
        button.addEventListener("click", () => {
            this.chosen = key;
            this.fill();
            const buttons = /** @type {NodeListOf<HTMLElement>} */ (this.panel.querySelectorAll("nav button"));
            [...buttons].find((each) => each.dataset.table === key)?.focus();
        });
        return button;
    }

    /** @param {import("./figures.js").Table} table */
    table(table) {
        const { columns, rows } = table;
        const name = tableKey(table);
        const order = this.orders.get(name);
        const shown = order ? sorted(rows, order.column, order.isDescending) : rows;
        const head = columns.map((title, column) => {
            const node = this.heading(name, title, column);
            // A heading is aligned with its column: text at the left, numbers at the right.
            node.className = typeof rows[0]?.[column].value === "string" ? "text" : "";
            node.title = table.notes?.[title] ?? "";
            return node;
        });
        const lines = shown.slice(0, MAX_ROWS).map((row) => element("tr", row.map((each) => this.cell(each))));
        const content = element("table", [element("thead", [element("tr", head)]), element("tbody", lines)]);
        const more = rows.length - MAX_ROWS;
        return more > 0 ? [content, element("p", [`and ${counted(more, "more row")}: sort to see others`])] : [content];
    }

    /** @type {(table: string, title: string, column: number) => HTMLElement} */
    heading(table, title, column) {
        const order = this.orders.get(table);
        const isSorted = order?.column === column;
        const arrow = !isSorted ? "" : order.isDescending ? " ▾" : " ▴";
        const button = element("button", [title + arrow]);
        button.addEventListener("click", () => {
            this.orders.set(table, { column, isDescending: isSorted ? !order.isDescending : column > 0 });
            this.fill();
            /** @type {HTMLElement | undefined} */ (this.panel.querySelectorAll("th button")[column])?.focus();
        });
        const node = element("th", [button]);
        node.setAttribute("scope", "col");
        node.setAttribute("aria-sort", !isSorted ? "none" : order.isDescending ? "descending" : "ascending");
        return node;
    }

    /** @param {import("./figures.js").Cell} cell */
    cell({ text, value, go, bar }) {
        const content = go && text !== "" ? element("a", [text]) : text;
        if (go && typeof content !== "string") {
            content.setAttribute("href", "#");
            content.addEventListener("click", (event) => {
                event.preventDefault();
                go();
            });
        }
        const node = element("td", [content], bar !== undefined ? "bar" : typeof value === "string" ? "text" : "");
        if (bar !== undefined) node.style.backgroundSize = `calc((100% - 10px) * ${bar}) 70%`;
        return node;
    }
}
