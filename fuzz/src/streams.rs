//! The targets of the readers of streams that came out of shared memory: our own, and POSIX trace.

use tracewell::format::{Input, Options, Progress, by_name};
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell_wire::frame;
use tracewell_wire::native::{block, image as native_words};
use tracewell_wire::posix::{log::MAGIC as POSIX_LOG, object};

/// Reads any bytes as a log, whole and in pieces.
pub fn native(data: &[u8]) {
    let whole = tally("native", data, data.len().max(1));
    assert_eq!(tally("native", data, 1 + data.len() / 3), whole);
}

/// Reads a small log after some edits, with checksums that are right again: three bytes each say
/// where (two) and what (one).
pub fn native_edited(data: &[u8]) {
    let mut log = include_bytes!("../corpus/native/small_log").to_vec();
    let length = log.len();
    let mut blocks = Vec::new();
    let mut at = 0;
    while let block::Found::Block(found) = block::find(&log[at..]) {
        let end = at + block::HEAD + found.body.len();
        blocks.extend(found.kind.map(|kind| (at..end, kind, found.number)));
        at = end;
    }
    for [low, high, value] in data.as_chunks::<3>().0 {
        log[usize::from(u16::from_le_bytes([*low, *high])) % length] = *value;
    }
    for (range, kind, number) in blocks {
        block::seal(&mut log[range], kind, number).expect("a block stays as long as it was");
    }
    native(&log);
}

/// Reads a stream's memory with a good header and made-up words: two bytes each say where, eight
/// what.
pub fn native_image(data: &[u8]) {
    let geometry = native_words::Geometry { lanes: 2, packets: 2, packet_words: 64 };
    let mut words = vec![0_u64; geometry.total()];
    let header = native_words::ImageHeader {
        geometry,
        policy: tracewell_wire::native::FullPolicy::Loop,
        clock: tracewell_wire::native::ClockFacts::of_words([3, 1_000_000, 0, 0, 0]),
        process: 1,
    };
    words[..native_words::ImageHeader::WORDS].copy_from_slice(&header.words());
    // Event types 1 to 8, lane heads, packets.
    let types = geometry.types() + native_words::TYPE_WORDS;
    let heads = geometry.head(0)..geometry.head(2);
    let places: Vec<_> = (types..types + 8 * native_words::TYPE_WORDS)
        .chain(heads)
        .chain(geometry.data()..geometry.total())
        .collect();
    for [low, high, word @ ..] in data.as_chunks::<10>().0 {
        let place = usize::from(u16::from_le_bytes([*low, *high])) % places.len();
        words[places[place]] = u64::from_le_bytes(*word);
    }
    let bytes: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let tally = tally("native", &bytes, bytes.len()).expect("the header is good");
    assert!(tally.events <= 2 * geometry.lane_words(), "an event needs a word");
}

/// Reads any bytes as a log of a POSIX trace stream, or as its memory, whole and in pieces.
pub fn posix_reader(data: &[u8]) {
    let whole = tally("posix", data, data.len().max(1));
    assert_eq!(tally("posix", data, 1 + data.len() / 3), whole);
}

/// Reads a small log after some edits, with checksums that are right again: three bytes each say
/// where (two) and what (one).
pub fn posix_reader_edited(data: &[u8]) {
    for log in [
        &include_bytes!("../corpus/posix_reader/log")[..],
        include_bytes!("../corpus/posix_reader/ring"),
    ] {
        let mut log = log.to_vec();
        let length = log.len();
        let mut blocks = Vec::new();
        let mut at = 0;
        while let frame::Found::Block { kind, number, body } = frame::find(&log[at..], POSIX_LOG) {
            let end = at + frame::HEAD + body.len();
            blocks.push((at..end, kind, number));
            at = end;
        }
        for [low, high, value] in data.as_chunks::<3>().0 {
            log[usize::from(u16::from_le_bytes([*low, *high])) % length] = *value;
        }
        for (range, kind, number) in blocks {
            frame::seal(&mut log[range], POSIX_LOG, kind, number)
                .expect("it stays as long as it was");
        }
        posix_reader(&log);
    }
}

/// Reads a POSIX trace stream's memory with a good header and made-up words: two bytes each say where,
/// eight what.
pub fn posix_reader_memory(data: &[u8]) {
    let geometry = object::Geometry { packet_words: 64, packets: 4, closed: 2 };
    let header = object::ObjectHeader {
        nonce: 1,
        geometry,
        policy: tracewell_wire::posix::StreamPolicy::Loop,
        inherited: false,
        max_data: 128,
        created: 0,
        controller: (1, 1),
        tick: 0,
        names: 1,
    };
    let mut words = vec![0_u64; geometry.total()];
    words[..object::ObjectHeader::WORDS].copy_from_slice(&header.words());
    let free = object::ObjectHeader::WORDS..geometry.total();
    for [low, high, word @ ..] in data.as_chunks::<10>().0 {
        let place = free.start + usize::from(u16::from_le_bytes([*low, *high])) % free.len();
        words[place] = u64::from_le_bytes(*word);
    }
    let bytes: Vec<_> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let tally = tally("posix", &bytes, bytes.len()).expect("the header is good");
    assert!(tally.events <= 4 * 16, "an event needs four words");
}

fn tally(format: &str, data: &[u8], piece: usize) -> Option<Tally> {
    let format = by_name(format).expect("it is in the list");
    let mut decoder = (format.decoder)(&Options::default()).expect("it needs no options");
    let (mut trace, mut tally) = (decoder.trace(), Tally::default());
    let (mut start, mut end) = (0, 0);
    loop {
        end = data.len().min(end + piece);
        let last = end == data.len();
        let input = Input { offset: start as u64, bytes: &data[start..end], last };
        match decoder.decode(input, &mut trace, &mut tally) {
            Err(_) => return None,
            Ok(Progress::More { consumed, .. }) => {
                assert!(!last && consumed <= end - start, "more than there is");
                start += consumed;
            }
            Ok(Progress::Done) => break,
        }
    }
    assert_eq!(trace.events, tally.events);
    Some(tally)
}

/// What came out of a reader of streams. How often it hands over, and where gaps of
/// different lanes lie among each other, depends on the window; sums do not.
#[derive(PartialEq, Eq, Debug, Default)]
struct Tally {
    events: u64,
    lost: u64,
}

impl Sink for Tally {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            assert_eq!(event.seq, self.events);
            assert!(trace.contexts.get(event.context).is_some(), "no such context");
            match &trace.recorded {
                None => {
                    assert_eq!(event.record.len(), event.payload.len() + 8);
                    assert!(event.id > 0, "a base is no event");
                }
                Some(recorded) => {
                    let mut data = Vec::new();
                    recorded.append(event.record, &mut data);
                    assert!(event.record.len() >= 32 + data.len(), "data are in their record");
                }
            }
            self.events += 1;
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        assert!(loss.before <= self.events);
        self.lost = self.lost.wrapping_add(loss.events.unwrap_or(1));
        Flow::Continue(())
    }
}
