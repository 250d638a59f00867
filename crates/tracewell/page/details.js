// The side panel describes the selection: its state, reason, length and cause, or figures of a range.

import { lowerBound } from "./bounds.js";
import { BLOCKED, RUNNING, STATES, TASK } from "./model.js";
import { culprits, occupants } from "./causes.js";
import { objectText } from "./objects.js";
import { selectedSpan } from "./overlays.js";
import { counted } from "./rows.js";

/** Maximum number of rows in a table; the others are added up in one row. */
const MAX_LINES = 14;

/** @typedef {(string | Node)[]} Content */

/**
 * @param {string} name
 * @param {Content} content
 * @param {string} [kind] class
 */
export function element(name, content, kind) {
    const node = document.createElement(name);
    if (kind) node.className = kind;
    node.append(...content);
    return node;
}

export class Details {
    /**
     * @param {HTMLElement} panel
     * @param {import("./timeline.js").Timeline} timeline
     * @param {import("./places.js").Places} places
     * @param {import("./marking.js").Marking} marking
     */
    constructor(panel, timeline, places, marking) {
        this.marking = marking;
        this.panel = panel;
        this.timeline = timeline;
        this.model = timeline.model;
        this.view = timeline.view;
        this.places = places;
        /** @type {Content} */
        this.parts = [];
        /** Keys of the whole content, and of the parts about the selection. */
        this.drawn = "";
        this.described = "";
    }

    draw() {
        const { selection, range } = this.view;
        const { version } = this.view.marks;
        const key = JSON.stringify([version, selection, range, selection ? 0 : [this.view.from, this.view.to], this.timeline.theme.isDark]);
        if (key === this.drawn) return;
        this.drawn = key;
        const span = selectedSpan(this.model, this.view);
        const about = JSON.stringify([version, selection, this.timeline.theme.isDark]);
        // Only the figures of the visible time change with each frame.
        if (about !== this.described) this.parts = this.about(span);
        this.described = about;
        const parts = [...this.parts];
        const [from, to] = range ?? (span ? [span.from, span.to] : [this.view.from, this.view.to]);
        parts.push(this.figures(range ? "Selected range" : span ? "During this time" : "Shown time", from, to));
        this.panel.replaceChildren(...parts);
    }

    /** Updates the panel after the content of the model was replaced. */
    refill() {
        this.drawn = this.described = "";
    }

    /** Returns the parts about the selection. @param {any} span @returns {Content} */
    about(span) {
        const { selection } = this.view;
        if (span) return this.span(span);
        return selection && "event" in selection ? this.event(selection.event) : this.findings();
    }

    /**
     * A link that selects.
     * @param {string} text
     * @param {() => void} follow
     */
    link(text, follow) {
        const link = element("a", [text]);
        link.setAttribute("href", "#");
        link.addEventListener("click", (event) => {
            event.preventDefault();
            follow();
        });
        return link;
    }

    /** @param {number} index */
    eventLink(index) {
        const label = this.model.kinds[this.model.events.kind[index]].label;
        const link = this.link(`event ${this.model.events.number(index)}`, () => this.places.event(index));
        return element("span", [link, ` ${label}`]);
    }

    /** Returns a link to an event by its number in the trace. @param {number} seq */
    numbered(seq) {
        const index = this.model.events.find(seq);
        return index < 0 ? `event ${seq}, not on this page` : this.eventLink(index);
    }

    /**
     * Returns a link to the state of a context at a time.
     * @param {number} context
     * @param {number} time
     */
    context(context, time) {
        const row = this.places.rowOf(context);
        const name = this.model.name(context);
        return row ? this.link(name, () => this.places.span(row.index, Math.max(row.spans.find(time), 0))) : name;
    }

    /** @param {[string, Content][]} facts */
    list(facts) {
        const rows = facts.flatMap(([name, value]) => [element("dt", [name]), element("dd", value)]);
        return element("dl", rows);
    }

