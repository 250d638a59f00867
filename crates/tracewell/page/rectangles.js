// Draws many rectangles. A picture of a dense trace consists of tens of thousands of rectangles. The browser draws them much faster as one
// image. Each dense lane is a strip of this image. If a lane has few rectangles, they are drawn one by one. In an SVG file, all rectangles
// are drawn one by one.

import { hatch } from "./paint.js";
import { SvgInk } from "./svg.js";

/** @typedef {{ left: number, top: number, width: number, height: number }} Area */
/** @typedef {Raster | Runs} Rectangles */

/** If the average distance of rectangles is at most this number of pixels, they are drawn as an image. */
const RECT_DISTANCE = 8;

/** Width and height in pixels after which a hatch repeats. */
const PERIOD = 56;

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

/** Colours as words of an image, without opacity. @type {Map<string, number>} */
const words = new Map();

/** Returns a pixel of a colour as a word of an image. @param {string} colour as `#rrggbb` @param {number} alpha */
function wordOf(colour, alpha) {
    let word = words.get(colour);
    if (word === undefined) {
        const value = parseInt(colour.slice(1), 16);
        word = ((value & 0xFF) << 16) | (value & 0xFF00) | (value >> 16);
        words.set(colour, word);
    }
    return ((Math.round(255 * alpha) << 24) | word) >>> 0;
}

/** Hatches as words of an image, by colour and opacity. @type {Map<string, Uint32Array>} */
const tiles = new Map();

