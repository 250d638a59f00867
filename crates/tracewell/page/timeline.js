// The timeline: draws lanes, finds the item at a point, and turns actions of the pointer into views, selections and ranges.

import { AXIS, drawArrows, drawAxis, drawCursor, drawGaps, drawInversions, drawSelection, drawUserMarks } from "./overlays.js";
import { lowerBound } from "./bounds.js";
import { STATES } from "./model.js";
import { objectText } from "./objects.js";
import { FONT, fitted, prepared } from "./paint.js";
import { drawPills, pillAt } from "./pills.js";
import { isHead, laneName, lanes, ordered, placed, reordered } from "./rows.js";
import { drawLane } from "./spans.js";
import { textOn } from "./theme.js";
import { rowIn } from "./view.js";

/** Width of the names at the left. */
export const LEFT = 200;

/** Height of a name in pixels. */
const NAME = 14;

/** Maximum distance in pixels between the pointer and an event at which the pointer selects the event. */
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
        this.tip = tip;
        this.hair = hair;
        /** Where the pointer is over the times. @type {{ x: number, y: number } | null} */
        this.pointer = null;
        /** The labels of the last picture. @type {import("./pills.js").Pill[]} */
        this.pills = [];
        /** @type {import("./spans.js").Actions} */
        this.actions = { inversion: () => {}, mark: () => {} };
        /** The visible part of the last picture. */
        this.drawn = "";
        this.model = model;
        this.view = view;
        this.theme = theme;
        this.contexts = contexts;
        this.all = lanes(model);
        this.scroll = 0;
        /** @type {import("./rows.js").Lane[]} */
        this.shown = [];
        this.content = 0;
        /** Height of the lanes if they do not grow into the room that is left. */
        this.natural = 0;
        /** @type {Map<number, PointerEvent>} */
        this.pointers = new Map();
        /**
         * The movement of the pointer since it was pressed: where it began, and the lane if it began on a name. If it
         * began on the time of a file, it moves the file from its `offset`.
         * @type {{ x: number, y: number, from: number, to: number, scroll: number, ranges: boolean, moved: boolean,
         *   lane?: import("./rows.js").Lane, file?: number, offset?: number } | null}
         */
        this.drag = null;
        this.place();
        this.listen();
    }

    /** Updates the rows after the content of the model was replaced. */
    refill() {
        this.all = lanes(this.model);
        this.place();
    }

    place() {
        const { shown, height, natural } = placed(ordered(this.all, this.view.order), this.view.folded, this.canvas.clientHeight - AXIS);
        this.shown = shown;
        this.content = height;
        this.natural = natural;
    }

    get width() {
        return Math.max(this.canvas.clientWidth - LEFT, 10);
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

    /** @param {import("./rows.js").Lane} lane */
    top(lane) {
        return AXIS + lane.y - this.scroll;
    }

    draw() {
        const { ink, width, height } = prepared(this.canvas);
        this.place();
        this.clampScroll();
        this.pills = this.paint(ink, width, height);
        const drawn = `${this.view.from} ${this.view.to} ${this.scroll}`;
        // The text at the pointer describes the earlier view.
        if (drawn !== this.drawn) this.tip.hidden = true;
        this.drawn = drawn;
        this.placeHair();
    }

    /** Shows the line and the time at the pointer. */
    placeHair() {
        const { hair, pointer, model } = this;
        hair.hidden = pointer === null || pointer.x < LEFT;
        if (hair.hidden || !pointer) return;
        const at = Math.min(Math.max(Math.round(this.time(pointer.x)), 0), model.length);
        hair.style.left = `${pointer.x}px`;
        const label = /** @type {HTMLElement} */ (hair.firstElementChild);
        label.textContent = model.time(model.exact(at));
        hair.classList.toggle("end", pointer.x > this.canvas.clientWidth - 110);
    }

    /** Draws the picture, and returns its labels. @type {(ink: CanvasRenderingContext2D, width: number, height: number) => import("./pills.js").Pill[]} */
    paint(ink, width, height) {
        const { model, view, contexts } = this;
        const { colours } = this.theme;
        ink.font = `12px ${FONT}`;
        ink.fillStyle = colours.ground;
        ink.fillRect(0, 0, width, height);
        /** @type {import("./spans.js").Frame} */
        const frame = { ink, model, view, colours, contexts, left: LEFT, width: this.width, pills: [], actions: this.actions, ...this.ways };
        const bottom = Math.min(height, AXIS + this.content - this.scroll);
        ink.save();
        ink.beginPath();
        ink.rect(0, AXIS, width, height - AXIS);
        ink.clip();
        for (const lane of this.visible(height)) this.drawBand(frame, lane, width);
        ink.restore();
        drawAxis(frame, bottom);
        ink.save();
        ink.beginPath();
        ink.rect(LEFT, 22, width - LEFT, height);
        ink.clip();
        for (const [file, band] of this.bands(bottom)) {
            drawGaps(frame, file, band);
            drawInversions(frame, file, band);
        }
        ink.beginPath();
        ink.rect(LEFT, AXIS, width - LEFT, height - AXIS);
        ink.clip();
        for (const lane of this.visible(height)) drawLane(frame, lane, this.top(lane));
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
        for (const lane of this.visible(height)) this.drawName(frame, lane, isWhole(lane));
        ink.restore();
        return frame.pills;
    }

    /** Returns the part of the picture of each file. @param {number} bottom end of all lanes @returns {[number, import("./overlays.js").Band][]} */
    bands(bottom) {
        if (this.model.files.length === 0) return [[0, { top: AXIS, bottom, label: 23, isWhole: true }]];
        const heads = this.shown.filter(({ kind }) => kind === "file");
        return heads.map((head, place) => {
            const next = heads[place + 1];
            const top = this.top(head);
            // If the bar of a file is above the visible part, so is its label.
            const label = top < AXIS ? -AXIS : top + 4;
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
        const most = Math.max(0, this.content - (this.canvas.clientHeight - AXIS));
        this.scroll = Math.min(Math.max(this.scroll, 0), most);
    }

    /** @type {(frame: import("./spans.js").Frame, lane: import("./rows.js").Lane, width: number) => void} */
    drawBand({ ink, colours }, lane, width) {
        const y = this.top(lane);
        if (isHead(lane)) {
            ink.fillStyle = lane.kind === "file" ? colours.line : colours.band;
            ink.fillRect(0, y, width, lane.height);
        } else {
            ink.fillStyle = colours.line;
            ink.globalAlpha = 0.6;
            ink.fillRect(0, y + lane.height - 1, width, 1);
            ink.globalAlpha = 1;
        }
    }

    /** Draws the name of a lane if it is whole, and shows that its row is selected. @type {(frame: import("./spans.js").Frame, lane: import("./rows.js").Lane, isWhole: boolean) => void} */
    drawName({ ink, colours }, lane, isWhole) {
        const middle = this.top(lane) + lane.height / 2 + 0.5;
        const isGroup = isHead(lane);
        if (lane.row && lane.row.index === rowIn(this.view.selection)) {
            ink.fillStyle = colours.selectBand;
            ink.fillRect(0, this.top(lane), LEFT, lane.height - 1);
        }
        if (!isWhole) return;
        ink.font = `11.5px ${FONT}`;
        ink.textAlign = "right";
        ink.fillStyle = colours.soft;
        const about = lane.kind === "file" ? this.offsetText(lane.file ?? 0) : lane.detail;
        const text = lane.hidden ? `${about.split(",")[0]}, ${lane.hidden} hidden` : about;
        const detail = text ? ink.measureText(text).width + 4 : 0;
        if (text) ink.fillText(text, LEFT - 10, middle);
        ink.textAlign = "left";
        ink.font = `${isGroup ? "600 " : ""}12.5px ${FONT}`;
        let left = 24;
        if (isGroup) {
            left = lane.kind === "group" && lane.tree ? 20 : 12;
            ink.fillStyle = colours.text;
            ink.fillText(this.view.folded.has(lane.group) ? "▸" : "▾", left, middle);
            left += 12;
        } else if (lane.context !== undefined) {
            this.drawBadge(ink, lane, middle);
            left = 44;
        }
        ink.fillStyle = colours.text;
        fitted(ink, lane.label, left, middle, LEFT - left - 8 - detail);
        ink.font = `12px ${FONT}`;
    }

    /** Returns the offset of a file with its sign, or nothing if it is 0. @param {number} file */
    offsetText(file) {
        const offset = this.view.offsets[file] ?? 0;
        return offset === 0 ? "" : `${offset > 0 ? "+" : "−"}${this.model.span(0, Math.abs(offset))}`;
    }

    /** @type {(ink: CanvasRenderingContext2D, lane: import("./rows.js").Lane, y: number) => void} */
    drawBadge(ink, lane, y) {
        ink.fillStyle = this.contexts[lane.context ?? 0];
        ink.beginPath();
        const known = lane.badge !== null && lane.badge !== undefined;
        if (known) ink.roundRect(10, y - 8, 26, 16, 4);
        else ink.roundRect(20, y - 5, 10, 10, 3);
        ink.fill();
        if (!known) return;
        ink.fillStyle = textOn(this.contexts[lane.context ?? 0]);
        ink.textAlign = "center";
        ink.font = `600 11px ${FONT}`;
        ink.fillText(String(lane.badge), 23, y + 0.5);
        ink.textAlign = "left";
        ink.font = `12.5px ${FONT}`;
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

    /** Returns the range of times that the pointer selects if it is at a time. @param {number} time */
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

    listen() {
        const { canvas } = this;
        canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
        canvas.addEventListener("pointerdown", (event) => this.down(event));
        canvas.addEventListener("pointermove", (event) => this.move(event));
        canvas.addEventListener("pointerup", (event) => this.up(event));
        canvas.addEventListener("pointercancel", (event) => this.up(event));
        canvas.addEventListener("pointerleave", () => {
            this.tip.hidden = true;
            this.pointer = null;
            this.placeHair();
        });
        canvas.addEventListener("dblclick", (event) => {
            if (this.pillAt(event.offsetX, event.offsetY)) return;
            const hit = this.hit(event.offsetX, event.offsetY);
            if (hit && "row" in hit) this.zoomTo(hit);
        });
    }

    /** @param {{ row: number, span: number }} selection */
    zoomTo({ row, span }) {
        const { spans } = this.model.rows[row];
        const [from, to] = [spans.from(span), spans.to(span)];
        const margin = Math.max((to - from) * 0.3, 2);
        this.view.jump(from - margin, to + margin);
    }

    /** @param {WheelEvent} event */
    wheel(event) {
        event.preventDefault();
        const unit = event.deltaMode === 1 ? 30 : 1;
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            this.view.pan(((event.deltaX || event.deltaY) * unit) / this.width);
        } else if (event.offsetX < LEFT || event.altKey) {
            this.scroll += event.deltaY * unit;
            this.view.changed();
        } else {
            const factor = Math.exp(Math.max(-150, Math.min(150, event.deltaY * unit)) / 250);
            this.view.zoom(factor, this.time(Math.max(event.offsetX, LEFT)));
        }
    }

    /** @param {PointerEvent} event */
    down(event) {
        if (event.button !== 0) return;
        this.canvas.setPointerCapture(event.pointerId);
        this.pointers.set(event.pointerId, event);
        const { from, to } = this.view;
        const ranges = event.shiftKey || event.offsetY < AXIS;
        const [x, y] = [event.offsetX, event.offsetY];
        const lane = x < LEFT ? this.laneAt(y) : undefined;
        const file = x >= LEFT && !event.shiftKey ? this.fileAt(y) : undefined;
        const offset = file === undefined ? 0 : this.view.offsets[file] ?? 0;
        this.drag = { x, y, from, to, scroll: this.scroll, ranges, moved: false, lane, file, offset };
    }

    /** Returns the file whose time is drawn at a height. @param {number} y */
    fileAt(y) {
        const lane = this.laneAt(y);
        return lane?.kind === "file" ? lane.file : undefined;
    }

    /** @param {PointerEvent} event */
    move(event) {
        const { drag, view } = this;
        this.pointer = { x: event.offsetX, y: event.offsetY };
        this.placeHair();
        if (!this.pointers.has(event.pointerId) || !drag) {
            this.hover(event.offsetX, event.offsetY);
            return;
        }
        const others = [...this.pointers.values()].filter((each) => each.pointerId !== event.pointerId);
        if (others.length === 1) {
            this.pinch(event, others[0]);
            return;
        }
        this.pointers.set(event.pointerId, event);
        const [dx, dy] = [event.offsetX - drag.x, event.offsetY - drag.y];
        if (!drag.moved && Math.abs(dx) + Math.abs(dy) < 4) return;
        if (drag.lane) {
            const way = Math.sign(event.offsetY - (drag.moved ? drag.y : event.offsetY - dy));
            [drag.moved, drag.y] = [true, event.offsetY];
            this.moveLane(drag.lane, this.laneAt(event.offsetY), way);
            return;
        }
        if (drag.file !== undefined) {
            drag.moved = true;
            view.place(drag.file, (drag.offset ?? 0) + Math.round((dx / this.width) * view.span));
            return;
        }
        if (!drag.moved && !drag.ranges) view.remember();
        drag.moved = true;
        this.tip.hidden = true;
        if (drag.ranges) {
            view.begun = null;
            const ends = [drag, { x: event.offsetX, y: event.offsetY }].map(({ x, y }) => this.snapped(this.time(x), this.laneAt(y)));
            view.measure([ends[0], ends[1]]);
            return;
        }
        this.scroll = drag.scroll - dy;
        view.moveFrom([drag.from, drag.to], -dx / this.width);
    }

    /**
     * Returns the near end of a span of a lane, otherwise the time of a near event, otherwise a whole tick.
     * @param {number} time
     * @param {import("./rows.js").Lane} [lane]
     */
    snapped(time, lane) {
        const inside = Math.min(Math.max(Math.round(time), 0), this.model.length);
        const near = this.near(time);
        return nearest(lane?.row?.spans.at ?? [], time, near) ?? nearest(this.model.events.at, time, near) ?? inside;
    }

    /**
     * @param {PointerEvent} moved
     * @param {PointerEvent} other
     */
    pinch(moved, other) {
        const before = this.pointers.get(moved.pointerId);
        this.pointers.set(moved.pointerId, moved);
        if (!before || !this.drag) return;
        this.drag.moved = true;
        const distance = (/** @type {PointerEvent} */ a) => Math.max(Math.abs(a.offsetX - other.offsetX), 8);
        const middle = (moved.offsetX + other.offsetX) / 2;
        this.view.zoom(distance(before) / distance(moved), this.time(middle));
    }

    /** @param {PointerEvent} event */
    up(event) {
        const { drag } = this;
        this.pointers.delete(event.pointerId);
        if (this.pointers.size > 0 || !drag) return;
        this.drag = null;
        if (drag.moved || event.type === "pointercancel") return;
        const lane = this.laneAt(event.offsetY);
        if (lane && isHead(lane)) {
            this.fold(lane.group);
            return;
        }
        const pill = this.pillAt(event.offsetX, event.offsetY);
        if (pill?.go) {
            pill.go();
            return;
        }
        if (drag.ranges) this.view.measure(null);
        this.view.remember();
        this.view.select(event.offsetX < LEFT && lane?.row ? { whole: lane.row.index } : this.hit(event.offsetX, event.offsetY));
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
        // If the other lane is taller than the moved lane, it is still under the pointer after the move. Do not move back.
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

    /** Scrolls so that a row is visible. @param {number} row */
    scrollToRow(row) {
        const lane = this.shown.find((each) => each.row?.index === row);
        if (!lane) return;
        const room = this.canvas.clientHeight - AXIS;
        if (lane.y < this.scroll) this.scroll = lane.y;
        if (lane.y + lane.height > this.scroll + room) this.scroll = lane.y + lane.height - room;
        this.view.changed();
    }

    /**
     * Describes the item at a point.
     * @param {number} x
     * @param {number} y
     */
    hover(x, y) {
        const pill = this.pillAt(x, y);
        const hit = pill ? null : this.hit(x, y);
        const lane = this.laneAt(y);
        const isClicked = pill ? pill.go !== undefined : x < LEFT && lane !== undefined && (isHead(lane) || lane.row !== undefined);
        this.canvas.style.cursor = isClicked ? "pointer" : x >= LEFT && lane?.kind === "file" ? "ew-resize" : "";
        this.tip.hidden = !hit;
        if (!hit) return;
        this.tip.textContent = "row" in hit ? this.describe(hit) : "event" in hit ? this.describeEvent(hit.event) : "";
        const { offsetWidth: width, offsetHeight: height } = this.tip;
        const { clientWidth, clientHeight } = this.canvas;
        const top = this.canvas.offsetTop + y + 18;
        const fits = top + height < clientHeight + this.canvas.offsetTop;
        this.tip.style.left = `${Math.min(x + 14, clientWidth - width - 6)}px`;
        this.tip.style.top = `${fits ? top : top - height - 30}px`;
    }

    /**
     * Describes the selection: the context, its state, the reason and the duration.
     * @param {{ row: number, span: number }} selection
     */
    describe({ row, span }) {
        const { model } = this;
        const { kind, spans, name, what, number, context } = model.rows[row];
        const [state, value] = [spans.state[span], spans.value[span]];
        const length = model.span(spans.from(span), spans.to(span));
        const since = `${length}, from ${model.time(model.exact(spans.from(span)))}`;
        if (kind === "lock") {
            const held = state === 1 ? `held by ${model.name(value - 1)}` : "free";
            return `${what} ${name}: ${held}\n${since}`;
        }
        if (kind === "core") {
            const interrupt = value > 0 ? `interrupt ${value - 1}` : "an interrupt";
            const does = [`unknown`, `runs ${model.name(value)}`, `serves ${interrupt}`, "idle"][state];
            return `core ${number}: ${does}\n${since}`;
        }
        if (kind !== "context") return `${objectText(model.rows[row], state, value)}\n${since}`;
        const why = state === 5 ? ` on ${model.reason(value)}` : "";
        const of = state === 1 && value > 0 ? ` on behalf of ${model.name(value - 1)}` : "";
        return `${model.name(context)}: ${STATES[state]}${why}${of}\n${since}`;
    }

    /** Describes a whole row. @param {number} index */
    describeWhole(index) {
        const { kind, name, what, number, context } = this.model.rows[index];
        const text = kind === "context" ? this.model.name(context) : kind === "core" ? `core ${number}` : name;
        return `row ${kind === "lock" ? `${what} ` : ""}${text}`;
    }

    /** @param {number} index */
    describeEvent(index) {
        const { model } = this;
        const { label } = model.kinds[model.events.kind[index]];
        const args = model.events.text(model.events.args[index]);
        return `${model.time(model.exact(model.events.at[index]))}  ${label}\n${args}`;
    }
}

/**
 * Returns the value nearest to a time within two limits, or undefined.
 * @param {ArrayLike<number>} at sorted
 * @param {number} time
 * @param {number[]} limits
 */
export function nearest(at, time, [before, after]) {
    const index = lowerBound(at, time);
    const all = [at[index - 1], at[index]].filter((each) => each >= before && each <= after);
    return all.sort((a, b) => Math.abs(a - time) - Math.abs(b - time))[0];
}
