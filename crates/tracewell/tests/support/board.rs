//! Builds programs for a Cortex-M3, and runs them in QEMU. Finds the sources of FreeRTOS in the
//! folder that the variable `FREERTOS_KERNEL` names. If the variable is not set, looks for them in
//! the package `freertos-next` that cargo has downloaded.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder with the sources of FreeRTOS V11.2, or `None` if it is not found.
pub fn kernel() -> Option<PathBuf> {
    if let Some(folder) = std::env::var_os("FREERTOS_KERNEL") {
        return Some(PathBuf::from(folder));
    }
    let home = std::env::var_os("CARGO_HOME")
        .map(PathBuf::from)
        .or_else(|| std::env::home_dir().map(|home| home.join(".cargo")))?;
    let registries = std::fs::read_dir(home.join("registry/src")).ok()?;
    let folders = registries
        .filter_map(|entry| Some(entry.ok()?.path().join("freertos-next-0.12.0/FreeRTOS-Kernel")));
    let mut folders = folders.filter(|folder| folder.join("tasks.c").is_file());
    folders.next()
}

fn runs(program: &str) -> bool {
    Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success())
}

/// Returns true if the cross compiler and QEMU are installed. In CI, panics if one of them is
/// missing.
pub fn has_tools() -> bool {
    runs("arm-none-eabi-gcc") && runs("qemu-system-arm") || skipped()
}

/// Reports that a test is skipped because something is missing, and returns false.
pub fn skipped() -> bool {
    assert!(std::env::var_os("CI").is_none(), "no kernel, compiler or QEMU");
    let reason = "skipped: needs FreeRTOS (FREERTOS_KERNEL), arm-none-eabi-gcc, QEMU";
    let _ = writeln!(std::io::stderr(), "{reason}");
    false
}

/// Runs a script of this repository, which builds a program.
pub fn build(script: &str, arguments: &[&dyn AsRef<std::ffi::OsStr>]) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(script);
    let build = Command::new(script).args(arguments.iter().map(AsRef::as_ref)).output().unwrap();
    assert!(build.status.success(), "{}", String::from_utf8_lossy(&build.stderr));
}

/// Runs `app.elf` in `folder`. Writes the bytes of the serial line to `line.bin` there.
pub fn run(folder: &Path) {
    let board = Command::new("timeout")
        .args(["300", "qemu-system-arm", "-M", "mps2-an385", "-kernel", "app.elf"])
        .args(["-display", "none", "-monitor", "none", "-serial", "file:line.bin"])
        .args(["-semihosting-config", "enable=on,target=native", "-icount", "shift=6"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(board.status.success(), "{}", String::from_utf8_lossy(&board.stderr));
}
