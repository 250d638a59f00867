// Tokenises the shipped templates and the samples in docs/ with the grammars, in the engine that VS Code uses. Compares the scopes of short
// texts with expected scopes, and the scopes of one file of each kind with a snapshot.
//
// `BLESS=1 node --test test/` renews the snapshots.
import assert from "node:assert/strict";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

const require = createRequire(import.meta.url);
const oniguruma = require("vscode-oniguruma");
const { INITIAL, Registry, parseRawGrammar } = require("vscode-textmate");

const here = path.dirname(fileURLToPath(import.meta.url));
const extension = path.join(here, "..");
const root = path.join(extension, "..", "..");
const manifest = JSON.parse(fs.readFileSync(path.join(extension, "package.json"), "utf8"));

const wasm = fs.readFileSync(require.resolve("vscode-oniguruma/release/onig.wasm"));
const onigLib = oniguruma.loadWASM({ data: wasm }).then(() => ({
    createOnigScanner: (patterns) => new oniguruma.OnigScanner(patterns),
    createOnigString: (text) => new oniguruma.OnigString(text),
}));
const registry = new Registry({
    onigLib,
    loadGrammar: async (scope) => {
        const file = manifest.contributes.grammars.find((grammar) => grammar.scopeName === scope).path;
        return parseRawGrammar(fs.readFileSync(path.join(extension, file), "utf8"), file);
    },
});

/**
 * Returns [text, scope] of each token that is not blank. The scope is the token's innermost scope,
 * without the name of the language. Adjacent tokens with the same scope are one token.
 */
async function tokens(language, text) {
    const grammar = await registry.loadGrammar(`source.${language}`);
    const found = [];
    let stack = INITIAL;
    for (const line of text.split("\n")) {
        const result = grammar.tokenizeLine(line, stack);
        stack = result.ruleStack;
        let last = null;
        for (const token of result.tokens) {
            const word = line.slice(token.startIndex, token.endIndex);
            const scope = token.scopes.at(-1).replace(`.${language}`, "");
            if (last?.[1] === scope) last[0] += word;
            else found.push((last = [word, scope]));
        }
    }
    return found.map(([word, scope]) => [word.trim(), scope]).filter(([word]) => word !== "");
}

function read(...names) {
    return fs.readFileSync(path.join(root, ...names), "utf8");
}

/** Returns the fenced blocks of a page that begin with a word. */
function blocks(page, kind) {
    const all = read("docs", page).matchAll(/^```(\S+)([^\n]*)\n(.*?)^```$/gms);
    return [...all].filter(([, name]) => name === kind).map(([, , , text]) => text.trimEnd());
}

const templates = fs.readdirSync(path.join(root, "crates/tracewell/templates")).filter((name) => name.endsWith(".fmt"));

async function assertNoError(language, text, name) {
    const invalid = (await tokens(language, text)).filter(([, scope]) => scope.startsWith("invalid"));
    assert.deepEqual(invalid, [], `${name}:\n${text}`);
}

test("shipped templates have no invalid token", async () => {
    assert.ok(templates.length >= 5);
    for (const name of templates) {
        await assertNoError("tracewell-template", read("crates/tracewell/templates", name), name);
    }
});

test("samples of the documentation have no invalid token", async () => {
    const rules = blocks("checking.md", "rules");
    const samples = [...blocks("template-language.md", "template"), ...blocks("templates.md", "template")];
    assert.ok(rules.length >= 7 && samples.length >= 20, `${rules.length} and ${samples.length} samples`);
    for (const text of rules) await assertNoError("tracewell-rules", text, "checking.md");
    for (const text of samples) await assertNoError("tracewell-template", text, "template-language.md");
});

test("rules have the scopes of their parts", async () => {
    const text = 'next SM_TRN(ao = my, sig != "a\\"b", n >= 0x1F, @cpu = 2) within 1.5 s of posted # end';
    assert.deepEqual(await tokens("tracewell-rules", text), [
        ["next", "keyword.control"],
        ["SM_TRN", "entity.name.function.event"],
        ["(", "punctuation.section.parens.begin"],
        ["ao", "variable.parameter"],
        ["=", "keyword.operator.comparison"],
        ["my", "entity.name.function.event"],
        [",", "punctuation.separator"],
        ["sig", "variable.parameter"],
        ["!=", "keyword.operator.comparison"],
        ['"a', "string.quoted.double"],
        ['\\"', "constant.character.escape"],
        ['b"', "string.quoted.double"],
        [",", "punctuation.separator"],
        ["n", "variable.parameter"],
        [">=", "keyword.operator.comparison"],
        ["0x1F", "constant.numeric"],
        [",", "punctuation.separator"],
        ["@cpu", "support.variable.property"],
        ["=", "keyword.operator.comparison"],
        ["2", "constant.numeric"],
        [")", "punctuation.section.parens.end"],
        ["within", "keyword.control"],
        ["1.5", "constant.numeric"],
        ["s", "keyword.other.unit"],
        ["of", "keyword.control"],
        ["posted", "entity.name.function.event"],
        ["# end", "comment.line.number-sign"],
    ]);
    const scopes = async (rule) => (await tokens("tracewell-rules", rule)).map(([, scope]) => scope);
    assert.deepEqual(await scopes("repeat 2..3 { x* }"), [
        "keyword.control", "constant.numeric", "keyword.operator.range", "constant.numeric",
        "punctuation.section.block", "entity.name.function.event", "punctuation.section.block",
    ]);
    assert.deepEqual(await scopes("... any order"), ["keyword.operator.any-events", "keyword.control"]);
    assert.deepEqual(await tokens("tracewell-rules", 'load("net", x) in 10 ms < 30 %'), [
        ["load", "support.function.measure"], ["(", "punctuation.section.parens.begin"],
        ['"net"', "string.quoted.double"], [",", "punctuation.separator"], ["x", "variable.parameter"],
        [")", "punctuation.section.parens.end"], ["in", "keyword.control"],
        ["10", "constant.numeric"], ["ms", "keyword.other.unit"], ["<", "keyword.operator.comparison"],
        ["30", "constant.numeric"], ["%", "keyword.other.unit"],
    ]);
    // An event may have the name of a measure.
    assert.deepEqual((await scopes("load(x = 1)"))[0], "entity.name.function.event");
    // Within a name, or as the name of an argument, a keyword is an ordinary word.
    assert.deepEqual(await scopes("SM_next.of"), ["entity.name.function.event"]);
    assert.deepEqual((await scopes("x(count = 1)"))[2], "variable.parameter");
    assert.deepEqual(await scopes("a ' b"), [
        "entity.name.function.event", "invalid.illegal", "entity.name.function.event",
    ]);
});

