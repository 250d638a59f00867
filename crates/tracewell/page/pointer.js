// Turns the actions of the pointer on the timeline into views, selections and ranges. Shows the time at the pointer and the item under the
// pointer.

import { describeEvent, describeSpan } from "./describe.js";
import { lowerBound } from "./bounds.js";
import { describeLoad } from "./loadrows.js";
import { LEFT } from "./names.js";
import { AXIS } from "./overlays.js";
import { isHead } from "./rows.js";

export class Pointer {
    /**
     * @param {import("./timeline.js").Timeline} timeline
     * @param {HTMLElement} tip describes the item under the pointer
     * @param {HTMLElement} hair a line at the pointer, with its time
     */
    constructor(timeline, tip, hair) {
        this.timeline = timeline;
        this.tip = tip;
        this.hair = hair;
        /** The position of the pointer on the timeline, or null if the pointer is elsewhere. @type {{ x: number, y: number } | null} */
        this.at = null;
        /** The pressed pointers: several if the user pinches. @type {Map<number, PointerEvent>} */
        this.pointers = new Map();
        /**
         * The movement of the pointer since it was pressed: where it began, and the lane if it
         * began on a name. A movement that began on the bar of a file moves this file; `offset` is
         * the offset of the file before the movement.
         * @type {{ x: number, y: number, from: number, to: number, scroll: number, ranges: boolean, moved: boolean,
         *   lane?: import("./rows.js").Lane, file?: number, offset?: number } | null}
         */
        this.drag = null;
        this.listen();
    }

    /** Shows the line and the time at the pointer. */
    placeHair() {
        const { hair, at: place } = this;
        const { model } = this.timeline;
        const isShown = place !== null && place.x >= LEFT;
        // Setting `hidden` to its present value would make the browser compute the style again.
        hair.toggleAttribute("hidden", !isShown);
        if (!isShown) return;
        const at = Math.min(Math.max(Math.round(this.timeline.time(place.x)), 0), model.length);
        hair.style.left = `${place.x}px`;
        const label = /** @type {HTMLElement} */ (hair.firstElementChild);
        label.textContent = model.time(model.exact(at));
        hair.classList.toggle("end", place.x > this.timeline.size.width - 110);
    }

    listen() {
        const { canvas } = this.timeline;
        canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
        canvas.addEventListener("pointerdown", (event) => this.down(event));
        canvas.addEventListener("pointermove", (event) => this.move(event));
        canvas.addEventListener("pointerup", (event) => this.up(event));
        canvas.addEventListener("pointercancel", (event) => this.up(event));
        canvas.addEventListener("pointerleave", () => {
            this.tip.hidden = true;
            this.at = null;
            this.placeHair();
        });
        canvas.addEventListener("dblclick", (event) => {
            if (this.timeline.pillAt(event.offsetX, event.offsetY)) return;
            const hit = this.timeline.hit(event.offsetX, event.offsetY);
            if (hit && "row" in hit) this.timeline.zoomTo(hit);
        });
    }

