//! Tests the requests of the static page natively. In the tests of the page, the same code runs as
//! WebAssembly.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tracewell_web::Reader;

/// Returns a reader of a file in the repository.
fn reader(path: &str) -> Reader {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut reader = Reader::default();
    reader.load(fs::read(root.join(path)).unwrap());
    reader
}

fn ask(reader: &mut Reader, request: &Value) -> Result<Vec<u8>, String> {
    reader.answer(request.to_string().as_bytes(), |_| ())
}

fn open(name: &str, options: &[&str]) -> Value {
    json!({ "ask": "open", "name": name, "options": options })
}

#[test]
fn the_payload_of_a_trace_is_in_the_form_of_zlib() {
    let mut reader = reader("examples/scheduling.trx");
    let payload = ask(&mut reader, &open("a.trx", &["rate=100MHz"])).unwrap();
    // RFC 1950: deflate with a window of 32 KiB. The first two bytes, as a big-endian number, are a
    // multiple of 31.
    assert_eq!(payload[0], 0x78);
    assert_eq!(u16::from_be_bytes([payload[0], payload[1]]) % 31, 0);
    let facts = ask(&mut reader, &json!({ "ask": "facts" })).unwrap();
    let facts: Value = serde_json::from_slice(&facts).unwrap();
    assert_eq!(facts, json!({ "format": "threadx", "diagnostics": [] }));
}

#[test]
fn damage_is_in_the_facts() {
    let mut reader = reader("crates/tracewell/tests/fixtures/rkh/ahsm-a-garbage.bin");
    ask(&mut reader, &open("garbage.bin", &[])).unwrap();
    let facts = ask(&mut reader, &json!({ "ask": "facts" })).unwrap();
    let facts: Value = serde_json::from_slice(&facts).unwrap();
    assert_eq!(facts["format"], "rkh");
    let first = facts["diagnostics"][0].as_str().unwrap();
    assert!(first.contains("at byte"), "{first}");
}

#[test]
fn a_wrong_request_or_trace_is_an_error_with_a_message() {
    let trace = "examples/scheduling.trx";
    let mut one = reader(trace);
    let view = json!({
        "ask": "view", "from": "0", "to": "9", "parts": 9, "window": "0", "events": false,
    });
    assert!(ask(&mut one, &view).unwrap_err().contains("whole trace"));
    assert!(ask(&mut one, &json!({ "ask": "all" })).unwrap_err().contains("not a request"));
    let error = ask(&mut one, &open("a.trx", &["rate=fast"])).unwrap_err();
    assert!(error.starts_with("-O rate: expected ticks per second"), "{error}");
    // The failed request has consumed the trace.
    assert!(ask(&mut one, &open("a.trx", &[])).unwrap_err().contains("a.trx"));
    let format = json!({ "ask": "open", "name": "a", "format": "x", "options": [] });
    assert!(ask(&mut reader(trace), &format).unwrap_err().contains("x"));
}

#[test]
fn all_formats_have_their_options() {
    let formats = ask(&mut Reader::default(), &json!({ "ask": "formats" })).unwrap();
    let formats: Value = serde_json::from_slice(&formats).unwrap();
    let threadx = formats["read"].as_array().unwrap().iter().find(|f| f["name"] == "threadx");
    let options = threadx.unwrap()["options"].as_array().unwrap();
    assert!(options.iter().any(|option| option["key"] == "rate"));
}
