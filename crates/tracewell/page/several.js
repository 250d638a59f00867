// Combines the contents of several traces into one content with one time axis. The rest of the page shows the result as the content of one
// trace, in which each context and each row belongs to a file.
//
// The axis counts ticks if all clocks have the same constant rate or if all rates are unknown,
// otherwise nanoseconds. Time 0 is the time at which the earliest file begins if all
// offsets are 0.

import { lowerBound } from "./bounds.js";
import { Clock } from "./time.js";

/** @typedef {import("./page.js").Content} Content */

/** The rate of an axis that counts nanoseconds. */
const NANOSECONDS = [["0", "0", "1000000000", "1"]];

/**
 * The columns of entries that have a beginning and an end. The values of `plain` columns stay unchanged. The other columns
 * contain context numbers of a file, which become context numbers of the page. In `maybe` columns, the context can be absent.
 */
const ENTRIES = [
    { name: "wait", plain: [], contexts: ["context"], maybe: ["owner"] },
    { name: "job", plain: [], contexts: ["context"], maybe: [] },
    { name: "arrow", plain: ["kind"], contexts: ["context"], maybe: ["by"] },
    { name: "gap", plain: ["events", "cause"], contexts: [], maybe: [] },
];

/** Converts ticks of one file to ticks of the axis. */
export class Placement {
    /** @param {any} header of the file  @param {boolean} isConverted to nanoseconds */
    constructor(header, isConverted) {
        this.clock = new Clock(header.rates);
        this.isConverted = isConverted;
        /** The place of the file's first event on the axis. */
        this.shift = 0;
    }

    /** Converts a length to ticks of the axis. @param {number} ticks from the first event of the file */
    length(ticks) {
        if (!this.isConverted) return ticks;
        const { rates } = this.clock;
        let index = rates.length - 1;
        while (index > 0 && Number(rates[index].ticks) > ticks) index -= 1;
        const { ticks: first, ns, count, seconds } = rates[index];
        return Number(ns) + Math.floor((ticks - Number(first)) / Number(count) * Number(seconds) * 1e9);
    }

    /** Returns the place on the axis. @param {number} ticks from the first event of the file */
    at(ticks) {
        return this.shift + this.length(ticks);
    }
}

/** Returns the rates of the axis. @param {any[]} headers @throws {Error} if only some rates are known */
function commonRates(headers) {
    const rates = headers.map((header) => JSON.stringify(header.rates));
    if (headers[0].rates.length < 2 && rates.every((each) => each === rates[0])) return headers[0].rates;
    const unknown = headers.find((header) => header.rates.length === 0);
    if (unknown) {
        throw new Error(`${unknown.title}: the clock's rate is unknown, but other files have one. `
            + `-O ${unknown.title}:rate= sets the rate of this file, and -O rate= that of all files`);
    }
    return NANOSECONDS;
}

/** Several traces, and their places on the axis. */
export class Several {
    /**
     * @param {Content[]} contents
     * @param {string[]} titles
     */
    constructor(contents, titles) {
        this.contents = contents;
        this.titles = titles;
        /** Offsets of the combined content, in ticks of the axis. @type {number[]} */
        this.offsets = [];
        this.rates = commonRates(contents.map(({ header }) => header));
    }

    /** Replaces the content of a file. @param {number} file @param {Content} content */
    replace(file, content) {
        this.contents[file] = content;
        this.rates = commonRates(this.contents.map(({ header }) => header));
        this.offsets = [];
    }

    /** Returns true if the combined content has these offsets. @param {number[]} offsets */
    has(offsets) {
        return this.offsets.length > 0 && this.contents.every((_, file) => this.offsets[file] === (offsets[file] ?? 0));
    }

    /** Returns the combined content. @param {number[]} offsets by file, in ticks of the axis @returns {Content} */
    content(offsets) {
        this.offsets = this.contents.map((_, file) => offsets[file] ?? 0);
        const placements = this.placements();
        return new Combination(this.contents, this.titles, this.rates, placements, this.offsets).content();
    }