    /** @param {WheelEvent} event */
    wheel(event) {
        event.preventDefault();
        const unit = event.deltaMode === 1 ? 30 : 1;
        if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
            this.timeline.view.pan(((event.deltaX || event.deltaY) * unit) / this.timeline.width);
        } else if (event.offsetX < LEFT || event.altKey) {
            this.timeline.scroll += event.deltaY * unit;
            this.timeline.view.changed();
        } else {
            const factor = Math.exp(Math.max(-150, Math.min(150, event.deltaY * unit)) / 250);
            this.timeline.view.zoom(factor, this.timeline.time(Math.max(event.offsetX, LEFT)));
        }
    }

    /** @param {PointerEvent} event */
    down(event) {
        if (event.button !== 0) return;
        this.timeline.canvas.setPointerCapture(event.pointerId);
        this.pointers.set(event.pointerId, event);
        const { from, to } = this.timeline.view;
        const ranges = event.shiftKey || event.offsetY < AXIS;
        const [x, y] = [event.offsetX, event.offsetY];
        const lane = x < LEFT ? this.timeline.laneAt(y) : undefined;
        const file = x >= LEFT && !event.shiftKey ? this.fileAt(y) : undefined;
        const offset = file === undefined ? 0 : this.timeline.view.offsets[file] ?? 0;
        this.drag = { x, y, from, to, scroll: this.timeline.scroll, ranges, moved: false, lane, file, offset };
    }

    /** Returns the file whose bar is drawn at the height `y`, or undefined. @param {number} y */
    fileAt(y) {
        const lane = this.timeline.laneAt(y);
        return lane?.kind === "file" ? lane.file : undefined;
    }

    /** @param {PointerEvent} event */
    move(event) {
        const { drag } = this;
        const { view } = this.timeline;
        this.at = { x: event.offsetX, y: event.offsetY };
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
            this.timeline.moveLane(drag.lane, this.timeline.laneAt(event.offsetY), way);
            return;
        }
        if (drag.file !== undefined) {
            drag.moved = true;
            view.place(drag.file, (drag.offset ?? 0) + Math.round((dx / this.timeline.width) * view.span));
            return;
        }
        if (!drag.moved && !drag.ranges) view.remember();
        drag.moved = true;
        this.tip.hidden = true;
        if (drag.ranges) {
            view.begun = null;
            const ends = [drag, { x: event.offsetX, y: event.offsetY }].map(({ x, y }) => this.snapped(this.timeline.time(x), this.timeline.laneAt(y)));
            view.measure([ends[0], ends[1]]);
            return;
        }
        this.timeline.scroll = drag.scroll - dy;
        view.moveFrom([drag.from, drag.to], -dx / this.timeline.width);
    }

    /**
     * Returns the nearest boundary of spans of the lane if it is near the time. Otherwise, returns
     * the time of the nearest event if it is near, or else the nearest tick.
     * @param {number} time
     * @param {import("./rows.js").Lane} [lane]
     */
    snapped(time, lane) {
        const inside = Math.min(Math.max(Math.round(time), 0), this.timeline.model.length);
        const near = this.timeline.near(time);
        return nearest(lane?.row?.spans.at ?? [], time, near) ?? nearest(this.timeline.model.events.at, time, near) ?? inside;
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
        this.timeline.view.zoom(distance(before) / distance(moved), this.timeline.time(middle));
    }

    /** @param {PointerEvent} event */
    up(event) {
        const { drag } = this;
        this.pointers.delete(event.pointerId);
        if (this.pointers.size > 0 || !drag) return;
        this.drag = null;
        if (drag.moved || event.type === "pointercancel") return;
        const lane = this.timeline.laneAt(event.offsetY);
        if (lane && isHead(lane)) {
            this.timeline.fold(lane.group);
            return;
        }
        const pill = this.timeline.pillAt(event.offsetX, event.offsetY);
        if (pill?.go) {
            pill.go();
            return;
        }
        if (drag.ranges) this.timeline.view.measure(null);
        this.timeline.view.remember();
        const load = this.timeline.loadAt(event.offsetX, event.offsetY);
        if (load) {
            this.timeline.view.begun = null;
            this.timeline.view.measure([load.window.from, load.window.to]);
            return;
        }
        this.timeline.view.select(event.offsetX < LEFT && lane?.row ? { whole: lane.row.index } : this.timeline.hit(event.offsetX, event.offsetY));
    }

    /**
     * Describes the item at a point.
     * @param {number} x
     * @param {number} y
     */
    hover(x, y) {
        const pill = this.timeline.pillAt(x, y);
        const hit = pill ? null : this.timeline.hit(x, y);
        const load = pill ? null : this.timeline.loadAt(x, y);
        const lane = this.timeline.laneAt(y);
        const isClicked = pill ? pill.go !== undefined : x < LEFT && lane !== undefined && (isHead(lane) || lane.row !== undefined);
        this.timeline.canvas.style.cursor = isClicked ? "pointer" : x >= LEFT && lane?.kind === "file" ? "ew-resize" : "";
        this.tip.hidden = !hit && !load;
        if (this.tip.hidden) return;
        const { model } = this.timeline;
        this.tip.textContent = load ? describeLoad(model, load.lane, load.window)
            : hit && "row" in hit ? describeSpan(model, hit, this.timeline.time(x)) : hit && "event" in hit ? describeEvent(model, hit.event) : "";
        const { offsetWidth: width, offsetHeight: height } = this.tip;
        const { clientWidth, clientHeight, offsetTop } = this.timeline.canvas;
        const top = offsetTop + y + 18;
        const fits = top + height < clientHeight + offsetTop;
        this.tip.style.left = `${Math.min(x + 14, clientWidth - width - 6)}px`;
        this.tip.style.top = `${fits ? top : top - height - 30}px`;
    }
}

/**
 * Returns the value that is nearest to `time`, or undefined if no value is within the limits.
 * @param {ArrayLike<number>} at sorted
 * @param {number} time
 * @param {number[]} limits
 */
export function nearest(at, time, [before, after]) {
    const index = lowerBound(at, time);
    const all = [at[index - 1], at[index]].filter((each) => each >= before && each <= after);
    return all.sort((a, b) => Math.abs(a - time) - Math.abs(b - time))[0];
}
