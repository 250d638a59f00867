// A drawing context that writes SVG. It implements the members of CanvasRenderingContext2D that the page uses, so the same functions draw
// on a canvas and in a file.

/** @param {string} text */
function escaped(text) {
    return text.replace(/[&<>"]/g, (each) => `&#${each.charCodeAt(0)};`);
}

/** Returns a number with at most two decimals. @param {number} value */
function short(value) {
    return String(Math.round(value * 100) / 100);
}

const ANCHORS = { left: "start", center: "middle", right: "end" };

export class SvgInk {
    /**
     * @param {(text: string, font: string) => { width: number, rise: number }} measure returns the width of a text, and
     *     the distance of its middle above its baseline
     * @param {number} top distance from the upper edge, which is added to all y coordinates
     */
    constructor(measure, top = 0) {
        this.measure = measure;
        this.top = top;
        this.fillStyle = "#000000";
        this.strokeStyle = "#000000";
        this.lineWidth = 1;
        this.globalAlpha = 1;
        this.font = "12px sans-serif";
        /** @type {"left" | "center" | "right"} */
        this.textAlign = "left";
        /** @type {number[]} */
        this.dash = [];
        this.path = "";
        /** @type {string[]} */
        this.parts = [];
        /** @type {string[]} */
        this.definitions = [];
        /** @type {Map<string, string>} references to hatches by colour */
        this.hatches = new Map();
        /** The number of open clips for each `save`. @type {number[]} */
        this.clips = [0];
    }

    save() {
        this.clips.push(0);
    }

    restore() {
        const open = this.clips.pop() ?? 0;
        this.parts.push("</g>".repeat(open));
    }

    /** Limits further drawing to the path, until `restore`. */
    clip() {
        const id = `${this.top}c${this.definitions.length}`;
        this.definitions.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath>`);
        this.parts.push(`<g clip-path="url(#${id})">`);
        this.clips[this.clips.length - 1] += 1;
    }

    /** Returns a fill of diagonal lines. @param {string} colour */
    hatch(colour) {
        const known = this.hatches.get(colour);
        if (known) return known;
        const id = `${this.top}h${this.definitions.length}`;
        this.definitions.push(`<pattern id="${id}" width="11.2" height="11.2" patternUnits="userSpaceOnUse">`
            + `<path d="M-2.8 2.8l5.6-5.6M-2.8 8.4l11.2-11.2M-2.8 14l16.8-16.8M2.8 14l11.2-11.2M8.4 14l5.6-5.6"`
            + ` stroke="${escaped(colour)}" stroke-width="1.28"/></pattern>`);
        this.hatches.set(colour, `url(#${id})`);
        return `url(#${id})`;
    }

    beginPath() {
        this.path = "";
    }

    /** @type {(x: number, y: number) => void} */
    moveTo(x, y) {
        this.path += `M${short(x)} ${short(y + this.top)}`;
    }

    /** @type {(x: number, y: number) => void} */
    lineTo(x, y) {
        this.path += `L${short(x)} ${short(y + this.top)}`;
    }

    /** @param {number[]} places */
    bezierCurveTo(...places) {
        this.path += `C${places.map((place, i) => short(i % 2 === 0 ? place : place + this.top)).join(" ")}`;
    }

    /** @type {(x: number, y: number, width: number, height: number) => void} */
    rect(x, y, width, height) {
        this.moveTo(x, y);
        this.path += `h${short(width)}v${short(height)}h${short(-width)}z`;
    }

    /** @type {(x: number, y: number, width: number, height: number, radius: number) => void} */
    roundRect(x, y, width, height, radius) {
        const r = Math.min(radius, width / 2, height / 2);
        const [across, down] = [short(width - 2 * r), short(height - 2 * r)];
        const arc = (/** @type {number} */ dx, /** @type {number} */ dy) => `a${short(r)} ${short(r)} 0 0 1 ${short(dx)} ${short(dy)}`;
        this.moveTo(x + r, y);
        this.path += `h${across}${arc(r, r)}v${down}${arc(-r, r)}h-${across}${arc(-r, -r)}v-${down}${arc(r, -r)}z`;
    }

    /** @param {number[]} lengths */
    setLineDash(lengths) {
        this.dash = lengths;
    }

    fill() {
        this.parts.push(`<path d="${this.path}"${this.filled}/>`);
    }

    stroke() {
        this.parts.push(`<path d="${this.path}" fill="none"${this.stroked}/>`);
    }

    /** @type {(x: number, y: number, width: number, height: number) => void} */
    fillRect(x, y, width, height) {
        this.parts.push(`<rect${this.box(x, y, width, height)}${this.filled}/>`);
    }

    /** @type {(x: number, y: number, width: number, height: number) => void} */
    strokeRect(x, y, width, height) {
        this.parts.push(`<rect${this.box(x, y, width, height)} fill="none"${this.stroked}/>`);
    }

    /** @type {(text: string, x: number, y: number) => void} */
    fillText(text, x, y) {
        const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font) ?? [];
        const bold = weight ? ` font-weight="${weight}"` : "";
        const anchor = this.textAlign === "left" ? "" : ` text-anchor="${ANCHORS[this.textAlign]}"`;
        this.parts.push(`<text x="${short(x)}" y="${short(y + this.top + this.measure(text, this.font).rise)}" font-size="${size}"`
            + ` font-family="${escaped(family)}"${bold}${anchor}${this.filled}>${escaped(text)}</text>`);
    }

    /** @param {string} text */
    measureText(text) {
        return { width: this.measure(text, this.font).width };
    }

    /** @type {(x: number, y: number, width: number, height: number) => string} */
    box(x, y, width, height) {
        return ` x="${short(x)}" y="${short(y + this.top)}" width="${short(width)}" height="${short(height)}"`;
    }

    get opacity() {
        return this.globalAlpha < 1 ? ` opacity="${short(this.globalAlpha)}"` : "";
    }

    get filled() {
        return ` fill="${escaped(this.fillStyle)}"${this.opacity}`;
    }

    get stroked() {
        const dash = this.dash.length > 0 ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
        return ` stroke="${escaped(this.strokeStyle)}" stroke-width="${short(this.lineWidth)}"${dash}${this.opacity}`;
    }

    /** The drawing as SVG elements. */
    get content() {
        return `<defs>${this.definitions.join("")}</defs>${this.parts.join("\n")}`;
    }
}

/**
 * Returns an SVG document.
 * @param {SvgInk[]} inks
 * @param {string} title
 * @param {number} width
 * @param {number} height
 */
export function svg(inks, title, width, height) {
    const contents = inks.map((ink) => ink.content).join("\n");
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}">`
        + `<title>${escaped(title)}</title>\n${contents}\n</svg>\n`;
}
