// Draws labels in rounded boxes over the lanes. Labels that would overlap share a box. The functions in overlays.js choose the texts.

import { widthOf } from "./paint.js";

/**
 * A label. If `go` exists, a click on the label calls it.
 * @typedef {{ text: string, x: number, y: number, width: number, colour: string, go?: () => void }} Pill
 */

/** The text of a label, and the function that a click on the label calls. @typedef {{ text: string, go?: () => void }} Label */

/** Height of a label in pixels. */
export const PILL = 17;

/** Width of a label without its text. */
const MARGINS = 18;

/** Minimum distance of two labels in pixels. */
const DISTANCE = 4;

/**
 * Places labels next to each other. Items whose labels would overlap are joined to one item with one label.
 * @template T
 * @param {{ x: number, item: T }[]} places in the order of `x`; a label begins at `x` if there is room
 * @param {(first: T, second: T) => T} join
 * @param {(item: T) => Label} label
 * @param {(text: string) => number} width
 * @param {[number, number]} room the first and the last pixel
 * @returns {(Label & { x: number, width: number })[]}
 */
export function sharedLabels(places, join, label, width, [left, right]) {
    /** @type {{ start: number, item: T, label: Label, x: number, width: number }[]} */
    const boxes = [];
    // Labels of items at almost the same place overlap in any case. Join these items before making any text.
    /** @type {{ x: number, item: T }[]} */
    const apart = [];
    for (const { x, item } of places) {
        const last = apart.at(-1);
        if (last && x < last.x + MARGINS + DISTANCE) last.item = join(last.item, item);
        else apart.push({ x, item });
    }
    const boxed = (/** @type {number} */ start, /** @type {T} */ item) => {
        const made = label(item);
        const size = width(made.text);
        return { start, item, label: made, width: size, x: Math.max(Math.min(start, right - size), left) };
    };
    for (const place of apart) {
        let box = boxed(place.x, place.item);
        let last = boxes.at(-1);
        while (last && last.x + last.width + DISTANCE > box.x) {
            boxes.pop();
            box = boxed(last.start, join(last.item, box.item));
            last = boxes.at(-1);
        }
        boxes.push(box);
    }
    return boxes.map(({ label: made, x, width: size }) => ({ ...made, x, width: size }));
}

/** Returns the width of a label with a text. @type {(ink: CanvasRenderingContext2D, text: string) => number} */
export function pillWidth(ink, text) {
    return widthOf(ink, text) + MARGINS;
}

/** Moves labels that would cover earlier labels below them. @param {Pill[]} pills */
export function separate(pills) {
    pills.forEach((pill, i) => {
        const covers = (/** @type {Pill} */ other) => pill.x < other.x + other.width + DISTANCE && other.x < pill.x + pill.width + DISTANCE
            && pill.y < other.y + PILL && other.y < pill.y + PILL;
        const others = pills.slice(0, i);
        // Each move is downwards, and a label has at most one move for each earlier label.
        for (let other = others.find(covers); other; other = others.find(covers)) pill.y = other.y + PILL + 1;
    });
}

/** Draws labels. The later ones are above the earlier ones. @type {(frame: import("./spans.js").Frame) => void} */
export function drawPills({ ink, colours, pills }) {
    separate(pills);
    for (const { text, x, y, width, colour } of pills) {
        ink.fillStyle = colour;
        ink.beginPath();
        ink.roundRect(x, y, width, PILL, PILL / 2);
        ink.fill();
        ink.fillStyle = colours.ground;
        ink.fillText(text, x + 9, y + 9);
    }
}

/** Returns the uppermost label at a point, or undefined. @type {(pills: Pill[], x: number, y: number) => Pill | undefined} */
export function pillAt(pills, x, y) {
    return [...pills].reverse().find((pill) => x >= pill.x && x < pill.x + pill.width && y >= pill.y && y < pill.y + PILL);
}
