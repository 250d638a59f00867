// The state of the page: the visible time, the selection, the range, and the previous views. This module does not draw.

import { UserMarks } from "./marks.js";
import { PROPORTIONAL, Sequence } from "./scale.js";

/**
 * A selection: a span of a row, a whole row, or an event.
 * @typedef {{ row: number, span: number } | { whole: number } | { event: number } | null} Selection
 */

/** A state of the page to which the user can return. `selected` is the identity of the selection. */
/** @typedef {{ time: [number, number], range: [number, number] | null, selected: any }} Past */

/** Minimum length of the visible time in ticks. */
const MIN_LENGTH = 4;

/** A movement by wheel or keys has ended if no other movement follows within this time in milliseconds. */
const GESTURE = 700;

/** Maximum number of earlier views to which the user can return. */
const MAX_HISTORY = 100;

export class View {
    /**
     * @param {number} length ticks of the whole page
     * @param {ArrayLike<number>} [at] times of events, for the view in sequence
     * @param {() => number} [now] the clock, in milliseconds
     */
    constructor(length, at = [], now = () => performance.now()) {
        this.length = length;
        this.at = at;
        this.now = now;
        /** Time of the last movement by wheel or keys, if the next one may continue it. */
        this.gestured = -Infinity;
        /** @type {typeof PROPORTIONAL | Sequence} */
        this.scale = PROPORTIONAL;
        /** @type {Sequence | null} */
        this.sequence = null;
        /** True if the user wants the view in sequence. A part of a large trace may list no events, and then has no sequence. */
        this.wantsSequence = false;
        /** The panel below the timeline. */
        this.tab = "events";
        /** @type {Set<string>} names of groups and rows that are folded or hidden */
        this.folded = new Set();
        /** @type {string[]} names of groups and rows, in the order that the user chose */
        this.order = [];
        /** The filter of events; empty if all events are listed. */
        this.filter = "";
        /** True if the timeline shows all arrows. Otherwise, it shows only the arrows of the selection. */
        this.showsArrows = false;
        /** Offsets of the files of a page with several traces, in ticks of the page. @type {number[]} */
        this.offsets = [];
        this.marks = new UserMarks();
        /** True if the address contains the marks. */
        this.keepsMarks = true;
        this.from = 0;
        this.to = length;
        /** @type {Selection} */
        this.selection = null;
        /** The identity of a selection that the loaded part of the trace does not contain. @type {any} */
        this.sought = null;
        /** @type {[number, number] | null} */
        this.range = null;
        /** @type {(() => void)[]} */
        this.listeners = [];
        /** The time that the user typed, or null. The timeline shows a line at this time. @type {number | null} */
        this.cursor = null;
        /** The time at which the current measurement began, or null if there is no measurement. @type {number | null} */
        this.begun = null;
        /** @type {Past[]} */
        this.past = [];
        /** @type {Past[]} */
        this.future = [];
        /** Functions that convert a selection to its identity and back. The identity stays valid if the content changes. `written` and `read` convert an identity to a part of an address and back. */
        this.identity = { of: (/** @type {Selection} */ selection) => /** @type {any} */ (selection), found: (/** @type {any} */ of) => /** @type {Selection} */ (of),
            written: (/** @type {any} */ _) => /** @type {string | null} */ (null), read: (/** @type {Map<string, string>} */ _) => /** @type {any} */ (null) };
    }

    changed() {
        this.listeners.forEach((listener) => listener());
    }

    get span() {
        return this.to - this.from;
    }

    /** Margin on both sides, so that the ends can be seen. */
    get margin() {
        return this.length * 0.01;
    }

    /**
     * Changes the length of the page. If the view showed the end of the page, it shows the new end.
     * @param {number} length
     */
    resize(length) {
        const [wasWhole, wasLast] = [this.from <= 0, this.to >= this.length];
        this.length = length;
        if (wasWhole && wasLast) this.show(-this.margin, length + this.margin);
        else if (wasLast) this.show(length + this.margin - this.span, length + this.margin);
        else this.show(this.from, this.to);
    }

