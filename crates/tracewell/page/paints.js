// Colours in the forms in which the page draws them: on a canvas, in an SVG file, and as pixels of an image.

import { hatch } from "./paint.js";

/** Width and height in pixels after which a hatch repeats. */
export const PERIOD = 56;

/** Number of degrees of opacity. */
const DEGREES = 255;

/** A colour with an opacity. Make it with `paintOf`, which makes each paint only once. */
export class Paint {
    /** @param {string} colour as `#rrggbb` @param {number} degree from 0 to `DEGREES` */
    constructor(colour, degree) {
        this.colour = colour;
        this.alpha = degree / DEGREES;
        const value = parseInt(colour.slice(1), 16);
        /** A pixel of this colour as a word of an image. */
        this.word = ((degree << 24) | ((value & 0xFF) << 16) | (value & 0xFF00) | (value >> 16)) >>> 0;
        /** @type {Uint32Array | null} */
        this.tile = null;
    }

    /** A square piece of the pattern that `hatch` returns, as words of an image. The pattern repeats this piece. */
    get hatch() {
        if (this.tile) return this.tile;
        const canvas = document.createElement("canvas");
        canvas.width = canvas.height = PERIOD;
        const ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
        ink.globalAlpha = this.alpha;
        ink.fillStyle = hatch(ink, this.colour);
        ink.fillRect(0, 0, PERIOD, PERIOD);
        this.tile = new Uint32Array(ink.getImageData(0, 0, PERIOD, PERIOD).data.buffer);
        return this.tile;
    }
}

/** All paints, by their degrees of opacity and their colours. @type {Map<string, Paint>[]} */
const paints = [];

/** Returns the paint of a colour. @param {string} colour as `#rrggbb` @param {number} [alpha] from 0 to 1, rounded to a degree of opacity */
export function paintOf(colour, alpha = 1) {
    const degree = Math.round(DEGREES * alpha);
    const known = paints[degree] ??= new Map();
    let paint = known.get(colour);
    if (!paint) known.set(colour, paint = new Paint(colour, degree));
    return paint;
}
