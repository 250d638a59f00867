//! Tests that the JSON Schemas in docs/schemas/ match the Rust types of the documents that the
//! program writes. Also runs the program on traces of several dialects, and validates its documents
//! against these schemas. `BLESS=1` renews the schemas.

mod validation;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use schemars::{JsonSchema, SchemaGenerator};
use serde_json::{Value, json};
use tracewell::export::list::FormatList;
use tracewell::report::analyses::AllFigures;
use tracewell::report::check::VerdictRow;
use tracewell::report::compare::ComparisonDocument;
use tracewell::report::document::Document;
use tracewell::report::info::Summary;
use tracewell_collect::CollectReport;
use validation::{faults, schema_path, validated};

fn schema<T: JsonSchema>(title: &str) -> String {
    let mut schema = SchemaGenerator::default().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    format!("{:#}\n", schema.to_value())
}

#[test]
fn the_schemas_in_the_docs_are_those_of_the_types() {
    for (kind, schema) in [
        ("info", schema::<Document<Summary<'_>>>("tracewell info --json")),
        ("analyze", schema::<Document<AllFigures<'_>>>("tracewell analyze --json")),
        ("check", schema::<Document<VerdictRow<'_>>>("tracewell check --json")),
        ("diff", schema::<ComparisonDocument<'_>>("tracewell diff --json")),
        ("formats", schema::<FormatList>("tracewell formats --json")),
        ("collect", schema::<CollectReport<'_>>("tracewell collect --json")),
    ] {
        // Do not use `bless`: it normalises paths, which turns `\\` into `/`.
        let path = schema_path(kind);
        if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
            std::fs::write(&path, &schema).unwrap();
        }
        assert_eq!(std::fs::read_to_string(&path).unwrap(), schema, "{kind}: BLESS=1 renews it");
    }
}

fn run<I: IntoIterator<Item = S>, S: AsRef<std::ffi::OsStr>>(args: I) -> Output {
    Command::new(env!("CARGO_BIN_EXE_tracewell")).args(args).output().unwrap()
}

/// Returns the traces in `examples`, and the fixtures for RKH, S.Ha.R.K. and ThreadX.
fn traces() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let fixtures = root.join("crates/tracewell/tests/fixtures");
    let folders = ["rkh", "shark", "threadx"].map(|name| fixtures.join(name));
    let mut traces: Vec<_> = folders
        .into_iter()
        .chain([root.join("examples")])
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            let extension = path.extension().and_then(std::ffi::OsStr::to_str);
            matches!(extension, Some("bin" | "dat" | "trx" | "twx" | "twl" | "trc"))
        })
        .collect();
    traces.sort();
    assert!(traces.len() > 10, "{traces:?}");
    traces
}

#[test]
fn documents_about_every_trace_fit_the_schemas() {
    let traces = traces();
    let rules = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&rules, "optional SM_TRN\nnever nothing\nwhenever x then y\ncomplete\n")
        .unwrap();
    let rules = rules.path().to_str().unwrap();
    for (kind, args) in [
        ("info", &["info", "--json"][..]),
        ("analyze", &["analyze", "--json", "--jobs", "--waits", "--ipoints", "1,2", "--budgets"]),
        ("analyze", &["analyze", "--json", "--period", "control=1ms", "--deadline", "0=1ms"]),
        ("check", &["check", "--json", rules]),
    ] {
        let arguments = args.iter().map(std::ffi::OsStr::new);
        let output = run(arguments.chain(traces.iter().map(|path| path.as_os_str())));
        let text = String::from_utf8(output.stdout).unwrap();
        let document = validated(kind, &text);
        assert_eq!(document["schema"], 1);
        let files: Vec<_> =
            document["traces"].as_array().unwrap().iter().map(|trace| &trace["file"]).collect();
        let expected: Vec<_> = traces.iter().map(|path| path.to_str().unwrap()).collect();
        assert_eq!(files, expected, "{kind}");
    }
    let formats =
        validated("formats", &String::from_utf8(run(["formats", "--json"]).stdout).unwrap());
    assert!(formats["read"].as_array().unwrap().iter().any(|format| format["name"] == "rkh"));
}

#[test]
fn keys_keep_the_order_in_which_they_are_declared() {
    let trace = traces().into_iter().find(|path| path.ends_with("scheduling.trx")).unwrap();
    let output = run(["info".as_ref(), "--json".as_ref(), trace.as_os_str()]);
    let text = String::from_utf8(output.stdout).unwrap();
    let at = |key: &str| text.find(&format!("\"{key}\":")).unwrap_or_else(|| panic!("{key}"));
    let keys = ["schema", "traces", "file", "format", "options", "clock", "events", "span_ticks"];
    assert!(keys.map(at).is_sorted(), "{text}");
}

#[test]
fn the_validator_finds_wrong_types_missing_and_unknown_keys() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "$ref": "#/$defs/A" }, "b": { "type": ["string", "null"] } },
        "required": ["a"],
        "$defs": { "A": { "type": "array", "items": { "type": "integer", "minimum": 0 } } }
    });
    let found = |value: Value| faults(&schema, &value).len();
    assert_eq!(found(json!({ "a": [1], "b": null })), 0);
    assert_eq!(found(json!({ "b": "x" })), 1);
    assert_eq!(found(json!({ "a": [-1, 0.5], "b": 1, "c": 0 })), 4);
}
