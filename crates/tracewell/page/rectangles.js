// Draws many rectangles. A picture of a dense trace consists of tens of thousands of rectangles. The browser draws them much faster as one
// image. Each dense lane is a strip of this image. If a lane has few rectangles, they are drawn one by one. In an SVG file, all rectangles
// are drawn one by one.

import { hatch } from "./paint.js";
import { PERIOD } from "./paints.js";
import { SvgInk } from "./svg.js";

/** @typedef {{ left: number, top: number, width: number, height: number }} Area */
/** @typedef {Raster | Runs} Rectangles */
/** @typedef {import("./paints.js").Paint} Paint */

/** If the average distance of rectangles is at most this number of pixels, they are drawn as an image. */
const RECT_DISTANCE = 8;

/** Minimum width in pixels of a rectangle whose rows are filled by one call each. For narrower ones, a loop takes less time than the calls. */
const LONG = 32;

/** The canvas and the image of all sheets. @type {{ ink: CanvasRenderingContext2D, image: ImageData, words: Uint32Array } | null} */
let shared = null;

/** Returns the shared image, after enlarging it to the given size if necessary. Its content stays the same. @type {(width: number, height: number) => NonNullable<typeof shared>} */
function sharedFor(width, height) {
    if (shared && shared.image.width >= width && shared.image.height >= height) return shared;
    const canvas = document.createElement("canvas");
    const old = shared;
    canvas.width = Math.max(width, old?.image.width ?? 0);
    // The first picture of a page enlarges the image lane by lane. At least double the height, so that few of these steps copy the image.
    canvas.height = old && height > old.image.height ? Math.max(height, 2 * old.image.height) : (old?.image.height ?? height);
    const ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
    const image = ink.createImageData(canvas.width, canvas.height);
    const words = new Uint32Array(image.data.buffer);
    for (let row = 0; old && row < old.image.height; row += 1) {
        words.set(old.words.subarray(row * old.image.width, (row + 1) * old.image.width), row * canvas.width);
    }
    shared = { ink, image, words };
    return shared;
}

/** The rectangles of a picture. They become visible when `end` is called. Only one sheet may be in use at a time. */
export class Sheet {
    /** @param {CanvasRenderingContext2D} ink */
    constructor(ink) {
        this.ink = ink;
        const file = /** @type {unknown} */ (ink);
        this.isFile = file instanceof SvgInk;
        /** Number of rows of the image that belong to a strip. */
        this.used = 0;
        this.width = 0;
        /** @type {Raster[]} */
        this.strips = [];
        /** @type {(() => void)[]} */
        this.over = [];
    }

    /**
     * Returns an object that collects rectangles within an area. If they are few, they need not begin and end at whole pixels.
     * @param {Area} area
     * @param {number} [count] number of rectangles, if the caller knows it
     * @returns {Rectangles}
     */
    rectangles(area, count = Infinity) {
        if (this.isFile || count * RECT_DISTANCE < area.width) return new Runs(this);
        const strip = new Raster(area, this.used);
        this.used += strip.height;
        this.width = Math.max(this.width, strip.width);
        this.strips.push(strip);
        return strip;
    }

    /** Calls `draw` after the rectangles of the sheet are visible, so that it draws over them. @param {() => void} draw */
    later(draw) {
        if (this.isFile) draw();
        else this.over.push(draw);
    }

    /** Shows the rectangles, empties the image, and calls the functions that draw over the rectangles. */
    end() {
        if (this.strips.length > 0) {
            const { ink, image, words } = sharedFor(this.width, this.used);
            // If a canvas changes after it was drawn, the browser copies the canvas. So change it only once, for all strips.
            ink.putImageData(image, 0, 0, 0, 0, this.width, this.used);
            this.ink.imageSmoothingEnabled = false;
            for (const strip of this.strips) strip.show(this.ink, ink.canvas);
            words.fill(0, 0, this.used * image.width);
        }
        for (const draw of this.over) draw();
    }
}

/** Rectangles as pixels of a strip of the image. Only the newest strip of a sheet may be in use. */
class Raster {
    /**
     * @param {Area} area
     * @param {number} start first row of the image
     */
    constructor({ left, top, width, height }, start) {
        this.left = left;
        this.top = top;
        this.width = Math.ceil(width);
        this.height = Math.ceil(height);
        this.start = start;
        const { image, words } = sharedFor(this.width, start + this.height);
        this.words = words;
        this.stride = image.width;
        /** The rows of the strip that are not empty: the first, and the one after the last. */
        this.first = this.height;
        this.last = 0;
    }

    /** Fills the part of a rectangle that is in the area. @type {(x: number, y: number, width: number, height: number, paint: Paint) => void} */
    add(x, y, width, height, { word }) {
        const { stride, words } = this;
        const from = this.column(x);
        const to = this.column(x + width);
        const first = this.row(y);
        const last = this.row(y + height);
        this.use(first, last);
        const end = (this.start + last) * stride;
        for (let row = (this.start + first) * stride; row < end; row += stride) {
            if (to - from >= LONG) words.fill(word, row + from, row + to);
            else for (let at = row + from; at < row + to; at += 1) words[at] = word;
        }
    }