    /** @param {number} index */
    event(index) {
        const { events, kinds, contexts } = this.model;
        const kind = kinds[events.kind[index]];
        const context = events.context[index];
        const at = this.model.exact(events.at[index]);
        /** @type {[string, Content][]} */
        const facts = [
            ["time", [this.model.time(at)]],
            ["context", [this.context(context, events.at[index])]],
            ["key", [contexts[context].key]],
            ["core", [String(events.cpu[index])]],
            ["event id", [`${kind.id}${kind.name === kind.label ? "" : ` ${kind.name}`}`]],
            ["ticks", [at.toLocaleString("en")]],
        ];
        const { title } = this.model.files[this.model.fileOf(events.context[index])] ?? {};
        if (title) facts.unshift(["file", [title]]);
        facts.push(...this.messages(index));
        if (kind.level) facts.push(["level", [kind.level]], ["target", [kind.target]]);
        if (index > 0) facts.push(["after", [this.model.span(events.at[index - 1], events.at[index])]]);
        const args = events.text(events.args[index]);
        const list = args ? args.split(", ").map((arg) => element("li", [arg])) : [];
        return [
            element("h2", [`event ${events.number(index)}: ${kind.label}`]),
            this.list(facts),
            element("ul", list),
        ];
    }

    /** Returns the receiver or the sender of a message. @param {number} index of an event @returns {[string, Content][]} */
    messages(index) {
        const { arrow, events } = this.model;
        const seq = events.seq[index];
        /** @type {[string, Content][]} */
        const facts = [];
        arrow.kind.forEach((/** @type {number} */ kind, /** @type {number} */ i) => {
            if (kind !== 2) return;
            if (arrow.fromSeq[i] === seq) facts.push(["taken by", [this.numbered(arrow.untilSeq[i] - 1)]]);
            if (arrow.untilSeq[i] - 1 === seq) facts.push(["sent by", [this.numbered(arrow.fromSeq[i])]]);
        });
        return facts;
    }

    /** @param {any} span */
    title({ row, state, value, isBlocked }) {
        if (row.kind === "lock") {
            return `${row.what} ${row.name} ${state === 1 ? `held by ${this.model.name(value - 1)}` : "free"}`;
        }
        if (row.kind === "core") {
            const interrupt = value > 0 ? `serves interrupt ${value - 1}` : "serves an interrupt";
            return `core ${row.number} ${["unknown", `runs ${this.model.name(value)}`, interrupt, "idle"][state]}`;
        }
        if (row.kind !== "context") return objectText(row, state, value);
        const name = this.model.name(row.context);
        if (!isBlocked) return `${name} ${STATES[state]}`;
        const { what, object, code } = this.model.reasons[value];
        return `${name} waits for ${object ? `${what ?? "object"} ${object}` : (code ?? what ?? "an unknown reason")}`;
    }

    /** @param {any} span */
    span(span) {
        const { model } = this;
        const { row, index, from, to } = span;
        const inverted = this.inversion(span);
        const time = `${model.time(model.exact(from))} to ${model.time(model.exact(to))} · `;
        /** @type {[string, Content][]} */
        const facts = [];
        if (span.isBlocked && model.reasons[span.value].holder > 0) {
            facts.push(["held by", [this.context(model.reasons[span.value].holder - 1, from)]]);
        }
        if (row.kind === "context" && span.state === RUNNING && span.value > 0) {
            facts.push(["on behalf of", [this.context(span.value - 1, from)]]);
        }
        if (row.kind === "core" && span.state === TASK) facts.push(["runs", [this.context(span.value, from)]]);
        if (row.kind === "lock" && span.state === 1) facts.push(["holder", [this.context(span.value - 1, from)]]);
        if (row.file !== undefined) facts.unshift(["file", [model.files[row.file].title]]);
        facts.push(...this.asked(span));
        facts.push(["first event", [this.numbered(row.spans.seq[index])]]);
        if (index + 1 < row.spans.count) facts.push(["last event", [this.numbered(row.spans.seq[index + 1])]]);
        if (row.kind === "context") facts.push(...this.wake(span));
        const rank = this.rank(span);
        return [
            ...(inverted ? [element("span", ["priority inversion"], "tag")] : []),
            element("h2", [this.title(span)]),
            element("p", [time, element("b", [model.span(from, to)]), rank]),
            this.list(facts),
            ...(span.isBlocked ? this.spent(span, inverted) : []),
        ];
    }

