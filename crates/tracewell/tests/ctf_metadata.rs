//! Tests which metadata of CTF is read and which is refused, with the cases of the test suites of
//! Babeltrace and yactfr.

mod support;

use support::ctf::metadata_files;
use tracewell::format::ctf::metadata;

/// Shared metadata that must be refused, with the expected message.
const REFUSED: [(&str, &str); 6] = [
    ("fail1", "15:10: expected 1 for 'major', found 0"),
    ("fail2", "12:15: expected a character of a string, found byte 0x00"),
    ("invalid-sequence-length-field-class", "23:13: expected an integer 'len', found a structure"),
    (
        "lttng-modules-2.0-pre1",
        "1:1: metadata packet at byte 0: expected version 1.8, found 116.121",
    ),
    ("metadata-syntax-error", "3:58: expected a name, found ']'"),
    ("fail/smalltrace", "6:10: expected 1 for 'major', found 0"),
];

#[test]
fn the_metadata_of_all_shared_traces_is_read() {
    let Some(shared) = support::shared() else { return };
    let files = metadata_files(&shared.join("data/ctf"));
    assert!(files.len() > 80);
    for path in files {
        let name = path.to_string_lossy();
        let refused = REFUSED.iter().find(|(part, _)| name.contains(part));
        let result = metadata::read(&std::fs::read(&path).unwrap());
        let error = result.err().map(|error| error.to_string());
        assert_eq!(error.as_deref(), refused.map(|(_, message)| *message), "{name}");
    }
}

