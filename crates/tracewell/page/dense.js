// Draws the spans of a row. If there are few spans, draws each of them. Otherwise, draws the row as an image, pixel by pixel. So the cost
// of a picture depends on its size, and not on the length of the trace.

import { fitted } from "./paint.js";
import { Pixels } from "./pixels.js";
import { PROPORTIONAL } from "./scale.js";
import { textOn } from "./theme.js";

/** @typedef {import("./spans.js").Frame} Frame */
/** @typedef {{ y: number, height: number }} Box */

/**
 * The functions that draw the spans of one kind of row. `span` draws a span on the canvas. `run` and `pixel` draw on an image: `run` draws
 * the whole pixels that a span covers, and `pixel` draws a pixel in which spans end. `state` is the state whose share `pixel` needs, if it
 * needs one. If there is a `paint`, each pixel of a dense row is a bar of this paint instead: its height shows the share of the state.
 * @typedef {{
 *   state?: number, paint?: import("./paints.js").Paint,
 *   span: (frame: Frame, spans: any, index: number, box: Box, x: number, width: number) => void,
 *   run: (frame: Frame, spans: any, index: number, box: Box, x: number, width: number, rects: import("./rectangles.js").Rectangles) => void,
 *   pixel: (frame: Frame, pixels: Pixels, box: Box, x: number, rects: import("./rectangles.js").Rectangles) => void,
 * }} Painter
 */

/** Maximum number of spans that a picture draws one by one. If there are more, the rows with the most spans are drawn as images. */
const SPANS = 2000;

/** Minimum width in pixels of a bar with a name. */
const NAMED = 24;

/** In a dense row, a span of at most this width in pixels is drawn like the pixels around it. */
const SPECK = 3;

/** A row is dense if it has more spans per pixel than this. Its pixels then show the shares of states. */
const DENSE = 2;

/**
 * Returns a number of spans. A row with more visible spans than this number is drawn as an image.
 * @param {import("./rows.js").Lane[]} lanes
 * @param {{ from: number, to: number }} view
 */
export function sparse(lanes, { from, to }) {
    const counts = lanes.filter(({ row }) => row).map(({ row }) => {
        const [first, last] = row.spans.within(from, to);
        return last - first;
    });
    const sum = counts.reduce((all, count) => all + count, 0);
    return sum <= SPANS ? SPANS : SPANS / counts.length;
}

/** @type {(frame: Frame, spans: any, box: Box, painter: Painter) => void} */
export function drawRow(frame, spans, box, painter) {
    const { sheet, view, left, width, x } = frame;
    const [first, last] = spans.within(view.from, view.to);
    const isDense = last - first > DENSE * width;
    if (isDense || (!sheet.isFile && last - first > frame.sparse)) {
        drawPixels(frame, spans, box, painter, isDense);
        return;
    }
    for (let index = first; index < last; index += 1) {
        const begin = Math.max(x(spans.from(index)), left);
        const end = Math.min(x(spans.to(index)), left + width);
        if (end >= begin) painter.span(frame, spans, index, box, begin, end - begin);
    }
}

/** @type {(frame: Frame, spans: any, box: Box, painter: Painter, isDense: boolean) => void} */
function drawPixels(frame, spans, box, { run, pixel, state, paint }, isDense) {
    const { sheet, view, times, left, x } = frame;
    const { y, height } = box;
    const width = times.length - 1;
    const rects = sheet.rectangles({ left, top: y, width, height });
    // In the sequence view, the pixels cover times of different lengths.
    const pixels = new Pixels(spans, times, isDense, state, view.scale === PROPORTIONAL);
    const last = Math.min(Math.ceil(x(spans.to(spans.count - 1)) - left), width);
    // Among pixels that show shares, a state that is only a few pixels wide would look like a speck.
    const speck = isDense ? SPECK : 0;
    let column = 0;
    while (column < last) {
        pixels.go(column);
        const isLong = pixels.mayLast(state ?? -1, speck) && pixels.isSingle;
        const end = isLong ? Math.min(Math.floor(x(spans.to(pixels.first)) - left), last) : column;
        if (end - column > speck) {
            run(frame, spans, pixels.first, box, left + column, end - column, rects);
            column = end;
            continue;
        }
        if (isDense && paint) {
            const share = pixels.share(state ?? -1);
            const part = Math.max(1, Math.round(height * share));
            if (share > 0) rects.bar(left + column, y + height - part, part, paint);
        } else {
            pixel(frame, pixels, box, left + column, rects);
        }
        column += 1;
    }
    rects.end();
}

/** Writes a name on a bar of an image, if there is room for a few letters. @type {(frame: Frame, name: string, colour: string, x: number, middle: number, width: number) => void} */
export function nameLater({ ink, sheet }, name, colour, x, middle, width) {
    if (width < NAMED) return;
    sheet.later(() => {
        ink.fillStyle = textOn(colour);
        fitted(ink, name, x + 7, middle + 0.5, width - 10);
    });
}
