//! Checks that `include/trace.h` compiles alone as C and C++, and that its constants match those of
//! the library.

mod build;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use build::{WARNINGS, compiler, here, optional, succeed};

/// Checks the syntax of a source file.
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
            .flat_map(|c| ["-std=c89", "-std=c99", "-std=c11", "-std=c17"].map(|it| (c, it)))
        {
            check_text(c, standard, "alone.c", ALONE);
        }
        for (cpp, standard) in cpp
            .iter()
            .flat_map(|cpp| ["-std=c++98", "-std=c++11", "-std=c++17"].map(|it| (cpp, it)))
        {
            check_text(cpp, standard, "alone.cc", ALONE);
        }
    }
}

/// Returns the constants as the library defines them.
fn constants() -> Vec<(&'static str, i64)> {
    use tracewell_wire::posix::*;
    let stream = |policy: StreamPolicy| i64::from(policy.code());
    let log = |policy: LogPolicy| i64::from(policy.code());
    let id = i64::from;
    let limit = |limit: usize| i64::try_from(limit).unwrap();
    vec![
        ("TRACE_EVENT_NAME_MAX", limit(EVENT_NAME_MAX)),
        ("TRACE_NAME_MAX", limit(NAME_MAX)),
        ("TRACE_SYS_MAX", limit(SYS_MAX)),
        ("TRACE_USER_EVENT_MAX", limit(USER_EVENT_MAX)),
        ("POSIX_TRACE_LOOP", stream(StreamPolicy::Loop)),
        ("POSIX_TRACE_LOOP", log(LogPolicy::Loop)),
        ("POSIX_TRACE_UNTIL_FULL", stream(StreamPolicy::UntilFull)),
        ("POSIX_TRACE_UNTIL_FULL", log(LogPolicy::UntilFull)),
        ("POSIX_TRACE_FLUSH", stream(StreamPolicy::Flush)),
        ("POSIX_TRACE_APPEND", log(LogPolicy::Append)),
        ("POSIX_TRACE_ERROR", id(ERROR)),
        ("POSIX_TRACE_START", id(START)),
        ("POSIX_TRACE_STOP", id(STOP)),
        ("POSIX_TRACE_OVERFLOW", id(OVERFLOW)),
        ("POSIX_TRACE_RESUME", id(RESUME)),
        ("POSIX_TRACE_FILTER", id(FILTER)),
        ("POSIX_TRACE_FLUSH_START", id(FLUSH_START)),
        ("POSIX_TRACE_FLUSH_STOP", id(FLUSH_STOP)),
        ("POSIX_TRACE_UNNAMED_USER_EVENT", id(UNNAMED)),
        ("POSIX_TRACE_UNNAMED_USEREVENT", id(UNNAMED)),
        ("sizeof(trace_event_set_t)", limit(EventSet::BYTES)),
    ]
}

#[test]
fn constants_and_sizes_are_those_of_the_library() {
    let Some(cc) = compiler("CC", "gcc") else { return };
    let mut text = "#include <trace.h>\n".to_owned();
    for (name, value) in constants() {
        text += &format!("_Static_assert({name} == {value}, \"{name}\");\n");
    }
    check_text(&cc, "-std=c11", "constants.c", &text);
}

/// The constants that only the header defines. C programs test their meaning (`tests/posix`).
const OF_THE_HEADER_ALONE: [&str; 19] = [
    "POSIX_TRACE_SUSPENDED",
    "POSIX_TRACE_RUNNING",
    "POSIX_TRACE_NOT_FULL",
    "POSIX_TRACE_FULL",
    "POSIX_TRACE_NO_OVERRUN",
    "POSIX_TRACE_OVERRUN",
    "POSIX_TRACE_NOT_FLUSHING",
    "POSIX_TRACE_FLUSHING",
    "POSIX_TRACE_CLOSE_FOR_CHILD",
    "POSIX_TRACE_INHERITED",
    "POSIX_TRACE_NOT_TRUNCATED",
    "POSIX_TRACE_TRUNCATED_RECORD",
    "POSIX_TRACE_TRUNCATED_READ",
    "POSIX_TRACE_WOPID_EVENTS",
    "POSIX_TRACE_SYSTEM_EVENTS",
    "POSIX_TRACE_ALL_EVENTS",
    "POSIX_TRACE_SET_EVENTSET",
    "POSIX_TRACE_ADD_EVENTSET",
    "POSIX_TRACE_SUB_EVENTSET",
];

#[test]
fn no_constant_of_the_header_is_left_out() {
    let header = std::fs::read_to_string(here().join("include/trace.h")).unwrap();
    let defined =
        header.lines().filter_map(|line| line.strip_prefix("#define ")?.split(' ').next());
    let defined: BTreeSet<_> = defined
        .filter(|name| name.starts_with("POSIX_TRACE_") || name.starts_with("TRACE_"))
        .collect();
    let compared = constants().into_iter().map(|(name, _)| name).filter(|name| !name.contains('('));
    assert_eq!(defined, compared.chain(OF_THE_HEADER_ALONE).collect());
}
