// The dialog with the offsets of the files, if the page shows several traces.

import { element } from "./elements.js";
import { duration, grouped, parsedOffset } from "./time.js";

export class Offsets {
    /**
     * @param {import("./timeline.js").Timeline} timeline
     * @param {HTMLElement} button opens the dialog
     */
    constructor(timeline, button) {
        this.timeline = timeline;
        this.form = /** @type {HTMLFormElement} */ (element("form", []));
        this.dialog = /** @type {HTMLDialogElement} */ (element("dialog", [this.form], "mark"));
        this.dialog.setAttribute("aria-label", "Offsets of the files");
        document.body.append(this.dialog);
        button.hidden = timeline.model.files.length === 0;
        button.addEventListener("click", () => this.open());
        this.form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.keep();
        });
    }

    /** Shows the dialog with the current offsets. */
    open() {
        const { model, view } = this.timeline;
        if (model.files.length === 0 || this.dialog.open) return;
        const fields = model.files.map(({ title }, file) => {
            const input = document.createElement("input");
            input.value = this.text(view.offsets[file] ?? 0);
            input.autocomplete = "off";
            return element("label", [element("span", [title]), input], "field");
        });
        this.message = element("p", [], "failure");
        this.message.setAttribute("role", "alert");
        this.form.replaceChildren(element("h2", ["Offsets"]),
            element("p", ["The offset moves a file to later times, or to earlier ones if it is negative. You can also drag the bar of the file."]),
            ...fields, this.message, element("p", [element("button", ["move files"])]));
        this.dialog.showModal();
        this.form.querySelector("input")?.select();
    }

    /** Returns an offset in a form that the user can type. @param {number} offset in ticks of the page */
    text(offset) {
        const { clock } = this.timeline.model;
        const size = Math.abs(offset);
        const text = clock.isKnown ? duration(clock.ns(BigInt(size)), 15) : grouped(size);
        return offset < 0 ? `-${text}` : text;
    }

    /** Moves the files to the offsets of the fields, if these are valid. */
    keep() {
        const { model, view } = this.timeline;
        const { clock } = model;
        const inputs = [...this.form.querySelectorAll("input")];
        const offsets = inputs.map(({ value }) => parsedOffset(value, clock.isKnown));
        const wrong = offsets.indexOf(null);
        if (wrong >= 0) {
            const expected = clock.isKnown ? "a time such as 1.5 ms or -20 us" : "a number of ticks such as 1500 or -20";
            if (this.message) this.message.textContent = `${inputs[wrong].value}: expected ${expected}`;
            inputs[wrong].focus();
            return;
        }
        this.dialog.close();
        offsets.forEach((offset, file) => {
            const value = offset ?? 0n;
            const size = value < 0n ? -value : value;
            const ticks = Number(clock.isKnown ? clock.ticks(size) : size);
            view.place(file, value < 0n ? -ticks : ticks);
        });
    }
}
