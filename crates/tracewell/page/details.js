// The side panel. It describes the selection, or lists the findings if nothing is selected. It also shows the figures of a time range.

import { lowerBound } from "./bounds.js";
import { BLOCKED, RUNNING, STATES, TASK } from "./model.js";
import { culprits, occupants } from "./causes.js";
import { stateWords } from "./describe.js";
import { breakable, element } from "./elements.js";
import { figuresIn } from "./exact.js";
import { similar } from "./filter.js";
import { absent } from "./identity.js";
import { argumentsIn, inheritance, lockOf, telling } from "./locks.js";
import { objectText } from "./objects.js";
import { selectedSpan } from "./overlays.js";
import { rankText, shares } from "./shares.js";
import { budgetText, isExhausted, serverName } from "./servers.js";
import { grouped } from "./time.js";
import { requestOf } from "./waits.js";
import { keyName, wholeRow } from "./whole.js";
import { counted } from "./words.js";

/** Maximum number of rows in a table; the others are added up in one row. */
const MAX_LINES = 14;

/** Headings of the shares with the places at which a narrow panel may break them. The numbers below them need less room. */
const HYPHENATED = new Map([["ready or preempted", "ready or pre\u00ADempted"], ["blocked", "block\u00ADed"], ["sleeping", "sleep\u00ADing"]]);

/** Maximum number of findings of a kind in the list. */
const MAX_FINDINGS = 5;

/** A warning about a span in a part of a large trace. */
const COMBINED = "At this zoom, short states are combined, so this may be more than one. Zoom in until events are listed.";

/** @typedef {import("./elements.js").Content} Content */

/**
 * Returns the number of waits for owners with a lower priority, as `analyze` counts them. Returns null if the figures cover more than the page
 * shows. @param {import("./model.js").Model} model @returns {number | null}
 */
function inversionsIn({ header, files, columns }) {
    if (files.length === 0 && !(header.from === "0" && header.until === header.span)) return null;
    const names = files.length > 0 ? files.map((/** @type {any} */ _, /** @type {number} */ file) => `figures.${file}`) : ["figures"];
    const locks = names.flatMap((/** @type {string} */ name) => {
        const column = columns.get(name);
        return column ? figuresIn(column).locks : [];
    });
    return locks.reduce((/** @type {number} */ sum, /** @type {any} */ lock) => sum + (lock.inversions?.count ?? 0), 0);
}

export class Details {
    /**
     * @param {HTMLElement} panel
     * @param {import("./timeline.js").Timeline} timeline
     * @param {import("./places.js").Places} places
     * @param {import("./marking.js").Marking} marking
     * @param {import("./exact.js").Exact} exact the figures of a large trace
     * @param {() => import("./large.js").LargeFigures | null} large returns these figures with links, as far as they are known
     */
    constructor(panel, timeline, places, marking, exact, large) {
        this.marking = marking;
        this.panel = panel;
        this.timeline = timeline;
        this.model = timeline.model;
        this.view = timeline.view;
        this.places = places;
        this.exact = exact;
        this.large = large;
        /** @type {Content} */
        this.parts = [];
        /** The values from which the panel was drawn, as JSON. `described` has only the values for the parts about the selection. */
        this.drawn = "";
        this.described = "";
    }

    draw() {
        const { selection, measured: range } = this.view;
        const { version } = this.view.marks;
        const { sought } = this.view;
        const span = selectedSpan(this.model, this.view);
        // The figures cover the range, the selected span, or the visible time.
        const time = range ?? (span ? [span.from, span.to] : [this.view.from, this.view.to]);
        const key = JSON.stringify([version, selection, sought, range, time, this.timeline.theme.isDark]);
        if (key === this.drawn) return;
        this.drawn = key;
        const about = JSON.stringify([version, selection, sought, this.timeline.theme.isDark]);
        // Only the figures of the visible time change with each frame.
        if (about !== this.described) this.parts = this.about(span);
        this.described = about;
        const parts = [...this.parts];
        const [from, to] = time;
        parts.push(this.figures(range ? "Selected range" : span ? "During this time" : "Visible time", from, to));
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
        if (selection && "whole" in selection) return wholeRow(this, this.model.rows[selection.whole]);
        if (selection && "event" in selection) return this.event(selection.event);
        return this.view.sought ? this.absent(this.view.sought) : this.findings();
    }

