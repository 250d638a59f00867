//! Fuzz targets for the decoders of the native format and of POSIX trace.

use tracewell::format::Settings;
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell_wire::frame;
use tracewell_wire::native::{block, image as native_words};
use tracewell_wire::posix::{log::MAGIC as POSIX_LOG, object};

/// Reads any bytes as a log, whole and in parts.
pub fn native(data: &[u8]) {
    let whole = tally("native", data, data.len().max(1));
    assert_eq!(tally("native", data, 1 + data.len() / 3), whole);
}

/// Reads a small log after some edits, with corrected checksums. Each edit takes three bytes:
/// offset (two) and value (one).
pub fn native_edited(data: &[u8]) {
    let mut log = include_bytes!("../corpus/native/small_log").to_vec();
    let length = log.len();
    let mut blocks = Vec::new();
    let mut at = 0;
    while let block::Lookup::Block(found) = block::find(&log[at..]) {
        let end = at + block::HEAD + found.body.len();
        blocks.extend(found.kind.map(|kind| (at..end, kind, found.number)));
        at = end;
    }
    for [low, high, value] in data.as_chunks::<3>().0 {
        log[usize::from(u16::from_le_bytes([*low, *high])) % length] = *value;
    }
    for (range, kind, number) in blocks {
        block::seal(&mut log[range], kind, number).expect("the length of a block does not change");
    }
    native(&log);
}

/// Reads a stream's memory with a valid header and arbitrary words. For each word, the input
/// has two bytes of offset and eight bytes of value.
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
    // The input can change the words of event types 1 to 8, of lane headers and of packets.
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

/// Reads any bytes as a log of a POSIX trace stream, or as its memory, whole and in parts.
pub fn posix_reader(data: &[u8]) {
    let whole = tally("posix", data, data.len().max(1));
    assert_eq!(tally("posix", data, 1 + data.len() / 3), whole);
}

/// Reads a small log after some edits, with corrected checksums. Each edit takes three bytes:
/// offset (two) and value (one).
pub fn posix_reader_edited(data: &[u8]) {
    for log in [
        &include_bytes!("../corpus/posix_reader/log")[..],
        include_bytes!("../corpus/posix_reader/ring"),
    ] {
        let mut log = log.to_vec();
        let length = log.len();
        let mut blocks = Vec::new();
        let mut at = 0;
        while let frame::Lookup::Block { kind, number, body } = frame::find(&log[at..], POSIX_LOG) {
            let end = at + frame::HEAD + body.len();
            blocks.push((at..end, kind, number));
            at = end;
        }
        for [low, high, value] in data.as_chunks::<3>().0 {
            log[usize::from(u16::from_le_bytes([*low, *high])) % length] = *value;
        }
        for (range, kind, number) in blocks {
            frame::seal(&mut log[range], POSIX_LOG, kind, number)
                .expect("the length of a block does not change");
        }
        posix_reader(&log);
    }
}

/// Reads a POSIX trace stream's memory with a valid header and arbitrary words. For each word,
/// the input has two bytes of offset and eight bytes of value.
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
    let mut tally = Tally::default();
    let trace = super::arriving(format, &Settings::default(), data, piece, &mut tally)?;
    assert_eq!(trace.events, tally.events);
    Some(tally)
}

/// Sums of a stream decoder's output. They are the same for every window. The number of batches,
/// and the order of gaps in different lanes, depend on the window and are therefore left out.
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
                    assert!(event.record.len() >= 32 + data.len(), "a record contains its data");
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
