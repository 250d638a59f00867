//! Fuzz target for the AIX decoder.

use tracewell::format::Settings;
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell_wire::aix::FrameHeader;

/// Reads any bytes as a container, whole and in parts.
pub fn aix(data: &[u8]) {
    let whole = tally(data, data.len().max(1));
    for pieces in [3, 40] {
        assert_eq!(tally(data, 1 + data.len() / pieces), whole);
    }
    if let Some(whole) = whole {
        let most = data.len() / FrameHeader::LENGTH;
        assert!(whole.events <= most as u64, "an event needs a frame");
    }
}

/// Counts of the decoder's output.
#[derive(PartialEq, Eq, Debug, Default)]
struct Tally {
    events: u64,
    ticks: u64,
    losses: Vec<Loss>,
}

impl Sink for Tally {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            assert_eq!(event.seq, self.events);
            assert!(trace.contexts.get(event.context).is_some(), "no such context");
            assert!(event.cpu < trace.cpus || event.cpu == u16::MAX, "no such processor");
            self.ticks = self.ticks.wrapping_mul(31).wrapping_add(event.ticks);
            self.events += 1;
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        assert_eq!(loss.before, self.events);
        self.losses.push(*loss);
        Flow::Continue(())
    }
}

fn tally(data: &[u8], piece: usize) -> Option<Tally> {
    let mut tally = Tally::default();
    let trace = super::arriving("aix", &Settings::default(), data, piece, &mut tally)?;
    assert_eq!(trace.events, tally.events);
    Some(tally)
}
