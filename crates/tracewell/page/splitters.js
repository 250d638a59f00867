// The borders that the user can move: between timeline and list, and between both and the side panel.

/** Minimum height of the list in pixels, and minimum width of the side panel. */
const [MIN_LIST, MIN_SIDE] = [160, 200];

/** Height of the list if the rows leave too little room, and maximum height of the list, as shares of the total height of timeline and list. */
const [SHARE, MAX_SHARE] = [0.32, 0.45];

/** Number of pixels by which an arrow key moves a border. */
const STEP = 24;

/**
 * Returns the height of the list at which all rows are visible if they fit.
 * @param {number} all height of timeline and list
 * @param {number} needed height of the timeline with all rows
 * @param {number} [spare] the part of this height that the timeline can lack
 */
export function listHeight(all, needed, spare = 0) {
    const rest = all - needed;
    const least = Math.min(MIN_LIST, all * SHARE);
    if (rest < least) return Math.round(rest + spare < least ? all * SHARE : rest + spare);
    return Math.round(Math.min(rest, all * MAX_SHARE));
}

/**
 * Lets the user move a border with the pointer and with arrow keys.
 * @param {HTMLElement} bar
 * @param {{ get: () => number, set: (size: number) => void, at: (event: PointerEvent) => number, most: () => number, least: number,
 *   keys: Record<string, number> }} border its size, the size for a place of the pointer, the limits, and the directions of keys
 */
function movable(bar, { get, set, at, most, least, keys }) {
    const limited = (/** @type {number} */ size) => {
        const next = Math.round(Math.max(Math.min(size, most()), least));
        set(next);
        bar.setAttribute("aria-valuenow", String(Math.round((100 * next) / Math.max(most(), 1))));
    };
    bar.addEventListener("pointerdown", (event) => bar.setPointerCapture(event.pointerId));
    bar.addEventListener("pointermove", (event) => {
        if (event.buttons === 1) limited(at(event));
    });
    bar.addEventListener("keydown", (event) => {
        const direction = keys[event.key];
        if (direction === undefined) return;
        limited(get() + direction * STEP);
        event.preventDefault();
        event.stopPropagation();
    });
}

/** The borders of the page. */
export class Splitters {
    /**
     * @param {{ bar: HTMLElement, divider: HTMLElement, main: HTMLElement, list: HTMLElement, side: HTMLElement }} parts
     * @param {() => number} needed returns the height of the timeline with all rows
     * @param {() => number} spare returns the part of this height that the timeline can lack
     */
    constructor({ bar, divider, main, list, side }, needed, spare) {
        this.spare = spare;
        this.main = main;
        this.list = list;
        this.needed = needed;
        /** True if the user has moved the border above the list. */
        this.isMoved = false;
        movable(bar, {
            get: () => list.clientHeight,
            set: (size) => {
                this.isMoved = true;
                list.style.height = `${size}px`;
            },
            at: (event) => document.body.clientHeight - event.clientY,
            most: () => document.body.clientHeight - 200, least: 60, keys: { ArrowUp: 1, ArrowDown: -1 },
        });
        movable(divider, {
            get: () => side.clientWidth,
            set: (size) => document.body.style.setProperty("--side", `${size}px`),
            at: (event) => document.body.clientWidth - event.clientX,
            most: () => document.body.clientWidth / 2, least: MIN_SIDE, keys: { ArrowLeft: 1, ArrowRight: -1 },
        });
        addEventListener("resize", () => this.fit());
    }

    /** Gives the list the room that the rows leave, unless the user has moved the border. */
    fit() {
        if (!this.isMoved) this.list.style.height = `${listHeight(this.main.clientHeight, this.needed(), this.spare())}px`;
    }
}
