// The names of the lanes at the left of the timeline, and the band behind each lane.

import { FONT, fitted, widthOf } from "./paint.js";
import { isHead } from "./rows.js";
import { textOn } from "./theme.js";
import { rowIn } from "./view.js";

/** Width of the names at the left. */
export const LEFT = 200;

/** Height of a name in pixels. */
export const NAME = 14;

/** Draws the band behind a lane at the height `y`. @type {(frame: import("./spans.js").Frame, lane: import("./rows.js").Lane, y: number, width: number) => void} */
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

/** Draws the name of a lane at the height `y`, if the whole name is visible. Marks the lane if its row is selected. @type {(frame: import("./spans.js").Frame, lane: import("./rows.js").Lane, y: number, isWhole: boolean) => void} */
export function drawName(frame, lane, y, isWhole) {
    const { ink, model, view, colours } = frame;
    const middle = y + lane.height / 2 + 0.5;
    const isGroup = isHead(lane);
    if (lane.row && lane.row.index === rowIn(view.selection)) {
        ink.fillStyle = colours.selectBand;
        ink.fillRect(0, y, LEFT, lane.height - 1);
    }
    if (!isWhole) return;
    ink.font = `11.5px ${FONT}`;
    ink.textAlign = "right";
    ink.fillStyle = colours.soft;
    const about = lane.kind === "file" ? offsetText(view, model, lane.file ?? 0) : lane.detail;
    const text = lane.hidden ? `${about.split(",")[0]}, ${lane.hidden} hidden` : about;
    const detail = text ? widthOf(ink, text) + 4 : 0;
    if (text) ink.fillText(text, LEFT - 10, middle);
    ink.textAlign = "left";
    ink.font = `${isGroup ? "600 " : ""}12.5px ${FONT}`;
    let left = 24;
    if (isGroup) {
        left = lane.kind === "group" && lane.tree ? 20 : 12;
        ink.fillStyle = colours.text;
        ink.fillText(view.folded.has(lane.group) ? "▸" : "▾", left, middle);
        left += 12;
    } else if (lane.context !== undefined) {
        drawBadge(frame, lane, middle);
        left = 44;
    }
    ink.fillStyle = colours.text;
    fitted(ink, lane.label, left, middle, LEFT - left - 8 - detail);
    ink.font = `12px ${FONT}`;
}

/** Returns the offset of a file with its sign, or nothing if it is 0. @type {(view: import("./view.js").View, model: import("./model.js").Model, file: number) => string} */
function offsetText(view, model, file) {
    const offset = view.offsets[file] ?? 0;
    return offset === 0 ? "" : `${offset > 0 ? "+" : "−"}${model.span(0, Math.abs(offset))}`;
}

/** @type {(frame: import("./spans.js").Frame, lane: import("./rows.js").Lane, y: number) => void} */
function drawBadge({ ink, contexts }, lane, y) {
    ink.fillStyle = contexts[lane.context ?? 0];
    ink.beginPath();
    const known = lane.badge !== null && lane.badge !== undefined;
    if (known) ink.roundRect(10, y - 8, 26, 16, 4);
    else ink.roundRect(20, y - 5, 10, 10, 3);
    ink.fill();
    if (!known) return;
    ink.fillStyle = textOn(contexts[lane.context ?? 0]);
    ink.textAlign = "center";
    ink.font = `600 11px ${FONT}`;
    ink.fillText(String(lane.badge), 23, y + 0.5);
    ink.textAlign = "left";
    ink.font = `12.5px ${FONT}`;
}
