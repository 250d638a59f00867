//! What `cargo run -p xtask -- install-c` installs: a program is compiled with it, by pkg-config where there
//! is one, by the name that other systems use, and runs.

mod build;

use std::path::Path;
use std::process::Command;

use build::{compiler, here, optional, succeed};

fn install(prefix: &Path) {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(here().join("../..")).env("CARGO_NET_OFFLINE", "true");
    command.args(["run", "--offline", "--quiet", "--package", "xtask", "--target-dir"]);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("install");
    command.arg(&target).args(["--", "install-c", "--profile", "dev", "--target-dir"]).arg(&target);
    succeed(command.arg("--prefix").arg(prefix));
}

const PROGRAM: &str = "#include <trace.h>
#include <tracewell.h>
int main(void)
{
    trace_attr_t attr;
    char version[TRACE_NAME_MAX];
    return posix_trace_attr_init(&attr) + posix_trace_attr_getgenversion(&attr, version)
        + (tw_message(TW_OK) == 0);
}
";

/// Compiles with these arguments, and runs with the libraries of the prefix.
fn links_and_runs(cc: &str, prefix: &Path, arguments: &[&str]) {
    let (source, program) = (prefix.join("program.c"), prefix.join("program"));
    std::fs::write(&source, PROGRAM).unwrap();
    succeed(Command::new(cc).arg("-o").arg(&program).arg(&source).args(arguments));
    succeed(Command::new(&program).env("LD_LIBRARY_PATH", prefix.join("lib")));
}

/// Whether a compiler has what it needs for that.
fn optimises_at_link_time(cc: &str, folder: &Path) -> bool {
    let (source, program) = (folder.join("empty.c"), folder.join("empty"));
    std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let mut command = Command::new(cc);
    let made = command.arg("-flto").arg("-o").arg(&program).arg(&source).output();
    let can = made.is_ok_and(|output| output.status.success());
    if !can {
        println!("skipped: {cc} cannot optimise at link time");
    }
    can
}

#[test]
fn what_is_installed_can_be_used() {
    let Some(cc) = compiler("CC", "gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path();
    install(prefix);
    let include = format!("-I{}/include", prefix.display());
    let library = format!("-L{}/lib", prefix.display());
    links_and_runs(&cc, prefix, &[&include, &library, "-lposixtrace"]);
    links_and_runs(
        &cc,
        prefix,
        &[&include, &library, "-l:libposixtrace.a", "-lpthread", "-ldl", "-lm"],
    );
    assert!(prefix.join("share/man/man3/posix_trace_event.3").exists());
    if let Some(clang) = optional("clang").filter(|clang| optimises_at_link_time(clang, prefix)) {
        let static_library = ["-l:libtracewell_capi.a", "-lpthread", "-ldl", "-lm"];
        links_and_runs(
            &clang,
            prefix,
            &[&["-flto", &include[..], &library], &static_library[..]].concat(),
        );
    }
    let Some(pkg_config) = optional("pkg-config") else { return };
    let said = succeed(
        Command::new(pkg_config)
            .args(["--cflags", "--libs", "tracewell"])
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")),
    );
    links_and_runs(&cc, prefix, &said.split_whitespace().collect::<Vec<_>>());
}
