//! Tests that recording never allocates: not at the first event of a thread, not when a lane wraps,
//! and not when events are lost.

mod allocations;

use allocations::counted;
use tracewell_record::stream::{EventType, Family, FullPolicy, Stream, StreamOptions};

const TEST: Family = Family::new(0, "test");
static PAIR: EventType<(u32, u32)> = EventType::new(TEST, "pair", &["a", "b"]);
static NOTE: EventType<(u32,), str> = EventType::new(TEST, "note", &["a", "text"]);

#[test]
fn no_path_of_recording_allocates() {
    let folder = tempfile::tempdir().unwrap();
    for policy in [FullPolicy::Loop, FullPolicy::UntilFull, FullPolicy::Flush] {
        let options = StreamOptions {
            policy,
            lanes: 1,
            packets: 2,
            packet_size: 512,
            ..StreamOptions::default()
        };
        let stream = Stream::create(&folder.path().join(policy.as_str()), &options).unwrap();
        stream.start();
        let record = || {
            // The first event of the thread takes a lane and defines its type.
            let before = counted();
            for number in 0..1000 {
                stream.record(&PAIR, (number, 2));
                stream.record_with(&NOTE, (number,), "a text");
            }
            counted() - before
        };
        let mut total = std::thread::scope(|scope| scope.spawn(record).join().unwrap());
        // This thread takes over the lane, and the next thread finds no lane.
        total += record();
        total += std::thread::scope(|scope| scope.spawn(record).join().unwrap());
        assert_eq!(total, 0, "{}", policy.as_str());
        let status = stream.image().status();
        let lost = status.lost + status.lost_suspended + status.lost_unplaced;
        assert!(lost >= 2000, "{status:?}");
    }
    let control = counted();
    drop(vec![1]);
    assert_eq!(counted() - control, 2, "the allocator counts");
}
