//! The beginning of a large trace, which the server shows until more of the trace has been read.
//!
//! Some decoders read a whole dump before they deliver its first event, because a later event can
//! determine a name in an earlier event. Without its beginning, the page of a large dump would stay
//! empty for seconds.

use tracewell::export::page::{LargePage, ServedBuilder};
use tracewell::input::Input;
use tracewell::model::{Batch, Flow, Loss, Sink, Stop, Trace};

/// Number of events in the beginning of a trace. The server reads this many events so quickly that
/// the page soon shows something.
pub(super) const EVENTS: usize = 1 << 17;

/// Minimum length of a trace, in bytes, for reading its beginning first. A smaller trace is soon
/// read completely.
const MIN_SIZE: u64 = 64 << 20;

/// Minimum total length of the files of a compressed trace, in bytes, for reading its beginning
/// first. This is less than [`MIN_SIZE`], because such a trace is several times larger than its
/// files.
const MIN_COMPRESSED: u64 = 8 << 20;

/// Returns true if a trace is so large that its beginning is read first. `size` is its length, or
/// `None` if it is compressed; then `stored` returns the total length of its files.
pub(super) fn is_of_large(size: Option<u64>, stored: impl FnOnce() -> u64) -> bool {
    size.map_or_else(|| stored() >= MIN_COMPRESSED, |size| size >= MIN_SIZE)
}

/// Reads the first `events` events of a trace. Returns `None` if there is nothing to show, or if
/// the trace cannot be read. Reading the whole trace then reports the error.
pub(super) fn read(input: &mut Input, title: &str, events: usize) -> Option<LargePage> {
    let mut beginning = Beginning { page: ServedBuilder::with_views(), left: events };
    input.set_only_first(Some(events));
    let trace = input.read(&mut beginning);
    input.set_only_first(None);
    beginning.page.finish(&trace.ok()?, title).ok()?.1
}

/// Collects the first events, and then stops.
struct Beginning {
    page: ServedBuilder,
    left: usize,
}

impl Sink for Beginning {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        self.page.events(trace, batch)?;
        self.left = self.left.saturating_sub(batch.len());
        if self.left == 0 { Flow::Break(Stop::Complete) } else { Flow::Continue(()) }
    }

    fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
        self.page.loss(trace, loss)
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use tracewell::export::page::{FIRST_PARTS, View};

    use super::super::super::traces::Traces;
    use super::super::Content;
    use super::*;
    use crate::args::InputArgs;

    #[test]
    fn a_page_shows_the_beginning_before_the_trace_has_been_read() {
        let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scheduling.trx");
        let files = [PathBuf::from(file)];
        let traces = Traces::new(&files, &files, &InputArgs::default()).unwrap();
        let mut input = traces.open().unwrap();
        let page = read(&mut input, "beginning", 1000).unwrap();
        let shown = page.view(&View::default()).unwrap();
        // The input can still read the whole trace, and the page of the whole trace differs from
        // that of the beginning.
        let mut builder = ServedBuilder::with_views();
        let trace = input.read(&mut builder).unwrap();
        let whole = builder.finish(&trace, "beginning").unwrap().0;
        assert!(trace.events > 1000 && shown != whole);

        let content = Arc::new(Content::new(traces, false, None, Arc::default()));
        let early = Arc::clone(&content);
        let early = std::thread::spawn(move || early.view_so_far(View::default()));
        while content.state().waiting.is_empty() {
            std::thread::yield_now();
        }
        content.show_beginning(Arc::new(page));
        // From here on, a request that is still waiting gets no view.
        content.answer(|_| None);
        let answer = early.join().unwrap();
        let is_shown = answer.is_ok_and(|(payload, _)| payload == shown);
        assert!(is_shown, "a request that waits for the beginning is answered");
        let (payload, edition) = content.page_so_far(FIRST_PARTS).unwrap();
        assert_eq!((*payload == shown, edition), (true, 0));
        assert!(content.state().shows_part, "the page gets a new edition when more has been read");
        let view = View { range: Some(0..trace.span / 10), ..View::default() };
        assert!(content.view(view).unwrap().is_some());
    }

    #[test]
    fn the_beginning_of_a_large_trace_is_read_first() {
        assert!(is_of_large(Some(MIN_SIZE), || 0) && !is_of_large(Some(MIN_SIZE - 1), || MIN_SIZE));
        assert!(is_of_large(None, || MIN_COMPRESSED) && !is_of_large(None, || MIN_COMPRESSED - 1));
    }

    #[test]
    fn a_trace_without_states_has_a_beginning_too() {
        let file = "/../tracewell/tests/fixtures/rkh/ahsm-a.bin";
        let file = PathBuf::from(format!("{}{file}", env!("CARGO_MANIFEST_DIR")));
        let mut input = Input::open(&file, tracewell::input::Settings::default()).unwrap();
        let page = read(&mut input, "beginning", 10).unwrap();
        assert!(page.view(&View::default()).unwrap().len() > 1000);
    }
}