    /** Returns the request with which a wait began, if the trace shows it. @param {any} span */
    asked({ row, from, to, isBlocked }) {
        if (!isBlocked) return [];
        const { model } = this;
        const { wait, intervals } = model;
        const isWhole = (/** @type {number} */ i) => wait.from[i] <= from && model.ended(wait, i) >= to;
        const found = intervals.waitsOf.get(row.context)?.find(from, to, isWhole) ?? -1;
        return found < 0 ? [] : [/** @type {[string, Content]} */ (["asked", [this.numbered(wait.fromSeq[found])]])];
    }

    /** Returns the event that made a context ready, in or after a span. @param {any} span */
    wake({ row, from, to }) {
        const { arrow } = this.model;
        // If the context was ready, it runs from the end of the arrow on. If it waited, it becomes ready at the end of the arrow.
        for (let i = lowerBound(arrow.until, from); i < arrow.until.length; i += 1) {
            if (arrow.from[i] > to && arrow.until[i] > to) break;
            if (arrow.kind[i] !== 0 || arrow.context[i] !== row.context) continue;
            const by = arrow.by[i] > 0 ? [", recorded by ", this.context(arrow.by[i] - 1, arrow.from[i])] : [", in an interrupt"];
            return [/** @type {[string, Content]} */ (["woken by", [this.numbered(arrow.fromSeq[i]), ...by]])];
        }
        return [];
    }

    /** Returns the index of the inversion that overlaps a wait, or null. @param {any} span */
    inversion({ row, from, to, isBlocked }) {
        if (!isBlocked) return null;
        const found = this.model.intervals.inversionsOf.get(row.context)?.find(from, to, () => true) ?? -1;
        return found < 0 ? null : found;
    }

    /** Compares a wait with the other waits of its row for the same object. @param {any} span */
    rank({ row, from, to, value, isBlocked }) {
        if (!isBlocked) return "";
        const { reasons } = this.model;
        const same = (/** @type {number} */ reason) => reasons[reason].object === reasons[value].object
            && reasons[reason].what === reasons[value].what;
        let [count, longer] = [0, 0];
        for (let i = 0; i < row.spans.count; i += 1) {
            if (row.spans.state[i] !== BLOCKED || !same(row.spans.value[i])) continue;
            count += 1;
            longer += row.spans.to(i) - row.spans.from(i) > to - from ? 1 : 0;
        }
        if (count < 2) return "";
        return longer === 0 ? ` · longest of ${count}` : ` · ${count - longer} of ${count} waits are not longer`;
    }

    /**
     * @param {any} span
     * @param {number | null} inverted
     */
    spent(span, inverted) {
        const { model } = this;
        const times = occupants(model, span.row.file ?? 0, span.from, span.to);
        if (times.size === 0) return [];
        const bar = element("div", [], "shares");
        const holder = model.reasons[span.value].holder - 1;
        const words = [...times].map(([who, ticks]) => {
            const part = element("i", []);
            part.style.width = `${(100 * ticks) / (span.to - span.from)}%`;
            part.style.background = who < 0 ? this.timeline.theme.colours.interrupt : this.timeline.contexts[who];
            bar.append(part);
            const name = who < 0 ? "interrupts" : model.name(who);
            return `${name}${who >= 0 && who === holder ? ", the holder," : ""} ${model.span(span.from, span.from + ticks)}`;
        });
        const parts = [
            element("h3", ["What ran during the wait"]), bar, element("p", [words.join(" · ")]),
        ];
        if (inverted !== null) parts.push(this.explained(span, inverted, holder, times));
        return [element("section", parts)];
    }

    /** @type {(span: any, inverted: number, holder: number, times: Map<number, number>) => HTMLElement} */
    explained(span, inverted, holder, times) {
        const { model } = this;
        const others = culprits(model, span.row.context, holder, times);
        const items = others.map((who) => element("li", [
            this.context(who, span.from), ` (${model.priority(who)}) ran ${model.span(span.from, span.from + (times.get(who) ?? 0))}: `
            + `it is less urgent than ${model.name(span.row.context)} (${model.priority(span.row.context)}) and does not hold the object`,
        ]));
        const ticks = model.inversion.ticks[inverted];
        const sum = model.span(span.from, span.from + ticks);
        return element("section", [
            element("h3", ["Why it took so long"]),
            element("ul", [...items, element("li", [`in total, less urgent contexts ran for ${sum} of this wait`])]),
        ]);
    }

