// Tests which events match a query. The server passes the same cases.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { acceptsArguments, acceptsContext, acceptsKind, acceptsNumber, numberIn, terms } from "../matching.js";

const { named, events, cases } = JSON.parse(readFileSync(new URL("matching.json", import.meta.url), "utf8"));

test("queries match the same events on the page and in the server", () => {
    for (const [query, expected] of cases) {
        const wanted = terms(query, named);
        const found = Object.keys(events).filter((name) => {
            const event = events[name];
            return wanted.length > 0 && wanted.every((term) => acceptsKind(term, event) || acceptsNumber(term, event.number)
                || acceptsContext(term, { name: event.context, key: event.key }) || acceptsArguments(term, event.arguments));
        });
        assert.deepEqual(found.sort(), [...expected].sort(), query);
    }
});

test("numbers are decimal or hexadecimal", () => {
    assert.deepEqual(["64", "0x40", "1,096", "-0x7"].map(numberIn), ["64", "64", "1096", "-7"]);
    assert.deepEqual(["", "x", "1,09", "0x", "1.5", "12 ms"].map(numberIn), [null, null, null, null, null, null]);
});