    /** Shows the whole of another trace, without a selection. @param {number} length */
    reset(length) {
        this.length = length;
        this.selection = this.sought = this.range = this.cursor = this.begun = null;
        this.past = [];
        this.future = [];
        this.folded.clear();
        this.order = [];
        this.filter = "";
        this.offsets = [];
        this.marks.read("");
        this.show(-this.margin, length + this.margin);
    }

    /**
     * Shows a time range. If a part of the range is outside the page, moves the range into the page, with the same length if possible.
     * @param {number} from
     * @param {number} to
     */
    show(from, to) {
        const whole = this.length + 2 * this.margin;
        const span = Math.min(Math.max(to - from, Math.min(MIN_LENGTH, this.length)), whole);
        const middle = (from + to) / 2;
        const start = Math.min(Math.max(middle - span / 2, -this.margin), this.length + this.margin - span);
        this.from = start;
        this.to = start + span;
        this.changed();
    }

    /**
     * Shows a time range, and stores the current state so that the user can return to it.
     * @param {number} from
     * @param {number} to
     */
    jump(from, to) {
        this.remember();
        this.show(from, to);
    }

    /** The visible time, the range and the selection. @returns {Past} */
    get state() {
        return { time: [this.from, this.to], range: this.range, selected: this.identity.of(this.selection) ?? this.sought };
    }

    /** Stores the current state, unless it equals the state that was stored last. */
    remember() {
        this.keep(this.state);
    }

    /** Stores a state, unless it equals the state that was stored last. @param {Past} state */
    keep(state) {
        this.gestured = -Infinity;
        const last = this.past.at(-1);
        if (last && JSON.stringify(last) === JSON.stringify(state)) return;
        this.past.push(state);
        if (this.past.length > MAX_HISTORY) this.past.shift();
        this.future = [];
    }

    /**
     * Moves the visible time by wheel or keys. Movements without a pause between them are one gesture,
     * and the user returns to the state before the gesture.
     * @param {() => void} move
     */
    gesture(move) {
        const { state, from, to } = this;
        const isNew = this.now() - this.gestured > GESTURE;
        move();
        if (this.from === from && this.to === to) return;
        if (isNew) this.keep(state);
        this.gestured = this.now();
    }

    back() {
        this.step(this.past, this.future);
    }

    forward() {
        this.step(this.future, this.past);
    }

    /**
     * @param {Past[]} from
     * @param {Past[]} to
     */
    step(from, to) {
        const target = from.pop();
        if (!target) return;
        this.gestured = -Infinity;
        to.push(this.state);
        this.range = target.range;
        this.seek(target.selected);
        this.cursor = this.begun = null;
        this.show(...target.time);
    }

    fit() {
        this.jump(-this.margin, this.length + this.margin);
    }

    /**
     * Zooms as part of a gesture, so that the time `at` stays where it is.
     * @param {number} factor more than 1 shows more
     * @param {number} at
     */
    zoom(factor, at) {
        this.gesture(() => this.scaleBy(factor, at));
    }

    /** @type {(factor: number, at: number) => void} */
    scaleBy(factor, at) {
        const { scale } = this;
        if (scale !== PROPORTIONAL) {
            const middle = scale.place(at);
            const moved = (/** @type {number} */ time) => scale.time(middle + (scale.place(time) - middle) * factor);
            this.show(moved(this.from), moved(this.to));
            return;
        }
        const least = Math.min(MIN_LENGTH, this.length);
        const span = Math.min(Math.max(this.span * factor, least), this.length + 2 * this.margin);
        const share = (at - this.from) / this.span;
        this.show(at - share * span, at - share * span + span);
    }

    /** Moves as part of a gesture. @param {number} share of the visible time */
    pan(share) {
        this.gesture(() => this.moveFrom([this.from, this.to], share));
    }

    /** Shows the time range `old` after moving it by a share of its width on the screen. @type {(old: [number, number], share: number) => void} */
    moveFrom([from, to], share) {
        const { scale } = this;
        const width = scale.place(to) - scale.place(from);
        const moved = (/** @type {number} */ time) => scale.time(scale.place(time) + width * share);
        const outside = share < 0 ? moved(from) < -this.margin : moved(to) > this.length + this.margin;
        if (scale === PROPORTIONAL || !outside) this.show(moved(from), moved(to));
    }

