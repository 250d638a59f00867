// The tabs below the timeline. They choose the visible panel.

export class Tabs {
    /**
     * @param {HTMLElement} bar contains a button for each panel, with the panel's id in aria-controls
     * @param {(name: string) => void} changed
     */
    constructor(bar, changed) {
        this.changed = changed;
        this.buttons = /** @type {HTMLElement[]} */ ([...bar.querySelectorAll("[role=tab]")]);
        this.buttons.forEach((button, index) => {
            button.addEventListener("click", () => this.choose(this.name(button)));
            button.addEventListener("keydown", (event) => {
                const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
                if (step === undefined) return;
                const next = this.buttons[(index + step + this.buttons.length) % this.buttons.length];
                next.focus();
                this.choose(this.name(next));
                event.preventDefault();
                event.stopPropagation();
            });
        });
        this.chosen = this.name(this.buttons[0]);
    }

    /** @param {HTMLElement} button */
    name(button) {
        return button.getAttribute("aria-controls") ?? "";
    }

    /** Shows a panel; ignores an unknown name. @param {string} name */
    choose(name) {
        if (!this.buttons.some((button) => this.name(button) === name)) return;
        this.chosen = name;
        for (const button of this.buttons) {
            const isChosen = this.name(button) === name;
            button.setAttribute("aria-selected", String(isChosen));
            button.tabIndex = isChosen ? 0 : -1;
            const panel = document.getElementById(this.name(button));
            if (panel) panel.hidden = !isChosen;
        }
        this.changed(name);
    }
}
