// Saves the picture of the timeline as a file, and copies the address of the view.

import { SvgInk, svg } from "./svg.js";

/**
 * A part of the page that draws itself on a canvas.
 * @typedef {{ canvas: HTMLCanvasElement, paint: (ink: CanvasRenderingContext2D, width: number, height: number) => void }} Picture
 */

/**
 * Saves content as a file.
 * @param {Blob} blob
 * @param {string} name of the file
 */
export function saveFile(blob, name) {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(blob);
    link.download = name;
    link.click();
    // The browser reads the file some time after the click, so keep its address valid for a minute.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * Saves overview and timeline as a PNG file.
 * @param {Picture[]} pictures from top to bottom
 * @param {string} title of the trace
 */
export function savePng(pictures, title) {
    const canvases = pictures.map(({ canvas }) => canvas);
    const whole = document.createElement("canvas");
    whole.width = Math.max(...canvases.map((canvas) => canvas.width));
    whole.height = canvases.reduce((sum, canvas) => sum + canvas.height, 0);
    const ink = /** @type {CanvasRenderingContext2D} */ (whole.getContext("2d"));
    let top = 0;
    for (const canvas of canvases) {
        ink.drawImage(canvas, 0, top);
        top += canvas.height;
    }
    whole.toBlob((blob) => blob && saveFile(blob, `${title}.png`));
}

/**
 * Saves overview and timeline as an SVG file.
 * @param {Picture[]} pictures from top to bottom
 * @param {string} title of the trace
 */
export function saveSvg(pictures, title) {
    const ruler = /** @type {CanvasRenderingContext2D} */ (document.createElement("canvas").getContext("2d"));
    const measure = (/** @type {string} */ text, /** @type {string} */ font) => {
        ruler.font = font;
        ruler.textBaseline = "alphabetic";
        const { width, actualBoundingBoxAscent: whole } = ruler.measureText(text);
        ruler.textBaseline = "middle";
        return { width, rise: whole - ruler.measureText(text).actualBoundingBoxAscent };
    };
    let top = 0;
    const inks = pictures.map(({ canvas, paint }) => {
        const ink = new SvgInk(measure, top);
        const { clientWidth: width, clientHeight: height } = canvas;
        top += height;
        ink.save();
        ink.beginPath();
        ink.rect(0, 0, width, height);
        ink.clip();
        paint(/** @type {CanvasRenderingContext2D} */ (/** @type {unknown} */ (ink)), width, height);
        ink.restore();
        return ink;
    });
    const width = Math.max(...pictures.map(({ canvas }) => canvas.clientWidth));
    saveFile(new Blob([svg(inks, title, width, top)], { type: "image/svg+xml" }), `${title}.svg`);
}

/** Copies the address of the view. Returns a message about the result. */
export async function copyAddress() {
    try {
        await navigator.clipboard.writeText(location.href);
        return "address copied";
    } catch {
        return "the browser does not permit copying: copy the address from the address bar";
    }
}