    /**
     * Moves a file to an offset.
     * @param {number} file
     * @param {number} offset in ticks of the page
     */
    place(file, offset) {
        this.offsets = Array.from({ length: Math.max(this.offsets.length, file + 1) }, (_, i) =>
            (i === file ? offset : this.offsets[i] ?? 0));
        this.changed();
    }

    /**
     * Keeps the view at the same times after the origin of the page has moved.
     * @param {number} ticks by which the origin has moved to later times
     * @param {number} length of the page after the move
     */
    moveOrigin(ticks, length) {
        const moved = (/** @type {[number, number]} */ [a, b]) => /** @type {[number, number]} */ ([a - ticks, b - ticks]);
        this.length = length;
        this.range = this.range && moved(this.range);
        const shifted = (/** @type {Past} */ past) => ({ ...past, time: moved(past.time), range: past.range && moved(past.range) });
        this.past = this.past.map(shifted);
        this.future = this.future.map(shifted);
        this.cursor = this.cursor === null ? null : this.cursor - ticks;
        this.begun = this.begun === null ? null : this.begun - ticks;
        [this.from, this.to] = moved([this.from, this.to]);
    }

    get isSequence() {
        return this.scale !== PROPORTIONAL;
    }

    /** Replaces the times of events. @param {ArrayLike<number>} at */
    refill(at) {
        this.at = at;
        this.sequence = null;
        this.setSequence(this.wantsSequence);
    }

    /** Shows events with equal width, or in proportion to time. @param {boolean} isSequence */
    setSequence(isSequence) {
        this.wantsSequence = isSequence;
        if (isSequence && this.at.length > 1) {
            this.sequence ??= new Sequence(this.at);
            this.scale = this.sequence;
        } else {
            this.scale = PROPORTIONAL;
        }
        this.changed();
    }

    /** True if the view in sequence can be switched on or off: it needs events. */
    get canSequence() {
        return this.wantsSequence || this.at.length > 1;
    }

    /** Switches the view in sequence. Returns false if the page lists no events for it. */
    toggleSequence() {
        if (this.canSequence) this.setSequence(!this.wantsSequence);
        return this.canSequence;
    }

    /** Makes a time or a time range visible, unless it is visible already. @param {number} from */
    reveal(from, to = from) {
        if (from >= this.from && to <= this.to) return;
        const span = Math.max(this.span, (to - from) * 1.2);
        const middle = (from + to) / 2;
        this.jump(middle - span / 2, middle + span / 2);
    }

    /** Selects what has an identity, as soon as the page contains it. @param {any} identity */
    seek(identity) {
        this.selection = this.identity.found(identity);
        this.sought = this.selection ? null : identity;
    }

    /** @param {Selection} selection */
    select(selection) {
        this.selection = selection;
        this.sought = null;
        this.cursor = null;
        this.changed();
    }

    /** The selected range, unless its end is not chosen yet. */
    get measured() {
        return this.begun === null ? this.range : null;
    }

    /** Shows a time with a line, and selects nothing. @param {number} at */
    goTo(at) {
        const span = Math.min(this.span, this.length / 10);
        this.jump(at - span / 2, at + span / 2);
        this.selection = this.sought = null;
        this.cursor = at;
    }

    /** Selects a range, and shows it with its surroundings. @type {(from: number, to: number) => void} */
    showRange(from, to) {
        const margin = Math.max((to - from) * 0.1, 2);
        this.jump(from - margin, to + margin);
        this.begun = null;
        this.measure([from, to]);
    }

    /** @param {[number, number] | null} range */
    measure(range) {
        this.range = range && (range[0] <= range[1] ? range : [range[1], range[0]]);
        if (!range) this.begun = null;
        this.changed();
    }

