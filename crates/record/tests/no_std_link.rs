//! Builds `tests/no_std`, a target without standard library and allocator that uses the recorder.

use std::path::Path;
use std::process::Command;

#[test]
fn a_target_without_std_and_allocator_can_record() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_std");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--quiet", "--manifest-path"])
        .arg(here.join("tests/no_std/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .output()
        .expect("the cargo that runs this test can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(target.join("debug/libno_std_target.a").is_file());
}
