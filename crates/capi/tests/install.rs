//! Compiles and runs programs with the files that `cargo run -p xtask -- install-c` installs. If
//! pkg-config, CMake and Meson are available, they must find the library. Linkers must also find it
//! as `-lposixtrace`, its name on other systems.

mod build;

use std::path::{Path, PathBuf};
use std::process::Command;

use build::{compiler, here, optional, succeed, tool};

/// Installs the library and returns what the command printed.
fn install(prefix: &Path) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(here().join("../..")).env("CARGO_NET_OFFLINE", "true");
    command.args(["run", "--offline", "--quiet", "--package", "xtask", "--target-dir"]);
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("install");
    command.arg(&target).args(["--", "install-c", "--profile", "dev", "--target-dir"]).arg(&target);
    succeed(command.arg("--prefix").arg(prefix))
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

/// Compiles a program with the given arguments, and runs it with the libraries of the prefix.
fn links_and_runs(cc: &str, prefix: &Path, arguments: &[&str]) {
    let (source, program) = (prefix.join("program.c"), prefix.join("program"));
    std::fs::write(&source, PROGRAM).unwrap();
    succeed(Command::new(cc).arg("-o").arg(&program).arg(&source).args(arguments));
    succeed(Command::new(&program).env("LD_LIBRARY_PATH", prefix.join("lib")));
}

/// Returns true if a compiler and its linker can optimise at link time.
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

const PROJECT: &str = "cmake_minimum_required(VERSION 3.13)
project(program C)
find_package(Tracewell VERSION REQUIRED)
foreach(kind shared static)
  add_executable(${kind} ../program.c)
  target_link_libraries(${kind} PRIVATE Tracewell::${kind})
endforeach()
";

/// Writes a CMake project that requires the given version of the library. Returns the command that
/// configures the project.
fn cmake(cmake: &str, prefix: &Path, version: &str) -> Command {
    let project = prefix.join("project");
    std::fs::create_dir_all(&project).unwrap();
    let text = PROJECT.replace("VERSION REQUIRED", &format!("{version} REQUIRED"));
    std::fs::write(project.join("CMakeLists.txt"), text).unwrap();
    std::fs::write(prefix.join("program.c"), PROGRAM).unwrap();
    let mut command = Command::new(cmake);
    command.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())).arg("-S").arg(&project);
    command.arg("-B").arg(prefix.join(format!("build-{version}")));
    command
}

/// With CMake, builds a project that uses both libraries, and runs its programs. CMake must find
/// the library if the project requires the version of this workspace, but not if it requires the
/// next minor or major version.
fn with_cmake(prefix: &Path) {
    let Some(name) = tool("cmake") else { return };
    let version = env!("CARGO_PKG_VERSION");
    succeed(&mut cmake(&name, prefix, version));
    let built = prefix.join(format!("build-{version}"));
    succeed(Command::new(&name).arg("--build").arg(&built));
    for program in ["shared", "static"] {
        succeed(&mut Command::new(built.join(program)));
    }
    let major: u32 = env!("CARGO_PKG_VERSION_MAJOR").parse().unwrap();
    let minor: u32 = env!("CARGO_PKG_VERSION_MINOR").parse().unwrap();
    for later in [format!("{major}.{}", minor + 1), format!("{}.0", major + 1)] {
        let output = cmake(&name, prefix, &later).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr);
        let expected = format!("compatible with requested version \"{later}\"");
        let message: String = message.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(!output.status.success() && message.contains(&expected), "{message}");
    }
}

const MESON_PROJECT: &str = "project('program', 'c')
tracewell = dependency('tracewell', version: '>= VERSION')
executable('program', 'program.c', dependencies: tracewell)
";

/// Configures and builds a Meson project that requires a version of the library. Returns the folder
/// of the program, or the error message of the configuration.
fn meson(meson: &str, prefix: &Path, version: &str) -> Result<PathBuf, String> {
    let project = prefix.join(format!("meson-{version}"));
    std::fs::create_dir_all(&project).unwrap();
    std::fs::write(project.join("meson.build"), MESON_PROJECT.replace("VERSION", version)).unwrap();
    std::fs::write(project.join("program.c"), PROGRAM).unwrap();
    let built = project.join("build");
    let mut setup = Command::new(meson);
    setup.env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    let output = setup.arg("setup").arg(&built).arg(&project).output().unwrap();
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    succeed(Command::new(meson).args(["compile", "-C"]).arg(&built));
    Ok(built)
}

/// Builds a project with Meson, which finds the library with pkg-config, and runs its program.
/// Meson must not accept the library for a project that requires a later version.
fn with_meson(prefix: &Path) {
    let tools = ["meson", "ninja", "pkg-config"].map(tool);
    let [Some(name), Some(_), Some(_)] = tools else { return };
    let built = meson(&name, prefix, env!("CARGO_PKG_VERSION")).unwrap();
    succeed(Command::new(built.join("program")).env("LD_LIBRARY_PATH", prefix.join("lib")));
    let message = meson(&name, prefix, "99.0").unwrap_err();
    assert!(message.contains("99.0"), "{message}");
}

#[test]
fn what_is_installed_can_be_used() {
    let Some(cc) = compiler("CC", "gcc") else { return };
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path();
    let printed = install(prefix);
    let library = prefix.join("lib");
    for expected in ["lib/cmake/Tracewell/TracewellConfig.cmake", "50 pages", "ldconfig"] {
        assert!(printed.contains(expected), "{expected}: {printed}");
    }
    assert!(printed.contains(&format!("-Wl,-rpath,{}", library.display())), "{printed}");
    with_cmake(prefix);
    with_meson(prefix);
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
    let Some(pkg_config) = tool("pkg-config") else { return };
    let said = succeed(
        Command::new(pkg_config)
            .args(["--cflags", "--libs", "tracewell"])
            .env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig")),
    );
    links_and_runs(&cc, prefix, &said.split_whitespace().collect::<Vec<_>>());
}
