//! Compares the C recorder of small targets with the Rust recorder: both must write the same bytes
//! and return the same values for the same calls. The calls are random, or come from the corpus of
//! the fuzz target `target_twin`. Each installed C compiler compiles the C recorder. The C recorder
//! must also compile without warnings for each processor in `PROCESSORS`. Outside CI, the test
//! skips processors without an installed compiler.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use target_geometry::{GEOMETRIES, Geometry};
use target_script::Script;

#[path = "../../../fuzz/src/corpus.rs"]
#[expect(unused_imports, unused_macros, reason = "the test compiles the C recorder first")]
mod corpus;
#[path = "../../../fuzz/src/target_geometry.rs"]
mod target_geometry;
#[path = "../../../fuzz/src/target_script.rs"]
mod target_script;

/// Returns random bytes (xorshift), which the seed determines.
fn random(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let next = |_| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..length).map(next).collect()
}

fn firmware() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../firmware")
}

/// Options of the compiler that detect undefined behaviour.
const SANITIZED: &[&str] = &["-fsanitize=undefined,address", "-fno-sanitize-recover=all"];

/// Compiles the recorder with the harness.
fn compile(compiler: &str, geometry: Geometry, folder: &Path) -> PathBuf {
    let harness = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/target_twin/harness.c");
    let program = folder.join(format!("{compiler}-{}", geometry.slot));
    let macros = geometry.macros().map(|(name, value)| format!("-D{name}={value}"));
    let output = Command::new(compiler)
        .args(["-std=c99", "-O1", "-g", "-Wall", "-Wextra", "-Wpedantic", "-Werror"])
        // Not every installation of clang includes the sanitizer libraries.
        .args(if compiler == "gcc" { SANITIZED } else { &[] })
        .args(macros)
        .args(["-DHARNESS_PROGRAM", "-I"])
        .arg(harness.parent().unwrap())
        .arg("-I")
        .arg(firmware())
        .arg(&harness)
        .arg(firmware().join("tracewell_target.c"))
        .arg("-o")
        .arg(&program)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Checks that both recorders produce the same output for a script.
fn compare(program: &Path, script: &Script) {
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let bytes = script.encode();
    let writer = std::thread::spawn(move || input.write_all(&bytes).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{:?}", output.status);
    target_script::assert_same(&output.stdout, &script.record());
}

fn is_installed(compiler: &str) -> bool {
    Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns the installed C compilers for the host.
fn compilers() -> Vec<&'static str> {
    ["gcc", "clang"].into_iter().filter(|compiler| is_installed(compiler)).collect()
}

#[test]
fn both_recorders_write_the_same_bytes_for_the_same_calls() {
    let folder = tempfile::tempdir().unwrap();
    let compilers = compilers();
    assert!(!compilers.is_empty(), "the test needs gcc or clang");
    for (number, geometry) in (0..).zip(GEOMETRIES) {
        for compiler in &compilers {
            let program = compile(compiler, geometry, folder.path());
            for seed in 0..20 {
                println!("{compiler}, {geometry:?}, seed {seed}"); // Shown only if it fails.
                let mut bytes = random(seed, 12_000);
                bytes[0] = number;
                compare(&program, &Script::new(&bytes));
            }
        }
    }
}

/// Runs the corpus of the fuzz target `target_twin`.
#[test]
fn target_twin() {
    let Some(compiler) = compilers().into_iter().next() else {
        assert!(std::env::var_os("CI").is_none(), "no C compiler is installed");
        println!("skipped: the test needs gcc or clang");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let programs = GEOMETRIES.map(|geometry| compile(compiler, geometry, folder.path()));
    corpus::run("target_twin", |data| {
        let script = Script::new(data);
        compare(&programs[script.geometry], &script);
    });
}

/// Compilers with their options for a processor.
const PROCESSORS: [(&str, &[&str]); 8] = [
    ("gcc", &["-include", "hosted.h"]),
    ("clang", &["-include", "hosted.h"]),
    ("arm-none-eabi-gcc", &["-mthumb", "-mcpu=cortex-m0plus"]),
    ("arm-none-eabi-gcc", &["-mthumb", "-mcpu=cortex-m3"]),
    ("arm-none-eabi-gcc", &["-mthumb", "-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"]),
    ("arm-none-eabi-gcc", &["-mthumb", "-mcpu=cortex-m33"]),
    ("clang", &["--target=riscv32", "-march=rv32imac", "-mabi=ilp32"]),
    ("riscv64-unknown-elf-gcc", &["-march=rv32imac", "-mabi=ilp32"]),
];

#[test]
fn the_c_recorder_compiles_without_warnings_for_each_processor() {
    let folder = tempfile::tempdir().unwrap();
    for (compiler, options) in PROCESSORS {
        if !is_installed(compiler) {
            assert!(std::env::var_os("CI").is_none(), "{compiler} is not installed");
            continue;
        }
        // Semihosting is for targets only.
        let files =
            ["", "_send", "_rtt", "_semihosting"].map(|part| format!("tracewell_target{part}.c"));
        let count = if options.contains(&"hosted.h") { 3 } else { 4 };
        let output = Command::new(compiler)
            .current_dir(folder.path())
            .args(["-std=c99", "-Os", "-ffreestanding", "-Wall", "-Wextra", "-Wpedantic"])
            .args(["-Wconversion", "-Wshadow", "-Wstrict-prototypes", "-Werror"])
            .args(options)
            .arg("-I")
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/target_twin"))
            .arg("-I")
            .arg(firmware())
            .arg("-c")
            .args(files[..count].iter().map(|file| firmware().join(file)))
            .output()
            .unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{compiler} {options:?}: {message}");
    }
}
