//! Installs the C library under a prefix: headers, the static and the shared library with links to
//! them, the files for pkg-config and CMake, and manual pages. Prints what it installed.
//!
//! ```text
//! PREFIX/include/trace.h, tracewell.h, tracewell_rkh.h, tracewell_rkh_events.h
//! PREFIX/lib/libtracewell_capi.a
//!            libtracewell_capi.so -> .so.0 -> .so.0.1.0
//!            libposixtrace.a, .so -> links for the name on other systems
//!            pkgconfig/tracewell.pc
//!            cmake/Tracewell/TracewellConfig.cmake, TracewellConfigVersion.cmake
//! PREFIX/share/man/man3/*.3
//! ```
//!
//! The installed shared library contains a name for the dynamic linker, so it is built in a
//! separate target folder. The library in `target/` contains no such name, so programs can use it
//! at its path.

use std::fs;
use std::path::{Path, PathBuf};

use crate::steps::{Version, cargo, copy, fault, link, run, write};

/// Name of the library for linkers.
const NAME: &str = "libtracewell_capi";
/// Name of the trace library on other systems.
const USUAL_NAME: &str = "libposixtrace";
const HEADERS: [&str; 4] = ["trace.h", "tracewell.h", "tracewell_rkh.h", "tracewell_rkh_events.h"];
/// Files that contain the prefix or the version: their templates in `crates/capi`, and their paths
/// below the prefix.
const FILLED_IN: [(&str, &str); 3] = [
    ("tracewell.pc.in", "lib/pkgconfig/tracewell.pc"),
    ("cmake/TracewellConfig.cmake.in", "lib/cmake/Tracewell/TracewellConfig.cmake"),
    ("cmake/TracewellConfigVersion.cmake.in", "lib/cmake/Tracewell/TracewellConfigVersion.cmake"),
];

/// Options of `install-c`.
pub(crate) struct Options {
    prefix: PathBuf,
    /// Folder in which the prefix is created. It is `/` except for packages.
    destination: PathBuf,
    profile: String,
    target: Option<PathBuf>,
}

impl Options {
    /// Parses the options; returns `None` if they are invalid.
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

    /// Returns the folder in which to install: the prefix below the destination.
    fn place(&self) -> PathBuf {
        self.destination.join(self.prefix.strip_prefix("/").unwrap_or(&self.prefix))
    }
}

/// Builds and installs the library, and prints the installed files.
pub(crate) fn install(root: &Path, options: &Options) -> Result<(), String> {
    let source = root.join("crates/capi");
    let version = Version::of(root, "tracewell-capi")?;
    let built = build(root, options, &version)?;
    let place = options.place();
    for header in HEADERS {
        copy(&source.join("include").join(header), &place.join("include").join(header), 0o644)?;
    }
    libraries(&built, &place.join("lib"), &version)?;
    for (template, path) in FILLED_IN {
        fill_in(&source.join(template), &place.join(path), options, &version)?;
    }
    let pages = manual(&source.join("man/man3"), &place.join("share/man/man3"))?;
    print(&place, options, &version, pages);
    Ok(())
}

/// Prints what was installed in `place`, and how programs find the shared library.
fn print(place: &Path, options: &Options, version: &Version, pages: usize) {
    let library = options.prefix.join("lib");
    let (folder, library) = (place.display(), library.display());
    println!("installed into {folder}:");
    println!("  include/: {}", HEADERS.join(", "));
    println!("  lib/: {NAME}.a, {NAME}.so.{}, and links to them as {USUAL_NAME}", version.whole);
    for (_, path) in FILLED_IN {
        println!("  {path}");
    }
    println!("  share/man/man3/: {pages} pages");
    println!("A program linked with the shared library finds it at run time");
    println!("  after `ldconfig` as root, if {library} is in the path of the dynamic linker;");
    println!(
        "  or if it was linked with `-Wl,-rpath,{library}`, as CMake does in its build folder."
    );
}

/// Builds the static and the shared library, and returns their folder.
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
    // The output folder of the profile `dev` is called `debug`.
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

/// Renames the sections of Rust's standard library that contain LLVM's intermediate code.
///
/// A linker that optimises programs (`clang -flto`) uses intermediate code if there is any, and
/// fails if a later LLVM produced that code. The new name has the same length as the old name, so
/// no offset changes.
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

/// Writes a file from its template, with the prefix and the version in place of their placeholders.
fn fill_in(
    template: &Path,
    path: &Path,
    options: &Options,
    version: &Version,
) -> Result<(), String> {
    let text = fs::read_to_string(template).map_err(|error| fault(template, &error))?;
    let prefix = options.prefix.to_str().ok_or("the prefix is not UTF-8")?;
    let text = text
        .replace("@PREFIX@", prefix)
        .replace("@VERSION@", &version.whole)
        .replace("@MAJOR@", &version.major)
        .replace("@MINOR@", &version.minor);
    write(path, text.as_bytes())
}

/// Copies the manual pages and returns their number.
fn manual(source: &Path, place: &Path) -> Result<usize, String> {
    let mut pages = 0;
    for entry in fs::read_dir(source).map_err(|error| fault(source, &error))? {
        let entry = entry.map_err(|error| fault(source, &error))?;
        copy(&entry.path(), &place.join(entry.file_name()), 0o644)?;
        pages += 1;
    }
    Ok(pages)
}
