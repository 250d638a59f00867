// The marks of the user in the page: the dialog that asks for a text, the list in the side panel, and
// how the page stores them.

import { element } from "./elements.js";
import { MAX_TEXT } from "./marks.js";
import { saveFile } from "./saving.js";

/**
 * A store for the content of a marks file. A page without a store keeps marks in its address.
 * @typedef {{ load: () => Promise<string>, save: (content: string) => Promise<void> }} Store
 */

export class Marking {
    /**
     * @param {import("./timeline.js").Timeline} timeline
     * @param {HTMLElement} output for messages
     * @param {Store | null} store
     */
    constructor(timeline, output, store) {
        this.timeline = timeline;
        this.view = timeline.view;
        this.output = output;
        this.store = store;
        /** Resolves at the end of the last request to the store. @type {Promise<void>} */
        this.last = Promise.resolve();
        /** The new or changed mark. @type {{ from: bigint, until: bigint, old: import("./marks.js").UserMark | null } | null} */
        this.place = null;
        this.heading = element("h2", []);
        this.input = document.createElement("input");
        this.input.maxLength = MAX_TEXT;
        this.input.setAttribute("aria-label", "Text of the mark");
        this.removal = element("button", ["remove mark"]);
        this.removal.setAttribute("type", "button");
        this.removal.addEventListener("click", () => {
            this.dialog.close();
            if (this.place?.old) this.view.marks.remove(this.place.old);
            this.changed();
        });
        const form = element("form", [this.heading, this.input, element("p", [element("button", ["keep mark"]), " ", this.removal])]);
        this.dialog = /** @type {HTMLDialogElement} */ (element("dialog", [form], "mark"));
        document.body.append(this.dialog);
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            this.keep();
        });
    }

    /** Loads the marks from the store. Keeps marks that the user makes before the stored marks arrive. */
    load() {
        if (!this.store) return;
        this.view.keepsMarks = false;
        const { marks } = this.view;
        const known = new Set(marks.list);
        this.last = this.store.load().then((content) => {
            const made = marks.list.filter((mark) => !known.has(mark));
            marks.read(content);
            for (const { from, until, text } of made) marks.add(from, until, text);
            this.view.changed();
        }).catch((error) => {
            // Do not overwrite stored marks that could not be loaded.
            this.store = null;
            this.view.keepsMarks = true;
            this.failed(error);
        });
    }

    /** @param {unknown} error */
    failed(error) {
        this.output.textContent = /** @type {Error} */ (error).message;
    }

    /** Asks for the text of a mark at a time. @type {(from: number, until: number) => void} */
    ask(from, until) {
        const { model } = this.timeline;
        const inside = (/** @type {number} */ time) => model.exact(Math.min(Math.max(time, 0), model.length));
        this.edit({ from: inside(from), until: inside(until), old: null });
    }

    /** Asks for a new text for a mark. @param {import("./marks.js").UserMark} mark */
    change(mark) {
        this.edit({ from: mark.from, until: mark.until, old: mark });
    }

    /** @param {{ from: bigint, until: bigint, old: import("./marks.js").UserMark | null }} place */
    edit(place) {
        const { model } = this.timeline;
        this.place = place;
        const end = place.until > place.from ? ` to ${model.time(place.until)}` : "";
        this.heading.textContent = `Mark at ${model.time(place.from)}${end}`;
        this.input.value = place.old?.text ?? "";
        this.removal.hidden = place.old === null;
        this.dialog.showModal();
        this.input.focus();
    }

    /** Adds or changes the mark of the dialog. */
    keep() {
        this.dialog.close();
        if (!this.place) return;
        const { from, until, old } = this.place;
        if (old) this.view.marks.remove(old);
        this.view.marks.add(from, until, this.input.value);
        this.changed();
    }

    changed() {
        this.view.changed();
        this.last = this.last.then(async () => {
            // Read the store and the marks only now: in the meantime, loading may have failed or added marks.
            if (!this.store) return;
            await this.store.save(this.view.marks.content);
            this.output.textContent = "";
        }).catch((error) => this.failed(error));
    }

    /** Returns the list of marks for the side panel. @param {(text: string, follow: () => void) => HTMLElement} link */
    section(link) {
        const { model } = this.timeline;
        const { marks } = this.view;
        if (marks.list.length === 0) return [];
        const offset = (/** @type {bigint} */ ticks) => Number(ticks - model.origin);
        const items = marks.list.map((mark) => {
            const [from, until] = [offset(mark.from), offset(mark.until)];
            const follow = () => (until > from ? this.view.jump(from - (until - from) * 0.3, until + (until - from) * 0.3)
                : this.view.reveal(from));
            const remove = () => {
                marks.remove(mark);
                this.changed();
            };
            const edit = () => this.change(mark);
            return element("li", [link(`${model.time(mark.from)} ${mark.text}`, follow), " · ", link("edit", edit), " · ", link("delete", remove)]);
        });
        const name = `${model.header.title}.marks.txt`;
        const save = () => saveFile(new Blob([marks.content], { type: "text/plain" }), name);
        return [element("section", [element("h3", ["Marks"]), element("ul", items), element("p", [link(`save as ${name}`, save)])])];
    }
}
