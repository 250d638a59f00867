//! Builds the packages of the program: an archive for any Linux on x86-64, and a Debian package
//! with the same files.
//!
//! ```text
//! tracewell-VERSION-x86_64-linux.tar.gz, .tar.gz.sha256
//!   tracewell                           the program, statically linked
//!   man/man1/                           manual pages
//!   completions/                        for bash, zsh and fish
//!   templates/, examples/, docs/
//!   README.md, CHANGELOG.md, LICENSE-*
//! tracewell_VERSION_amd64.deb, .deb.sha256
//! ```
//!
//! Both packages are reproducible: the same commit produces the same bytes. Files are sorted,
//! belong to root, and have the time in `SOURCE_DATE_EPOCH`, or otherwise the time of the commit;
//! the program contains no path of the machine that built it.
//!
//! GNU tar, gzip, sha256sum and dpkg-deb make the files.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::build::Options;
use crate::steps::{Version, copy, empty, fault, files, run, write};

const TARGET: &str = "x86_64-unknown-linux-musl";
const COMPLETIONS: [(&str, &str); 3] =
    [("bash", "tracewell.bash"), ("zsh", "_tracewell"), ("fish", "tracewell.fish")];
/// Files of the repository that both packages contain: path, name in the package.
const FILES: [(&str, &str); 4] = [
    ("README.md", "README.md"),
    ("CHANGELOG.md", "CHANGELOG.md"),
    ("LICENSE-MIT", "LICENSE-MIT"),
    ("LICENSE-APACHE", "LICENSE-APACHE"),
];
/// Folders of the repository that both packages contain, without subfolders: path, name in the
/// package.
const FOLDERS: [(&str, &str); 4] = [
    ("crates/tracewell/templates", "templates"),
    ("examples", "examples"),
    ("examples/c", "examples/c"),
    ("docs", "docs"),
];

/// Builds both packages and prints their paths.
pub(crate) fn make(root: &Path, options: &Options) -> Result<(), String> {
    let version = Version::of(root, "tracewell-cli")?.whole;
    let epoch = epoch(root)?;
    let program = build(root, options)?;
    let name = format!("tracewell-{version}-x86_64-linux");
    let layout = options.output.join(&name);
    empty(&layout)?;
    lay_out(root, &program, &layout)?;

    let archive = options.output.join(format!("{name}.tar.gz"));
    pack(&options.output, &name, &archive, &epoch)?;
    let package = options.output.join(format!("tracewell_{version}_amd64.deb"));
    let tree = options.output.join("debian");
    empty(&tree)?;
    debian_tree(&layout, &tree, &version, &epoch)?;
    run(Command::new("dpkg-deb")
        .env("SOURCE_DATE_EPOCH", &epoch)
        .args(["--root-owner-group", "-Zxz", "--build"])
        .args([&tree, &package]))?;
    for file in [archive, package] {
        println!("{}", checksum(&options.output, &file)?.trim_end());
    }
    Ok(())
}

/// Returns the modification time of all files in the packages, in seconds since 1970.
fn epoch(root: &Path) -> Result<String, String> {
    if let Ok(epoch) = std::env::var("SOURCE_DATE_EPOCH") {
        return match epoch.parse::<u64>() {
            Ok(_) => Ok(epoch),
            Err(_) => Err(format!("SOURCE_DATE_EPOCH: expected seconds, found '{epoch}'")),
        };
    }
    let mut git = Command::new("git");
    let time = run(git.current_dir(root).args(["log", "-1", "--format=%ct"]))?;
    Ok(time.trim().to_owned())
}

/// Builds the program and returns its path.
fn build(root: &Path, options: &Options) -> Result<PathBuf, String> {
    let folder = options.build(root, "tracewell-cli", TARGET, &root.join("target/static"))?;
    Ok(folder.join("tracewell"))
}

/// Puts all files of the packages into a folder.
fn lay_out(root: &Path, program: &Path, layout: &Path) -> Result<(), String> {
    copy(program, &layout.join("tracewell"), 0o755)?;
    for (from, to) in FILES {
        copy(&root.join(from), &layout.join(to), 0o644)?;
    }
    for (from, to) in FOLDERS {
        for file in files(&root.join(from))? {
            copy(&file, &layout.join(to).join(file.file_name().unwrap_or_default()), 0o644)?;
        }
    }
    for (shell, name) in COMPLETIONS {
        let script = run(Command::new(program).args(["completions", shell]))?;
        write(&layout.join("completions").join(name), script.as_bytes())?;
    }
    run(Command::new(program).arg("man").arg(layout.join("man/man1")))?;
    Ok(())
}