    /** Returns the state as the fragment of an address. Ticks count from the trace's first event. */
    address(/** @type {(offset: number) => bigint} */ exact) {
        const pair = (/** @type {[number, number]} */ [a, b]) => `${exact(a)}-${exact(b)}`;
        const parts = [];
        const isAll = this.from <= 0 && this.to >= this.length;
        if (!isAll) parts.push(`t=${pair([Math.max(this.from, 0), Math.min(this.to, this.length)])}`);
        if (this.measured) parts.push(`r=${pair(this.measured)}`);
        const { selection } = this;
        const named = this.identity.written(this.identity.of(selection) ?? this.sought);
        if (named !== null) parts.push(named);
        else if (selection && "row" in selection) parts.push(`s=${selection.row}.${selection.span}`);
        else if (selection && "event" in selection) parts.push(`e=${selection.event}`);
        else if (selection && "whole" in selection) parts.push(`w=${selection.whole}`);
        if (this.wantsSequence) parts.push("q=1");
        if (this.offsets.some((offset) => offset !== 0)) parts.push(`d=${this.offsets.join(",")}`);
        if (this.filter !== "") parts.push(`l=${encodeURIComponent(this.filter)}`);
        if (this.showsArrows) parts.push("x=1");
        if (this.tab !== "events") parts.push(`p=${this.tab}`);
        if (this.folded.size > 0) parts.push(`f=${[...this.folded].map(encodeURIComponent).join(",")}`);
        if (this.order.length > 0) parts.push(`o=${this.order.map(encodeURIComponent).join(",")}`);
        const { lines } = this.marks;
        if (this.keepsMarks && lines.length > 0) parts.push(`n=${lines.map(encodeURIComponent).join(",")}`);
        return parts.join("&");
    }

    /**
     * Sets the state from the fragment of an address; ignores parts that it does not understand.
     * @param {string} fragment
     * @param {bigint} origin
     * @param {(selection: Selection) => boolean} exists
     */
    restore(fragment, origin, exists) {
        const values = new Map(fragment.split("&").map((part) => /** @type {[string, string]} */ (part.split("="))));
        const pair = (/** @type {string} */ name) => {
            const match = /^(-?\d{1,20})-(-?\d{1,20})$/.exec(values.get(name) ?? "");
            return match && [Number(BigInt(match[1]) - origin), Number(BigInt(match[2]) - origin)];
        };
        const range = pair("r");
        if (range) this.range = [Math.min(...range), Math.max(...range)];
        const span = /^(\d{1,9})\.(\d{1,9})$/.exec(values.get("s") ?? "");
        const event = /^\d{1,9}$/.exec(values.get("e") ?? "");
        const whole = /^\d{1,9}$/.exec(values.get("w") ?? "");
        /** @type {Selection} */
        let selection = null;
        if (span) selection = { row: Number(span[1]), span: Number(span[2]) };
        else if (event) selection = { event: Number(event[0]) };
        else if (whole) selection = { whole: Number(whole[0]) };
        const named = this.identity.read(values);
        if (named) this.seek(named);
        else if (selection && exists(selection)) this.selection = selection;
        this.tab = /^[a-z]{1,20}$/.exec(values.get("p") ?? "")?.[0] ?? "events";
        this.folded = new Set(decodedNames(values.get("f") ?? ""));
        this.order = decodedNames(values.get("o") ?? "");
        this.filter = decodedNames(values.get("l") ?? "").join(",");
        if (this.keepsMarks) this.marks.read(decodedNames(values.get("n") ?? "").join("\n"));
        this.showsArrows = values.get("x") === "1";
        this.setSequence(values.get("q") === "1");
        const time = pair("t");
        if (time) this.show(time[0], time[1]);
        else this.show(-this.margin, this.length + this.margin);
    }
}

/** Returns the row to which a selection belongs, or -1. @param {Selection} selection */
export function rowIn(selection) {
    if (!selection || "event" in selection) return -1;
    return "row" in selection ? selection.row : selection.whole;
}

/** Returns the offsets of files in the fragment of an address. @param {string} fragment */
export function offsetsIn(fragment) {
    const part = fragment.split("&").find((each) => each.startsWith("d="))?.slice(2) ?? "";
    return /^-?\d{1,15}(,-?\d{1,15}){0,99}$/.test(part) ? part.split(",").map(Number) : [];
}

/** Returns the names in a part of an address; none if it is damaged. @param {string} text */
function decodedNames(text) {
    try {
        return text.split(",").filter((part) => part !== "").map(decodeURIComponent);
    } catch {
        return [];
    }
}
