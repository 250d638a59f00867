//! The decoder. It divides the window into chunks, and keeps its state from one window to the next.

use super::chunk::{Chunk, MAX_LEN};
use super::options::StreamOptions;
use super::state::State;
use super::{FORMAT, schema};
use crate::format::{Decoder, Input, OptionError, Progress, ReadError, Settings};
use crate::model::{Emitter, Flow, Trace};

/// Creates a decoder with the options of this format.
pub(super) fn new(settings: &Settings) -> Result<Box<dyn Decoder>, OptionError> {
    let options = StreamOptions::from_options(&settings.options)?;
    // The schema files must fit the stream's initial dialect.
    FORMAT.with_schemas(schema(options.dialect), settings)?;
    Ok(Box::new(Reader { state: State::new(options, &settings.all_schemas(FORMAT.name)) }))
}

#[derive(Debug)]
struct Reader {
    state: State,
}

impl Decoder for Reader {
    fn trace(&self) -> Trace {
        self.state.trace()
    }

    fn pause(&mut self) {
        self.state.pause();
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        let state = &mut self.state;
        if !state.begin(&input, out.trace) {
            return Ok(Progress::More { consumed: 0, wanted: input.bytes.len() + 1 });
        }
        let mut consumed = 0;
        loop {
            // Positions within a batch have 32 bits, so a large window is read in chunks.
            let end = input.bytes.len().min(consumed + MAX_LEN);
            let bytes = input.bytes.get(consumed..end).unwrap_or_default();
            let last = input.last && end == input.bytes.len();
            let offset = input.offset + consumed as u64;
            let read = Chunk { state, bytes, offset, out }.read(last);
            state.note_facts(out.trace);
            match read {
                Flow::Break(_) => return Ok(Progress::Done),
                Flow::Continue(_) if last => {
                    state.note_no_events(input.offset + end as u64, out.trace);
                    return Ok(Progress::Done);
                }
                Flow::Continue(done) => consumed += done,
            }
            // The rest of the chunk is the start of a frame that continues in the next window.
            if end == input.bytes.len() {
                let wanted = end - consumed + 1;
                return Ok(Progress::More { consumed, wanted });
            }
        }
    }
}