    /** Returns the placement of each file. A file begins at its date if all dates and rates are known, otherwise at 0. Its offset is added. */
    placements() {
        const headers = this.contents.map(({ header }) => header);
        const isConverted = this.rates === NANOSECONDS;
        const dates = headers.map(({ start }) => start);
        const isDated = this.rates.length > 0 && dates.every((date) => typeof date === "string");
        const first = isDated ? dates.map(BigInt).reduce((a, b) => (b < a ? b : a)) : 0n;
        const axis = new Clock(this.rates);
        return headers.map((header, file) => {
            const placement = new Placement(header, isConverted);
            const later = isDated ? Number(axis.ticks(BigInt(header.start) - first)) : 0;
            placement.shift = later + this.offsets[file];
            return placement;
        });
    }
}

/** One combination of contents. */
class Combination {
    /**
     * @param {Content[]} contents
     * @param {string[]} titles
     * @param {string[][]} rates
     * @param {Placement[]} placements
     * @param {number[]} offsets
     */
    constructor(contents, titles, rates, placements, offsets) {
        this.contents = contents;
        this.titles = titles;
        this.rates = rates;
        this.placements = placements;
        this.offsets = offsets;
        const spans = contents.map(({ header }) => Number(header.span));
        const ends = spans.map((span, file) => placements[file].at(span));
        this.from = Math.min(0, ...placements.map(({ shift }) => shift));
        this.length = Math.max(...ends, 1) - this.from;
        this.ends = ends.map((end) => end - this.from);
        /** @type {Map<string, import("./source.js").Column>} */
        this.columns = new Map();
        this.firsts = {
            contexts: this.starts(({ header }) => header.contexts.length),
            reasons: this.starts(({ header }) => header.reasons.length),
            rows: this.starts(({ header }) => header.rows.length),
            locks: this.starts(({ header }) => header.rows.filter((/** @type {any} */ row) => row.kind === "lock").length),
            changes: this.starts(({ columns }) => valuesOf(columns, "change.state").length),
            waits: this.starts(({ columns }) => valuesOf(columns, "wait.context").length),
            texts: this.starts(({ columns }) => valuesOf(columns, "text.length").length),
        };
        /** For each file, the numbers that the file's events have on the page. @type {Uint32Array[]} */
        this.places = [];
        /** The number after the last event. */
        this.firstFree = 0;
    }

    /** For each file, returns the total length of the files before it. The last value is the total length of all files. @param {(content: Content) => number} length */
    starts(length) {
        const sums = [0];
        for (const content of this.contents) sums.push(sums[sums.length - 1] + length(content));
        return sums;
    }

    /** @returns {Content} */
    content() {
        const kinds = this.events();
        this.changes();
        for (const entry of ENTRIES) this.entries(entry);
        this.arrowsInOrder();
        this.jobs();
        this.marks();
        this.recorded();
        this.inversions();
        this.contents.forEach(({ columns }, file) => {
            const figures = columns.get("figures");
            if (figures) this.columns.set(`figures.${file}`, figures);
        });
        return { header: this.header(kinds), columns: this.columns };
    }

    /** Adds a column. @type {(name: string, list: Float64Array | Uint8Array | Uint32Array) => void} */
    put(name, list) {
        this.columns.set(name, { values: list, exact: null });
    }

    /** Adds a column of places. @type {(name: string, list: Float64Array) => void} */
    putTicks(name, list) {
        this.columns.set(name, { values: list, exact: null, offsets: list });
    }

    /**
     * Returns the values of a column in all files, converted.
     * @param {string} name
     * @param {(value: number, file: number) => number} convert
     */
    joined(name, convert) {
        const lists = this.contents.map(({ columns }) => valuesOf(columns, name));
        const all = new Float64Array(lists.reduce((sum, list) => sum + list.length, 0));
        let at = 0;
        lists.forEach((list, file) => {
            for (let i = 0; i < list.length; i += 1) all[at++] = convert(list[i], file);
        });
        return all;
    }