    /** Returns the parts about a selection that the loaded part of the trace does not contain. @param {import("./identity.js").Identity} sought @returns {Content} */
    absent(sought) {
        const link = this.link("show it", () => this.places.identified(sought));
        const text = "The selection is not visible at this zoom, or is outside of the visible time: ";
        return [element("h2", breakable(absent(this.model, sought))), element("p", [text, link])];
    }

    /**
     * Returns a link that calls `follow`.
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

    /** @type {(index: number, isNamed?: boolean) => HTMLElement} */
    eventLink(index, isNamed = true) {
        const label = this.model.kinds[this.model.events.kind[index]].label;
        const link = this.link(`event ${this.model.events.number(index)}`, () => this.places.event(index));
        return element("span", isNamed ? [link, ...breakable(` ${label}`)] : [link]);
    }

    /** Returns a link to the event that has this number in the trace. `at` is its time. @type {(seq: number, at: number) => Node | string} */
    numbered(seq, at) {
        const { model } = this;
        const index = model.events.find(seq);
        if (index >= 0) return this.eventLink(index);
        if (!model.part) return `event ${seq}, not on this page`;
        return this.link(`event ${seq}`, () => this.places.seekEvent(seq, Number(model.exact(at))));
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
            [keyName(contexts[context].key), [contexts[context].key]],
            ["core", [String(events.cpu[index])]],
            ["event id", breakable(`${kind.id}${kind.name === kind.label ? "" : ` ${kind.name}`}`)],
            ["ticks", [grouped(at)]],
        ];
        const { title } = this.model.files[this.model.fileOf(events.context[index])] ?? {};
        if (title) facts.unshift(["file", [title]]);
        facts.push(...this.messages(index));
        if (kind.level) facts.push(["level", [kind.level]], ["target", [kind.target]]);
        if (index > 0) facts.push(["since previous event", [this.model.span(events.at[index - 1], events.at[index])]]);
        const args = events.text(events.args[index]);
        const list = telling(argumentsIn(args)).map((arg) => element("li", breakable(arg)));
        return [
            element("h2", breakable(`event ${events.number(index)}: ${kind.label}`)),
            this.list(facts),
            element("ul", list),
            this.narrowing(similar(this.model, index)),
        ];
    }

    /** Returns links that filter the events. @param {{ text: string, filter: string }[]} filters */
    narrowing(filters) {
        const links = filters.flatMap(({ text, filter }, i) => {
            const link = this.link(text, () => {
                this.view.filter = filter;
                this.view.changed();
            });
            return i === 0 ? [link] : [", ", link];
        });
        return element("p", ["list only events of ", ...links]);
    }

    /** Returns the receiver or the sender of a message. @param {number} index of an event @returns {[string, Content][]} */
    messages(index) {
        const { arrow, events } = this.model;
        const seq = events.seq[index];
        /** @type {[string, Content][]} */
        const facts = [];
        arrow.kind.forEach((/** @type {number} */ kind, /** @type {number} */ i) => {
            if (kind !== 2) return;
            if (arrow.fromSeq[i] === seq) facts.push(["taken by", [this.numbered(arrow.untilSeq[i] - 1, arrow.until[i])]]);
            if (arrow.untilSeq[i] - 1 === seq) facts.push(["sent by", [this.numbered(arrow.fromSeq[i], arrow.from[i])]]);
        });
        return facts;
    }

    /** @param {any} span */
    title({ row, index, state, value, isBlocked }) {
        if (row.kind === "lock") {
            return `${row.what} ${row.name} ${state === 1 ? `held by ${this.model.name(value - 1)}` : "free"}`;
        }
        if (row.kind === "core") {
            const interrupt = value > 0 ? `serves interrupt ${value - 1}` : "serves an interrupt";
            return `core ${row.number} ${["unknown", `runs ${this.model.name(value)}`, interrupt, "idle"][state]}`;
        }
        if (row.kind === "server") return `${serverName(this.model, row)}: ${isExhausted(state) ? "budget exhausted" : budgetText(this.model, row, index)}`;
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
            facts.push(["held by", [this.holder(span)]]);
        }
        if (row.kind === "context" && span.state === RUNNING && span.value > 0 && span.value - 1 !== row.context) {
            facts.push(["on behalf of", [this.context(span.value - 1, from)]]);
        }
        if (row.kind === "core" && span.state === TASK) facts.push(["runs", [this.context(span.value, from)]]);
        if (row.kind === "lock" && span.state === 1) facts.push(["holder", [this.context(span.value - 1, from)]]);
        if (row.kind === "server") facts.push(...this.served(row, from));
        if (row.file !== undefined) facts.unshift(["file", [model.files[row.file].title]]);
        facts.push(...this.asked(span));
        facts.push(["first event", [this.numbered(row.spans.seq[index], from)]]);
        if (index + 1 < row.spans.count) facts.push(["last event", [this.numbered(row.spans.seq[index + 1], to)]]);
        if (row.kind === "context") facts.push(...this.wake(span));
        facts.push(...this.neighbour("before", row, index - 1), ...this.neighbour("after", row, index + 1));
        const rank = this.rank(span);
        return [
            ...(inverted !== null ? [element("span", ["unbounded inversion"], "tag")] : []),
            element("h2", [this.title(span)]),
            element("p", [time, element("b", [model.span(from, to)]), rank]),
            ...(model.isCoarse ? [element("p", [COMBINED], "hint")] : []),
            this.list(facts),
            ...(span.isBlocked ? this.spent(span, inverted) : []),
        ];
    }

    /** Returns the context that a server serves, and links to the states of the context. @type {(row: any, from: number) => [string, Content][]} */
    served({ task, key }, from) {
        /** @type {[string, Content][]} */
        const whom = task === null ? [] : [["serves", [this.context(task, from)]]];
        return [...whom, ["address", [key]]];
    }

    /** Returns the state before or after a span, as a link. @type {(name: string, row: any, span: number) => [string, Content][]} */
    neighbour(name, row, span) {
        const { model, places } = this;
        if (span < 0 || span >= row.spans.count) return [];
        const words = stateWords(model, { row: row.index, span });
        const length = model.span(row.spans.from(span), row.spans.to(span));
        return [[name, [this.link(words, () => places.span(row.index, span)), `, ${length}`]]];
    }

    /**
     * Returns the holder of the lock for which a context waits, as a link. The link leads to the span in which the holder has the lock. If the
     * page does not contain this span, the link leads to the state of the holder.
     * @param {any} span
     */
    holder({ row, index, from, value }) {
        const { model } = this;
        const holder = model.reasons[value].holder - 1;
        const lock = lockOf(model, row, index);
        const hold = lock ? lock.spans.find(from) : -1;
        if (hold < 0 || lock.spans.value[hold] !== holder + 1) return this.context(holder, from);
        return this.link(model.name(holder), () => this.places.span(lock.index, hold));
    }

    /** Returns the request with which a wait began, if the trace shows it. @param {any} span */
    asked({ row, from, to, isBlocked }) {
        const { model } = this;
        const found = isBlocked ? requestOf(model, row.context, from, to) : -1;
        if (found < 0) return [];
        const { wait } = model;
        // The figures of mutexes count a wait from its request. States count it from the suspension.
        const whole = wait.from[found] < from ? [`, ${model.span(wait.from[found], to)} from the request to the end`] : [];
        return [/** @type {[string, Content]} */ (["request", [this.numbered(wait.fromSeq[found], wait.from[found]), ...whole]])];
    }

    /** Returns the event that woke the context of a span, if the trace shows it. @param {any} span */
    wake({ row, from, to }) {
        const { arrow } = this.model;
        // The arrow begins when the context becomes ready, and ends when the context gets a core. So a wait ends at the beginning
        // of the arrow. A ready span ends, and a run begins, at the end of the arrow.
        for (let i = lowerBound(arrow.until, from); i < arrow.until.length; i += 1) {
            if (arrow.from[i] > to && arrow.until[i] > to) break;
            if (arrow.kind[i] !== 0 || arrow.context[i] !== row.context) continue;
            const by = arrow.by[i] > 0 ? [", recorded by ", this.context(arrow.by[i] - 1, arrow.from[i])] : [", in an interrupt"];
            return [/** @type {[string, Content]} */ (["woken by", [this.numbered(arrow.fromSeq[i], arrow.from[i]), ...by]])];
        }
        return [];
    }

    /** Returns the index of the inversion that overlaps a wait, or null. @param {any} span */
    inversion({ row, from, to, isBlocked }) {
        if (!isBlocked || this.model.isCoarse) return null;
        const found = this.model.intervals.inversionsOf.get(row.context)?.find(from, to, () => true) ?? -1;
        return found < 0 ? null : found;
    }

    /** Compares a wait with the other waits of its row for the same object. @param {any} span */
    rank({ row, from, to, value, isBlocked }) {
        // A part does not contain the other waits.
        if (!isBlocked || this.model.part) return "";
        const { reasons } = this.model;
        const same = (/** @type {number} */ reason) => reasons[reason].object === reasons[value].object
            && reasons[reason].what === reasons[value].what;
        const lengths = [];
        for (let i = 0; i < row.spans.count; i += 1) {
            if (row.spans.state[i] === BLOCKED && same(row.spans.value[i])) lengths.push(row.spans.to(i) - row.spans.from(i));
        }
        const text = rankText(to - from, lengths);
        return text === "" ? "" : ` · ${text}`;
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
        if (others.length > 1) {
            const sum = model.span(span.from, span.from + model.inversion.ticks[inverted]);
            items.push(element("li", [`in total, less urgent contexts other than the holder ran for ${sum} of this wait`]));
        }
        const lock = model.locks[model.inversion.lock[inverted] - 1];
        const created = lock && inheritance(model, lock);
        if (created) {
            const how = created.inherits ? "with" : "without";
            items.push(element("li", [`${lock.name} was created ${how} priority inheritance (`, this.eventLink(created.event, false), ")"]));
        }
        return element("section", [element("h3", ["Why it took so long"]), element("ul", items)]);
    }

    /** Returns links to the findings of the page: inversions, missed deadlines, gaps. */
    findings() {
        // A part of a large trace does not contain all findings; the first payload contains the worst of the whole trace.
        const model = this.timeline.whole ?? this.model;
        const { inversion, job, gap, header } = model;
        const links = [];
        const time = (/** @type {number} */ offset) => model.time(model.exact(offset));
        const order = [...inversion.ticks.keys()].sort((a, b) => inversion.ticks[b] - inversion.ticks[a]);
        for (const i of order.slice(0, MAX_FINDINGS)) {
            const length = model.span(inversion.from[i], inversion.from[i] + inversion.ticks[i]);
            const label = `unbounded inversion of ${model.name(inversion.context[i])}, ${length}, at ${time(inversion.from[i])}`;
            const waiter = this.places.rowOf(inversion.context[i]);
            const ticks = (/** @type {number} */ offset) => Number(model.exact(offset));
            const seek = () => this.places.seek(waiter, ticks(inversion.from[i]), ticks(inversion.until[i]), BLOCKED);
            links.push(element("li", [this.link(label, model.part && waiter ? seek : () => this.places.inversion(i))]));
        }
        const missed = [...model.intervals.misses.indices];
        for (const i of missed.slice(0, MAX_FINDINGS)) {
            const label = `missed deadline of ${model.name(job.context[i])}, at ${time(job.missed[i])}`;
            const end = job.untilSeq[i] > 0 ? job.until[i] : Math.max(job.missed[i], job.from[i]);
            links.push(element("li", [this.link(label, () => this.places.zoom(job.from[i], end))]));
        }
        for (let i = 0; i < Math.min(gap.from.length, MAX_FINDINGS); i += 1) {
            links.push(element("li", [this.link(`${model.missing(i)}, at ${time(gap.from[i])}`, () => this.places.zoom(gap.from[i], gap.until[i]))]));
        }
        for (const { filter, from, until } of model.hidden.slice(0, 5)) {
            links.push(element("li", [this.link(`not recorded: ${filter}, from ${time(from)} to ${time(until)}`, () => this.places.zoom(from, until))]));
        }
        // The first payload of a large trace does not contain all short inversions, nor all jobs.
        const unbounded = header.part ? header.inversions : order.length;
        const json = header.part ? figuresIn(/** @type {import("./source.js").Column} */ (model.columns.get("figures"))) : null;
        const misses = json ? json.tasks.reduce((/** @type {number} */ sum, /** @type {any} */ task) => sum + (task.deadline_misses ?? 0), 0) : missed.length;
        const least = header.part && header.moreWaits > 0 ? "at least " : "";
        const kinds = /** @type {[number, string][]} */ ([[unbounded, "unbounded inversion"], [misses, "missed deadline"], [json?.gaps ?? gap.from.length, "gap"]]);
        const others = kinds.filter(([count]) => count > MAX_FINDINGS).map(([count, name]) => counted(count - MAX_FINDINGS, `more ${name}`));
        if (others.length > 0) links.push(element("li", [`${others.join(", ")}: see Figures`]));
        const counts = kinds.map(([count, name], i) => (i === 0 ? least : "") + counted(count, name));
        const inversions = inversionsIn(model);
        if (inversions !== null) counts.unshift(counted(inversions, "priority inversion"));
        const scope = header.part ? "whole trace: " : "";
        const parts = [element("h2", ["Findings"]), element("p", [scope + counts.join(" · ")]), element("ul", links)];
        if (header.needed) parts.push(element("p", [`States are unknown: they need ${header.needed}.`]));
        parts.push(...this.marking.section((text, follow) => this.link(text, follow)));
        if (header.leftOut > 0) parts.push(element("p", [`${counted(header.leftOut, "change")} left out: the trace has too many.`]));
        return parts;
    }

    /**
     * Returns the figures of a time range: length, events, and the time of each context by state.
     * @type {(title: string, from: number, to: number) => HTMLElement}
     */
    figures(title, from, to) {
        const { model } = this;
        const { events } = model;
        [from, to] = [Math.max(from, 0), Math.min(to, model.length)];
        const count = lowerBound(events.at, to + 1) - lowerBound(events.at, from);
        const isLoaded = model.has(from, to);
        const ticks = (/** @type {number} */ value) => counted(Math.round(value), "tick");
        /** @type {[string, Content][]} */
        const facts = [["length", [model.clock.isKnown ? `${model.span(from, to)}, ${ticks(to - from)}` : ticks(to - from)]],
            ["events", [(model.part && !(model.part.listed && isLoaded)) || model.header.isReading ? "not listed" : grouped(count)]]];
        const { measured } = this.view;
        if (measured) {
            const [begin, end] = measured.map((time) => model.time(model.exact(time)));
            facts.unshift(["from", [begin]], ["to", [end]]);
        }
        const parts = [element("h3", [title]), this.list(facts)];
        if (!isLoaded) parts.push(element("p", ["The page has loaded only a part of this time: ", this.link("show all of it", () => this.places.zoom(from, to))]));
        else if (model.showsStates && to > from) parts.push(this.table(from, to));
        return element("section", parts);
    }

    /** @type {(from: number, to: number) => HTMLElement} */
    table(from, to) {
        const { columns, rows } = shares(this.model, this.timeline.all, from, to);
        const percent = (/** @type {number} */ ticks) => ((100 * ticks) / (to - from)).toFixed(1);
        const own = rows.filter(({ lane }) => lane);
        const shown = [...own.slice(0, MAX_LINES), ...rows.filter(({ lane }) => !lane)];
        const lines = shown.map(({ name, lane, times }) => {
            const { interrupt } = this.timeline.theme.colours;
            const colour = lane ? this.timeline.contexts[lane.context ?? 0] : name === "interrupts" ? interrupt : "";
            const dot = element("i", [], colour ? "dot" : "dot none");
            dot.style.background = colour;
            const title = element("td", [dot, ...(lane ? [this.context(lane.context ?? 0, from)] : breakable(name))], "name");
            return element("tr", [title, ...columns.map((_, i) => element("td", [times[i] > 0 ? percent(times[i]) : ""]))]);
        });
        if (own.length > MAX_LINES) lines.push(element("tr", [element("td", [`and ${own.length - MAX_LINES} more`])]));
        const cores = this.model.rows.filter((/** @type {any} */ { kind }) => kind === "core").length;
        const unit = cores > 1 ? "% of one core" : "% of time";
        const head = [unit, ...columns].map((text) => element("th", [HYPHENATED.get(text) ?? text]));
        if (columns.at(-1) === "other") head[columns.length].title = "sleeping, job done, not running, or unknown";
        return element("table", [element("tr", head), ...lines], "shares-table");
    }
}
