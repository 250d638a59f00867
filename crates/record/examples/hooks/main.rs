//! Writes the trace of a small simulated AIX system, recorded with `tracewell-record`.
//!
//! ```text
//! cargo run -p tracewell-record --example hooks -- examples/hooks.twx
//! ```
//!
//! The example writes three files. The base file `hooks.twx` contains the heading, the time
//! conversion, TRACE ON and TRACE OFF. `hooks.twx-0` and `hooks.twx-1` contain the events of the
//! two CPUs. The simulation is deterministic: it writes the same bytes on every machine.
//!
//! # The hooks, and their data words
//!
//! AIX does not publish the data words of its hooks. This example defines their layouts, and the
//! templates for its trace follow them. Ids 001 to 00A, 106, 10C, 134, 139 and 465 and their
//! meanings are documented, and 010 to 0FF are documented as free for programs. No document that we
//! know lists 101 and 104. D1 to D5 are the data words, HD is the hook data or sub-hook.
//!
//! | hook | meaning | form here | content |
//! |---|---|---|---|
//! | 001 | TRACE ON | 64-bit | D1 channel |
//! | 002 | TRACE OFF | 64-bit | D1 channel |
//! | 003 | heading | 64-bit generic | D1 seconds since 1970; data: six texts, see below |
//! | 006 | entries missed | 64-bit | D1 number of losses since the start, D2 number of entries lost here |
//! | 00A | time conversion | 64-bit generic | HD 25C; data: multiplier, divisor, constant 2 (8 bytes each) |
//! | 101 | system call | as the program | D1 number of the call, see below |
//! | 104 | return from a system call | as the program | D1 number of the call, D2 result |
//! | 106 | dispatch | 32-bit trchkgt | D1 thread that runs now, D2 its process |
//! | 10C | dispatch of the idle thread | 32-bit trchkgt | D1 thread, D2 process |
//! | 134 | exec | generic, as the program | D1 process; data: thread (one word), path up to a NUL |
//! | 139 | fork | 64-bit | D1 child process, D2 its thread |
//! | 465 | thread create | 64-bit | D1 new thread, D2 process |
//! | 010 | records read | 32-bit trchklt | D1 number of records read since the start |
//! | 011 | batch sorted | 64-bit | HD worker, D1 first record, D2 last record, D3 nanoseconds |
//! | 012 | note | generic, as the program | D1 number of the note; data: text without NUL |
//! | 013 | phase | 32-bit trchkt | HD number of the phase |
//! | 0FF | spilled | 64-bit | HD number of the worker; nothing else |
//!
//! "As the program" means the word size of the program that records. The heading contains six
//! NUL-terminated texts: system, node, machine, address, command and buffering. Numbers of system
//! calls: 1 read, 2 write, 3 `kwaitpid`, 4 open.

mod system;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(base) = std::env::args_os().nth(1) else {
        eprintln!("hooks: name the base file to write");
        return ExitCode::from(2);
    };
    let written = system::files()
        .iter()
        .try_for_each(|(suffix, bytes)| write(&beside(Path::new(&base), suffix), bytes));
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("hooks: {message}");
            ExitCode::FAILURE
        }
    }
}

fn beside(base: &Path, suffix: &str) -> PathBuf {
    let mut name = base.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    std::fs::write(path, bytes).map_err(|error| format!("{}: {error}", path.display()))
}
