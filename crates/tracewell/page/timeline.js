// The timeline: places lanes, draws them, and finds the item at a point.

import { AXIS, drawArrows, drawAxis, drawCursor, drawGaps, drawHidden, drawInversions, drawSelection, drawUserMarks } from "./overlays.js";
import { lowerBound } from "./bounds.js";
import { sparse } from "./dense.js";
import { loadAt } from "./loadrows.js";
import { shownWidth } from "./loads.js";
import { LEFT, NAME, drawBand, drawFrame, drawNames } from "./names.js";
import { FONT, prepared, setFont, sizeOf } from "./paint.js";
import { paintOf } from "./paints.js";
import { drawPills, pillAt } from "./pills.js";
import { Pointer } from "./pointer.js";
import { Sheet } from "./rectangles.js";
import { LOAD, isFolded, isHead, laneName, lanes, ordered, placed, reordered } from "./rows.js";
import { drawLane } from "./spans.js";
import { rowIn } from "./view.js";

/** The pointer selects an event, an interrupt or the boundary of a span up to this distance in pixels. */
const NEAR = 5;

export class Timeline {
    /**
     * @param {HTMLCanvasElement} canvas
     * @param {HTMLElement} tip
     * @param {HTMLElement} hair a line at the pointer, with its time
     * @param {import("./model.js").Model} model
     * @param {import("./view.js").View} view
     * @param {import("./theme.js").Theme} theme
     * @param {string[]} contexts colours
     */
    constructor(canvas, tip, hair, model, view, theme, contexts) {
        this.canvas = canvas;
        /** The labels of the last picture. @type {import("./pills.js").Pill[]} */
        this.pills = [];
        /** @type {import("./spans.js").Actions} */
        this.actions = { inversion: () => {}, mark: () => {} };
        /** The name of the lane that keys choose, or empty. */
        this.framed = "";
        /** The visible part of the last picture. */
        this.drawn = "";
        this.model = model;
        /** The whole trace at a low resolution, if the model contains only a part of it. @type {import("./model.js").Model | null} */
        this.whole = null;
        this.view = view;
        this.theme = theme;
        this.contexts = contexts;
        this.all = lanes(model);
        this.scroll = 0;
        this.size = sizeOf(canvas);
        /** @type {import("./rows.js").Lane[]} */
        this.shown = [];
        this.content = 0;
        /** Height of the lanes if they do not grow into the room that is left. */
        this.natural = 0;
        /** The part of this height that can be out of sight: the folded group of loads at the end. */
        this.spare = 0;
        this.place();
        this.pointer = new Pointer(this, tip, hair);
    }

    /** Updates the rows after the content of the model was replaced. */
    refill() {
        this.all = lanes(this.model);
        this.place();
    }

    place() {
        const { shown, height, natural, spare } = placed(ordered(this.all, this.view.order), this.view.folded, this.size.height - AXIS);
        this.shown = shown;
        this.content = height;
        this.natural = natural;
        this.spare = spare;
    }

    get width() {
        return Math.max(this.size.width - LEFT, 10);
    }

    /** @param {number} x */
    time(x) {
        const { from, to, scale } = this.view;
        const [first, last] = [scale.place(from), scale.place(to)];
        return scale.time(first + ((x - LEFT) / this.width) * (last - first));
    }

    /** Returns functions that convert a time to its pixel and back, for the current view. */
    get ways() {
        const { from, to, scale } = this.view;
        const [first, last] = [scale.place(from), scale.place(to)];
        const pixels = this.width / (last - first);
        return {
            x: (/** @type {number} */ time) => LEFT + (scale.place(time) - first) * pixels,
            time: (/** @type {number} */ x) => scale.time(first + (x - LEFT) / pixels),
        };
    }

    /** Returns the times at which the pixels begin, and the time at which the last pixel ends. */
    get times() {
        const { time } = this.ways;
        const times = new Float64Array(this.width + 1);
        for (let column = 0; column < times.length; column += 1) times[column] = time(LEFT + column);
        return times;
    }

    /** @param {import("./rows.js").Lane} lane */
    top(lane) {
        return AXIS + lane.y - this.scroll;
    }

    draw() {
        this.place();
        this.clampScroll();
        this.pills = this.paint(prepared(this.canvas, this.size), this.size.width, this.size.height);
        const drawn = `${this.view.from} ${this.view.to} ${this.scroll}`;
        // The text at the pointer describes the earlier view.
        if (drawn !== this.drawn) this.pointer.tip.toggleAttribute("hidden", true);
        this.drawn = drawn;
        this.pointer.placeHair();
    }

