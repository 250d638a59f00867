// The source of the static page: sends requests to a worker, which holds the trace in its memory.
// The answers are the same as a server's answers.

import { unpacked } from "./source.js";

/** @typedef {import("./live.js").Progress} Progress */

export class Reader {
    /** @param {(progress: Progress) => void} watch receives the progress of reading the trace */
    constructor(watch) {
        this.worker = new Worker("worker.js");
        /** Receives the progress until the reader is ended. */
        this.watch = watch;
        /** The requests without an answer, the oldest first. @type {{ done: (answer: ArrayBuffer) => void, failed: (error: Error) => void }[]} */
        this.waiting = [];
        this.worker.addEventListener("message", ({ data }) => {
            if (data.progress) this.watch(data.progress);
            else if (data.answer) this.waiting.shift()?.done(data.answer);
            else this.waiting.shift()?.failed(new Error(data.failure));
        });
        this.worker.addEventListener("error", (event) => {
            event.preventDefault();
            this.end(`the reader cannot be loaded: ${event.message ?? "worker.js"}`);
        });
    }

    /** Ends the worker. Requests without an answer fail with the message. @param {string} message */
    end(message) {
        this.worker.terminate();
        // Messages that the worker has already sent still arrive.
        this.watch = () => undefined;
        this.waiting.splice(0).forEach(({ failed }) => failed(new Error(message)));
    }

    /**
     * @param {object} request
     * @param {File | null} [file] the trace, for `open`
     * @returns {Promise<ArrayBuffer>}
     */
    ask(request, file = null) {
        return new Promise((done, failed) => {
            this.waiting.push({ done, failed });
            this.worker.postMessage({ request, file });
        });
    }

    /** @param {object} request */
    async json(request) {
        return JSON.parse(new TextDecoder().decode(await this.ask(request)));
    }

    /** Returns the formats that can be read, with their options. @returns {Promise<Format[]>} */
    async formats() {
        return (await this.json({ ask: "formats" })).read;
    }

    /** Returns the format of the open trace, and the diagnostics of its decoder. @returns {Promise<{ format: string, diagnostics: string[] }>} */
    facts() {
        return this.json({ ask: "facts" });
    }

    /**
     * Reads a trace, and returns the payload of its page.
     * @param {File} file
     * @param {string | null} format if null, the reader recognises the format
     * @param {string[]} options
     */
    async open(file, format, options) {
        return content(await this.ask({ ask: "open", name: file.name, format, options }, file));
    }

    /** Returns a view of a large trace. @param {string} query parameters as for the server's `api/v1/view` */
    async view(query) {
        const values = new URLSearchParams(query);
        const [from, to, parts, window] = ["from", "to", "parts", "window"].map((name) => values.get(name) ?? "0");
        return content(await this.ask({ ask: "view", from, to, parts: Number(parts), window, events: values.get("events") === "1" }));
    }
}

/** @typedef {{ name: string, description: string, options: { key: string, value: string, help: string }[] }} Format */

/** @param {ArrayBuffer} answer */
function content(answer) {
    return unpacked(new Blob([answer]).stream());
}
