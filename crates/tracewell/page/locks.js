// The page's summary of a mutex or semaphore: how it was created, which contexts held it, and the
// longest wait. This file also splits and reads the arguments of events.

/** Names of the argument that specifies priority inheritance when a lock is created, and the values that mean no inheritance. */
const [INHERITANCE, WITHOUT] = [["inheritance", "inherit"], ["none", "no", "false", "0", "0x0", "0x00000000"]];

/**
 * Returns the arguments of an event in the text of the page. The value of an argument may contain commas.
 * @param {string} text
 * @returns {string[]}
 */
export function argumentsIn(text) {
    return text === "" ? [] : text.split(/, (?=[^=,]+=)/);
}

/**
 * Returns the arguments in a different order: addresses last, because the other arguments help a reader more.
 * @param {string[]} args
 * @returns {string[]}
 */
export function telling(args) {
    const isAddress = (/** @type {string} */ arg) => /(^|[ _])(ptr|pointer|address|start)=0x/i.test(arg);
    return [...args.filter((arg) => !isAddress(arg)), ...args.filter(isAddress)];
}

/**
 * Returns the event that created a mutex, and true in `inherits` if it created the mutex with priority inheritance. Returns null if the
 * trace does not show this.
 * @param {import("./model.js").Model} model
 * @param {any} row of a lock
 * @returns {{ event: number, inherits: boolean } | null}
 */
export function inheritance(model, { what, name, key, file = 0 }) {
    const { events, kinds } = model;
    const creates = kinds.map((/** @type {any} */ kind) => kind.means === "Create");
    for (let event = 0; event < events.count; event += 1) {
        if (!creates[events.kind[event]] || model.fileOf(events.context[event]) !== file) continue;
        const args = new Map(argumentsIn(events.text(events.args[event])).map((each) => {
            const end = each.indexOf("=");
            return [each.slice(0, end), each.slice(end + 1)];
        }));
        const isOurs = [name, key].includes(args.get(what) ?? args.get("object"));
        const value = INHERITANCE.map((argument) => args.get(argument)).find((each) => each !== undefined);
        if (isOurs && value !== undefined) return { event, inherits: !WITHOUT.includes(value.toLowerCase()) };
    }
    return null;
}

/**
 * Returns the lock for which a context waits in a span, or null.
 * @param {import("./model.js").Model} model
 * @param {any} row of the waiting context
 * @param {number} span
 */
export function lockOf(model, row, span) {
    const { what, object, holder } = model.reasons[row.spans.value[span]] ?? {};
    const from = row.spans.from(span);
    const named = model.locks.filter((/** @type {any} */ lock) => lock.what === what && lock.name === object && lock.file === row.file);
    const isHeld = (/** @type {any} */ { spans }) => holder > 0 && spans.value[spans.find(from)] === holder;
    return named.find(isHeld) ?? named[0] ?? null;
}

/**
 * The times for which a context held a lock: their number, their sum, and the longest.
 * @typedef {{ context: number, count: number, ticks: number, longest: number }} Holder
 */

/** Returns the holders of a lock, the longest sum first. @param {any} row of a lock @returns {Holder[]} */
export function holders({ spans }) {
    /** @type {Map<number, Holder>} */
    const all = new Map();
    for (let i = 0; i < spans.count; i += 1) {
        if (spans.state[i] !== 1) continue;
        const context = spans.value[i] - 1;
        const ticks = spans.to(i) - spans.from(i);
        const known = all.get(context) ?? { context, count: 0, ticks: 0, longest: i };
        const isLonger = ticks > spans.to(known.longest) - spans.from(known.longest);
        all.set(context, { context, count: known.count + 1, ticks: known.ticks + ticks, longest: isLonger ? i : known.longest });
    }
    return [...all.values()].sort((a, b) => b.ticks - a.ticks);
}

/**
 * Returns the number of the longest wait for a lock, or -1.
 * @param {import("./model.js").Model} model
 * @param {any} row of a lock
 */
export function longestWait(model, row) {
    const { wait } = model;
    const length = (/** @type {number} */ i) => model.ended(wait, i) - wait.from[i];
    let best = -1;
    for (let i = row.waits[0]; i < row.waits[1]; i += 1) {
        if (best < 0 || length(i) > length(best)) best = i;
    }
    return best;
}
