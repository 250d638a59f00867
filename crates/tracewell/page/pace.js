// Decides when the texts of the page follow the picture. The picture follows each movement in the next frame. Lists and tables cost more than
// the picture, but the user does not read them while the picture moves. So the page updates them when the movement ends, and a few times
// per second before that.

/** A movement has ended if no other movement follows within this time in milliseconds. */
export const REST = 100;

/** Maximum time in milliseconds between two updates of the texts during a movement. */
const BEHIND = 250;

/** `REST` and `BEHIND` are extended by this number times `cost`, because a slow or busy computer needs more time to update the texts. */
const FRAMES = 4;

export class Pace {
    constructor() {
        /** The state of the last frame: the values on which the texts depend, without the visible time. `from` and `to` are the visible time. @type {unknown[]} */
        this.state = [];
        this.from = NaN;
        this.to = NaN;
        /** Time of the last frame in which the visible time had changed. */
        this.moved = -Infinity;
        /** Time of the last frame that updated the texts. */
        this.followed = -Infinity;
        /** Duration in milliseconds of the last frame that updated the texts. */
        this.cost = 0;
    }

    /**
     * Returns true if the texts need not follow the picture yet: the visible time keeps changing, nothing else has changed, and the last update
     * of the texts is recent. In this case, the caller must draw another frame after `REST` milliseconds, even if nothing has changed by then.
     * @param {{ from: number, to: number }} view
     * @param {unknown[]} state the values on which the texts depend, without the visible time
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
