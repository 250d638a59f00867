//! `include/trace.h`: compiled by itself as C and C++, and compared with what the library calls the same.

mod build;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use build::{WARNINGS, compiler, here, optional, succeed};

/// Looks at a source without making anything of it.
fn check(compiler: &str, standard: &str, source: &Path) {
    let mut command = Command::new(compiler);
    command.arg(standard).args(WARNINGS).arg("-fsyntax-only");
    succeed(command.arg("-I").arg(here().join("include")).arg(source));
}

fn check_text(compiler: &str, standard: &str, name: &str, text: &str) {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join(name);
    std::fs::write(&source, text).unwrap();
    check(compiler, standard, &source);
}

const ALONE: &str = "#include <trace.h>
#include <trace.h>
int traced(trace_id_t *stream);
int traced(trace_id_t *stream)
{
    trace_attr_t attr;
    struct posix_trace_event_info info;
    posix_trace_event(POSIX_TRACE_UNNAMED_USER_EVENT, &info, sizeof info);
    return posix_trace_attr_init(&attr) + posix_trace_create(0, &attr, stream);
}
";

#[test]
fn the_header_stands_alone() {
    let compilers =
        [(compiler("CC", "gcc"), compiler("CXX", "g++")), (optional("clang"), optional("clang++"))];
    for (c, cpp) in compilers {
        for (c, standard) in c
            .iter()
            .flat_map(|c| ["-std=c99", "-std=c11", "-std=c17"].map(|standard| (c, standard)))
        {
            check_text(c, standard, "alone.c", ALONE);
        }
        for (cpp, standard) in
            cpp.iter().flat_map(|cpp| ["-std=c++11", "-std=c++17"].map(|standard| (cpp, standard)))
        {
            check_text(cpp, standard, "alone.cc", ALONE);
        }
    }
}
