// Starts the static page: the user drops a trace, chooses a file, or opens the sample. A web worker reads the trace.
// The page does not send it to any server.

import { ofReader } from "./asks.js";
import { element } from "./elements.js";
import { inWords } from "./live.js";
import { named, show } from "./page.js";
import { Reader } from "./reader.js";

/** The sample file, in the same folder as the page, and the rate of the sample's clock. */
const SAMPLE = { name: "scheduling.trx", rate: "100MHz" };

/** An option that most formats have. The dialog shows it before the format is known. */
const RATE = { key: "rate", value: "HZ", help: "ticks per second of the trace's clock, such as 100MHz" };

/**
 * Creates an element with properties.
 * @template {keyof HTMLElementTagNameMap} N
 * @param {N} name
 * @param {Partial<HTMLElementTagNameMap[N]>} properties
 * @param {(string | Node)[]} [content]
 * @returns {HTMLElementTagNameMap[N]}
 */
function made(name, properties, content = []) {
    const node = document.createElement(name);
    Object.assign(node, properties);
    node.append(...content);
    return node;
}

/** The dialog that opens traces. */
class Start {
    constructor() {
        /** @type {File | null} */
        this.file = null;
        /** The reader of the visible trace. @type {Reader | null} */
        this.reader = null;
        /** The reader of the trace that is being opened. @type {Reader | null} */
        this.next = null;
        /** @type {ReturnType<typeof show> | null} */
        this.page = null;
        /** @type {import("./reader.js").Format[]} */
        this.formats = [];
        /** True if the user typed an option after the last trace was opened. */
        this.isEdited = false;
        this.input = made("input", { type: "file", id: "file" });
        this.sample = made("button", { type: "button", textContent: `sample: ${SAMPLE.name}` });
        this.format = made("select", { id: "format" }, [made("option", { value: "", textContent: "recognise" })]);
        this.options = made("div", { className: "options" });
        this.again = made("button", { type: "submit", textContent: "read again", hidden: true });
        this.close = made("button", { type: "button", textContent: "close", hidden: true });
        this.progress = made("progress", { max: 1, hidden: true });
        this.progress.setAttribute("aria-label", "Progress of reading");
        this.message = made("p", { id: "message" });
        this.message.setAttribute("role", "status");
        const choose = made("label", { className: "zone" }, [element("b", ["Drop a trace here"]), "or choose a file", this.input]);
        const form = made("form", {}, [
            element("h2", ["Open a trace"]),
            element("p", ["The page reads the trace in this browser. It sends nothing to a server."]),
            choose, element("p", [this.sample]),
            made("details", {}, [element("summary", ["format and options"]), this.labelled("format", this.format), this.options]),
            this.progress, this.message, element("p", [this.again, " ", this.close]),
        ]);
        this.dialog = made("dialog", { id: "start" }, [form]);
        this.dialog.setAttribute("aria-label", "Open a trace");
        this.button = made("button", { id: "open", textContent: "open", title: "Open another trace (o)" });
        document.body.append(this.dialog);
        named("back").before(this.button);
        this.listen(form);
        this.fields([RATE]);
    }

    /** @type {(label: string, field: HTMLElement, help?: string) => HTMLElement} */
    labelled(label, field, help = "") {
        return made("label", { className: "field" }, [element("span", [label]), field, element("small", [help])]);
    }

    /** @param {HTMLFormElement} form */
    listen(form) {
        this.input.addEventListener("change", () => this.choose(this.input.files?.[0]));
        this.sample.addEventListener("click", () => this.openSample());
        this.format.addEventListener("change", () => this.named(this.format.value));
        this.options.addEventListener("input", () => { this.isEdited = true; });
        form.addEventListener("submit", (event) => {
            event.preventDefault();
            if (this.file) this.open(this.file);
        });
        this.close.addEventListener("click", () => this.dialog.close());
        this.button.addEventListener("click", () => this.dialog.showModal());
        // If no trace is shown, the rest of the page is empty, so keep the dialog open.
        this.dialog.addEventListener("cancel", (event) => {
            if (!this.page) event.preventDefault();
        });
        addEventListener("keydown", (event) => {
            const { tagName } = /** @type {HTMLElement} */ (event.target);
            const isTyping = ["INPUT", "SELECT"].includes(tagName) || event.ctrlKey || event.metaKey || event.altKey;
            if (event.key === "o" && !isTyping && !document.querySelector("dialog[open]")) this.dialog.showModal();
        });
        addEventListener("dragover", (event) => {
            event.preventDefault();
            document.body.dataset.over = "";
        });
        addEventListener("dragleave", (event) => {
            if (!event.relatedTarget) delete document.body.dataset.over;
        });
        addEventListener("drop", (event) => {
            event.preventDefault();
            delete document.body.dataset.over;
            const files = event.dataTransfer?.files;
            if (files?.length === 1) this.choose(files[0]);
            else if (files) this.failed(`drop one file, found ${files.length}`);
        });
    }

