//! Compilers and libraries for the tests of this crate. Each test uses only some of these
//! functions.
#![allow(dead_code, reason = "no test needs all of it")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The way in which a program is linked with the library.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Link {
    Static,
    Shared,
    /// Static, with the sanitizers for addresses and undefined behaviour in the C code.
    Sanitized,
}

/// Compiler flags of the sanitizers. A program ends at the first error.
pub(crate) const SANITIZERS: [&str; 3] =
    ["-fsanitize=address,undefined", "-fno-sanitize-recover=all", "-g"];

impl Link {
    /// Returns the ways of linking that a compiler supports.
    pub(crate) fn all(compiler: &str) -> Vec<Self> {
        let watched = sanitizes(compiler).then_some(Self::Sanitized);
        [Self::Static, Self::Shared].into_iter().chain(watched).collect()
    }

    /// Returns the arguments of the linker.
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

/// Returns true if a compiler has the sanitizers and their libraries.
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

/// Returns the compiler that an environment variable names, or the default compiler. If there is
/// none, the test is skipped; in CI it fails.
pub(crate) fn compiler(variable: &str, usual: &str) -> Option<String> {
    tool(&std::env::var(variable).unwrap_or_else(|_| usual.to_owned()))
}

/// Returns a program if the machine has it. Without it the test is skipped, except in CI.
pub(crate) fn tool(name: &str) -> Option<String> {
    let found = optional(name);
    assert!(found.is_some() || std::env::var_os("CI").is_none(), "CI has {name}");
    found
}

/// Returns a program if the machine has it. If not, the test is skipped.
pub(crate) fn optional(name: &str) -> Option<String> {
    if Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success()) {
        return Some(name.to_owned());
    }
    println!("skipped: there is no {name}");
    None
}

/// Returns the folder of this crate.
pub(crate) fn here() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the folder of both libraries, which are built once.
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

/// Runs a command that must succeed, and returns its output.
pub(crate) fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{said}\n{complained}", output.status);
    said
}

/// Compiler flags for warnings, which count as errors.
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
