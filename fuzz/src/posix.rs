//! Fuzz targets for POSIX trace streams: logs with any bytes, and damaged shared memory.

use std::sync::atomic::AtomicU64;

use tracewell_posix::{RecordedLog, TypeNames};
use tracewell_record::posix::{Cursor, Event, Pool, Reader};
use tracewell_wire::posix::object::{Geometry, ObjectHeader, at};
use tracewell_wire::posix::{RECORD_WORDS, RecordHeader, StreamPolicy};

/// Opens a log and reads it twice. Checks that both results are equal, and that they have no more
/// events than the size of the log allows.
pub fn posix_log(data: &[u8]) {
    let Ok(log) = RecordedLog::from_bytes(data.to_vec()) else { return };
    let read = || {
        let mut events = Vec::new();
        while let Some(event) = log.next(|info, data| {
            assert_eq!(info.length, data.len());
            (info, data.to_vec())
        }) {
            events.push(event);
        }
        log.rewind();
        events
    };
    let events = read();
    assert!(events.len() <= data.len() / (8 * RECORD_WORDS));
    assert_eq!(read(), events);
    while let Some(id) = log.next_type() {
        assert!(log.name(id).is_some(), "{id} is listed");
    }
}

const GEOMETRY: Geometry = Geometry { packet_words: 32, packets: 4, closed: 2 };

/// Fills the counters, the packet headers and the packets in the memory of a stream with words from
/// `data`. Then reads the stream and writes records to it.
pub fn posix_memory(data: &[u8]) {
    let words: Vec<_> = (0..GEOMETRY.total()).map(|_| AtomicU64::new(0)).collect();
    let pieces = data.as_chunks::<8>().0;
    let places = (at::ORDER..at::LOST + 5).chain(at::HEADS..GEOMETRY.total());
    for (place, piece) in places.zip(pieces) {
        words[place].store(u64::from_le_bytes(*piece), std::sync::atomic::Ordering::Relaxed);
    }
    let header = pieces.first_chunk().map(|words| words.map(u64::from_le_bytes));
    if let Some(header) = header.and_then(|words| ObjectHeader::of_words(&words)) {
        assert_eq!(ObjectHeader::of_words(&header.words()), Some(header));
    }
    for policy in [StreamPolicy::Loop, StreamPolicy::UntilFull] {
        let Some(pool) = Pool::new(&words, GEOMETRY, policy) else { return };
        let mut reader = Reader::new(&pool);
        let most = GEOMETRY.packets * GEOMETRY.packet_words / RECORD_WORDS as u32;
        let mut taken = 0;
        while let Some(record) = reader.take(&pool) {
            assert_eq!(reader.data().len(), record.head.words() - RECORD_WORDS);
            taken += 1;
            assert!(taken <= most, "the reader returned more records than the packets can contain");
        }
        write(&pool);
        reader.clear(&pool);
    }
}

/// Writes records. Some of them may not fit.
fn write(pool: &Pool<'_>) {
    let cursor = Cursor::new();
    for number in 0..64 {
        let head = RecordHeader { length: 0, id: 65, flags: 0, process: 1 };
        let event = Event { head, stamp: number, address: 1, thread: 2 };
        let _ = cursor.push(pool, &event, &number.to_le_bytes(), 7, &|owner| owner % 2 == 0);
    }
}
