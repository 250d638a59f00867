//! The target of the AIX reader.

use tracewell::format::{Input, Options, Progress, by_name};
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell_wire::aix::FrameHead;

/// Reads any bytes as a container, whole and in pieces.
pub fn aix(data: &[u8]) {
    let whole = tally(data, data.len().max(1));
    for pieces in [3, 40] {
        assert_eq!(tally(data, 1 + data.len() / pieces), whole);
    }
    if let Some(whole) = whole {
        let most = data.len() / FrameHead::LENGTH;
        assert!(whole.events <= most as u64, "an event needs a frame");
    }
}

/// What came out of the reader.
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

/// Shows the reader a piece after the other; `None` where it refuses the bytes.
fn tally(data: &[u8], piece: usize) -> Option<Tally> {
    let format = by_name("aix").expect("it is in the list");
    let mut decoder = (format.decoder)(&Options::default()).expect("it needs no options");
    let (mut trace, mut tally) = (decoder.trace(), Tally::default());
    let (mut start, mut end) = (0, 0);
    loop {
        end = data.len().min(end + piece);
        let last = end == data.len();
        let input = Input { offset: start as u64, bytes: &data[start..end], last };
        match decoder.decode(input, &mut trace, &mut tally) {
            Err(_) => return None,
            Ok(Progress::Done) => break,
            Ok(Progress::More { consumed, wanted }) => {
                assert!(!last && consumed <= end - start, "more than there is");
                assert!(wanted > end - start - consumed, "what is there was not enough");
                start += consumed;
            }
        }
    }
    assert_eq!(trace.events, tally.events);
    Some(tally)
}