test("templates have the scopes of their parts", async () => {
    const text = '0AA 1.0 L=SVC "disk\\n op" \\\n  X4 $D1%UW, 0 "a", \\* {LOOP $n {B0.5}} OBJECT($D2 + 1) f(x)\n# end';
    assert.deepEqual(await tokens("tracewell-template", text), [
        ["0AA", "constant.numeric.hook-id"],
        ["1.0", "constant.numeric.version"],
        ["L", "keyword.other.column"],
        ["=", "keyword.operator"],
        ["SVC", "constant.language.column"],
        ['"disk', "string.quoted.double"],
        ["\\n", "constant.character.escape"],
        ['op"', "string.quoted.double"],
        ["\\", "punctuation.separator.continuation"],
        ["X4", "storage.type.code"],
        ["$D1", "variable.other.macro"],
        ["%", "keyword.operator"],
        ["UW", "storage.type.code"],
        [",", "punctuation.separator"],
        ["0", "constant.numeric"],
        ['"a"', "string.quoted.double"],
        [",", "punctuation.separator"],
        ["\\*", "constant.language.otherwise"],
        ["{", "punctuation.section.block"],
        ["LOOP", "keyword.control"],
        ["$n", "variable.other.macro"],
        ["{", "punctuation.section.block"],
        ["B0.5", "storage.type.code"],
        ["}}", "punctuation.section.block"],
        ["OBJECT", "support.function"],
        ["(", "punctuation.section.block"],
        ["$D2", "variable.other.macro"],
        ["+", "keyword.operator"],
        ["1", "constant.numeric"],
        [")", "punctuation.section.block"],
        ["f", "entity.name.function"],
        ["(", "punctuation.section.block"],
        ["x", "variable.parameter"],
        [")", "punctuation.section.block"],
        ["# end", "comment.line.number-sign"],
    ]);
});

// Tests of the parsers in crates/tracewell write these lists.
test("the grammars give each word of the parsers its scope", async () => {
    const words = (name) => fs.readFileSync(path.join(here, "words", name), "utf8").trim().split("\n");
    const inRules = {
        keyword: "keyword.control", property: "support.variable.property", unit: "keyword.other.unit",
        measure: "support.function.measure", statistic: "support.type.statistic",
    };
    for (const [kind, word] of words("rules.tsv").map((line) => line.split("\t"))) {
        const measure = ["inversions", "missed", "lost"].includes(word) ? `${word} == 0` : `${word}(x)`;
        const texts = { unit: `x within 5 ${word}`, measure, statistic: `wait(x)${word}` };
        const found = await tokens("tracewell-rules", texts[kind] ?? word);
        assert.deepEqual(found.at(kind === "measure" ? 0 : -1), [word, inRules[kind]]);
    }
    for (const [kind, word] of words("template.tsv").map((line) => line.split("\t"))) {
        const text = { code: word, keyword: word, function: `${word}(`, column: `L=${word}` }[kind];
        const found = (await tokens("tracewell-template", `0AA 1.0 "" ${text}`)).slice(3);
        const scope = { code: "storage.type.code", keyword: "keyword.control", column: "constant.language.column" }[kind];
        const [, actual] = found.find(([token]) => token === word) ?? [];
        assert.ok(actual === scope || (kind === "function" && actual?.startsWith("support.function")), `${word}: ${actual}`);
    }
});

test("one file of each kind matches its snapshot", async () => {
    const rules = blocks("checking.md", "rules").slice(0, 4).join("\n");
    const files = [
        ["rules.tsv", "tracewell-rules", rules],
        ["posix.tsv", "tracewell-template", read("crates/tracewell/templates/posix.fmt")],
    ];
    for (const [name, language, text] of files) {
        const file = path.join(here, "snapshots", name);
        const found = (await tokens(language, text)).map((row) => `${row.join("\t")}\n`).join("");
        if (process.env.BLESS === "1") fs.writeFileSync(file, found);
        assert.equal(found, fs.readFileSync(file, "utf8"), `${name}: BLESS=1 renews it`);
    }
});
