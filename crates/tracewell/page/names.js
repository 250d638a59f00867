// The names of the lanes at the left of the timeline, and the band behind each lane.

import { FONT, fitted, setFont, widthOf } from "./paint.js";
import { isFolded, isHead } from "./rows.js";
import { textOn } from "./theme.js";
import { rowIn } from "./view.js";

/** @typedef {import("./rows.js").Lane} Lane */

/** Width of the names at the left. */
export const LEFT = 200;

/** Height of a name in pixels. */
export const NAME = 14;

/** Draws the band behind a lane at the height `y`. @type {(frame: import("./spans.js").Frame, lane: Lane, y: number, width: number) => void} */
export function drawBand({ ink, colours }, lane, y, width) {
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

/**
 * Draws the names of lanes: of each lane whose name is not cut at an edge. Marks the lane whose row is selected.
 * @param {import("./spans.js").Frame} frame
 * @param {Lane[]} lanes
 * @param {(lane: Lane) => number} top
 * @param {(lane: Lane) => boolean} isWhole
 */
export function drawNames(frame, lanes, top, isWhole) {
    const { ink, colours, view } = frame;
    const selected = lanes.find((lane) => lane.row && lane.row.index === rowIn(view.selection));
    if (selected) {
        ink.fillStyle = colours.selectBand;
        ink.fillRect(0, top(selected), LEFT, selected.height - 1);
    }
    // Setting a font takes time, so draw all texts of a font together.
    const names = lanes.filter(isWhole).map((lane) => ({ lane, middle: top(lane) + lane.height / 2 + 0.5, room: LEFT - 8 }));
    setFont(ink, `11.5px ${FONT}`);
    ink.textAlign = "right";
    ink.fillStyle = colours.soft;
    for (const name of names) {
        const text = detailOf(frame, name.lane);
        if (!text) continue;
        ink.fillText(text, LEFT - 10, name.middle);
        name.room -= widthOf(ink, text) + 4;
    }
    setFont(ink, `600 11px ${FONT}`);
    ink.textAlign = "center";
    for (const { lane, middle } of names) if (lane.context !== undefined) drawBadge(frame, lane, middle);
    setFont(ink, `600 12.5px ${FONT}`);
    ink.textAlign = "left";
    ink.fillStyle = colours.text;
    for (const { lane, middle, room } of names.filter(({ lane }) => isHead(lane))) {
        const left = lane.kind === "group" && lane.tree ? 20 : 12;
        ink.fillText(isFolded(view.folded, lane.group) ? "▸" : "▾", left, middle);
        fitted(ink, lane.label, left + 12, middle, room - left - 12);
    }
    setFont(ink, `12.5px ${FONT}`);
    for (const { lane, middle, room } of names.filter(({ lane }) => !isHead(lane))) {
        const left = lane.context === undefined ? 24 : 44;
        fitted(ink, lane.label, left, middle, room - left);
    }
}

/** Draws a frame around the name that keys choose. @type {(frame: import("./spans.js").Frame, lane: Lane, y: number) => void} */
export function drawFrame({ ink, colours }, lane, y) {
    ink.strokeStyle = colours.select;
    ink.lineWidth = 2;
    ink.strokeRect(2, y + 1, LEFT - 4, lane.height - 3);
}

/** Returns the text at the right of a name. @type {(frame: import("./spans.js").Frame, lane: Lane) => string} */
function detailOf({ view, model }, lane) {
    const about = lane.kind === "file" ? offsetText(view, model, lane.file ?? 0) : lane.detail;
    return lane.hidden ? `${about.split(",")[0]}, ${lane.hidden} hidden` : about;
}

/** Returns the offset of a file with its sign, or nothing if it is 0. @type {(view: import("./view.js").View, model: import("./model.js").Model, file: number) => string} */
function offsetText(view, model, file) {
    const offset = view.offsets[file] ?? 0;
    return offset === 0 ? "" : `${offset > 0 ? "+" : "−"}${model.span(0, Math.abs(offset))}`;
}

/** Draws the colour and the priority of a context. @type {(frame: import("./spans.js").Frame, lane: Lane, y: number) => void} */
function drawBadge({ ink, contexts }, lane, y) {
    ink.fillStyle = contexts[lane.context ?? 0];
    ink.beginPath();
    const known = lane.badge !== null && lane.badge !== undefined;
    if (known) ink.roundRect(10, y - 8, 26, 16, 4);
    else ink.roundRect(20, y - 5, 10, 10, 3);
    ink.fill();
    if (!known) return;
    ink.fillStyle = textOn(contexts[lane.context ?? 0]);
    ink.fillText(String(lane.badge), 23, y + 0.5);
}
