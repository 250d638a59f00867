// Many rectangles: one image of them on the screen, or single rectangles if they are few, and in an SVG file. A picture of
// a dense trace consists of tens of thousands of rectangles, and the browser draws one image much faster.

import { SvgInk } from "./svg.js";

/** @typedef {{ left: number, top: number, width: number, height: number }} Area */
/** @typedef {Raster | Runs} Rectangles */

/** Distance in pixels between rectangles, on average, below which they are drawn as an image. */
const RECT_DISTANCE = 8;

/**
 * Returns an object that collects rectangles within an area, and draws them at its `end`. If they are few, they need not begin and end at
 * whole pixels. Only one such object may be in use at a time.
 * @param {CanvasRenderingContext2D} ink
 * @param {Area} area
 * @param {number} [count] number of rectangles, if the caller knows it
 * @returns {Rectangles}
 */
export function rectangles(ink, area, count = Infinity) {
    const file = /** @type {unknown} */ (ink);
    return file instanceof SvgInk || count * RECT_DISTANCE < area.width ? new Runs(ink) : new Raster(ink, area);
}

/** The canvas and the image that all rasters share. @type {{ ink: CanvasRenderingContext2D, image: ImageData, words: Uint32Array } | null} */
let shared = null;

/** Returns the shared image, which is at least as large as an area. @param {Area} area */
function sharedFor({ width, height }) {
    if (shared && shared.image.width >= width && shared.image.height >= height) return shared;
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(width, shared?.image.width ?? 0);
    canvas.height = Math.max(height, shared?.image.height ?? 0);
    const ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
    const image = ink.createImageData(canvas.width, canvas.height);
    shared = { ink, image, words: new Uint32Array(image.data.buffer) };
    return shared;
}

/** Pixels of colours, as words of an image. @type {Map<string, number>} */
const words = new Map();

/** Returns the pixel of a colour. @param {string} colour */
function wordOf(colour) {
    let word = words.get(colour);
    if (word === undefined) {
        const { ink } = sharedFor({ left: 0, top: 0, width: 1, height: 1 });
        ink.clearRect(0, 0, 1, 1);
        ink.fillStyle = colour;
        ink.fillRect(0, 0, 1, 1);
        [word] = new Uint32Array(ink.getImageData(0, 0, 1, 1).data.buffer);
        words.set(colour, word);
    }
    return word;
}

/** Rectangles as pixels of an image. */
class Raster {
    /**
     * @param {CanvasRenderingContext2D} ink
     * @param {Area} area
     */
    constructor(ink, { left, top, width, height }) {
        this.ink = ink;
        this.area = { left, top, width: Math.ceil(width), height: Math.ceil(height) };
        const { image, words } = sharedFor(this.area);
        this.words = words;
        this.stride = image.width;
        /** The rows of the image that are not empty: the first, and the one after the last. */
        this.first = this.area.height;
        this.last = 0;
    }

    /** Adds the part of a rectangle that is in the area. @type {(x: number, y: number, width: number, height: number, colour: string) => void} */
    add(x, y, width, height, colour) {
        const { area, stride, words } = this;
        const [left, top] = [x - area.left, y - area.top];
        const from = Math.max(Math.round(left), 0);
        const to = Math.min(Math.round(left + width), area.width);
        const first = Math.max(Math.round(top), 0);
        const last = Math.min(Math.round(top + height), area.height);
        if (first < this.first) this.first = first;
        if (last > this.last) this.last = last;
        const word = wordOf(colour);
        for (let row = first; row < last; row += 1) {
            for (let at = row * stride + from; at < row * stride + to; at += 1) words[at] = word;
        }
    }

    /** Draws the rectangles, and empties the image. */
    end() {
        const { left, top, width } = this.area;
        const { first } = this;
        const height = this.last - first;
        if (height <= 0) return;
        const { ink, image } = sharedFor(this.area);
        ink.putImageData(image, 0, 0, 0, first, width, height);
        this.ink.imageSmoothingEnabled = false;
        this.ink.drawImage(ink.canvas, 0, first, width, height, left, top + first, width, height);
        this.words.fill(0, first * this.stride, this.last * this.stride);
    }
}

/** Single rectangles, in which equal neighbours become one. */
class Runs {
    /** @param {CanvasRenderingContext2D} ink */
    constructor(ink) {
        this.ink = ink;
        /** The rectangles that can still grow. @type {{ x: number, y: number, width: number, height: number, colour: string }[]} */
        this.open = [];
    }

    /** @type {(x: number, y: number, width: number, height: number, colour: string) => void} */
    add(x, y, width, height, colour) {
        const run = this.open.find((each) => each.x + each.width === x && each.y === y && each.height === height && each.colour === colour);
        if (run) {
            run.width += width;
            return;
        }
        // A rectangle that ends before this one begins cannot grow any more.
        this.flush((each) => each.x + each.width < x);
        this.open.push({ x, y, width, height, colour });
    }

    /** @param {(run: { x: number, width: number }) => boolean} isComplete */
    flush(isComplete) {
        for (const run of this.open.filter(isComplete)) {
            this.ink.fillStyle = run.colour;
            this.ink.fillRect(run.x, run.y, run.width, run.height);
        }
        this.open = this.open.filter((run) => !isComplete(run));
    }

    /** Draws the remaining rectangles. */
    end() {
        this.flush(() => true);
    }
}
