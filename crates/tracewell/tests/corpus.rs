//! Runs the fuzzers' corpus through the fuzz targets' own functions, on stable and without a
//! fuzzer: what was found once stays fixed.

use std::fs;
use std::path::Path;

#[path = "../../../fuzz/src/lib.rs"]
#[expect(unreachable_pub, reason = "public where it is the fuzz crate's library")]
mod targets;

fn run(target: &str, entry: fn(&[u8])) {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let files: Vec<_> = fs::read_dir(&corpus).expect("the target has a corpus folder").collect();
    assert!(!files.is_empty(), "{} is empty", corpus.display());
    for file in files {
        let path = file.expect("the folder can be listed").path();
        println!("{}", path.display()); // Shown only for the file that fails.
        entry(&fs::read(path).expect("a corpus file can be read"));
    }
}

#[test]
fn wire_threadx() {
    run("wire_threadx", targets::wire_threadx);
}

#[test]
fn wire_aix() {
    run("wire_aix", targets::wire_aix);
}

#[test]
fn threadx() {
    run("threadx", targets::threadx);
}

#[test]
fn threadx_edited() {
    run("threadx_edited", targets::threadx_edited);
}

#[test]
fn shark() {
    run("shark", targets::shark);
}

#[test]
fn arrivals() {
    run("arrivals", targets::arrivals);
}

#[test]
fn wire_rkh() {
    run("wire_rkh", targets::wire_rkh);
}

#[test]
fn rkh() {
    run("rkh", targets::rkh);
}

#[test]
fn intel_hex() {
    run("intel_hex", targets::intel_hex);
}

#[test]
fn s_record() {
    run("s_record", targets::s_record);
}

#[test]
fn ascii_hex() {
    run("ascii_hex", targets::ascii_hex);
}

#[test]
fn native() {
    run("native", targets::native);
}

#[test]
fn native_edited() {
    run("native_edited", targets::native_edited);
}

#[test]
fn native_image() {
    run("native_image", targets::native_image);
}

#[test]
fn posix_reader() {
    run("posix_reader", targets::posix_reader);
}

#[test]
fn posix_reader_edited() {
    run("posix_reader_edited", targets::posix_reader_edited);
}

#[test]
fn posix_reader_memory() {
    run("posix_reader_memory", targets::posix_reader_memory);
}

#[test]
fn aix() {
    run("aix", targets::aix);
}

#[test]
fn template_parser() {
    run("template_parser", targets::template_parser);
}

#[test]
fn template_machine() {
    run("template_machine", targets::template_machine);
}

#[test]
fn compress() {
    run("compress", targets::compress);
}

#[test]
fn check_parser() {
    run("check_parser", targets::check_parser);
}

#[test]
fn check_matcher() {
    run("check_matcher", targets::check_matcher);
}

#[test]
fn machines() {
    run("machines", targets::machines);
}

#[test]
fn posix_log() {
    run("posix_log", targets::posix_log);
}

#[test]
fn posix_memory() {
    run("posix_memory", targets::posix_memory);
}

#[test]
fn exports() {
    run("exports", targets::exports);
}

#[test]
fn reports() {
    run("reports", targets::reports);
}

#[test]
fn trcrpt_layout() {
    run("trcrpt_layout", targets::trcrpt_layout);
}

#[test]
fn tracex() {
    run("tracex", targets::tracex);
}

#[test]
fn custom_event_files() {
    run("custom_event_files", targets::custom_event_files);
}

#[test]
fn typed_texts() {
    run("typed_texts", targets::typed_texts);
}

#[test]
fn template_update() {
    run("template_update", targets::template_update);
}

#[test]
fn recognition() {
    run("recognition", targets::recognition);
}

#[test]
fn join() {
    run("join", targets::join);
}

#[test]
fn packet_numbers() {
    run("packet_numbers", targets::packet_numbers);
}
