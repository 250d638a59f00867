// The overview: the whole page in a narrow band, with a frame around the visible time.

import { lowerBound } from "./bounds.js";
import { INTERRUPT, TASK } from "./model.js";
import { FONT, prepared, setFont, sizeOf } from "./paint.js";
import { LEFT } from "./names.js";
import { Sheet } from "./rectangles.js";

/** Width of a bar in pixels. */
const BAR = 4;

/** Height of a full bar in pixels. */
const TALL = 38;

export class Overview {
    /**
     * @param {HTMLCanvasElement} canvas
     * @param {import("./timeline.js").Timeline} timeline
     */
    constructor(canvas, timeline) {
        this.canvas = canvas;
        this.timeline = timeline;
        /** @type {ArrayLike<number>} times of the events that a search found */
        this.found = [];
        /** @type {{ key: string, bars: { colour: string, share: number }[][] } | null} */
        this.cache = null;
        /** The bars, and the marks of findings, as they were drawn last. They change less often than the view. */
        this.bars = new Layer();
        this.findings = new Layer();
        /** @type {import("./model.js").Model | null} the whole trace, if the model contains only a part of it */
        this.whole = null;
        this.size = sizeOf(canvas);
        canvas.addEventListener("pointerdown", (event) => {
            canvas.setPointerCapture(event.pointerId);
            timeline.view.remember();
            this.move(event);
        });
        canvas.addEventListener("pointermove", (event) => {
            if (event.buttons === 1) this.move(event);
        });
        canvas.addEventListener("wheel", (event) => {
            event.preventDefault();
            timeline.view.zoom(Math.exp(event.deltaY / 400), (timeline.view.from + timeline.view.to) / 2);
        }, { passive: false });
    }

    get model() {
        return this.whole ?? this.timeline.model;
    }

    /** @param {PointerEvent} event */
    move(event) {
        const { view } = this.timeline;
        // The overview has a margin at each end, like the timeline when it shows the whole page.
        const middle = ((event.offsetX - LEFT) / this.timeline.width) * (view.length + 2 * view.margin) - view.margin;
        view.show(middle - view.span / 2, middle + view.span / 2);
    }

    /** Returns the colours of each bar, with the share of the bar that each colour fills. @param {number} count */
    sharesOf(count) {
        const { contexts, theme } = this.timeline;
        const { model } = this;
        const key = `${count} ${theme.isDark}`;
        if (this.cache?.key === key) return this.cache.bars;
        const bars = model.showsStates ? this.loads(count, contexts, theme.colours) : this.counts(count);
        this.cache = { key, bars };
        return bars;
    }

    /**
     * @param {number} count
     * @param {string[]} contexts
     * @param {import("./theme.js").Colours} colours
     */
    loads(count, contexts, colours) {
        const { model } = this;
        const cores = model.rows.filter((/** @type {any} */ row) => row.kind === "core");
        /** @type {Map<string, number>[]} */
        const sums = Array.from({ length: count }, () => new Map());
        const ticks = model.length / count;
        for (const { spans } of cores) {
            for (let i = 0; i < spans.count; i += 1) {
                const state = spans.state[i];
                if (state !== TASK && state !== INTERRUPT) continue;
                const colour = state === TASK ? contexts[spans.value[i]] : colours.interrupt;
                let from = Math.max(spans.from(i), 0);
                const end = Math.min(spans.to(i), model.length);
                while (from < end) {
                    const bar = Math.min(Math.floor(from / ticks), count - 1);
                    const to = bar === count - 1 ? end : Math.min(end, (bar + 1) * ticks);
                    sums[bar].set(colour, (sums[bar].get(colour) ?? 0) + to - from);
                    // If `to` does not exceed `from` because of rounding, end the loop, which would otherwise never end.
                    from = to > from ? to : end;
                }
            }
        }
        const whole = ticks * cores.length;
        return sums.map((sum) => [...sum].map(([colour, time]) => ({ colour, share: time / whole })));
    }

    /** @param {number} count */
    counts(count) {
        const { contexts } = this.timeline;
        const { model } = this;
        const { events, recorded } = model;
        /** @type {Map<string, number>[]} */
        const sums = Array.from({ length: count }, () => new Map());
        const add = (/** @type {number} */ time, /** @type {number} */ context, /** @type {number} */ number) => {
            const bar = Math.min(Math.floor((time / model.length) * count), count - 1);
            const sum = sums[Math.max(bar, 0)];
            const colour = contexts[context];
            sum.set(colour, (sum.get(colour) ?? 0) + number);
        };
        events.at.forEach((time, index) => add(time, events.context[index], 1));
        recorded?.at.forEach((time, index) => add(time, recorded.context[index], recorded.count[index]));
        const total = (/** @type {Map<string, number>} */ sum) => [...sum.values()].reduce((a, b) => a + b, 0);
        const most = Math.max(...sums.map(total), 1);
        return sums.map((sum) => [...sum].map(([colour, events]) => ({ colour, share: events / most })));
    }

    draw() {
        this.paint(prepared(this.canvas, this.size), this.size.width, this.size.height);
    }

