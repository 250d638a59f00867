//! Puts the C library under a prefix: headers, both libraries with their links, the file of pkg-config,
//! manual pages.
//!
//! ```text
//! PREFIX/include/trace.h, tracewell.h, tracewell_rkh.h, tracewell_rkh_events.h
//! PREFIX/lib/libtracewell_capi.a
//!            libtracewell_capi.so -> .so.0 -> .so.0.1.0
//!            libposixtrace.a, .so -> those: what programs for other systems link
//!            pkgconfig/tracewell.pc
//! PREFIX/share/man/man3/*.3
//! ```
//!
//! The shared library gets its name for the dynamic linker only here, in a target folder of its own, so
//! that the one in `target/` can be used where it lies.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What the library is called by linkers.
const NAME: &str = "libtracewell_capi";
/// What implementations of the trace functions are called elsewhere.
const USUAL_NAME: &str = "libposixtrace";
const HEADERS: [&str; 4] = ["trace.h", "tracewell.h", "tracewell_rkh.h", "tracewell_rkh_events.h"];

/// What the command line says.
pub(crate) struct Options {
    prefix: PathBuf,
    /// Where the prefix is for now: packages are made of it. The root by default.
    destination: PathBuf,
    profile: String,
    target: Option<PathBuf>,
}

impl Options {
    /// The options of `install-c`; `None` if they are not as they should be.
    pub(crate) fn parse(mut arguments: impl Iterator<Item = String>) -> Option<Self> {
        let mut options = Self {
            prefix: PathBuf::new(),
            destination: PathBuf::from("/"),
            profile: "release".to_owned(),
            target: None,
        };
        while let Some(name) = arguments.next() {
            let value = arguments.next()?;
            match name.as_str() {
                "--prefix" => options.prefix = value.into(),
                "--destdir" => options.destination = value.into(),
                "--profile" => options.profile = value,
                "--target-dir" => options.target = Some(value.into()),
                _ => return None,
            }
        }
        options.prefix.is_absolute().then_some(options)
    }

    /// Where the files of the prefix are put.
    fn place(&self) -> PathBuf {
        self.destination.join(self.prefix.strip_prefix("/").unwrap_or(&self.prefix))
    }
}

/// The version of the library, in the two forms that file names have.
struct Version {
    whole: String,
    major: String,
}

/// Builds and copies.
pub(crate) fn install(root: &Path, options: &Options) -> Result<(), String> {
    let source = root.join("crates/capi");
    let version = version(root)?;
    let built = build(root, options, &version)?;
    let place = options.place();
    for header in HEADERS {
        copy(&source.join("include").join(header), &place.join("include").join(header), 0o644)?;
    }
    libraries(&built, &place.join("lib"), &version)?;
    package(&source, &place.join("lib/pkgconfig"), options, &version)?;
    manual(&source.join("man/man3"), &place.join("share/man/man3"))
}

fn version(root: &Path) -> Result<Version, String> {
    let arguments = ["pkgid", "--package", "tracewell-capi"];
    let output = run(cargo(root).args(arguments))?;
    let whole = output.trim().rsplit(['#', '@']).next().unwrap_or_default().to_owned();
    let major = whole.split('.').next().unwrap_or_default().to_owned();
    Ok(Version { whole, major })
}

/// Builds both libraries: their folder.
fn build(root: &Path, options: &Options, version: &Version) -> Result<PathBuf, String> {
    let target = options.target.clone().unwrap_or_else(|| root.join("target/install"));
    for kind in ["cdylib", "staticlib"] {
        let mut command = cargo(root);
        command.args(["rustc", "--quiet", "--package", "tracewell-capi", "--lib"]);
        command.args(["--crate-type", kind, "--profile", &options.profile, "--target-dir"]);
        command.arg(&target);
        if kind == "cdylib" {
            command.arg("--");
            command.arg(format!("-Clink-arg=-Wl,-soname,{NAME}.so.{}", version.major));
        }
        run(&mut command)?;
    }
    // The folder of the profile `dev` has the name that it had before there were profiles.
    Ok(target.join(if options.profile == "dev" { "debug" } else { &options.profile }))
}

fn libraries(built: &Path, place: &Path, version: &Version) -> Result<(), String> {
    let archive = format!("{NAME}.a");
    let (real, by_major) =
        (format!("{NAME}.so.{}", version.whole), format!("{NAME}.so.{}", version.major));
    copy(&built.join(&archive), &place.join(&archive), 0o644)?;
    hide_bitcode(&place.join(&archive))?;
    copy(&built.join(format!("{NAME}.so")), &place.join(&real), 0o755)?;
    link(&real, &place.join(&by_major))?;
    link(&by_major, &place.join(format!("{NAME}.so")))?;
    link(&by_major, &place.join(format!("{USUAL_NAME}.so")))?;
    link(&archive, &place.join(format!("{USUAL_NAME}.a")))
}

/// Renames the sections in which Rust's standard library has LLVM's intermediate code beside machine code.
///
/// A linker that optimises programs (`clang -flto`) takes the intermediate code where it finds some, and fails
/// if it was made by a later LLVM. The new name is as long as the old one, so nothing moves.
fn hide_bitcode(archive: &Path) -> Result<(), String> {
    const OLD: &[u8] = b".llvmbc\0";
    const NEW: &[u8] = b".rustbc\0";
    let mut bytes = fs::read(archive).map_err(|error| fault(archive, &error))?;
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(OLD.len()).position(|window| window == OLD) {
        at += found;
        bytes[at..at + NEW.len()].copy_from_slice(NEW);
    }
    fs::write(archive, bytes).map_err(|error| fault(archive, &error))
}

fn package(
    source: &Path,
    place: &Path,
    options: &Options,
    version: &Version,
) -> Result<(), String> {
    let template = source.join("tracewell.pc.in");
    let text = fs::read_to_string(&template).map_err(|error| fault(&template, &error))?;
    let prefix = options.prefix.to_str().ok_or("the prefix is not UTF-8")?;
    let text = text.replace("@PREFIX@", prefix).replace("@VERSION@", &version.whole);
    let path = place.join("tracewell.pc");
    fs::create_dir_all(place)
        .and_then(|()| fs::write(&path, text))
        .map_err(|error| fault(&path, &error))
}

fn manual(source: &Path, place: &Path) -> Result<(), String> {
    for entry in fs::read_dir(source).map_err(|error| fault(source, &error))? {
        let entry = entry.map_err(|error| fault(source, &error))?;
        copy(&entry.path(), &place.join(entry.file_name()), 0o644)?;
    }
    Ok(())
}

fn copy(from: &Path, to: &Path, mode: u32) -> Result<(), String> {
    let folder = to.parent().ok_or("a file lies in a folder")?;
    fs::create_dir_all(folder).map_err(|error| fault(folder, &error))?;
    // A program that runs from the old file keeps it.
    let _ = fs::remove_file(to);
    fs::copy(from, to).map_err(|error| fault(from, &error))?;
    fs::set_permissions(to, fs::Permissions::from_mode(mode)).map_err(|error| fault(to, &error))
}

fn link(target: &str, path: &Path) -> Result<(), String> {
    let _ = fs::remove_file(path);
    symlink(target, path).map_err(|error| fault(path, &error))
}

fn cargo(root: &Path) -> Command {
    let mut command = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()));
    command.current_dir(root);
    command
}

fn run(command: &mut Command) -> Result<String, String> {
    let output = command.output().map_err(|error| format!("{command:?}: {error}"))?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn fault(path: &Path, error: &dyn std::fmt::Display) -> String {
    format!("{}: {error}", path.display())
}
