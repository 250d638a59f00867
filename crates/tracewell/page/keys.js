// The keyboard: the keys, their actions, and the overlay that lists them.

import { NO_SEQUENCE } from "./detail.js";
import { element } from "./elements.js";
import { legend } from "./legend.js";
import { copyAddress, savePng, saveSvg } from "./saving.js";
import { rowIn } from "./view.js";

/** Keys in the overlay, and their actions. */
const HELP = [
    ["w, + / s, −", "zoom in, out"],
    ["a, ← / d, →", "move left, right"],
    ["↑ / ↓", "select a span in the row above, below"],
    ["g", "choose a name with ↑ and ↓; Enter selects its row or folds the group"],
    [", / .", "select the span before, after"],
    ["j / k", "select the next, the previous event"],
    ["z, Enter", "zoom to the selection, or to the range"],
    ["f", "show everything"],
    ["q", "equal width for each event, or in proportion to time"],
    ["l", "load of the processor, of interrupts and of each context: show or hide"],
    ["x", "arrows of the selection, or all arrows"],
    ["1, 2, 3", "events, figures, distributions"],
    ["Backspace / Shift+Backspace", "back, forward"],
    ["/", "search for a text, a time, or a range such as 2 ms before 44 ms; Enter and Shift+Enter: next, previous"],
    ["n / N", "next, previous found event"],
    ["e", "filter the events; Esc in the field: all events"],
    ["m", "measure from the selection; again: to the selection"],
    ["y", "offsets of the files, if the page shows several"],
    ["b", "mark the range, the selection or the middle, with a text"],
    ["p / h", "pin the selected row at the top, or unpin it; hide it"],
    ["Alt+↑ / Alt+↓", "move the selected row up, down; or drag its name"],
    ["r", "show all rows in their original order"],
    ["c", "copy the address of this view"],
    ["i / I", "save the picture as PNG; as SVG"],
    ["t", "light or dark"],
    ["Esc", "clear selection and range"],
    ["wheel", "zoom; with Shift: move; over the names: scroll"],
    ["drag", "move; with Shift, or on the axis: select a range"],
    ["click, double click", "select; zoom to a span"],
    ["click a name", "select its row; fold a group"],
];

/** @type {(dialog: HTMLDialogElement, colours: import("./theme.js").Colours) => void} */
function fill(dialog, colours) {
    const keys = HELP.flatMap(([key, text]) => [element("dt", [key]), element("dd", [text])]);
    const close = element("button", ["close"]);
    close.addEventListener("click", () => dialog.close());
    const parts = [element("section", [element("h2", ["Keys"]), element("dl", keys)]),
        element("section", [element("h2", ["The timeline"]), legend(colours)])];
    dialog.replaceChildren(element("div", parts, "columns"), element("p", [close]));
}

export class Keys {
    /**
     * @param {import("./timeline.js").Timeline} timeline
     * @param {import("./events.js").EventList} list
     * @param {import("./search.js").Search} search
     * @param {import("./filter.js").Filter} filter
     * @param {import("./roving.js").Roving} roving
     * @param {import("./tabs.js").Tabs} tabs
     * @param {import("./marking.js").Marking} marking
     * @param {import("./offsets.js").Offsets} offsets
     * @param {HTMLDialogElement} dialog
     * @param {import("./notice.js").Notice} notice
     */
    constructor(timeline, list, search, filter, roving, tabs, marking, offsets, dialog, notice) {
        this.notice = notice;
        this.marking = marking;
        this.offsets = offsets;
        this.timeline = timeline;
        this.view = timeline.view;
        this.list = list;
        this.search = search;
        this.filter = filter;
        this.roving = roving;
        this.tabs = tabs;
        this.dialog = dialog;
        addEventListener("keydown", (event) => this.key(event));
    }

    help() {
        if (this.dialog.open) this.dialog.close();
        else {
            fill(this.dialog, this.timeline.theme.colours);
            this.dialog.showModal();
            // The dialog focuses its only button, which is at the end.
            this.dialog.scrollTop = 0;
        }
    }

    /** @param {KeyboardEvent} event */
    key(event) {
        const target = /** @type {HTMLElement} */ (event.target);
        this.timeline.pointer.tip.hidden = true;
        const isTyping = target.tagName === "INPUT";
        const presses = event.key === "Enter" && ["BUTTON", "A"].includes(target.tagName);
        if (isTyping || presses || event.ctrlKey || event.metaKey) return;
        if (document.querySelector("dialog[open]") && !(this.dialog.open && event.key === "?")) return;
        if (event.altKey) {
            const direction = { ArrowUp: -1, ArrowDown: 1 }[event.key];
            if (!direction) return;
            this.timeline.moveSelected(direction === 1 ? 1 : -1);
            event.preventDefault();
            return;
        }
        if (this.roving.key(event)) {
            event.preventDefault();
            return;
        }
        const action = this.actions[event.key] ?? this.actions[event.key.toLowerCase()];
        if (!action) return;
        action(event);
        event.preventDefault();
    }