/** Returns a square piece of the pattern that `hatch` returns. The pattern repeats this piece. @param {string} colour @param {number} alpha */
function tileOf(colour, alpha) {
    const key = alpha === 1 ? colour : `${colour} ${alpha}`;
    let tile = tiles.get(key);
    if (!tile) {
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = PERIOD;
        const ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
        ink.globalAlpha = alpha;
        ink.fillStyle = hatch(ink, colour);
        ink.fillRect(0, 0, PERIOD, PERIOD);
        tile = new Uint32Array(ink.getImageData(0, 0, PERIOD, PERIOD).data.buffer);
        tiles.set(key, tile);
    }
    return tile;
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
        this.used += strip.area.height;
        this.width = Math.max(this.width, strip.area.width);
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
        this.area = { left, top, width: Math.ceil(width), height: Math.ceil(height) };
        this.start = start;
        const { image, words } = sharedFor(this.area.width, start + this.area.height);
        this.words = words;
        this.stride = image.width;
        /** The rows of the strip that are not empty: the first, and the one after the last. */
        this.first = this.area.height;
        this.last = 0;
        /** The latest colour with its opacity, word and hatch, kept because the next rectangle often has the same colour. */
        this.colour = "";
        this.alpha = 1;
        this.word = 0;
        /** @type {Uint32Array | null} */
        this.tile = null;
    }

    /** Fills the part of a rectangle that is in the area. @type {(x: number, y: number, width: number, height: number, colour: string, alpha?: number) => void} */
    add(x, y, width, height, colour, alpha = 1) {
        this.take(colour, alpha);
        const { stride, words, word } = this;
        const [from, to, first, last] = this.cells(x, y, width, height);
        for (let row = first; row < last; row += stride) {
            for (let at = row + from; at < row + to; at += 1) words[at] = word;
        }
    }

    /** Fills a part of a column of pixels. The column must be in the area, and the height must be a whole number. @type {(x: number, y: number, height: number, colour: string) => void} */
    bar(x, y, height, colour) {
        this.take(colour, 1);
        const { area, start, stride, words, word } = this;
        const top = Math.round(y - area.top);
        const first = Math.max(top, 0);
        const last = Math.min(top + height, area.height);
        if (first < this.first) this.first = first;
        if (last > this.last) this.last = last;
        const end = (start + last) * stride;
        for (let at = (start + first) * stride + x - area.left; at < end; at += stride) words[at] = word;
    }

    /** Hatches the part of a rectangle that is in the area. @type {(x: number, y: number, width: number, height: number, colour: string, alpha?: number) => void} */
    hatch(x, y, width, height, colour, alpha = 1) {
        this.take(colour, alpha);
        const tile = this.tile ??= tileOf(colour, alpha);
        const { area, start, stride, words } = this;
        const [from, to, first, last] = this.cells(x, y, width, height);
        // The area may begin above the canvas.
        const top = ((Math.round(area.top) % PERIOD) + PERIOD) % PERIOD;
        const left = (area.left + from) % PERIOD;
        let line = ((top + first / stride - start) % PERIOD) * PERIOD;
        for (let row = first; row < last; row += stride) {
            let place = left;
            for (let at = from; at < to; at += 1) {
                words[row + at] = tile[line + place];
                place = place + 1 === PERIOD ? 0 : place + 1;
            }
            line = line + PERIOD === tile.length ? 0 : line + PERIOD;
        }
    }

    /** Stores a colour as the latest colour. @param {string} colour @param {number} alpha */
    take(colour, alpha) {
        if (colour === this.colour && alpha === this.alpha) return;
        this.colour = colour;
        this.alpha = alpha;
        this.word = wordOf(colour, alpha);
        this.tile = null;
    }

    /**
     * Returns four numbers for a rectangle: its first column, the column after its last column, the index of the pixel at which its first
     * row begins, and the index of the pixel at which the row after its last row begins.
     * @type {(x: number, y: number, width: number, height: number) => [number, number, number, number]}
     */
    cells(x, y, width, height) {
        const { area, start, stride } = this;
        const [left, top] = [x - area.left, y - area.top];
        const first = Math.max(Math.round(top), 0);
        const last = Math.min(Math.round(top + height), area.height);
        if (first < this.first) this.first = first;
        if (last > this.last) this.last = last;
        return [Math.max(Math.round(left), 0), Math.min(Math.round(left + width), area.width), (start + first) * stride, (start + last) * stride];
    }

    /** Does nothing, because the sheet draws the strip. */
    end() {}

    /** Draws the strip from the canvas that contains the image. @param {CanvasRenderingContext2D} ink @param {HTMLCanvasElement} canvas */
    show(ink, canvas) {
        const { left, top, width } = this.area;
        const height = this.last - this.first;
        if (height <= 0) return;
        ink.drawImage(canvas, 0, this.start + this.first, width, height, left, top + this.first, width, height);
    }
}

/**
 * A rectangle that can still grow.
 * @typedef {{ x: number, y: number, width: number, height: number, colour: string, alpha: number, isHatched: boolean }} Run
 */

/** Single rectangles. Equal neighbours are joined. */
class Runs {
    /** @param {Sheet} sheet */
    constructor(sheet) {
        this.sheet = sheet;
        /** @type {Run[]} */
        this.open = [];
    }

    /** @type {(x: number, y: number, width: number, height: number, colour: string, alpha?: number) => void} */
    add(x, y, width, height, colour, alpha = 1) {
        this.join({ x, y, width, height, colour, alpha, isHatched: false });
    }

    /** @type {(x: number, y: number, width: number, height: number, colour: string, alpha?: number) => void} */
    hatch(x, y, width, height, colour, alpha = 1) {
        this.join({ x, y, width, height, colour, alpha, isHatched: true });
    }

    /** @type {(x: number, y: number, height: number, colour: string) => void} */
    bar(x, y, height, colour) {
        this.add(x, y, 1, height, colour);
    }

    /** @param {Run} run */
    join(run) {
        const left = this.open.find((each) => each.x + each.width === run.x && each.y === run.y && each.height === run.height
            && each.colour === run.colour && each.alpha === run.alpha && each.isHatched === run.isHatched);
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
            for (const { x, y, width, height, colour, alpha, isHatched } of complete) {
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
