// Decides when the texts of the page follow the picture. The picture follows each movement in the next frame. Lists and tables cost more than
// the picture, but nobody reads them while it moves. So they are updated when the movement ends, and a few times per second before that.

/** Time in milliseconds after a movement without another one, at which the movement has ended. */
export const REST = 100;

/** Maximum time in milliseconds for which the texts stay behind. */
const BEHIND = 250;

/** On a slow or busy computer, both times are longer by this number of frames with texts. */
const FRAMES = 4;

export class Pace {
    constructor() {
        /** The state of the last frame: what the texts depend on beside the visible time, and this time. @type {unknown[]} */
        this.state = [];
        this.from = NaN;
        this.to = NaN;
        /** Times of the last frame with another visible time, and of the last frame with texts. */
        this.moved = -Infinity;
        this.followed = -Infinity;
        /** Duration of the last frame with texts in milliseconds. */
        this.cost = 0;
    }

    /**
     * Returns true if only the visible time changes, and does so from frame to frame. Then the next frame without a change must follow after `REST`.
     * @param {{ from: number, to: number }} view
     * @param {unknown[]} state what the texts depend on beside the visible time
     * @param {number} now in milliseconds
     */
    isMoving({ from, to }, state, now) {
        const isSame = state.length === this.state.length && state.every((value, i) => value === this.state[i]);
        const isMoved = from !== this.from || to !== this.to;
        const slow = FRAMES * this.cost;
        const isMoving = isSame && isMoved && now - this.moved < REST + slow && now - this.followed < BEHIND + slow;
        this.state = state;
        [this.from, this.to] = [from, to];
        if (isMoved) this.moved = now;
        if (!isMoving) this.followed = now;
        return isMoving;
    }
}