    /** @type {(ink: CanvasRenderingContext2D, width: number, height: number) => void} */
    paint(ink, width, height) {
        const { view, theme } = this.timeline;
        const { model } = this;
        const { colours } = theme;
        const room = this.timeline.width;
        setFont(ink, `11.5px ${FONT}`);
        ink.fillStyle = colours.ground;
        ink.fillRect(0, 0, width, height);
        ink.fillStyle = colours.soft;
        ink.fillText(model.showsStates ? "load of the cores" : "number of events", 12, height / 2 + 2);
        const x = (/** @type {number} */ time) => LEFT + ((time + view.margin) / (view.length + 2 * view.margin)) * room;
        const [start, all] = [x(0), x(model.length) - x(0)];
        const bars = this.sharesOf(Math.max(1, Math.floor(all / BAR)));
        const [shownFrom, shownTo] = [x(view.from), x(view.to)];
        const drawBars = (/** @type {CanvasRenderingContext2D} */ target, /** @type {(left: number) => boolean} */ accepts) => {
            const width = all / bars.length;
            bars.forEach((bar, index) => {
                // Bars at whole pixels have no seams.
                const [left, right] = [Math.round(start + index * width), Math.round(start + (index + 1) * width)];
                let bottom = height - 8;
                for (const { colour, share } of accepts(left) ? bar : []) {
                    const [foot, top] = [Math.round(bottom), Math.round(bottom - share * TALL)];
                    target.fillStyle = colour;
                    target.fillRect(left, top, right - left, foot - top);
                    bottom -= share * TALL;
                }
            });
        };
        const isFile = new Sheet(ink).isFile;
        if (isFile) {
            const isShown = (/** @type {number} */ left) => left + BAR > shownFrom && left < shownTo;
            ink.globalAlpha = colours.faint;
            drawBars(ink, (left) => !isShown(left));
            ink.globalAlpha = 1;
            drawBars(ink, isShown);
            this.drawFindings(ink, x, height);
        } else {
            const size = { width, height };
            const key = [bars, colours, view.length];
            const image = this.bars.drawn(key, size, (target) => drawBars(target, () => true));
            const [from, to] = [Math.max(Math.round(shownFrom), 0), Math.min(Math.round(shownTo), width)];
            ink.globalAlpha = colours.faint;
            paste(ink, image, 0, from, height);
            paste(ink, image, to, width, height);
            ink.globalAlpha = 1;
            paste(ink, image, from, to, height);
            paste(ink, this.findings.drawn([...key, this.found], size, (target) => this.drawFindings(target, x, height)), 0, width, height);
        }
        ink.strokeStyle = colours.select;
        ink.lineWidth = 1.5;
        // A border at the edge of the canvas would be cut.
        const [edge, end] = [Math.max(shownFrom, LEFT + 1), Math.min(shownTo, LEFT + room - 1)];
        ink.strokeRect(edge, 6, Math.max(end - edge, 3), height - 10);
    }

    /** @type {(ink: CanvasRenderingContext2D, x: (time: number) => number, height: number) => void} */
    drawFindings(ink, x, height) {
        const { theme } = this.timeline;
        const { model } = this;
        const { colours } = theme;
        const bar = (/** @type {number} */ from, /** @type {number} */ to, /** @type {number} */ y) => {
            ink.fillRect(x(from), y, Math.max(x(to) - x(from), 2), 3);
        };
        const { inversions, misses, gaps } = model.intervals;
        const least = model.length / this.timeline.width;
        ink.fillStyle = colours.alarm;
        inversions.visit(0, model.length, least, (_, from, until) => bar(from, until, 1));
        misses.visit(0, model.length, least, (_, missed) => bar(missed, missed, 1));
        ink.fillStyle = colours.unknown;
        gaps.visit(0, model.length, least, (_, from, until) => bar(from, until, height - 6));
        ink.fillStyle = colours.select;
        let i = 0;
        while (i < this.found.length) {
            ink.fillRect(Math.round(x(this.found[i])), height - 4, 1.5, 4);
            i = Math.max(lowerBound(this.found, this.found[i] + least, i), i + 1);
        }
    }
}

/** A picture that is drawn again only if it changes. */
class Layer {
    constructor() {
        this.canvas = document.createElement("canvas");
        /** The content of the picture, and its size. @type {unknown[]} */
        this.key = [];
    }

    /**
     * Returns the picture, which `paint` draws if it has changed.
     * @param {unknown[]} about what the picture shows
     * @param {{ width: number, height: number }} size
     * @param {(ink: CanvasRenderingContext2D) => void} paint
     */
    drawn(about, { width, height }, paint) {
        const ratio = devicePixelRatio || 1;
        const key = [...about, width, height, ratio];
        if (key.length === this.key.length && key.every((value, i) => value === this.key[i])) return this.canvas;
        this.key = key;
        // This also clears the canvas.
        this.canvas.width = Math.round(width * ratio);
        this.canvas.height = Math.round(height * ratio);
        const ink = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
        ink.scale(ratio, ratio);
        paint(ink);
        return this.canvas;
    }
}

/** Draws the part of a picture between two columns. @type {(ink: CanvasRenderingContext2D, image: HTMLCanvasElement, from: number, to: number, height: number) => void} */
function paste(ink, image, from, to, height) {
    const ratio = devicePixelRatio || 1;
    if (to > from) ink.drawImage(image, from * ratio, 0, (to - from) * ratio, height * ratio, from, 0, to - from, height);
}
