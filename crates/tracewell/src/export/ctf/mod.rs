//! CTF 1.8, which Babeltrace and Trace Compass read: a folder with the file `metadata`, one stream
//! file per core, and their indexes.
//!
//! | file | purpose |
//! |---|---|
//! | `writer` | the sink: writes events and losses to streams |
//! | `classes` | event classes, and the arguments of events |
//! | `bytes` | texts and sequences |
//! | `nested` | structures and arrays in arguments |
//! | `stream` | packets of one core, and their index |
//! | `stamps` | converts ticks to stamps of the output |
//! | `metadata` | the text of the metadata |
//! | `names` | identifiers and strings in this text |
//! | `kernel` | additional events that imitate a Linux kernel |
//!
//! The metadata is written last, when all event classes and names are known. Memory holds at most
//! about 64 MiB of packets, in addition to the index entries, event classes and contexts.

mod bytes;
mod classes;
mod kernel;
mod metadata;
mod names;
mod nested;
mod stamps;
mod stream;
mod writer;

use std::collections::hash_map::RandomState;
use std::fmt::Write as _;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::Path;

use super::viewers::Timeline;
use super::{Export, ExportError, ExportNames, Output};
use crate::format::{OptionError, OptionHelp, Options};
use crate::input::Input;
use crate::model::{Clock, Severity, Trace};
use kernel::Imitation;
use metadata::{Origin, metadata};
use writer::Writer;

/// The export `ctf`: a folder in the Common Trace Format 1.8.
///
/// ```
/// use tracewell::export::{ExportNames, ctf};
/// use tracewell::format::Options;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let folder = tempfile::tempdir()?;
/// let (options, names) = (Options::default(), ExportNames::default());
/// ctf::CTF.write_folder(&mut tracewell::open(path)?, &options, &names, folder.path())?;
/// let metadata = std::fs::read_to_string(folder.path().join("metadata"))?;
/// assert!(metadata.starts_with("/* CTF 1.8 */"));
/// assert!(folder.path().join("stream_0").is_file());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub static CTF: Export = Export {
    name: "ctf",
    description: "folder: CTF 1.8 for Babeltrace and Trace Compass",
    extension: Some("ctf"),
    options: OPTIONS,
    output: Output::Folder(write),
};

const OPTIONS: &[OptionHelp] = &[
    OptionHelp {
        key: "kernel",
        value: "on|off",
        help: "also write the scheduling events of a Linux kernel, for the views of Trace Compass",
    },
    OptionHelp {
        key: "uuid",
        value: "UUID",
        help: "UUID of the trace; random by default, because readers join traces with equal UUIDs",
    },
];

fn write(
    input: &mut Input,
    options: &Options,
    names: &ExportNames,
    folder: &Path,
) -> Result<Trace, ExportError> {
    options.check(OPTIONS)?;
    let uuid = match options.get("uuid") {
        Some(text) => parse_uuid(text)?,
        None => random_uuid(),
    };
    let is_kernel = match options.get("kernel") {
        None | Some("off") => false,
        Some("on") => true,
        Some(found) => {
            let message = format!("expected on or off, found '{found}'");
            return Err(OptionError::new("kernel", message).into());
        }
    };
    let (mut trace, writer) = match is_kernel {
        true => read_kernel(input, folder, uuid)?,
        false => read(input, folder, uuid)?,
    };
    let (domain, environment, more_events) = match is_kernel {
        true => ("kernel", kernel::ENVIRONMENT.to_owned(), kernel::classes()),
        false => ("bare", tracer(), String::new()),
    };
    let origin = Origin {
        uuid: &uuid_text(uuid),
        input: &names.input,
        stamps: writer.stamps(),
        domain,
        environment: &environment,
        more_events: &more_events,
    };
    // The event classes are complete only after the last event.
    let text = metadata(&trace, &origin, writer.classes());
    fs::write(folder.join("metadata"), text).map_err(ExportError::Write)?;
    writer.remark(&mut trace);
    Ok(trace)
}

/// Reads the input twice and writes its streams, with the imitated events of a kernel.
fn read_kernel(
    input: &mut Input,
    folder: &Path,
    uuid: [u8; 16],
) -> Result<(Trace, Writer), ExportError> {
    let timeline = Timeline::read(input)?;
    let mut writer = create(folder, uuid, Some(timeline.trace.clock.clone()))?;
    input.select(timeline.selection().clone());
    input.read_named(&mut Imitation::new(&timeline, &mut writer))?;
    Ok((timeline.into_trace(), writer))
}

