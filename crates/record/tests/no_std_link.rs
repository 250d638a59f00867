//! Builds `tests/no_std`, a target that uses the recorder without the standard library and without
//! an allocator. Builds it for this machine, and for each embedded processor whose Rust target is
//! installed.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Processors without 64-bit atomics. The first and the last of these processors have no
/// compare-and-swap.
const BARE: [&str; 4] = [
    "thumbv6m-none-eabi",
    "thumbv7m-none-eabi",
    "thumbv7em-none-eabihf",
    "riscv32imc-unknown-none-elf",
];

/// Builds with additional arguments and returns the target folder.
fn build(arguments: &[&str]) -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_std");
    let output = Command::new(env!("CARGO"))
        .args(["build", "--offline", "--quiet", "--manifest-path"])
        .arg(here.join("tests/no_std/Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .args(arguments)
        .output()
        .expect("can start the cargo that runs this test");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    target
}

fn is_installed(target: &str) -> bool {
    let output = Command::new("rustc").args(["--print", "sysroot"]).output();
    let sysroot = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    sysroot.is_ok_and(|sysroot| Path::new(&sysroot).join("lib/rustlib").join(target).is_dir())
}

#[test]
fn a_target_without_std_and_allocator_can_record() {
    assert!(build(&[]).join("debug/libno_std_target.a").is_file());
}

#[test]
fn processors_without_64_bit_atomics_can_record() {
    for target in BARE {
        if is_installed(target) {
            let folder = build(&["--target", target]).join(target);
            assert!(folder.join("debug/libno_std_target.a").is_file(), "{target}");
        } else {
            assert!(std::env::var_os("CI").is_none(), "CI has the target {target}");
            println!("skipped: there is no target {target}");
        }
    }
}