    /** Fills a part of a column of pixels. The column must be in the area, and the height must be a whole number. @type {(x: number, y: number, height: number, paint: Paint) => void} */
    bar(x, y, height, { word }) {
        const { start, stride, words } = this;
        const top = Math.round(y - this.top);
        const first = Math.max(top, 0);
        const last = Math.min(top + height, this.height);
        this.use(first, last);
        const end = (start + last) * stride;
        for (let at = (start + first) * stride + x - this.left; at < end; at += stride) words[at] = word;
    }

    /** Hatches the part of a rectangle that is in the area. @type {(x: number, y: number, width: number, height: number, paint: Paint) => void} */
    hatch(x, y, width, height, { hatch: tile }) {
        const { stride, words } = this;
        const from = this.column(x);
        const to = this.column(x + width);
        const first = this.row(y);
        const last = this.row(y + height);
        this.use(first, last);
        // The area may begin above the canvas.
        const top = ((Math.round(this.top) % PERIOD) + PERIOD) % PERIOD;
        const left = (this.left + from) % PERIOD;
        // The first columns, up to the one at which the pattern repeats.
        const some = Math.min(PERIOD - left, to - from);
        let line = ((top + first) % PERIOD) * PERIOD;
        const end = (this.start + last) * stride;
        for (let row = (this.start + first) * stride; row < end; row += stride) {
            for (let i = 0; i < some; i += 1) words[row + from + i] = tile[line + left + i];
            for (let at = row + from + some; at < row + to; at += PERIOD) {
                const rest = Math.min(PERIOD, row + to - at);
                for (let i = 0; i < rest; i += 1) words[at + i] = tile[line + i];
            }
            line = line + PERIOD === tile.length ? 0 : line + PERIOD;
        }
    }

    /** Returns the column of the area that is nearest to `x`, or the column after the last. @param {number} x */
    column(x) {
        return Math.min(Math.max(Math.round(x - this.left), 0), this.width);
    }

    /** Returns the row of the area that is nearest to `y`, or the row after the last. @param {number} y */
    row(y) {
        return Math.min(Math.max(Math.round(y - this.top), 0), this.height);
    }

    /** Notes that rows of the strip are not empty. @param {number} first @param {number} last */
    use(first, last) {
        if (first < this.first) this.first = first;
        if (last > this.last) this.last = last;
    }

    /** Does nothing, because the sheet draws the strip. */
    end() {}

    /** Draws the strip from the canvas that contains the image. @param {CanvasRenderingContext2D} ink @param {HTMLCanvasElement} canvas */
    show(ink, canvas) {
        const { left, top, width, first } = this;
        const height = this.last - first;
        if (height <= 0) return;
        ink.drawImage(canvas, 0, this.start + first, width, height, left, top + first, width, height);
    }
}

/**
 * A rectangle that can still grow.
 * @typedef {{ x: number, y: number, width: number, height: number, paint: Paint, isHatched: boolean }} Run
 */

/** Single rectangles. Equal neighbours are joined. */
class Runs {
    /** @param {Sheet} sheet */
    constructor(sheet) {
        this.sheet = sheet;
        /** @type {Run[]} */
        this.open = [];
    }

    /** @type {(x: number, y: number, width: number, height: number, paint: Paint) => void} */
    add(x, y, width, height, paint) {
        this.join({ x, y, width, height, paint, isHatched: false });
    }

    /** @type {(x: number, y: number, width: number, height: number, paint: Paint) => void} */
    hatch(x, y, width, height, paint) {
        this.join({ x, y, width, height, paint, isHatched: true });
    }

    /** @type {(x: number, y: number, height: number, paint: Paint) => void} */
    bar(x, y, height, paint) {
        this.add(x, y, 1, height, paint);
    }

    /** @param {Run} run */
    join(run) {
        const left = this.open.find((each) => each.x + each.width === run.x && each.y === run.y && each.height === run.height
            && each.paint === run.paint && each.isHatched === run.isHatched);
        if (left) {
            left.width += run.width;
            return;
        }
        // A rectangle that ends before this one begins cannot grow any more.
        this.flush((each) => each.x + each.width < run.x);
        this.open.push(run);
    }

    /** @param {(run: Run) => boolean} isComplete */
    flush(isComplete) {
        const complete = this.open.filter(isComplete);
        if (complete.length === 0) return;
        this.open = this.open.filter((run) => !isComplete(run));
        const { ink } = this.sheet;
        // Draw these rectangles after the strips, so that they are above the rectangles of earlier strips.
        this.sheet.later(() => {
            for (const { x, y, width, height, paint: { colour, alpha }, isHatched } of complete) {
                ink.globalAlpha = alpha;
                ink.fillStyle = isHatched ? hatch(ink, colour) : colour;
                ink.fillRect(x, y, width, height);
            }
            ink.globalAlpha = 1;
        });
    }

    /** Adds the remaining rectangles. */
    end() {
        this.flush(() => true);
    }
}
