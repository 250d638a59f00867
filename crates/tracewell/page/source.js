// Reads the payload of the page, a zlib stream that contains a header in JSON and then columns of
// numbers. The page contains the payload as base64, or the server of the page sends it.
// crates/tracewell/src/export/page/columns.rs documents the form of the columns.

/**
 * A column of numbers. If the values need more than 53 bits, `exact` contains them. After the first use, `offsets` contains ticks from the
 * start of the page. @typedef {{ values: Float64Array | Uint8Array | Uint16Array | Uint32Array, exact: BigUint64Array | null, offsets?:
 * Float64Array }} Column
 */

/**
 * Returns a payload that the server of the page sends, with the edition of the payload.
 * @param {string} path `page` for the whole trace, or a view
 * @throws {Error} with the message of the server, if it cannot read the trace
 */
export async function fetched(path) {
    const response = await fetch(`api/v1/${path}`);
    if (!response.ok || !response.body) throw new Error((await response.text()).trim());
    const edition = Number((response.headers.get("ETag") ?? "0").replaceAll('"', ""));
    return { edition, ...await unpacked(response.body) };
}

/**
 * Returns a JSON document from the server of the page.
 * @param {string} path
 * @throws {Error} with the message of the server, if it refuses the request
 */
export async function fetchedJson(path) {
    const response = await fetch(`api/v1/${path}`);
    if (!response.ok) throw new Error((await response.text()).trim());
    return response.json();
}

/**
 * Decompresses a payload, which is a zlib stream. Returns its header and its columns.
 * @param {ReadableStream<Uint8Array<ArrayBuffer>>} packed
 */
export async function unpacked(packed) {
    const bytes = packed.pipeThrough(new DecompressionStream("deflate"));
    return payload(new Uint8Array(await new Response(bytes).arrayBuffer()));
}

/** A store for marks: the server of the page stores them in a file next to the trace. */
export class ServerMarks {
    constructor() {
        /** The version of the file that this page has read or written. */
        this.edition = "";
    }

    async load() {
        return this.received(await fetch("api/v1/marks"));
    }

    /** @param {string} content */
    async save(content) {
        await this.received(await fetch(`api/v1/marks?was=${this.edition}`, { method: "PUT", body: content }));
    }

    /** @param {Response} response */
    async received(response) {
        const text = await response.text();
        if (!response.ok) throw new Error(text.trim());
        this.edition = (response.headers.get("ETag") ?? "").replaceAll('"', "");
        return text;
    }
}

/**
 * Decodes the lines of a base64 text, and returns the decompressed bytes.
 * @param {string} text
 * @returns {Promise<Uint8Array>}
 */
export async function inflated(text) {
    const lines = text.trim().split("\n");
    let next = 0;
    const packed = new ReadableStream({
        pull(controller) {
            if (next === lines.length) {
                controller.close();
                return;
            }
            const line = atob(lines[next]);
            lines[next] = "";
            next += 1;
            controller.enqueue(Uint8Array.from(line, (c) => c.charCodeAt(0)));
        },
    });
    const bytes = packed.pipeThrough(new DecompressionStream("deflate"));
    return new Uint8Array(await new Response(bytes).arrayBuffer());
}

/**
 * Returns the header and the columns of a payload.
 * @param {Uint8Array} bytes
 * @returns {{ header: any, columns: Map<string, Column> }}
 */
export function payload(bytes) {
    const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
    const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
    const columns = new Map();
    let start = 4 + length;
    for (const column of header.columns) {
        const part = bytes.subarray(start, start + column.bytes);
        columns.set(column.name, new PackedColumn(part, column));
        start += column.bytes;
    }
    return { header, columns };
}

/** A column of a payload. It is decoded when it is first needed, because the first picture does not need all columns. */
class PackedColumn {
    /**
     * @param {Uint8Array} bytes a copy of them is kept, so that the payload can be freed
     * @param {Form} form
     */
    constructor(bytes, form) {
        /** Null after decoding. @type {Uint8Array | null} */
        this.bytes = bytes.slice();
        this.form = form;
        /** @type {Column | null} */
        this.known = null;
        /** @type {Float64Array | undefined} */
        this.offsets = undefined;
    }

    get column() {
        if (this.bytes) this.known = decoded(this.bytes, this.form);
        this.bytes = null;
        return /** @type {Column} */ (this.known);
    }

    get values() {
        return this.column.values;
    }

    set values(values) {
        this.column.values = values;
    }

    get exact() {
        return this.column.exact;
    }
}

/** How numbers are encoded, and how many they are. @typedef {{ form: string, count: number, wide: boolean }} Form */

/** @type {(bytes: Uint8Array, form: Form) => Column} */
function decoded(bytes, { form, count, wide }) {
    // If no number needs more than seven bits, the bytes are the numbers.
    if (form === "bytes" || (form === "numbers" && bytes.length === count)) return { values: bytes, exact: null };
    if (wide) {
        const exact = wideNumbers(bytes, count, form === "deltas");
        return { values: Float64Array.from(exact, Number), exact };
    }
    return { values: numbers(bytes, count, form === "deltas"), exact: null };
}

/**
 * @param {Uint8Array} bytes
 * @param {number} count
 * @param {boolean} areDeltas
 */
export function numbers(bytes, count, areDeltas) {
    const values = new Float64Array(count);
    let position = 0;
    let last = 0;
    for (let index = 0; index < count; index += 1) {
        let byte = bytes[position++];
        // The lowest bit of a difference is its sign.
        const isLess = areDeltas && (byte & 1) === 1;
        let value = areDeltas ? (byte & 0x7f) >> 1 : byte & 0x7f;
        let factor = areDeltas ? 64 : 128;
        while (byte >= 0x80) {
            byte = bytes[position++];
            value += (byte & 0x7f) * factor;
            factor *= 128;
        }
        if (areDeltas) last = isLess ? last - value : last + value;
        values[index] = areDeltas ? last : value;
    }
    return values;
}

/**
 * @param {Uint8Array} bytes
 * @param {number} count
 * @param {boolean} areDeltas
 */
export function wideNumbers(bytes, count, areDeltas) {
    const values = new BigUint64Array(count);
    let position = 0;
    let last = 0n;
    for (let index = 0; index < count; index += 1) {
        let value = 0n;
        let shift = 0n;
        let byte = 0;
        do {
            byte = bytes[position++];
            value |= BigInt(byte & 0x7f) << shift;
            shift += 7n;
        } while (byte >= 0x80);
        if (areDeltas) last += value & 1n ? -(value >> 1n) : value >> 1n;
        values[index] = areDeltas ? last : value;
    }
    return values;
}