/// Reads the input and writes the streams of the output. If the rate of the clock became known
/// after the first event, reads the input again with this rate, unless the input can be read only
/// once.
fn read(input: &mut Input, folder: &Path, uuid: [u8; 16]) -> Result<(Trace, Writer), ExportError> {
    let (mut trace, writer) = read_with(input, folder, uuid, None)?;
    if writer.stamps().fits(&trace.clock) {
        return Ok((trace, writer));
    }
    if input.is_stream() {
        let message = "the rate of the clock became known after the first event; \
                       read a file instead of a stream";
        trace.diagnostics.add(Severity::Warning, None, message);
        return Ok((trace, writer));
    }
    fs::read_dir(folder)
        .and_then(|mut files| files.try_for_each(|file| remove(&file?.path())))
        .map_err(ExportError::Write)?;
    read_with(input, folder, uuid, Some(trace.clock))
}

fn read_with(
    input: &mut Input,
    folder: &Path,
    uuid: [u8; 16],
    clock: Option<Clock>,
) -> Result<(Trace, Writer), ExportError> {
    let mut writer = create(folder, uuid, clock)?;
    let trace = input.read_named(&mut writer)?;
    Ok((trace, writer))
}

fn create(folder: &Path, uuid: [u8; 16], clock: Option<Clock>) -> Result<Writer, ExportError> {
    fs::create_dir(folder.join("index")).map_err(ExportError::Write)?;
    Ok(Writer::new(folder, uuid, clock))
}

fn remove(path: &Path) -> io::Result<()> {
    if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) }
}

/// Returns the entries of the environment that name this program.
fn tracer() -> String {
    let mut text = "\ttracer_name = \"tracewell\";\n".to_owned();
    let parts = ["tracer_major", "tracer_minor", "tracer_patchlevel"];
    for (name, number) in parts.into_iter().zip(env!("CARGO_PKG_VERSION").split(['.', '-'])) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "\t{name} = {number};");
    }
    text
}

/// Returns a UUID of version 4.
fn random_uuid() -> [u8; 16] {
    // Each `RandomState` has different keys, which the process seeds randomly.
    let [high, low] = [(); 2].map(|()| RandomState::new().build_hasher().finish());
    let random = u128::from(high) << 64 | u128::from(low);
    let fixed = 0xF000 << 64 | 0xC000_u128 << 48;
    let version = 0x4000 << 64 | 0x8000_u128 << 48;
    (random & !fixed | version).to_be_bytes()
}

fn uuid_text(uuid: [u8; 16]) -> String {
    let digits = format!("{:032x}", u128::from_be_bytes(uuid));
    let parts = [0..8, 8..12, 12..16, 16..20, 20..32];
    parts.map(|part| digits.get(part).unwrap_or_default()).join("-")
}

fn parse_uuid(text: &str) -> Result<[u8; 16], OptionError> {
    let lengths: Vec<_> = text.split('-').map(str::len).collect();
    let digits = text.replace('-', "");
    let is_valid = lengths == [8, 4, 4, 4, 12] && digits.bytes().all(|b| b.is_ascii_hexdigit());
    match u128::from_str_radix(&digits, 16) {
        Ok(number) if is_valid => Ok(number.to_be_bytes()),
        _ => {
            let form = "00112233-4455-6677-8899-aabbccddeeff";
            let message = format!("expected a UUID such as {form}, found '{text}'");
            Err(OptionError::new("uuid", message))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_random_uuid_has_version_4_and_differs() {
        let text = uuid_text(random_uuid());
        assert_eq!(text.split('-').map(str::len).collect::<Vec<_>>(), [8, 4, 4, 4, 12]);
        assert_eq!(&text[14..15], "4");
        assert!("89ab".contains(&text[19..20]), "{text}");
        assert_ne!(text, uuid_text(random_uuid()));
        assert_eq!(uuid_text(parse_uuid(&text).unwrap()), text);
    }

    #[test]
    fn a_wrong_uuid_is_refused() {
        for text in [
            "",
            "x",
            "00112233-4455-6677-8899-aabbccddeefg",
            "+0112233-4455-6677-8899-aabbccddeeff",
        ] {
            assert!(parse_uuid(text).is_err(), "{text}");
        }
    }
}