/// Packs a folder into an archive. The archive's bytes depend only on `epoch` and on the names,
/// contents and permissions of the files.
fn pack(folder: &Path, name: &str, archive: &Path, epoch: &str) -> Result<(), String> {
    run(Command::new("tar")
        .current_dir(folder)
        .args(["--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--format=ustar"])
        .args(["--mode=u=rwX,go=rX", "--use-compress-program=gzip -9n"])
        .arg(format!("--mtime=@{epoch}"))
        .arg("--create")
        .arg("--file")
        .args([archive, Path::new(name)]))?;
    Ok(())
}

/// Writes the checksum of a file into a file next to it, in the form of sha256sum, and returns the
/// checksum.
fn checksum(folder: &Path, file: &Path) -> Result<String, String> {
    let name = file.file_name().unwrap_or_default();
    let line = run(Command::new("sha256sum").current_dir(folder).arg(name))?;
    let path = folder.join(format!("{}.sha256", name.display()));
    write(&path, line.as_bytes())?;
    Ok(line)
}

/// Lays out the Debian package from the files of the archive.
fn debian_tree(layout: &Path, tree: &Path, version: &str, epoch: &str) -> Result<(), String> {
    copy(&layout.join("tracewell"), &tree.join("usr/bin/tracewell"), 0o755)?;
    let share = tree.join("usr/share");
    for (from, to) in [
        ("completions/tracewell.bash", "bash-completion/completions/tracewell"),
        ("completions/_tracewell", "zsh/vendor-completions/_tracewell"),
        ("completions/tracewell.fish", "fish/vendor_completions.d/tracewell.fish"),
        ("README.md", "doc/tracewell/README.md"),
        ("CHANGELOG.md", "doc/tracewell/changelog"),
    ] {
        copy(&layout.join(from), &share.join(to), 0o644)?;
    }
    for (from, to) in [
        ("man/man1", "man/man1"),
        ("templates", "tracewell/templates"),
        ("examples", "tracewell/examples"),
        ("examples/c", "tracewell/examples/c"),
        ("docs", "doc/tracewell/docs"),
    ] {
        for file in files(&layout.join(from))? {
            copy(&file, &share.join(to).join(file.file_name().unwrap_or_default()), 0o644)?;
        }
    }
    // Debian's rules require compressed manual pages and a compressed change log.
    let mut compressed = files(&share.join("man/man1"))?;
    compressed.push(share.join("doc/tracewell/changelog"));
    run(Command::new("gzip").arg("-9n").args(&compressed))?;
    copyright(layout, &share.join("doc/tracewell/copyright"))?;
    control(tree, version)?;
    // dpkg-deb changes only times that are later than `epoch`, so `touch` sets the times of all
    // files.
    run(Command::new("find")
        .arg(tree)
        .args(["-exec", "touch", "--no-dereference"])
        .arg(format!("--date=@{epoch}"))
        .args(["{}", "+"]))?;
    Ok(())
}

fn copyright(layout: &Path, path: &Path) -> Result<(), String> {
    let mut text =
        "Tracewell is licensed under the MIT licence or the Apache licence 2.0, at your \
                    choice. Both follow.\n"
            .to_owned();
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let licence = layout.join(name);
        text.push('\n');
        text += &fs::read_to_string(&licence).map_err(|error| fault(&licence, &error))?;
    }
    write(path, text.as_bytes())
}

/// Writes the control file, which describes the package.
fn control(tree: &Path, version: &str) -> Result<(), String> {
    let size = installed_size(tree)?;
    let text = format!(
        "Package: tracewell
Version: {version}
Architecture: amd64
Maintainer: The Tracewell developers
Section: devel
Priority: optional
Installed-Size: {size}
Description: event traces of real-time and embedded software
 Tracewell records, decodes and analyses event traces. It reads ThreadX/TraceX
 dumps, RKH streams, S.Ha.R.K. chunks, AIX trace entries, POSIX trace logs and
 its own format, shows what the scheduler did, and checks timing rules.
"
    );
    write(&tree.join("DEBIAN/control"), text.as_bytes())
}

/// Returns the size of a folder in KiB, as Debian counts it: the size of each file is rounded up,
/// and each folder counts as 1 KiB.
fn installed_size(folder: &Path) -> Result<u64, String> {
    let mut size = 1;
    for entry in fs::read_dir(folder).map_err(|error| fault(folder, &error))? {
        let path = entry.map_err(|error| fault(folder, &error))?.path();
        let data = path.symlink_metadata().map_err(|error| fault(&path, &error))?;
        size += if data.is_dir() { installed_size(&path)? } else { data.len().div_ceil(1024) };
    }
    Ok(size)
}
