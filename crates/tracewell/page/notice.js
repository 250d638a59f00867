// A short message in a place of the page that usually shows another text.

/** Time in milliseconds for which a message is visible. */
const DURATION = 3000;

export class Notice {
    /**
     * @param {{ textContent: string | null }} output
     * @param {() => string} usual returns the text without a message
     * @param {(action: () => void, milliseconds: number) => unknown} [later] calls an action after a time
     */
    constructor(output, usual, later = (action, milliseconds) => setTimeout(action, milliseconds)) {
        this.output = output;
        this.usual = usual;
        this.later = later;
        this.message = "";
        /** Number of messages so far. A message ends only if no other has followed. */
        this.count = 0;
    }

    /** @param {string} message */
    show(message) {
        this.message = message;
        this.count += 1;
        const { count } = this;
        this.later(() => {
            if (count !== this.count) return;
            this.message = "";
            this.draw();
        }, DURATION);
        this.draw();
    }

    draw() {
        const text = this.message || this.usual();
        if (this.output.textContent !== text) this.output.textContent = text;
    }
}
