// Lets keys choose the names of rows and groups: one name has a frame, arrow keys move the frame, Enter selects the row or folds the group.

import { describeRow } from "./describe.js";
import { isFolded, isHead, laneName } from "./rows.js";

export class Roving {
    /**
     * @param {import("./timeline.js").Timeline} timeline
     * @param {import("./places.js").Places} places
     */
    constructor(timeline, places) {
        this.timeline = timeline;
        this.places = places;
        timeline.canvas.addEventListener("pointerdown", () => this.leave());
    }

    get isActive() {
        return this.timeline.framed !== "";
    }

    leave() {
        if (!this.isActive) return;
        this.timeline.framed = "";
        this.timeline.view.changed();
    }

    /** Handles a key. Returns true if the key chooses or uses a name. @param {KeyboardEvent} event */
    key(event) {
        if (event.key === "g") {
            if (this.isActive) this.leave();
            else this.enter();
            return true;
        }
        const { shown } = this.timeline;
        const place = shown.findIndex((lane) => laneName(lane) === this.timeline.framed);
        if (!this.isActive || place < 0) return false;
        const lane = shown[place];
        switch (event.key) {
            case "ArrowUp": this.frame(place - 1); break;
            case "ArrowDown": this.frame(place + 1); break;
            case "Home": this.frame(0); break;
            case "End": this.frame(shown.length - 1); break;
            case "ArrowLeft": this.fold(lane, true); break;
            case "ArrowRight": this.fold(lane, false); break;
            case "Enter": case " ": this.use(lane); break;
            case "Escape": this.leave(); break;
            default: return false;
        }
        return true;
    }

    /** Frames the name of the selected row, or the first name. */
    enter() {
        const { timeline, timeline: { view } } = this;
        const row = !view.selection || "event" in view.selection ? -1 : "row" in view.selection ? view.selection.row : view.selection.whole;
        const place = timeline.shown.findIndex((lane) => lane.row?.index === row && row >= 0);
        this.frame(Math.max(place, 0));
    }

    /** @param {number} place */
    frame(place) {
        const { timeline } = this;
        const lane = timeline.shown[Math.min(Math.max(place, 0), timeline.shown.length - 1)];
        if (!lane) return;
        timeline.framed = laneName(lane);
        timeline.scrollToLane(lane);
    }

    /** Folds or unfolds a group, or the group of a row. @type {(lane: import("./rows.js").Lane, folds: boolean) => void} */
    fold(lane, folds) {
        const { timeline, timeline: { view } } = this;
        const head = timeline.shown.find((each) => isHead(each) && each.group === lane.group);
        if (!head || isFolded(view.folded, lane.group) === folds) return;
        timeline.framed = laneName(head);
        timeline.fold(lane.group);
    }

    /** Folds a group, or selects a row. @param {import("./rows.js").Lane} lane */
    use(lane) {
        if (isHead(lane)) this.timeline.fold(lane.group);
        else if (lane.row) this.places.whole(lane.row.index);
    }
}

/** Describes the framed name for screen readers. @param {import("./timeline.js").Timeline} timeline */
export function describeFramed(timeline) {
    const lane = timeline.shown.find((each) => laneName(each) === timeline.framed);
    if (!lane) return "";
    if (isHead(lane)) return `group ${lane.label}, ${isFolded(timeline.view.folded, lane.group) ? "folded" : "unfolded"}`;
    return lane.row ? describeRow(timeline.model, lane.row.index) : `row ${lane.label}`;
}