    /** @param {string} name */
    ticks(name) {
        return this.joined(name, (ticks, file) => this.placements[file].at(ticks) - this.from);
    }

    /** Adds the numbers of events in the files that are still being read. */
    recorded() {
        const ofFiles = (/** @type {(file: number) => Float64Array} */ list) => Float64Array.from(this.contents.flatMap(({ columns }, file) =>
            (columns.has("recorded.ticks") ? Array.from(list(file)) : [])));
        const values = (/** @type {string} */ name, /** @type {(value: number, file: number) => number} */ convert) =>
            ofFiles((file) => Float64Array.from(valuesOf(this.contents[file].columns, `recorded.${name}`), (value) => convert(value, file)));
        this.putTicks("recorded.ticks", values("ticks", (ticks, file) => this.placements[file].at(ticks) - this.from));
        this.put("recorded.context", values("context", (context, file) => context + this.firsts.contexts[file]));
        this.put("recorded.count", values("count", (count) => count));
    }

    /** Returns the number that an event has on the page. @type {(seq: number, file: number) => number} */
    event(seq, file) {
        const places = this.places[file];
        const { columns } = this.contents[file];
        const seqs = valuesOf(columns, "event.seq");
        const index = seqs[seq - seqs[0]] === seq ? seq - seqs[0] : lowerBound(seqs, seq);
        return index < places.length ? places[index] : this.firstFree;
    }

    /** Adds the columns of the events, in chronological order. Returns the kinds of events. */
    events() {
        const { contents, firsts } = this;
        const times = contents.map(({ columns }, file) =>
            Float64Array.from(valuesOf(columns, "event.ticks"), (ticks) => this.placements[file].at(ticks) - this.from));
        const { files, indices } = mergedTimes(times);
        this.firstFree = files.length;
        this.places = times.map(({ length }) => new Uint32Array(length));
        files.forEach((file, place) => { this.places[file][indices[place]] = place; });
        const { list, numbers } = this.kinds();
        /** Returns a column in chronological order. @type {(name: string, convert?: (value: number, file: number) => number) => Float64Array} */
        const taken = (name, convert = (value) => value) => {
            const lists = contents.map(({ columns }) => valuesOf(columns, name));
            return Float64Array.from(indices, (index, place) => convert(lists[files[place]][index], files[place]));
        };
        this.putTicks("event.ticks", Float64Array.from(indices, (index, place) => times[files[place]][index]));
        this.put("event.seq", Float64Array.from(indices, (_, place) => place));
        this.put("event.number", taken("event.seq"));
        this.put("event.cpu", taken("event.cpu"));
        this.put("event.context", taken("event.context", (context, file) => context + firsts.contexts[file]));
        this.put("event.kind", taken("event.kind", (kind, file) => numbers[file][kind]));
        this.put("event.args", taken("event.args", (text, file) => text + firsts.texts[file]));
        this.put("text.length", this.joined("text.length", (length) => length));
        const texts = contents.map(({ columns }) => valuesOf(columns, "text.bytes"));
        const bytes = new Uint8Array(texts.reduce((sum, { length }) => sum + length, 0));
        let end = 0;
        for (const text of texts) {
            bytes.set(text, end);
            end += text.length;
        }
        this.put("text.bytes", bytes);
        return list;
    }

    /** Returns the different kinds of events, and for each file the numbers of its kinds. */
    kinds() {
        const known = new Map();
        const numbers = this.contents.map(({ header }) => header.kinds.map((/** @type {any} */ kind) => {
            const text = JSON.stringify(kind);
            if (!known.has(text)) known.set(text, known.size);
            return known.get(text);
        }));
        return { list: [...known.keys()].map((text) => JSON.parse(text)), numbers };
    }

