// Colours. Each context has one colour, used wherever it appears; states differ in shape, so they do not need colours.

const CONTEXTS = [
    "#66768d", "#0072b2", "#009e73", "#b4519a", "#d98c00", "#3d8fd1", "#8a6d3b", "#6b59c3",
    "#4f8a10", "#c0587e", "#17899b", "#a0702a", "#7d7d2a", "#8456a8", "#2f7f5f", "#b06a4f",
];

const LIGHT = {
    ground: "#ffffff", band: "#f6f7f9", line: "#e4e7ec", text: "#14171c", soft: "#667085",
    alarm: "#d92d20", alarmBand: "rgba(217,45,32,0.09)", select: "#1456c4", unknown: "#98a2b3",
    selectBand: "rgba(20,86,196,0.10)", interrupt: "#c8401a", onColour: "#ffffff", faint: 0.4,
    mark: "#6b3fa0", level: "#9db8dc",
};

const DARK = {
    ground: "#11141a", band: "#181c24", line: "#2a303b", text: "#eef1f6", soft: "#98a2b3",
    alarm: "#ff6b5e", alarmBand: "rgba(255,107,94,0.15)", select: "#6ea8ff", unknown: "#667085",
    selectBand: "rgba(110,168,255,0.16)", interrupt: "#f0754c", onColour: "#ffffff", faint: 0.45,
    mark: "#c9a2f5", level: "#45618c",
};

/** @typedef {typeof LIGHT} Colours */

/** Returns the colour of a state of a machine. @param {number} state */
export function stateColour(state) {
    // Skip the first colour: it is grey, like an unknown state.
    return CONTEXTS[1 + (state % (CONTEXTS.length - 1))];
}

/** The theme, which follows the system's preference or the user's choice. */
export class Theme {
    /** @param {() => void} changed */
    constructor(changed) {
        this.changed = changed;
        this.system = matchMedia("(prefers-color-scheme: dark)");
        this.system.addEventListener("change", () => this.apply());
        /** @type {"light" | "dark" | null} */
        this.choice = null;
        /** @type {Colours} */
        this.colours = LIGHT;
        this.apply();
    }

    get isDark() {
        return this.choice ? this.choice === "dark" : this.system.matches;
    }

    toggle() {
        this.choice = this.isDark ? "light" : "dark";
        this.apply();
    }

    apply() {
        this.colours = this.isDark ? DARK : LIGHT;
        document.documentElement.dataset.theme = this.isDark ? "dark" : "light";
        this.changed();
    }
}

/**
 * Returns the colour of each context. Contexts that have a row come first; interrupts have one
 * colour.
 * @param {{ kind: string }[]} contexts
 * @param {number[]} order contexts in the order of their rows
 */
export function contextColours(contexts, order) {
    const colours = contexts.map(({ kind }) => (kind === "interrupt" ? LIGHT.interrupt : ""));
    let next = 0;
    const assign = (/** @type {number} */ context) => {
        if (colours[context]) return;
        // After the palette, hues follow the golden angle: consecutive hues are at most 137.5° apart.
        const hue = (next * 137.508) % 360;
        colours[context] = CONTEXTS[next] ?? `hsl(${hue.toFixed(0)} 45% 45%)`;
        next += 1;
    };
    order.forEach(assign);
    for (let context = 0; context < contexts.length; context += 1) assign(context);
    return colours;
}
