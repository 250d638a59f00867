// The legend in the help: small pictures of what the timeline shows, drawn like the timeline itself.

import { breakable, element } from "./elements.js";
import { FONT, hatch } from "./paint.js";
import { textOn } from "./theme.js";

/** Size of a picture in pixels. */
const [WIDTH, HEIGHT] = [72, 22];

/** @typedef {import("./theme.js").Colours} Colours */
/** @typedef {(ink: CanvasRenderingContext2D, colours: Colours, colour: string) => void} Sketch */

/** Draws a horizontal line. @type {(ink: CanvasRenderingContext2D, colour: string, dash: number[], width?: number) => void} */
function dashed(ink, colour, dash, width = 1) {
    ink.strokeStyle = colour;
    ink.lineWidth = width;
    ink.setLineDash(dash);
    ink.beginPath();
    ink.moveTo(2, HEIGHT / 2);
    ink.lineTo(WIDTH - 2, HEIGHT / 2);
    ink.stroke();
    ink.setLineDash([]);
}

/** The pictures and their meanings. @type {[Sketch, string][]} */
const LEGEND = [
    [(ink, _, colour) => {
        ink.fillStyle = colour;
        ink.fillRect(2, 3, WIDTH - 4, HEIGHT - 6);
    }, "running"],
    [(ink, _, colour) => {
        ink.fillStyle = colour;
        ink.fillRect(2, 3, 24, HEIGHT - 6);
        ink.fillRect(46, 3, 24, HEIGHT - 6);
        ink.globalAlpha = 0.45;
        ink.fillRect(26, 3, 20, HEIGHT - 6);
        ink.globalAlpha = 1;
    }, "pale: has the core, but an interrupt is active"],
    [(ink, _, colour) => {
        ink.fillStyle = hatch(ink, colour);
        ink.fillRect(2, 3, WIDTH - 4, HEIGHT - 6);
        ink.strokeStyle = colour;
        ink.strokeRect(2.5, 3.5, WIDTH - 5, HEIGHT - 7);
    }, "hatched: ready or preempted, another context runs"],
    [(ink, _, colour) => dashed(ink, colour, [], 1.6), "line: blocked; its text is the reason"],
    [(ink, { soft }) => dashed(ink, soft, [1.5, 3.5]), "dotted: sleeping; widely dotted: job done"],
    [(ink, { soft }) => dashed(ink, soft, [6, 4]), "dashed: not running, reason not recorded"],
    [(ink, { unknown }) => {
        ink.fillStyle = hatch(ink, unknown);
        ink.fillRect(2, 3, WIDTH - 4, HEIGHT - 6);
    }, "grey hatching: unknown; over all rows: events are missing"],
    [(ink, { soft }) => {
        ink.fillStyle = soft;
        ink.beginPath();
        ink.moveTo(WIDTH / 2 - 6, 6);
        ink.lineTo(WIDTH / 2 + 6, 6);
        ink.lineTo(WIDTH / 2, 14);
        ink.fill();
    }, "triangle: an event of the program itself"],
    [(ink, _, colour) => {
        ink.fillStyle = colour;
        ink.beginPath();
        ink.roundRect(WIDTH / 2 - 13, 3, 26, 16, 4);
        ink.fill();
        ink.fillStyle = textOn(colour);
        ink.textAlign = "center";
        ink.fillText("5", WIDTH / 2, HEIGHT / 2 + 0.5);
        ink.textAlign = "left";
    }, "badge: priority of the context"],
    [(ink, { palette }, colour) => {
        ink.fillStyle = colour;
        ink.fillRect(2, 3, WIDTH - 4, 11);
        ink.fillStyle = palette[2];
        ink.fillRect(24, 16, 34, 3);
    }, "mutex: its holder; bar below it: a context waits"],
    [(ink, { alarm, alarmBand }) => {
        ink.fillStyle = alarmBand;
        ink.fillRect(14, 0, 44, HEIGHT);
        ink.fillStyle = alarm;
        ink.fillRect(14, 0, 44, 3);
    }, "red band: unbounded inversion"],
    [(ink, { alarm }, colour) => {
        ink.fillStyle = colour;
        ink.globalAlpha = 0.5;
        ink.fillRect(2, HEIGHT - 5, WIDTH - 4, 2);
        ink.globalAlpha = 1;
        ink.fillStyle = alarm;
        ink.fillRect(44, 2, 2, HEIGHT - 5);
        ink.fillRect(44, HEIGHT - 5, WIDTH - 46, 2);
    }, "thin line: a job; red from its missed deadline on"],
    [(ink, { alarm, palette }) => {
        ink.fillStyle = palette[4];
        ink.fillRect(2, 9, WIDTH - 4, 11);
        ink.fillStyle = alarm;
        ink.fillRect(18, 2, 8, 3);
        ink.fillRect(46, 2, 2, 3);
    }, "red marks above the overview: inversions and missed deadlines"],
    [(ink, { alarm }, colour) => {
        ink.fillStyle = colour;
        ink.globalAlpha = 0.45;
        ink.fillRect(2, 3, 16, HEIGHT - 6);
        ink.globalAlpha = 1;
        ink.beginPath();
        ink.moveTo(18, 3);
        ink.lineTo(44, HEIGHT - 3);
        ink.lineTo(18, HEIGHT - 3);
        ink.fill();
        ink.fillStyle = alarm;
        ink.globalAlpha = 0.12;
        ink.fillRect(44, 3, 26, HEIGHT - 6);
        ink.globalAlpha = 1;
        ink.fillRect(44, HEIGHT - 5, 26, 2);
    }, "server: the budget that is left, less while its task runs; red: exhausted"],
    [(ink, _, colour) => {
        ink.fillStyle = colour;
        [6, 9, 14, 11, 5, 8].forEach((part, i) => ink.fillRect(2 + 11 * i, HEIGHT - 3 - part, 10, part));
    }, "load: the share of the time of all cores in each window"],
    [(ink, { interrupt }) => {
        ink.fillStyle = interrupt;
        for (const x of [14, 34, 52]) ink.fillRect(x, 3, 2, HEIGHT - 6);
    }, "upright lines: interrupts"],
];

/** Returns the legend in the colours of a theme. @param {Colours} colours */
export function legend(colours) {
    const ratio = devicePixelRatio || 1;
    const entries = LEGEND.map(([sketch, text]) => {
        const canvas = /** @type {HTMLCanvasElement} */ (element("canvas", []));
        canvas.width = WIDTH * ratio;
        canvas.height = HEIGHT * ratio;
        canvas.setAttribute("aria-hidden", "true");
        const ink = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
        ink.scale(ratio, ratio);
        ink.textBaseline = "middle";
        ink.font = `600 11px ${FONT}`;
        sketch(ink, colours, colours.palette[1]);
        return element("li", [canvas, element("span", breakable(text))]);
    });
    return element("ul", entries, "legend");
}
