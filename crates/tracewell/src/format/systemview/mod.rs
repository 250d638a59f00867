//! Decodes streams of SEGGER SystemView: files of host programs, and the bytes that a target sends.
//!
//! | file | task |
//! |---|---|
//! | `print` | formats texts with their arguments |
//! | `grammar` | parses descriptions of events |
//! | `description` | converts description files to schema files |
//! | `head` | reads the lines or the greeting before the first packet |
//! | `stream` | splits a stream into packets, and finds the next one after damage |
//! | `row` | builds the rows of arguments |
//! | `names` | tasks, interrupts, resources, markers |
//! | `kernels` | the operating systems whose events have descriptions |
//! | `tables` | the schema of a stream |
//! | `cores` | the contexts that run |
//! | `events` | converts packets to events |
//! | `options` | facts that the bytes do not contain |
//! | `lane` | the time of a stream |
//! | `merge` | merges the streams of several cores |
//! | `decoder` | the decoder |
//!
//! [`tracewell_wire::systemview`] defines the byte layout. `docs/systemview.md` explains losses,
//! names and streams of several cores, and lists the sources.

mod cores;
mod decoder;
pub mod description;
mod events;
mod grammar;
mod head;
mod kernels;
mod lane;
mod merge;
mod names;
mod options;
mod print;
mod row;
mod stream;
mod tables;

use std::sync::{Arc, LazyLock};

use tracewell_wire::systemview::{Form, Packet, ids};

use super::{Confidence, Format};
use crate::model::schema::{ArgumentKind, Rules, Schema};

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    description: "SEGGER SystemView: .SVDat files, raw streams, ESP-IDF's files of several cores",
    recognised_by: "a sync with the packets that follow it, or the head of a .SVDat file",
    names_follow: true,
    is_whole: |start| head::read(start, false).is_some_and(|head| !head.streams.is_empty()),
    options: options::OPTIONS,
    joins: true,
    schema,
    rules: RULES,
    ..Format::new("systemview", recognise, decoder::new)
};

/// The rules for schema files. The stream itself contains the names of the events of modules.
const RULES: Rules = Rules { names_events: true, check_encoding, ..Rules::WORDS };

/// The encoding of an argument that is the identifier of an object: its shortened address.
const SHRUNK: &str = "id";

/// Type code of tasks in the schema.
const TASK: u32 = 1;

/// Type code of resources in the schema.
const RESOURCE: u32 = 3;

/// The event whose argument refers to the names of markers.
const MARK_START: u32 = 15;

/// Returns the events that exist in every stream. The decoder adds the events of an operating
/// system and of modules as soon as it has their descriptions.
///
/// ```
/// let schema = tracewell::format::systemview::schema();
/// assert_eq!(schema.event(4).name, "TASK_START_EXEC");
/// ```
pub fn schema() -> Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        Schema::built_in(
            include_str!("../../../schemas/systemview.toml"),
            "schemas/systemview.toml",
        )
    });
    SCHEMA.clone()
}

fn check_encoding(encoding: &str, _: ArgumentKind) -> Result<(), String> {
    match encoding {
        "" | SHRUNK => Ok(()),
        found => Err(format!("expected no encoding or 'as {SHRUNK}', found 'as {found}'")),
    }
}

fn recognise(start: &[u8]) -> Option<Confidence> {
    let begins = std::iter::successors(stream::find_sync(start), |at| {
        let from = at + 1;
        stream::find_sync(start.get(from..)?).map(|next| from + next)
    });
    let recording = begins.take(16).any(|at| is_recording(start.get(at..).unwrap_or_default()));
    if recording {
        return Some(Confidence::Certain);
    }
    (start.starts_with(b";") && head::is_head(start)).then_some(Confidence::Possible)
}

/// Returns true if the bytes are a sync followed by the first packets of a recording.
fn is_recording(bytes: &[u8]) -> bool {
    let form = Form::default();
    // A recorder first sends a sync, TRACE_START and INIT. INIT must contain plausible numbers.
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    let start = bytes.get(zeros..).unwrap_or_default();
    let Some(start) = Packet::read(start, form).ok().filter(|p| p.id == ids::TRACE_START) else {
        return false;
    };
    let after = bytes.get(zeros + start.length..).unwrap_or_default();
    let Ok(init) = Packet::read(after, form) else { return false };
    let mut parameters = init.parameters(form.texts);
    let [frequency, _, _, shift] =
        std::array::from_fn(|_| parameters.number()).map(|number| number.unwrap_or(u32::MAX));
    init.id == ids::INIT && (1_000..=u32::MAX - 1).contains(&frequency) && shift < 8
}

#[cfg(test)]
mod tests {
    use tracewell_wire::systemview::SYNC;
    use tracewell_wire::systemview::number::{self, MAX_BYTES};

    use super::*;

    #[test]
    fn a_recording_begins_with_plausible_numbers() {
        let recorded = |frequency: u32, shift: u32| {
            let mut bytes = vec![0; SYNC];
            let mut packet = |id: u32, numbers: &[u32]| {
                let mut payload = Vec::new();
                for number in numbers {
                    let mut room = [0; MAX_BYTES];
                    let length = number::write(*number, &mut room).unwrap();
                    payload.extend(&room[..length]);
                }
                let mut room = [0; 64];
                let packet = Packet { core: 0, id, payload: &payload, delta: 1, length: 0 };
                let length = packet.write(Form::default(), &mut room).unwrap();
                bytes.extend(&room[..length]);
            };
            packet(ids::TRACE_START, &[]);
            packet(ids::INIT, &[frequency, 1, 2, shift]);
            recognise(&bytes) == Some(Confidence::Certain)
        };
        assert!(recorded(1000, 0) && recorded(u32::MAX - 1, 7));
        assert!(!recorded(999, 0) && !recorded(u32::MAX, 0) && !recorded(1000, 8));
    }

    #[test]
    fn arguments_have_no_other_encoding() {
        let kind = ArgumentKind::Unsigned;
        assert!(check_encoding("", kind).is_ok() && check_encoding(SHRUNK, kind).is_ok());
        assert!(check_encoding("u8", kind).unwrap_err().ends_with("found 'as u8'"));
    }
}
