// The user's marks: times and ranges, each with a text. This module also reads and writes the
// content of the file that stores the marks.
//
// The first line of the file is HEAD. Each other line is a mark: ticks since the first event of the trace,
// or two numbers of ticks with `-` between them, then a space and the text. The page keeps
// other lines unchanged.

/** The first line of a marks file. */
export const HEAD = "# tracewell marks 1";

/** Maximum number of characters of a text. */
export const MAX_TEXT = 500;

/** @typedef {{ from: bigint, until: bigint, text: string }} UserMark */

/** Returns the mark of a line, or null. @param {string} line @returns {UserMark | null} */
function parsedMark(line) {
    const match = /^(-?\d{1,20})(?:-(-?\d{1,20}))? (.*)$/.exec(line.trimEnd());
    if (!match) return null;
    const from = BigInt(match[1]);
    const until = BigInt(match[2] ?? match[1]);
    return { from, until: until < from ? from : until, text: match[3].slice(0, MAX_TEXT) };
}

export class UserMarks {
    /** @param {string} [content] of a file */
    constructor(content = "") {
        /** @type {UserMark[]} in the order of their beginnings */
        this.list = [];
        /** The lines of the file that are not marks. @type {string[]} */
        this.others = [];
        /** Number of changes. */
        this.version = 0;
        this.read(content);
    }

    /** Replaces all marks with the marks from a file. @param {string} content */
    read(content) {
        const lines = content.split("\n").filter((line) => line.trim() !== "" && line !== HEAD);
        const marks = lines.map(parsedMark);
        this.list = marks.filter((mark) => mark !== null);
        this.others = lines.filter((_, i) => marks[i] === null);
        this.sort();
    }

    sort() {
        this.list.sort((a, b) => (a.from === b.from ? 0 : a.from < b.from ? -1 : 1));
        this.version += 1;
    }

    /** Adds a mark. Line breaks become spaces. @type {(from: bigint, until: bigint, text: string) => void} */
    add(from, until, text) {
        this.list.push({ from, until, text: text.replace(/\s+/g, " ").trim().slice(0, MAX_TEXT) });
        this.sort();
    }

    /** @param {UserMark} mark */
    remove(mark) {
        this.list = this.list.filter((each) => each !== mark);
        this.version += 1;
    }

    /** The lines of the file after the first line: the lines that are not marks, then the marks. */
    get lines() {
        const time = (/** @type {UserMark} */ { from, until }) => (until > from ? `${from}-${until}` : `${from}`);
        return [...this.others, ...this.list.map((mark) => `${time(mark)} ${mark.text}`)];
    }

    /** The content of a file. */
    get content() {
        return `${[HEAD, ...this.lines].join("\n")}\n`;
    }
}
