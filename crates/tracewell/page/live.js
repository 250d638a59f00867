// Follows a trace that the server is still reading, or that grows. Shows the progress, and loads
// the payload again after each change, unless the user has paused the updates.

import { counted } from "./words.js";

/**
 * A message in which the server reports its progress.
 * @typedef {{
 *   edition: number, reading: boolean, events: number, bytes: number, size: number | null,
 *   failure: string | null, editions?: number[]
 * }} Progress
 */

/** Returns the progress in words. @param {Progress} progress */
export function inWords({ reading, events, bytes, size, failure }) {
    if (failure) return failure;
    if (!reading) return "";
    const share = size ? `${Math.min(Math.floor((100 * bytes) / size), 100)} %, ` : "";
    return `reading: ${share}${counted(events, "event")}`;
}

export class Live {
    /**
     * @param {HTMLElement} output
     * @param {HTMLElement} button
     */
    constructor(output, button) {
        this.output = output;
        this.button = button;
        this.isPaused = false;
        this.isLoading = false;
        /** Edition of the content, and the newest edition on the server. */
        this.loaded = -1;
        this.newest = -1;
        /** Newest edition of each file. @type {number[]} */
        this.editions = [];
        /** True while the server reads the trace for the first time. */
        this.isReading = true;
        this.told = (/** @type {boolean} */ _) => {};
        /** @type {(() => Promise<number>) | null} */
        this.load = null;
        const stream = new EventSource("api/v1/live");
        stream.addEventListener("message", (event) => this.received(JSON.parse(event.data)));
        stream.addEventListener("error", () => {
            this.output.textContent = "the server does not answer";
        });
        button.addEventListener("click", () => this.pause());
    }

    /** From now on, calls `told` with true while the server reads the trace for the first time. @param {(isReading: boolean) => void} told */
    watch(told) {
        this.told = told;
        told(this.isReading);
    }

    /** @param {Progress} progress */
    received(progress) {
        this.isReading = progress.reading;
        this.told(progress.reading);
        this.output.textContent = inWords(progress);
        this.newest = progress.edition;
        this.editions = progress.editions ?? [progress.edition];
        this.update();
    }

    /**
     * From now on, calls `load` whenever the server has a newer edition than the page. The page already has `edition`.
     * `load` returns the edition that it has loaded.
     * @param {number} edition
     * @param {() => Promise<number>} load
     */
    follow(edition, load) {
        this.load = load;
        this.loaded = edition;
        this.update();
    }

    pause() {
        this.isPaused = !this.isPaused;
        this.button.setAttribute("aria-pressed", String(this.isPaused));
        this.button.textContent = this.isPaused ? "continue" : "pause";
        this.update();
    }

    async update() {
        if (!this.load || this.isLoading || this.isPaused || this.newest <= this.loaded) return;
        this.button.hidden = false;
        this.isLoading = true;
        try {
            this.loaded = await this.load();
        } catch (error) {
            this.output.textContent = /** @type {Error} */ (error).message;
            this.loaded = this.newest;
        }
        this.isLoading = false;
        this.update();
    }
}