    /** Returns links to the findings of the page: inversions, missed deadlines, gaps. */
    findings() {
        const { model } = this;
        const { inversion, job, gap, header } = model;
        const links = [];
        const order = [...inversion.ticks.keys()].sort((a, b) => inversion.ticks[b] - inversion.ticks[a]);
        for (const i of order.slice(0, 5)) {
            const length = model.span(inversion.from[i], inversion.from[i] + inversion.ticks[i]);
            const label = `priority inversion of ${model.name(inversion.context[i])}, ${length}`;
            links.push(element("li", [this.link(label, () => this.places.inversion(i))]));
        }
        const missed = [...model.intervals.misses.indices];
        for (const i of missed.slice(0, 5)) {
            const label = `missed deadline of ${model.name(job.context[i])}`;
            links.push(element("li", [this.link(label, () => this.places.job(i))]));
        }
        for (let i = 0; i < Math.min(gap.from.length, 5); i += 1) {
            links.push(element("li", [this.link(model.missing(i), () => this.places.zoom(gap.from[i], gap.until[i]))]));
        }
        // A part of a large trace does not contain all short inversions.
        const inversions = header.part ? header.inversions : order.length;
        const counts = [counted(inversions, "priority inversion"), counted(missed.length, "missed deadline"), counted(gap.from.length, "gap")];
        const parts = [element("h2", ["Findings"]), element("p", [counts.join(" · ")]), element("ul", links)];
        if (header.needed) parts.push(element("p", [`States are unknown: they need ${header.needed}.`]));
        parts.push(...this.marking.section((text, follow) => this.link(text, follow)));
        if (header.leftOut > 0) parts.push(element("p", [`${counted(header.leftOut, "change")} left out: the trace has too many.`]));
        return parts;
    }

    /**
     * Returns the figures of a time: length, events, and the time of each context by state.
     * @type {(title: string, from: number, to: number) => HTMLElement}
     */
    figures(title, from, to) {
        const { model } = this;
        const { events } = model;
        [from, to] = [Math.max(from, 0), Math.min(to, model.length)];
        const count = lowerBound(events.at, to + 1) - lowerBound(events.at, from);
        const ticks = (/** @type {number} */ value) => counted(Math.round(value), "tick");
        /** @type {[string, Content][]} */
        const facts = [["length", [model.clock.isKnown ? `${model.span(from, to)}, ${ticks(to - from)}` : ticks(to - from)]],
            ["events", [model.part && !model.part.listed ? "not listed" : count.toLocaleString("en")]]];
        const parts = [element("h3", [title]), this.list(facts)];
        if (model.showsStates && to > from) parts.push(this.table(from, to));
        return element("section", parts);
    }

    /** @type {(from: number, to: number) => HTMLElement} */
    table(from, to) {
        const { model } = this;
        const rows = this.timeline.all.filter((lane) => lane.kind === "context");
        const shares = rows.map((lane) => {
            const times = lane.row.spans.times(from, to);
            return { lane, sums: [times[RUNNING], times[3] + times[4], times[BLOCKED]] };
        });
        const shown = shares.filter(({ sums }) => sums.some((sum) => sum > 0)).sort((a, b) => b.sums[0] - a.sums[0]);
        const percent = (/** @type {number} */ ticks) => `${((100 * ticks) / (to - from)).toFixed(1)} %`;
        const lines = shown.slice(0, MAX_LINES).map(({ lane, sums }) => {
            const dot = element("i", [], "dot");
            dot.style.background = this.timeline.contexts[lane.context ?? 0];
            const name = element("td", [dot, this.context(lane.context ?? 0, from)]);
            return element("tr", [name, ...sums.map((sum) => element("td", [sum > 0 ? percent(sum) : ""]))]);
        });
        if (shown.length > MAX_LINES) lines.push(element("tr", [element("td", [`and ${shown.length - MAX_LINES} more`])]));
        const head = element("tr", ["context", "runs", "ready", "blocked"].map((text) => element("th", [text])));
        return element("table", [head, ...lines]);
    }
}