    /** @returns {Record<string, (event: KeyboardEvent) => void>} */
    get actions() {
        const { view, list, search, timeline } = this;
        const middle = () => this.focus;
        const zoomIn = () => view.zoom(0.7, middle());
        const zoomOut = () => view.zoom(1 / 0.7, middle());
        const left = () => view.pan(-0.15);
        const right = () => view.pan(0.15);
        const toSelection = () => this.zoomToSelection();
        return {
            w: zoomIn, "+": zoomIn, "=": zoomIn, s: zoomOut, "-": zoomOut,
            a: left, ArrowLeft: left, d: right, ArrowRight: right,
            ArrowUp: () => this.moveRow(-1), ArrowDown: () => this.moveRow(1),
            ",": () => this.moveSpan(-1), ".": () => this.moveSpan(1),
            j: () => list.step(1), k: () => list.step(-1),
            z: toSelection, Enter: toSelection,
            f: () => view.fit(),
            q: () => {
                if (!view.toggleSequence()) this.notice.show(NO_SEQUENCE);
            },
            l: () => timeline.toggleLoad(),
            x: () => {
                view.showsArrows = !view.showsArrows;
                view.changed();
            },
            1: () => this.tabs.choose("events"), 2: () => this.tabs.choose("figures"), 3: () => this.tabs.choose("distributions"),
            Backspace: (event) => (event.shiftKey ? view.forward() : view.back()),
            "/": () => search.input.focus(), e: () => this.filter.input.select(),
            n: () => search.next(1), N: () => search.next(-1),
            m: () => this.measure(),
            b: () => this.mark(),
            y: () => this.offsets.open(),
            p: () => timeline.arrange("+"), h: () => timeline.arrange("-"), r: () => timeline.arrangeNone(),
            c: () => this.copy(),
            i: () => savePng(this.pictures, timeline.model.header.title),
            I: () => saveSvg(this.pictures, timeline.model.header.title),
            t: () => this.timeline.theme.toggle(),
            "?": () => this.help(),
            Escape: () => {
                view.begun = null;
                view.range = null;
                view.select(null);
            },
        };
    }

    /** The time around which keys zoom: the selection if it is visible, otherwise the middle. */
    get focus() {
        const { view } = this;
        const at = this.list.current < 0 ? -Infinity : this.list.events.at[this.list.current];
        return at >= view.from && at <= view.to ? at : (view.from + view.to) / 2;
    }

    zoomToSelection() {
        const { view, timeline } = this;
        if (view.measured) {
            view.jump(...view.measured);
        } else if (view.selection && "row" in view.selection) {
            timeline.zoomTo(view.selection);
        } else if (view.selection && "event" in view.selection) {
            const at = timeline.model.events.at[view.selection.event];
            view.jump(at - view.span / 8, at + view.span / 8);
        }
    }

    /** Selects a span in the next (1) or previous (-1) row: the span at the time `focus`. @param {1 | -1} direction */
    moveRow(direction) {
        const { view, timeline } = this;
        const rows = timeline.shown.filter((lane) => lane.row?.spans.count > 0);
        if (rows.length === 0) return;
        const row = rowIn(view.selection);
        const place = rows.findIndex((lane) => lane.row.index === row);
        const start = direction > 0 ? 0 : rows.length - 1;
        const next = rows[place < 0 ? start : (place + direction + rows.length) % rows.length];
        view.select({ row: next.row.index, span: Math.max(next.row.spans.find(this.focus), 0) });
        timeline.scrollToRow(next.row.index);
    }

    /** Selects the span before or after the selected one. @param {1 | -1} direction */
    moveSpan(direction) {
        const { view, timeline } = this;
        const { selection } = view;
        if (!selection || !("row" in selection)) {
            this.moveRow(1);
            return;
        }
        const { spans } = timeline.model.rows[selection.row];
        const span = Math.min(Math.max(selection.span + direction, 0), spans.count - 1);
        view.reveal(spans.from(span));
        view.select({ row: selection.row, span });
    }

    /** The pictures of the page from top to bottom. */
    get pictures() {
        const parts = [this.search.overview, this.timeline];
        return parts.map((part) => ({ canvas: part.canvas, paint: part.paint.bind(part) }));
    }

    copy() {
        copyAddress().then((message) => this.notice.show(message));
    }

    /** Asks for the text of a mark at the range, the selection, or the middle of the visible time. */
    mark() {
        const { view, marking, timeline } = this;
        const { selection } = view;
        if (view.measured) {
            marking.ask(...view.measured);
        } else if (selection && "row" in selection) {
            const { spans } = timeline.model.rows[selection.row];
            marking.ask(spans.from(selection.span), spans.to(selection.span));
        } else {
            marking.ask(this.focus, this.focus);
        }
    }

    measure() {
        const { view } = this;
        if (view.begun === null) {
            view.begun = this.focus;
            view.measure([view.begun, view.begun]);
        } else {
            const { begun } = view;
            view.begun = null;
            view.measure([begun, this.focus]);
        }
    }
}
