//! Tests the whole path from a board to the result of `check`. QEMU runs the example of FreeRTOS,
//! `collect --follow` receives the bytes of its serial line, and `check` compares the trace with
//! rules. A second build of the example causes a priority inversion, which the rules detect.
//!
//! If the kernel's sources, the cross compiler or QEMU are missing, the test is skipped; in CI, it
//! fails instead.
#![cfg(unix)]

#[allow(dead_code, unreachable_pub, reason = "other tests use the other parts")]
#[path = "../../tracewell/tests/support/board.rs"]
mod board;
mod program;

use std::path::Path;
use std::process::{Command, Output, Stdio};

use program::{program, root, run_in, status, stderr, stdout};

/// Collects the serial line of `app.elf` into `line.bin`.
fn collect(folder: &Path) -> Output {
    let mut board = Command::new("timeout")
        .args(["300", "qemu-system-arm", "-M", "mps2-an385", "-kernel", "app.elf"])
        .args(["-display", "none", "-monitor", "none", "-serial", "stdio"])
        .args(["-semihosting-config", "enable=on,target=native", "-icount", "shift=6"])
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let line = board.stdout.take().unwrap();
    let collect = program(folder)
        .args(["collect", "-", "--format-in", "target", "-o", "line.bin", "--follow"])
        .stdin(line)
        .output()
        .unwrap();
    assert!(board.wait().unwrap().success());
    collect
}

#[test]
fn rules_find_the_priority_inversion_of_a_board_whose_serial_line_is_collected() {
    if !board::has_tools() {
        return;
    }
    let Some(kernel) = board::kernel() else {
        board::skipped();
        return;
    };
    let rules = root().join("examples/freertos/bus.rules");
    for (options, passes) in [(&[][..], true), (&["-DPRIORITY_INVERSION"], false)] {
        let folder = tempfile::tempdir().unwrap();
        let app = folder.path().join("app.elf");
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&kernel, &app];
        arguments.extend(options.iter().map(|option| option as &dyn AsRef<std::ffi::OsStr>));
        board::build("examples/freertos/build", &arguments);
        let collected = collect(folder.path());
        assert_eq!(status(&collected), Some(0), "{}", stderr(&collected));
        let shown = stdout(&collected);
        assert!(shown.contains("task=controller"), "{shown}");
        let checked = run_in(
            folder.path(),
            &["check".as_ref(), "--strict".as_ref(), rules.as_os_str(), "line.bin".as_ref()],
        );
        let found = stdout(&checked) + &stderr(&checked);
        assert_eq!(status(&checked), Some(i32::from(!passes)), "{found}");
        let expected = if passes { "passed: 2 rules held" } else { "no answer within 2.5 ms" };
        assert!(found.contains(expected), "{found}");
    }
}
