//! Runs firmware for a Cortex-M3 in QEMU: programs in C, which use the library for firmware, and a
//! program in Rust. The recorded bytes must be equal to those of the same programs on this machine.
//!
//! If the tools are missing, the tests are skipped; in CI they fail.

#[path = "../../record/examples/axis/axis.rs"]
mod axis;
#[path = "../../record/examples/device/device.rs"]
mod device;
#[path = "../../record/examples/door/door.rs"]
mod door;

mod build;
mod events;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use build::{WARNINGS, here, optional, succeed};
use events::events;

const TARGET: &str = "thumbv7m-none-eabi";
const GCC: &str = "arm-none-eabi-gcc";
const QEMU: &str = "qemu-system-arm";

/// Returns true if this machine can build and run firmware.
fn has_tools(programs: &[&str]) -> bool {
    let sysroot = succeed(Command::new("rustc").args(["--print", "sysroot"]));
    let library = Path::new(sysroot.trim()).join("lib/rustlib").join(TARGET);
    let missing_target = (!library.is_dir()).then(|| format!("the target {TARGET}"));
    let missing =
        programs.iter().filter(|name| optional(name).is_none()).map(|name| (*name).into());
    let missing: Vec<_> = missing_target.into_iter().chain(missing).collect();
    assert!(missing.is_empty() || std::env::var_os("CI").is_none(), "CI has {missing:?}");
    if !missing.is_empty() {
        println!("skipped: there is no {}", missing.join(", no "));
    }
    missing.is_empty()
}

fn example() -> PathBuf {
    here().join("../../examples/cortex-m")
}

/// Returns a cargo command with target folders for these tests.
fn cargo(command: &str, manifest: &Path, folder: &str) -> (Command, PathBuf) {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args([command, "--offline", "--quiet", "--target", TARGET, "--manifest-path"]);
    cargo.arg(manifest).arg("--target-dir").arg(&target);
    (cargo, target.join(TARGET))
}

/// Runs a program in QEMU with `folder` as its current folder. Returns the bytes of its serial
/// line.
fn run(program: &Path, arguments: &[&str], folder: &Path) -> Vec<u8> {
    let mut semihosting = "enable=on,target=native".to_owned();
    for argument in arguments {
        semihosting.push_str(&format!(",arg={argument}"));
    }
    // The limit, one minute of processor time, is a thousand times the time that the programs need.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -t 60; exec \"$@\"", "sh", QEMU, "-machine", "mps2-an385"]);
    command.args(["-display", "none", "-monitor", "none", "-serial", "file:serial"]);
    command.args(["-semihosting-config", &semihosting, "-kernel"]).arg(program);
    succeed(command.current_dir(folder));
    fs::read(folder.join("serial")).unwrap()
}

/// Compiles a program of `examples/c` for the board, with the firmware library.
fn compile(name: &str, library: &Path, folder: &Path) -> PathBuf {
    let program = folder.join(name);
    let mut command = Command::new(GCC);
    command.args(["-std=c99", "-mcpu=cortex-m3", "-mthumb", "-Os", "--specs=rdimon.specs"]);
    command.args(WARNINGS).arg("-DTRACEWELL_FIRMWARE").arg("-I").arg(here().join("include"));
    command.arg("-T").arg(example().join("mps2-an385.ld")).arg("-Wl,--gc-sections");
    command.arg(example().join("c/startup.c"));
    command.arg(here().join("../../examples/c").join(name).with_extension("c"));
    succeed(command.arg(library).arg("-o").arg(&program));
    program
}

fn hosted_door() -> Vec<u8> {
    let mut bytes = Vec::new();
    door::run(|block| bytes.extend_from_slice(block));
    bytes
}

#[test]
fn c_programs_without_operating_system_record_what_they_record_on_this_machine() {
    if !has_tools(&[GCC, QEMU]) {
        return;
    }
    let (mut command, target) = cargo("rustc", &here().join("Cargo.toml"), "firmware-c");
    command.args(["--lib", "--no-default-features", "--crate-type", "staticlib", "--release"]);
    succeed(&mut command);
    let library = target.join("release/libtracewell_capi.a");
    let folder = tempfile::tempdir().unwrap();
    let read = |name| fs::read(folder.path().join(name)).unwrap();

    run(&compile("firmware", &library, folder.path()), &["firmware", "."], folder.path());
    let device::Recorded { ring, log, chunk } = device::record();
    // The headers differ, because they contain the address of the ring.
    assert!(read("firmware.trx")[48..] == ring[48..], "the rings differ");
    assert!(read("firmware.twx") == log, "the logs differ");
    assert!(read("firmware.chunk") == chunk, "the chunks differ");

    run(&compile("door", &library, folder.path()), &["door", "door.rkh"], folder.path());
    assert!(read("door.rkh") == hosted_door(), "the streams differ");
}

#[test]
fn a_rust_program_records_what_it_records_on_this_machine_and_leaves_a_threadx_ring() {
    if !has_tools(&[QEMU]) {
        return;
    }
    let (mut command, target) = cargo("build", &example().join("Cargo.toml"), "firmware-rust");
    succeed(command.args(["--locked", "--release"]));
    let folder = tempfile::tempdir().unwrap();
    let serial = run(&target.join("release/door"), &[], folder.path());
    assert!(serial == hosted_door(), "the streams differ");

    let (mut memory, mut line) = ([0; 8192], [0; 8192]);
    let length = axis::record(&mut memory, &mut line).unwrap();
    assert!(length > 3000, "{length}");
    let of_target = fs::read(folder.path().join("axis.bin")).unwrap();
    assert!(of_target == line[..length], "the streams for small targets differ");

    let running = "0x20000600 TX_TRACE_RUNNING arg1=0 arg2=0 arg3=0 arg4=0".to_owned();
    let stack = "0x2000FF00";
    let interrupted = "interrupted=0x20000600";
    let isr =
        format!("stack_ptr={stack} isr_number=15 system_state=1 preempt_disable=0 {interrupted}");
    let control = "0x20000400";
    let of_sample = |number: u32| {
        let resume = format!(
            "thread_ptr={control} previous_state=5 stack_ptr={stack} next_thread={control} {interrupted}"
        );
        let square = number * number;
        [
            format!("0xFFFFFFFF TX_TRACE_ISR_ENTER {isr}"),
            format!("0xFFFFFFFF TX_TRACE_THREAD_RESUME {resume}"),
            format!("0xFFFFFFFF TX_TRACE_ISR_EXIT {isr}"),
            format!("0x20000400 USER_EVENT arg1={number} arg2={square} arg3=0 arg4=0"),
        ]
    };
    let expected = [running.clone(), running].into_iter().chain((0..8).flat_map(of_sample));
    assert_eq!(
        events(&folder.path().join("door.trx"), &["context", "name", "args"]),
        expected.collect::<Vec<_>>()
    );
}
