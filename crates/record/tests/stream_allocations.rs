//! Recording allocates nothing: not at the first event of a thread, not when a lane goes round, not
//! when events are lost.
//!
//! The file holds `unsafe` code because an allocator is an unsafe trait. One test only, so that no
//! other one allocates meanwhile.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use tracewell_record::stream::{EventType, Family, FullPolicy, Stream, StreamOptions};

struct Counting;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    let _ = COUNT.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call goes to the system's allocator as it came.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count();
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

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
            let before = COUNT.with(Cell::get);
            for number in 0..1000 {
                stream.record(&PAIR, (number, 2));
                stream.record_with(&NOTE, (number,), "a text");
            }
            COUNT.with(Cell::get) - before
        };
        let mut counted = std::thread::scope(|scope| scope.spawn(record).join().unwrap());
        // The lane goes over to this thread, and the next one finds none.
        counted += record();
        counted += std::thread::scope(|scope| scope.spawn(record).join().unwrap());
        assert_eq!(counted, 0, "{}", policy.as_str());
        let status = stream.image().status();
        let lost = status.lost + status.lost_suspended + status.lost_unplaced;
        assert!(lost >= 2000, "{status:?}");
    }
    let control = COUNT.with(Cell::get);
    drop(vec![1]);
    assert_eq!(COUNT.with(Cell::get) - control, 2, "the allocator counts");
}
