//! The decoder of CTF. It parses the options, and distinguishes complete files from files that
//! grow. `decoding` delivers the events.

use std::sync::Arc;

use super::decoding::{Decoding, describe, warn};
use super::growing::Kept;
use super::layout::Programs;
use super::reader::Reader;
use super::{FORMAT, ages};
use crate::format::{Decoder, Input, OptionError, Progress, ReadError, Settings, TraceFile};
use crate::model::schema::Schema;
use crate::model::{Clock, Emitter, PayloadLayout, Trace};
use crate::select::Bound;

#[derive(Debug)]
struct CtfDecoder {
    schema: Arc<Schema>,
    files: Arc<[TraceFile]>,
    /// The option `wait`, in nanoseconds.
    wait: Option<u64>,
    /// The state between two readings of growing files.
    kept: Option<Kept>,
}

/// The option that limits how long an event of a growing trace waits for other streams.
pub(super) const WAIT: &str = "wait";

/// Parses a time such as `0.5s` or `200ms`. Returns nanoseconds.
fn nanoseconds(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(Bound::Nanoseconds(time)) => Ok(time),
        _ => Err(format!("expected a time such as 1s or 200ms, found '{text}'")),
    }
}

/// Creates a decoder.
pub(super) fn new(settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
    let schema = FORMAT.with_schemas(super::systems::objects(), settings)?;
    let wait = settings.options.get(WAIT).map(nanoseconds).transpose();
    let wait = wait.map_err(|message| OptionError::new(WAIT, message))?;
    Ok(Box::new(CtfDecoder { schema, files: settings.files.clone(), wait, kept: None }))
}

impl Decoder for CtfDecoder {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Values { digits: 16 };
        Trace::new(FORMAT.name, self.schema.clone(), payload, Clock::of_64_bits(None))
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        let files = self.files.clone();
        if let Some(kept) = &mut self.kept {
            return kept.read(&files, input.last, out);
        }
        if files.is_empty() {
            let message =
                "expected the folder of a trace, with a file `metadata` and the files of \
                           its streams; found a single file"
                    .to_owned();
            return Err(ReadError { offset: 0, message });
        }
        if !input.last {
            return Ok(Progress::More { consumed: 0, wanted: input.bytes.len() + 1 });
        }
        let reader = Reader::new(&files, Programs::One)?;
        describe(&reader.common, &reader.layouts, out.trace);
        for (file, warning) in &reader.warnings {
            warn(files.get(*file), warning, out.trace);
        }
        for part in reader.streams.iter().filter_map(|stream| stream.part()) {
            let layout = reader.layouts.get(part.layout);
            if let Some(warning) = layout.and_then(|layout| ages::warning(layout, part.bytes)) {
                warn(files.get(part.file), &warning, out.trace);
            }
        }
        let mut events = Decoding::new(reader, &files, out.trace);
        // A sink that stops has received all that it needs, so this is not an error.
        let _ = events.all(out);
        Ok(Progress::Done)
    }

    fn grow(&mut self, files: Arc<[TraceFile]>) {
        self.files = files;
        let wait = self.wait;
        self.kept.get_or_insert_with(|| Kept::new(wait));
    }
}