    /** Adds the changes of all rows. */
    changes() {
        const { firsts } = this;
        this.putTicks("change.ticks", this.ticks("change.ticks"));
        this.put("change.seq", this.joined("change.seq", (seq, file) => this.event(seq, file)));
        const states = this.joined("change.state", (state) => state);
        const referred = this.joined("change.value", (value) => value);
        this.contents.forEach(({ header }, file) => {
            for (const { kind, changes: [start, end] } of header.rows) {
                if (!["core", "context", "lock", "server"].includes(kind)) continue;
                const first = firsts.changes[file];
                for (let i = first + start; i < first + end; i += 1) {
                    referred[i] = this.referred(kind, states[i], referred[i], file);
                }
            }
        });
        this.put("change.state", states);
        this.put("change.value", referred);
    }

    /** Converts the value of a change. The numbers of contexts and reasons become the page's numbers. @type {(kind: string, state: number, value: number, file: number) => number} */
    referred(kind, state, value, file) {
        const { contexts, reasons } = this.firsts;
        if (kind === "server") return this.placements[file].length(value);
        if (kind === "core") return state === 1 ? value + contexts[file] : value;
        if (kind === "context" && state === 5) return value + reasons[file];
        // For a context that may be absent, the value is 0 or the context's number plus 1.
        return value > 0 ? value + contexts[file] : 0;
    }

    /** @param {typeof ENTRIES[number]} entry */
    entries({ name, plain, contexts, maybe }) {
        const { firsts } = this;
        this.putTicks(`${name}.from`, this.ticks(`${name}.from`));
        this.putTicks(`${name}.until`, this.ticks(`${name}.until`));
        this.put(`${name}.from_seq`, this.joined(`${name}.from_seq`, (seq, file) => this.event(seq, file)));
        // For an end that may be absent, the value is 0 or the number of the event plus 1.
        const end = (/** @type {number} */ seq, /** @type {number} */ file) => (seq > 0 ? this.event(seq - 1, file) + 1 : 0);
        this.put(`${name}.until_seq`, this.joined(`${name}.until_seq`, end));
        for (const other of plain) this.put(`${name}.${other}`, this.joined(`${name}.${other}`, (value) => value));
        for (const other of contexts) {
            this.put(`${name}.${other}`, this.joined(`${name}.${other}`, (value, file) => value + firsts.contexts[file]));
        }
        for (const other of maybe) {
            this.put(`${name}.${other}`, this.joined(`${name}.${other}`, (value, file) => (value > 0 ? value + firsts.contexts[file] : 0)));
        }
        if (name === "gap") this.put("gap.file", this.joined("gap.events", (_, file) => file));
    }

    /** Sorts the arrows by their ends, because the page searches for arrows by their ends. */
    arrowsInOrder() {
        const ends = /** @type {Float64Array} */ (this.columns.get("arrow.until")?.values);
        const order = Uint32Array.from(ends.keys()).sort((a, b) => ends[a] - ends[b]);
        for (const name of ["from", "until", "from_seq", "until_seq", "kind", "context", "by"]) {
            const { values: list, offsets } = /** @type {import("./source.js").Column} */ (this.columns.get(`arrow.${name}`));
            const sorted = Float64Array.from(order, (i) => list[i]);
            if (offsets) this.putTicks(`arrow.${name}`, sorted);
            else this.put(`arrow.${name}`, sorted);
        }
    }

    jobs() {
        this.putTicks("job.missed", this.ticks("job.missed"));
        this.put("job.missed_seq", this.joined("job.missed_seq", (seq, file) => (seq > 0 ? this.event(seq - 1, file) + 1 : 0)));
    }

    marks() {
        this.putTicks("mark.ticks", this.ticks("mark.ticks"));
        this.put("mark.seq", this.joined("mark.seq", (seq, file) => this.event(seq, file)));
        this.put("mark.context", this.joined("mark.context", (context, file) => context + this.firsts.contexts[file]));
    }

    inversions() {
        const { contexts, locks } = this.firsts;
        this.putTicks("inversion.from", this.ticks("inversion.from"));
        this.putTicks("inversion.until", this.ticks("inversion.until"));
        this.put("inversion.context", this.joined("inversion.context", (context, file) => context + contexts[file]));
        this.put("inversion.lock", this.joined("inversion.lock", (lock, file) => (lock > 0 ? lock + locks[file] : 0)));
        this.put("inversion.ticks", this.joined("inversion.ticks", (ticks, file) => this.placements[file].length(ticks)));
    }

