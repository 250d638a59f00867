//! Tests that the program reads compressed traces and templates from files and from pipes. Also
//! tests its messages and exit statuses.

mod program;

use std::io::Write;
use std::process::{Command, Output, Stdio};

use program::{root, stderr, stdout};

const GZIP: &str = "crates/tracewell/tests/fixtures/compressed/ahsm-a.bin.gz";
const ZSTD: &str = "crates/tracewell/tests/fixtures/compressed/ahsm-a.bin.zst";
const PLAIN: &str = "crates/tracewell/tests/fixtures/rkh/ahsm-a.bin";

fn run(arguments: &[&str], stdin: &[u8]) -> Output {
    let mut program = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    program.args(arguments).current_dir(root()).stdin(Stdio::piped());
    let mut child = program.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut pipe = child.stdin.take().unwrap();
    let bytes = stdin.to_vec();
    let writer = std::thread::spawn(move || drop(pipe.write_all(&bytes)));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[test]
fn a_compressed_trace_prints_the_same_events_from_a_file_and_from_a_pipe() {
    let plain = run(&["events", PLAIN], b"");
    for file in [GZIP, ZSTD] {
        assert!(run(&["events", file], b"").stdout == plain.stdout, "{file}");
        let bytes = std::fs::read(root().join(file)).unwrap();
        let piped = run(&["events", "-"], &bytes);
        assert!(piped.stdout == plain.stdout, "{file}");
        assert_eq!(piped.status.code(), plain.status.code(), "{file}");
        let tail = run(&["events", "--tail", "3", "-"], &bytes);
        assert!(plain.stdout.ends_with(&tail.stdout), "{file}");
        assert_eq!(stdout(&tail).lines().count(), 3, "{file}");
    }
}

#[test]
fn a_cut_compressed_pipe_shows_the_loss_and_ends_with_status_3() {
    let bytes = std::fs::read(root().join(GZIP)).unwrap();
    let output = run(&["report", "-"], &bytes[..2500]);
    assert_eq!(output.status.code(), Some(3));
    let mark = "lost here: an unknown number of events, truncated, at byte";
    assert!(stdout(&output).contains(mark), "{}", stdout(&output));
    let message = "gzip data at byte 2500 of the file: the file ends in the middle of its data";
    assert!(stderr(&output).contains(message), "{}", stderr(&output));
}

#[test]
fn a_compressed_template_is_read_and_never_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("my.fmt.zst");
    // `zstd` made this file from the text "0AA 1.0   \"one\"\n", which is not in canonical form.
    let head = b"\x28\xb5\x2f\xfd\x04\x58\x81\x00\x00";
    let text_of_file = b"0AA 1.0   \"one\"\n";
    let checksum = b"\x99\xae\xe5\x48";
    std::fs::write(&path, [head.as_slice(), text_of_file, checksum].concat()).unwrap();
    let path = path.to_str().unwrap();
    let listed = run(&["template", "list", path], b"");
    assert!(stdout(&listed).contains("0AA"), "{}", stderr(&listed));
    let before = std::fs::read(path).unwrap();
    let written = run(&["template", "fmt", "-w", path], b"");
    assert_eq!(written.status.code(), Some(2), "{}", stderr(&written));
    let message = "is compressed; decompress it, or leave out -w";
    assert!(stderr(&written).contains(message), "{}", stderr(&written));
    assert!(std::fs::read(path).unwrap() == before);
}
