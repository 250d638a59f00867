// Colours. The whole page shows a context in one colour. States differ in shape, so they do not need colours.

const CONTEXTS = [
    "#66768d", "#0072b2", "#009e73", "#b4519a", "#d98c00", "#3d8fd1", "#8a6d3b", "#6b59c3",
    "#4a8210", "#b84f76", "#1a93a6", "#986927", "#777727", "#8456a8", "#2f7f5f", "#b87459",
];

/** Share of white in the colours of contexts on a dark ground. */
const LIGHTER = 0.28;

/** Minimum contrast of small text, as WCAG 2.2 demands. */
const MIN_CONTRAST = 4.5;

export const LIGHT = {
    ground: "#ffffff", band: "#f6f7f9", line: "#e4e7ec", text: "#14171c", soft: "#667085",
    alarm: "#d92d20", alarmBand: "rgba(217,45,32,0.09)", select: "#1456c4", unknown: "#98a2b3", gap: "#5b6475",
    selectBand: "rgba(20,86,196,0.10)", interrupt: "#39414f", faint: 0.4, mark: "#6b3fa0", level: "#9db8dc", palette: CONTEXTS,
};

export const DARK = {
    ground: "#11141a", band: "#181c24", line: "#2a303b", text: "#eef1f6", soft: "#98a2b3",
    alarm: "#ff6b5e", alarmBand: "rgba(255,107,94,0.15)", select: "#6ea8ff", unknown: "#667085", gap: "#98a2b3",
    selectBand: "rgba(110,168,255,0.16)", interrupt: "#d3dae6", faint: 0.45, mark: "#c9a2f5", level: "#45618c",
    palette: CONTEXTS.map((colour) => lighter(colour, LIGHTER)),
};

/** @typedef {typeof LIGHT} Colours */

/** Returns the colour of a state of a machine. @type {(colours: Colours, state: number) => string} */
export function stateColour({ palette }, state) {
    // Skip the first colour: it is grey, like an unknown state.
    return palette[1 + (state % (palette.length - 1))];
}

/** Returns the red, green and blue of a colour as `#rrggbb`, from 0 to 255. @param {string} colour */
function channels(colour) {
    return [1, 3, 5].map((place) => parseInt(colour.slice(place, place + 2), 16));
}

/** Returns a colour mixed with white. @type {(colour: string, share: number) => string} */
function lighter(colour, share) {
    return `#${channels(colour).map((value) => Math.round(value + (255 - value) * share).toString(16).padStart(2, "0")).join("")}`;
}

/** Returns the relative luminance of a colour, as WCAG 2.2 defines it. @param {string} colour as `#rrggbb` */
function luminance(colour) {
    const [red, green, blue] = channels(colour).map((value) => {
        const part = value / 255;
        return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** Returns the contrast ratio of two colours, from 1 to 21. @type {(a: string, b: string) => number} */
export function contrast(a, b) {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (light + 0.05) / (dark + 0.05);
}

/** Returns the colour for text on a colour: dark or white, whichever has more contrast. @param {string} colour as `#rrggbb` */
export function textOn(colour) {
    const known = texts.get(colour);
    if (known) return known;
    const text = contrast(colour, LIGHT.text) > contrast(colour, "#ffffff") ? LIGHT.text : "#ffffff";
    texts.set(colour, text);
    return text;
}

/** The results of `textOn`, by the colour on which the text is drawn. @type {Map<string, string>} */
const texts = new Map();

/** The name under which the browser keeps the chosen theme. */
const CHOICE = "tracewell-theme";

/** Returns a value that the browser keeps for pages of this origin, or null. Browsers may refuse this for files. @param {string} name */
function stored(name) {
    try {
        return localStorage.getItem(name);
    } catch {
        return null;
    }
}

/** Keeps a value for pages of this origin, if the browser permits this. @type {(name: string, value: string) => void} */
function store(name, value) {
    try {
        localStorage.setItem(name, value);
    } catch {
        // The choice then lasts until the page is closed.
    }
}

/** The theme that the user chose earlier. The page reads it while it waits for its content, because the browser answers late. */
const CHOSEN = stored(CHOICE);

/** The theme, which follows the system's preference or the user's choice. */
export class Theme {
    /** @param {() => void} changed */
    constructor(changed) {
        this.changed = changed;
        this.system = matchMedia("(prefers-color-scheme: dark)");
        this.system.addEventListener("change", () => this.apply());
        /** @type {string | null} */
        this.choice = CHOSEN;
        /** @type {Colours} */
        this.colours = LIGHT;
        this.apply();
    }

    get isDark() {
        return this.choice ? this.choice === "dark" : this.system.matches;
    }

    toggle() {
        this.choice = this.isDark ? "light" : "dark";
        store(CHOICE, this.choice);
        this.apply();
    }

    apply() {
        this.colours = this.isDark ? DARK : LIGHT;
        document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
        this.changed();
    }
}

/**
 * Returns the colour of each context. The first colours go to contexts that have a row. All
 * interrupts have the same colour.
 * @param {{ kind: string }[]} contexts
 * @param {number[]} order contexts in the order of their rows
 * @param {Colours} [theme]
 */
export function contextColours(contexts, order, theme = LIGHT) {
    const colours = contexts.map(({ kind }) => (kind === "interrupt" ? theme.interrupt : ""));
    let next = 0;
    const assign = (/** @type {number} */ context) => {
        if (colours[context]) return;
        // When the palette is used up, hues follow the golden angle: consecutive hues are 137.5° apart.
        const hue = (next * 137.508) % 360;
        colours[context] = theme.palette[next] ?? readable(hue, theme === DARK);
        next += 1;
    };
    order.forEach(assign);
    for (let context = 0; context < contexts.length; context += 1) assign(context);
    return colours;
}

/** Returns a colour of the given hue. Text on this colour has enough contrast. On a dark ground, the colour is lighter. @type {(hue: number, isDark: boolean) => string} */
function readable(hue, isDark) {
    let lightness = isDark ? 0.6 : 0.42;
    let colour = ofHue(hue, lightness);
    while (contrast(colour, textOn(colour)) < MIN_CONTRAST) {
        lightness += isDark ? 0.02 : -0.02;
        colour = ofHue(hue, lightness);
    }
    return colour;
}

/** Returns a colour of medium saturation. @type {(hue: number, lightness: number) => string} */
function ofHue(hue, lightness) {
    const strength = 0.45 * Math.min(lightness, 1 - lightness);
    const channel = (/** @type {number} */ place) => {
        const k = (place + hue / 30) % 12;
        const value = lightness - strength * Math.max(-1, Math.min(k - 3, 9 - k, 1));
        return Math.round(255 * value).toString(16).padStart(2, "0");
    };
    return `#${channel(0)}${channel(8)}${channel(4)}`;
}