    /** Returns the facts about a server in ticks of the page. @type {(row: any, file: number) => any} */
    server({ task, size, least, most }, file) {
        const length = (/** @type {number} */ ticks) => Math.sign(ticks) * this.placements[file].length(Math.abs(ticks));
        return {
            task: task === null ? null : task + this.firsts.contexts[file], size: size === null ? null : length(size),
            least: length(least), most: length(most),
        };
    }

    /** Returns the facts of the page. @param {any[]} kinds */
    header(kinds) {
        const { contents, firsts } = this;
        const headers = contents.map(({ header }) => header);
        const sum = (/** @type {(header: any) => number} */ of) => headers.reduce((all, header) => all + of(header), 0);
        const shifted = (/** @type {[number, number]} */ [start, end], /** @type {number} */ by) => [start + by, end + by];
        const rows = headers.flatMap((header, file) => header.rows.map((/** @type {any} */ row) => ({
            ...row, file, changes: shifted(row.changes, firsts.changes[file]),
            ...(row.context === undefined ? {} : { context: row.context + firsts.contexts[file] }),
            ...(row.kind === "server" ? this.server(row, file) : {}),
            ...(row.waits ? { waits: shifted(row.waits, firsts.waits[file]) } : {}),
        })));
        const until = String(this.from + this.length);
        return {
            // The header of a file that is still being read describes only a part of it. `part` is null nevertheless, because
            // a page of several files cannot request views.
            ...headers[0], part: null, isReading: headers.some(({ part }) => part), title: this.titles.join(" + "),
            format: [...new Set(headers.map(({ format }) => format))].join(", "),
            events: sum((header) => header.events), from: String(this.from), until, span: until, start: null,
            rates: this.rates, cpus: Math.max(...headers.map(({ cpus }) => cpus)),
            losses: headers.flatMap(({ losses }) => losses),
            needed: headers.find(({ needed }) => needed)?.needed ?? null,
            objects: headers.flatMap(({ objects }) => objects),
            leftOut: sum((header) => header.leftOut), moreWaits: sum((header) => header.moreWaits),
            rows, kinds,
            contexts: headers.flatMap((header, file) => header.contexts.map((/** @type {any} */ context) => ({ ...context, file }))),
            reasons: headers.flatMap((header, file) => header.reasons.map((/** @type {any} */ reason) =>
                ({ ...reason, holder: reason.holder > 0 ? reason.holder + firsts.contexts[file] : 0 }))),
            files: headers.map((header, file) => ({
                title: this.titles[file], offset: this.offsets[file], largerIsUrgent: header.largerIsUrgent,
                from: this.placements[file].shift - this.from, until: this.ends[file], placement: this.placements[file],
            })),
        };
    }
}

/** Returns the values of a column. @type {(columns: Content["columns"], name: string) => Float64Array | Uint8Array | Uint16Array | Uint32Array} */
function valuesOf(columns, name) {
    const column = columns.get(name);
    if (!column) throw new Error(`the page has no column ${name}`);
    return column.values;
}

/**
 * Merges sorted lists. For each place in the merged list, returns the list from which the value comes, and
 * the index of the value in that list. Equal values are in the order of the lists.
 * @param {Float64Array[]} lists
 */
export function mergedTimes(lists) {
    const count = lists.reduce((sum, { length }) => sum + length, 0);
    const [files, indices] = [new Uint16Array(count), new Uint32Array(count)];
    const next = lists.map(() => 0);
    for (let place = 0; place < count; place += 1) {
        let best = -1;
        for (let file = 0; file < lists.length; file += 1) {
            if (next[file] === lists[file].length) continue;
            if (best < 0 || lists[file][next[file]] < lists[best][next[best]]) best = file;
        }
        [files[place], indices[place]] = [best, next[best]];
        next[best] += 1;
    }
    return { files, indices };
}