    /** Draws the picture, and returns its labels. @type {(ink: CanvasRenderingContext2D, width: number, height: number) => import("./pills.js").Pill[]} */
    paint(ink, width, height) {
        const { model, view, contexts } = this;
        const { colours } = this.theme;
        const visible = this.visible(height);
        setFont(ink, `12px ${FONT}`);
        ink.fillStyle = colours.ground;
        ink.fillRect(0, 0, width, height);
        /** @type {import("./spans.js").Frame} */
        const frame = {
            ink, model, view, colours, contexts, paints: contexts.map((colour) => paintOf(colour)), left: LEFT, width: this.width, pills: [],
            actions: this.actions, ...this.ways, times: this.times, sheet: new Sheet(ink), sparse: sparse(visible, view),
        };
        const bottom = Math.min(height, AXIS + this.content - this.scroll);
        ink.save();
        ink.beginPath();
        ink.rect(0, AXIS, width, height - AXIS);
        ink.clip();
        for (const lane of visible) drawBand(frame, lane, this.top(lane), width);
        ink.restore();
        drawAxis(frame, bottom);
        ink.save();
        ink.beginPath();
        ink.rect(LEFT, 22, width - LEFT, height);
        ink.clip();
        for (const [file, band] of this.bands(bottom)) {
            drawGaps(frame, file, band);
            drawHidden(frame, file, band);
            drawInversions(frame, file, band);
        }
        ink.beginPath();
        ink.rect(LEFT, AXIS, width - LEFT, height - AXIS);
        ink.clip();
        for (const lane of visible) drawLane(frame, lane, this.top(lane));
        frame.sheet.end();
        drawArrows(frame, this.shown, (lane) => this.top(lane));
        ink.restore();
        ink.save();
        ink.beginPath();
        ink.rect(LEFT, 22, width - LEFT, height);
        ink.clip();
        drawUserMarks(frame, bottom);
        drawSelection(frame, this.shown, (lane) => this.top(lane), bottom);
        drawCursor(frame, bottom);
        drawPills(frame);
        ink.restore();
        ink.save();
        ink.beginPath();
        ink.rect(0, AXIS, LEFT, height - AXIS);
        ink.clip();
        // Draw no name that fits only in part, because its letters would be cut at the edge.
        const isWhole = (/** @type {import("./rows.js").Lane} */ lane) => {
            const middle = this.top(lane) + lane.height / 2;
            return middle - NAME / 2 >= AXIS && middle + NAME / 2 <= height;
        };
        drawNames(frame, visible, (lane) => this.top(lane), isWhole);
        const framed = visible.find((lane) => laneName(lane) === this.framed);
        if (framed) drawFrame(frame, framed, this.top(framed));
        ink.restore();
        return frame.pills;
    }

    /** Returns each file with the part of the picture that belongs to it. @param {number} bottom end of all lanes @returns {[number, import("./overlays.js").Band][]} */
    bands(bottom) {
        if (this.model.files.length === 0) return [[0, { top: AXIS, bottom, label: 23, isWhole: true }]];
        const heads = this.shown.filter(({ kind }) => kind === "file");
        return heads.map((head, place) => {
            const next = heads[place + 1];
            const top = this.top(head);
            // If the bar of a file is above the visible part, so is its label.
            const label = top < AXIS ? -AXIS : top + 2;
            const end = Math.max(next ? this.top(next) : bottom, AXIS);
            const band = { top: Math.max(top + head.height, AXIS), bottom: end, label, isWhole: false };
            return [head.file ?? 0, band];
        });
    }

    /** @param {number} height */
    visible(height) {
        return this.shown.filter((lane) => this.top(lane) < height && this.top(lane) + lane.height > AXIS);
    }

    clampScroll() {
        const most = Math.max(0, this.content - (this.size.height - AXIS));
        this.scroll = Math.min(Math.max(this.scroll, 0), most);
    }

    /** @param {number} y */
    laneAt(y) {
        if (y < AXIS) return undefined;
        return this.shown.find((lane) => y >= this.top(lane) && y < this.top(lane) + lane.height);
    }

    /**
     * Returns the selection that a click at a point makes.
     * @param {number} x
     * @param {number} y
     * @returns {import("./view.js").Selection}
     */
    hit(x, y) {
        const lane = this.laneAt(y);
        if (!lane || x < LEFT) return null;
        const time = this.time(x);
        if (lane.row && lane.row.spans.count > 0) {
            const span = lane.row.spans.find(time);
            return span < 0 ? null : { row: lane.row.index, span };
        }
        if (lane.kind === "interrupts") return this.interruptAt(time, lane.file);
        if (lane.kind === "events") return this.eventAt(time, lane.context ?? -1);
        return null;
    }

    /** Returns the window of load at a point, with its lane, or null. @type {(x: number, y: number) => { lane: import("./rows.js").Lane, window: { from: number, to: number, share: number } } | null} */
    loadAt(x, y) {
        const lane = x < LEFT ? undefined : this.laneAt(y);
        const window = lane?.kind === "load" ? loadAt(this.model, this.view, lane, this.time(x)) : null;
        return lane && window ? { lane, window } : null;
    }

    /** The width of the windows of load in ticks, or 0 if no load is shown. */
    get loadWidth() {
        return this.shown.some(({ kind }) => kind === "load") ? shownWidth(this.model, this.view) : 0;
    }

