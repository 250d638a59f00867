//! How the tests of this crate get compilers and both libraries. Each test uses some of it.
#![allow(dead_code, reason = "no test needs all of it")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// How a program gets the library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Link {
    Static,
    Shared,
    /// Static, with the compiler watching addresses and undefined behaviour of the C side.
    Sanitized,
}

/// What makes a compiler watch, and end a program at the first fault.
pub(crate) const SANITIZERS: [&str; 3] =
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];

impl Link {
    /// Those that a compiler can make.
    pub(crate) fn all(compiler: &str) -> Vec<Self> {
        let watched = sanitizes(compiler).then_some(Self::Sanitized);
        [Self::Static, Self::Shared].into_iter().chain(watched).collect()
    }

    /// What a linker is told.
    pub(crate) fn arguments(self) -> Vec<String> {
        let folder = libraries().display();
        let library = match self {
            Self::Static | Self::Sanitized => vec![format!("{folder}/libtracewell_capi.a")],
            Self::Shared => vec![
                format!("-L{folder}"),
                format!("-Wl,-rpath,{folder}"),
                "-ltracewell_capi".to_owned(),
            ],
        };
        library.into_iter().chain(["-lpthread", "-ldl", "-lm"].map(str::to_owned)).collect()
    }
}

/// Whether a compiler has the sanitizers and their libraries.
pub(crate) fn sanitizes(compiler: &str) -> bool {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("empty.c");
    std::fs::write(&source, "int main(void) { return 0; }\n").unwrap();
    let mut command = Command::new(compiler);
    command
        .args(SANITIZERS)
        .args(["-x", "c"])
        .arg(&source)
        .arg("-o")
        .arg(folder.path().join("empty"));
    let can = command.output().is_ok_and(|output| output.status.success());
    if !can {
        println!("skipped: {compiler} has no {}", SANITIZERS[0]);
    }
    can
}

/// A compiler by its variable or its usual name. Without one the test is skipped, but not in CI.
pub(crate) fn compiler(variable: &str, usual: &str) -> Option<String> {
    let name = std::env::var(variable).unwrap_or_else(|_| usual.to_owned());
    if let Some(found) = optional(&name) {
        return Some(found);
    }
    assert!(std::env::var_os("CI").is_none(), "CI has the compiler {name}");
    None
}

/// A program that a machine may have or not; without it the test is skipped.
pub(crate) fn optional(name: &str) -> Option<String> {
    if Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Some(name.to_owned());
    }
    println!("skipped: there is no {name}");
    None
}

/// The folder of this crate.
pub(crate) fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of both libraries, which are built once.
pub(crate) fn libraries() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("libraries");
        succeed(
            Command::new(env!("CARGO"))
                .args(["build", "--offline", "--quiet", "--manifest-path"])
                .arg(here().join("Cargo.toml"))
                .arg("--target-dir")
                .arg(&target),
        );
        target.join("debug")
    })
}

/// Runs a command that must succeed: what it printed.
pub(crate) fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}\n{complained}", output.status);
    said
}

/// Every warning is an error.
pub(crate) const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-pedantic"];

/// Compiles a program of one file.
pub(crate) fn compile(
    compiler: &str,
    standard: &str,
    source: &Path,
    link: Link,
    folder: &Path,
) -> PathBuf {
    let program = folder.join("program");
    let mut command = Command::new(compiler);
    command.arg(standard).args(WARNINGS).arg("-o").arg(&program);
    if link == Link::Sanitized {
        command.args(SANITIZERS);
    }
    command.arg("-I").arg(here().join("include")).arg(source).args(link.arguments());
    succeed(&mut command);
    program
}
