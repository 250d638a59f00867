//! Generates a large trace. `make-trace SIZE FILE [big] [64]` writes a ThreadX dump, optionally for
//! a target that is big-endian or has 64-bit words. Its events are random. `make-trace SIZE FILE
//! program` writes a ThreadX dump that looks like that of a real program. `make-trace SIZE FILE
//! rkh|shark|systemview|native` writes an RKH stream, a S.Ha.R.K. file, a SystemView stream, or a
//! log of a native stream. `make-trace SIZE FOLDER ctf [4]` writes a CTF trace with one stream or
//! with four streams. SIZE is a number such as 1GiB. Two runs write the same bytes. Only logs
//! differ, because they contain the times of the run.
#![forbid(unsafe_code)]

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;
use std::process::ExitCode;

use tracewell_bench::{ctf, program, rkh, shark, size, stream, systemview, trace};
use tracewell_wire::ByteOrder;
use tracewell_wire::threadx::Width;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [bytes, file, choices @ ..] = arguments.as_slice() else { return usage() };
    let Some(bytes) = size(bytes) else { return usage() };
    let in_memory = usize::try_from(bytes).unwrap_or(usize::MAX);
    if *choices == ["program"] {
        return ended(std::fs::write(file, program::dump(in_memory)), file);
    }
    if *choices == ["rkh"] {
        return ended(std::fs::write(file, rkh::stream(in_memory).0), file);
    }
    if *choices == ["systemview"] {
        return ended(std::fs::write(file, systemview::stream(in_memory).0), file);
    }
    if *choices == ["ctf"] {
        return ended(ctf::write(Path::new(file), 1, in_memory).map(|_| ()), file);
    }
    if *choices == ["ctf", "4"] {
        return ended(ctf::write(Path::new(file), 4, in_memory / 4).map(|_| ()), file);
    }
    if *choices == ["native"] {
        // If no event is lost, an event takes 24 bytes of the log.
        let events = u32::try_from(bytes / 24).unwrap_or(u32::MAX);
        return ended(stream::flush(Path::new(file), events).map(|_| ()), file);
    }
    if *choices == ["shark"] {
        let written = File::create(file).map(BufWriter::new).and_then(|mut out| {
            shark::write(&mut out, shark::records_in(bytes))?;
            out.flush()
        });
        return ended(written, file);
    }
    let mut layout = trace::USUAL;
    for choice in choices {
        match choice.as_str() {
            "big" => layout.order = ByteOrder::Big,
            "64" => layout.width = Width::Bits64,
            _ => return usage(),
        }
    }
    let events = trace::events_in(bytes, layout);
    let written = File::create(file).map(BufWriter::new).and_then(|mut out| {
        trace::write(&mut out, layout, events)?;
        out.flush()
    });
    ended(written, file)
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: make-trace SIZE FILE [big] [64] | SIZE FILE program|rkh|shark|systemview|native | SIZE FOLDER ctf   (SIZE such as 64KiB, 256MiB, 1GiB)"
    );
    ExitCode::from(2)
}

fn ended(written: io::Result<()>, file: &str) -> ExitCode {
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("make-trace: {file}: {error}");
            ExitCode::from(4)
        }
    }
}