    /** Shows or hides the load of each context. If it becomes visible, scrolls to it. */
    toggleLoad() {
        const heads = this.all.filter((lane) => lane.kind === "group" && lane.label === LOAD);
        if (heads.length === 0) return;
        const { folded } = this.view;
        const shows = heads.some(({ group }) => isFolded(folded, group));
        for (const { group } of heads) if (isFolded(folded, group) === shows && !folded.delete(group)) folded.add(group);
        this.place();
        const head = this.shown.find(({ kind, label }) => kind === "group" && label === LOAD);
        if (shows && head) this.scroll = head.y;
        this.view.changed();
    }

    /** Returns the times that are `NEAR` pixels before and after a time on the screen. @param {number} time */
    near(time) {
        const { x, time: back } = this.ways;
        return [back(x(time) - NEAR), back(x(time) + NEAR)];
    }

    /** @param {number} time  @param {number} [file] */
    interruptAt(time, file) {
        const [before, after] = this.near(time);
        for (const row of this.model.rows) {
            if (row.kind !== "core" || row.file !== file) continue;
            const [first, last] = row.spans.within(before, after);
            for (let span = first; span < last; span += 1) {
                const begins = row.spans.to(span) >= before;
                if (row.spans.state[span] === 2 && begins) return { row: row.index, span };
            }
        }
        return null;
    }

    /**
     * @param {number} time
     * @param {number} context
     */
    eventAt(time, context) {
        const { events } = this.model;
        const [before, after] = this.near(time);
        let best = -1;
        let first = lowerBound(events.at, before);
        for (; first < events.count && events.at[first] <= after; first += 1) {
            if (events.context[first] !== context) continue;
            const isNearer = best < 0 || Math.abs(events.at[first] - time) < Math.abs(events.at[best] - time);
            if (isNearer) best = first;
        }
        return best < 0 ? null : { event: best };
    }

    /** @type {(x: number, y: number) => import("./pills.js").Pill | undefined} */
    pillAt(x, y) {
        return x < LEFT ? undefined : pillAt(this.pills, x, y);
    }

    /** @param {string} group */
    fold(group) {
        if (!this.view.folded.delete(group)) this.view.folded.add(group);
        this.view.changed();
    }

    /**
     * Pins or hides the lane of the selection, or moves a pinned lane back to its place.
     * @param {"+" | "-"} how
     */
    arrange(how) {
        const { selection, folded } = this.view;
        const lane = this.all.find((each) => each.row && each.row.index === rowIn(selection));
        if (!lane) return;
        const name = how + laneName(lane);
        // A row that is hidden and still pinned would stay visible.
        if (how === "-") folded.delete(`+${laneName(lane)}`);
        if (!folded.delete(name)) folded.add(name);
        this.view.changed();
    }

    /**
     * Moves a lane to the place of another lane of its group, or a group to the place of another group.
     * @param {import("./rows.js").Lane} lane
     * @param {import("./rows.js").Lane | undefined} target
     * @param {number} way if positive, moves only down; if negative, only up
     */
    moveLane(lane, target, way) {
        const { view } = this;
        const goal = lane.kind === "group" ? this.all.find((each) => each.kind === "group" && each.group === target?.group && each.tree === lane.tree) : target;
        if (!goal || lane.kind === "file" || (lane.kind !== "group" && (isHead(goal) || goal.group !== lane.group))) return;
        // If the other lane is taller than the moved lane, the pointer is still on the other lane
        // after the move. Do not move back.
        if ((goal.y - lane.y) * way <= 0) return;
        const order = reordered(ordered(this.all, view.order), view.order, lane, goal);
        if (order === view.order) return;
        view.order = order;
        // The next movement can arrive before the next frame, so the lanes get their new places now.
        this.place();
        view.changed();
    }

    /** Moves the lane of the selection up or down within its group. @param {1 | -1} direction */
    moveSelected(direction) {
        const row = rowIn(this.view.selection);
        const place = this.shown.findIndex((lane) => lane.row?.index === row);
        const target = this.shown[place + direction];
        if (place < 0 || !target || isHead(target)) return;
        this.moveLane(this.shown[place], target, direction);
    }

    /** Shows all lanes in their own places. */
    arrangeNone() {
        this.view.folded.clear();
        this.view.order = [];
        this.view.changed();
    }

    /** Shows a span and its surroundings. @param {{ row: number, span: number }} selection */
    zoomTo({ row, span }) {
        const { spans } = this.model.rows[row];
        const [from, to] = [spans.from(span), spans.to(span)];
        const margin = Math.max((to - from) * 0.3, 2);
        this.view.jump(from - margin, to + margin);
    }

    /** Scrolls so that a row is visible. @param {number} row */
    scrollToRow(row) {
        const lane = this.shown.find((each) => each.row?.index === row);
        if (lane) this.scrollToLane(lane);
    }

    /** Scrolls so that a lane is visible. @param {import("./rows.js").Lane} lane */
    scrollToLane(lane) {
        const room = this.size.height - AXIS;
        if (lane.y < this.scroll) this.scroll = lane.y;
        if (lane.y + lane.height > this.scroll + room) this.scroll = lane.y + lane.height - room;
        this.view.changed();
    }

}