/// A reason to differ from yactfr, and the cases.
type Disagreement = (&'static str, &'static [&'static str]);

/// The cases that this program reads and yactfr refuses.
const READ: &[Disagreement] = &[
    (
        "an unknown attribute is ignored with a warning; Babeltrace does the same",
        &[
            "ctf-1/fail-clk-type-unknown-attr",
            "ctf-1/fail-dst-unknown-attr",
            "ctf-1/fail-fl-float-type-unknown-attr",
            "ctf-1/fail-nt-str-type-unknown-attr",
            "ctf-1/fail-trace-type-unknown-attr",
        ],
    ),
    (
        "an unknown attribute causes a warning; Babeltrace refuses events without a name",
        &["ctf-1/fail-ert-unknown-attr"],
    ),
    (
        "an unknown property is ignored with a warning",
        &[
            "ctf-2/fail-dl-blob-type-unknown-prop",
            "ctf-2/fail-dl-str-type-unknown-prop",
            "ctf-2/fail-fl-bit-array-type-unknown-prop",
            "ctf-2/fail-fl-bit-map-type-unknown-prop",
            "ctf-2/fail-fl-bool-type-unknown-prop",
            "ctf-2/fail-nt-str-type-unknown-prop",
            "ctf-2/fail-sl-array-type-unknown-prop",
            "ctf-2/fail-sl-str-type-unknown-prop",
            "ctf-2/fail-vl-sint-type-unknown-prop",
            "ctf-2/fail-vl-uint-type-unknown-prop",
        ],
    ),
    (
        "no field has this type, so the reference in the type is never resolved; Babeltrace \
         accepts it, too",
        &[
            "ctf-1/fail-ctf-testsuite-array-size-identifier",
            "ctf-1/fail-ctf-testsuite-array-size-type",
        ],
    ),
    (
        "a label for values that the field cannot have causes a warning; Babeltrace accepts it",
        &[
            "ctf-1/fail-ctf-testsuite-enum-field-value-out-of-range",
            "ctf-1/fail-ctf-testsuite-enum-type-value-out-of-range",
            "ctf-1/fail-fl-enum-type-len-too-small-1",
            "ctf-1/fail-fl-enum-type-val-out-of-range-5",
        ],
    ),
    (
        "a word has the same meaning in quotes as without quotes; Babeltrace accepts it, too",
        &[
            "ctf-1/fail-ctf-testsuite-integer-base-as-string",
            "ctf-1/fail-ctf-testsuite-integer-encoding-as-string",
            "ctf-1/fail-ctf-testsuite-integer-signed-as-string",
            "ctf-1/fail-fl-int-type-wrong-base-attr-1",
        ],
    ),
    (
        "an option that no label selects, and a variant without options, are never read: only data \
         that selects them is bad; Babeltrace reads the first and the second, and crashes at the third",
        &[
            "ctf-1/fail-ctf-testsuite-variant-string-fields",
            "ctf-1/fail-var-type-empty",
            "ctf-1/fail-var-type-inval-sel-loc-11",
        ],
    ),
    ("a later value of the environment replaces an earlier one", &["ctf-1/fail-env-dup-entry"]),
    (
        "a value of the environment that is neither a string nor a 64-bit number is skipped with a warning",
        &["ctf-1/fail-env-out-of-range-pos", "ctf-1/fail-env-wrong-entry"],
    ),
    (
        "the semicolon after a block adds nothing; Babeltrace requires it",
        &[
            "ctf-1/fail-syntax-env-block-missing-semi",
            "ctf-1/fail-syntax-event-block-missing-semi",
            "ctf-1/fail-syntax-trace-block-missing-semi",
        ],
    ),
    (
        "packets without stream id belong to stream 0, with a warning; Babeltrace accepts them",
        &["ctf-1/fail-trace-type-ph-type-missing-stream-id-member"],
    ),
    (
        "the offset of a clock is a signed number; Babeltrace refuses it, too",
        &["ctf-1/fail-clk-type-wrong-offset-attr-1"],
    ),
];

/// The cases that this program refuses and yactfr reads.
const NOT_READ: &[Disagreement] = &[(
    "a variant without a field name may or may not be a field; Babeltrace refuses it, too",
    &["ctf-1/pass-dt-aliases-everywhere", "ctf-1/pass-type-defs-everywhere"],
)];

#[test]
fn the_cases_of_a_public_test_suite_agree() {
    let Some(shared) = support::shared() else { return };
    let cases = std::fs::read_to_string(shared.join("data/ctf/cases/metadata.jsonl")).unwrap();
    let mut count = 0;
    let (mut read, mut not_read) = (Vec::new(), Vec::new());
    for line in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let name = case["name"].as_str().unwrap().to_owned();
        let result = metadata::read(case["metadata"].as_str().unwrap().as_bytes());
        match (result.is_ok(), case["accept"].as_bool().unwrap()) {
            (true, false) => read.push(name),
            (false, true) => not_read.push(name),
            _ => {}
        }
        count += 1;
    }
    assert_eq!(count, 534);
    for (found, table) in [(&mut read, READ), (&mut not_read, NOT_READ)] {
        let mut expected: Vec<_> = table.iter().flat_map(|(_, names)| *names).copied().collect();
        expected.sort_unstable();
        found.sort();
        assert_eq!(*found, expected);
    }
}

/// Most errors are in a line that yactfr also names. For some errors, yactfr names the line of the
/// whole type, and Tracewell names the line of the reference or of the second name.
#[test]
fn errors_are_where_yactfr_reports_them() {
    let Some(shared) = support::shared() else { return };
    let cases = std::fs::read_to_string(shared.join("data/ctf/cases/metadata.jsonl")).unwrap();
    let (mut same_line, mut all) = (0, 0);
    for line in cases.lines() {
        let case: serde_json::Value = serde_json::from_str(line).unwrap();
        let Some(message) = case["error"].as_str() else { continue };
        // For CTF 2, yactfr counts positions from the start of the fragment.
        if !case["name"].as_str().unwrap().starts_with("ctf-1/") {
            continue;
        }
        if let Err(error) = metadata::read(case["metadata"].as_str().unwrap().as_bytes()) {
            all += 1;
            same_line += u32::from(message.contains(&format!("[{}:", error.line)));
        }
    }
    assert!(all > 160 && same_line >= all - 16, "{same_line} of {all}");
}