    /** Shows the dialog. Opens the sample if the address ends with `?sample`. */
    async start() {
        document.body.dataset.empty = "";
        this.dialog.showModal();
        const reader = new Reader(() => undefined);
        this.formats = await reader.formats();
        reader.end("");
        this.format.append(...this.formats.map(({ name, description }) =>
            made("option", { value: name, textContent: name, title: description })));
        if (new URLSearchParams(location.search).has("sample")) await this.openSample();
    }

    /** Shows a field for each option of a format. A new field keeps the text of the old field that had the same key. @param {string} name */
    named(name) {
        const { options } = this.formats.find((format) => format.name === name) ?? { options: [RATE] };
        // Leave out options that name files, because the reader has no file except the trace.
        this.fields(options.filter(({ value }) => !value.startsWith("FILE")));
    }

    /** @type {(list: import("./reader.js").Format["options"], typed?: Map<string, string>) => void} */
    fields(list, typed = this.typed) {
        this.options.replaceChildren(...list.map(({ key, value, help }) => {
            const field = made("input", { name: key, placeholder: value, value: typed.get(key) ?? "", autocomplete: "off" });
            return this.labelled(key, field, help);
        }));
    }

    /** The texts of the options that are not empty, by key. @returns {Map<string, string>} */
    get typed() {
        const fields = [...this.options.querySelectorAll("input")];
        return new Map(fields.filter(({ value }) => value.trim() !== "").map(({ name, value }) => [name, value.trim()]));
    }

    /** Opens a new file with the options of its own format. @param {File | undefined} file */
    choose(file) {
        if (!file) return;
        // The format of another trace can have other options.
        if (this.file && this.format.value === "" && !this.isEdited) this.fields([RATE], new Map());
        this.open(file);
    }

    async openSample() {
        try {
            const response = await fetch(SAMPLE.name);
            if (!response.ok) throw new Error(`${SAMPLE.name}: ${response.status} ${response.statusText}`);
            this.format.value = "";
            this.fields([RATE], new Map([[RATE.key, SAMPLE.rate]]));
            await this.open(new File([await response.blob()], SAMPLE.name));
        } catch (error) {
            this.failed(/** @type {Error} */ (error).message);
        }
    }

    /** Shows a failure in the dialog. @param {string} message */
    failed(message) {
        if (!this.dialog.open) this.dialog.showModal();
        this.progress.hidden = true;
        this.message.className = "failure";
        // Remove the prefix of the command line, because the page has fields for the options.
        this.message.textContent = message.replace(/^-O /, "");
    }

    /** @param {import("./live.js").Progress} progress */
    watch(progress) {
        this.progress.value = progress.bytes / Math.max(progress.size ?? 1, 1);
        this.message.textContent = progress.reading ? inWords(progress) : "loading";
    }

    /** Reads a trace and shows it. The page shows the old trace until the new one has been read. @param {File} file */
    async open(file) {
        this.next?.end("another trace was chosen");
        const reader = new Reader((progress) => this.watch(progress));
        this.next = reader;
        this.file = file;
        this.isEdited = false;
        if (!this.dialog.open) this.dialog.showModal();
        this.progress.value = 0;
        this.progress.hidden = this.again.hidden = false;
        this.message.className = "";
        this.message.textContent = "loading";
        // The messages of the page are about the previous trace.
        named("progress").textContent = named("progress").title = "";
        try {
            const options = [...this.typed].map(([key, value]) => `${key}=${value}`);
            const content = await reader.open(file, this.format.value || null, options);
            const { format, diagnostics } = await reader.facts();
            this.next = null;
            this.reader?.end("another trace was opened");
            this.reader = reader;
            delete document.body.dataset.empty;
            if (this.page) this.page.replace(content);
            else {
                const shown = () => /** @type {Reader} */ (this.reader);
                this.page = show(content, null, (query) => shown().view(query), ofReader(shown));
            }
            this.opened(format, diagnostics);
        } catch (error) {
            reader.end("");
            // Do not show a message if the page ended the reader to load another trace.
            if (this.next === reader) this.failed(/** @type {Error} */ (error).message);
        }
    }

    /** @type {(format: string, diagnostics: string[]) => void} */
    opened(format, diagnostics) {
        this.named(format);
        this.progress.hidden = true;
        this.close.hidden = false;
        this.message.textContent = diagnostics.join("\n");
        const output = named("progress");
        const more = diagnostics.length > 1 ? ` (${diagnostics.length - 1} more: open)` : "";
        output.textContent = diagnostics.length > 0 ? diagnostics[0] + more : "";
        output.title = diagnostics.join("\n");
        this.dialog.close();
        named("timeline").focus();
    }
}

const start = new Start();
start.start().catch((error) => start.failed(error.message));
