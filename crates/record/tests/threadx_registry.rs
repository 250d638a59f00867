//! Tests the rules by which the recorder chooses a registry slot for an object.

mod support;

use support::{Image, counting, enable, semaphore, size_for};
use tracewell_record::clock::Clock;
use tracewell_record::threadx::{Little32, Object, Options, Trace};

const A: u64 = 0xA0;
const B: u64 = 0xB0;
const C: u64 = 0xC0;
const D: u64 = 0xD0;
const E: u64 = 0xE0;

/// Runs a test on a new trace with `slots` registry slots.
fn with_slots(slots: usize, test: impl FnOnce(&mut Trace<'_, Box<dyn Fn() -> u64>, Little32>)) {
    let mut memory = vec![0; size_for::<Little32>(slots, 2)];
    let clock: Box<dyn Fn() -> u64> = Box::new(|| 0);
    let mut trace = Trace::<_, Little32>::for_target(clock);
    enable(&mut trace, &mut memory, slots);
    test(&mut trace);
}

fn put<K: Clock>(trace: &mut Trace<'_, K, Little32>, pointers: &[u64]) -> Vec<Option<usize>> {
    pointers.iter().map(|&pointer| trace.register(&semaphore(pointer))).collect()
}

fn pointers<K: Clock>(trace: &Trace<'_, K, Little32>) -> Vec<u64> {
    Image::read(trace.image()).slots().iter().map(|slot| slot.pointer).collect()
}

#[test]
fn unused_slots_are_filled_in_order_until_there_are_none() {
    with_slots(3, |trace| {
        assert_eq!(put(trace, &[A, B, C, D]), [Some(0), Some(1), Some(2), None]);
        assert_eq!(pointers(trace), [A, B, C], "the object without a slot changed nothing");
    });
}

#[test]
fn a_registry_of_no_slots_registers_nothing() {
    with_slots(0, |trace| {
        assert_eq!(put(trace, &[A]), [None]);
        assert_eq!(trace.unregister(A), None);
    });
}

#[test]
fn unregistering_only_sets_the_flag() {
    with_slots(2, |trace| {
        trace.register(&Object::thread(A, b"worker", 300, 0x100, 0x200));
        let mut expected = Image::read(trace.image()).slots();
        assert!(!expected[0].available);
        assert_eq!(trace.unregister(A), Some(0));
        expected[0].available = true;
        assert_eq!(Image::read(trace.image()).slots(), expected);
        assert_eq!(trace.unregister(E), None, "an unknown object has no slot");
    });
}

#[test]
fn a_never_used_slot_comes_before_an_available_one() {
    with_slots(3, |trace| {
        put(trace, &[A, B]);
        trace.unregister(A);
        // The search starts at the freed slot 0 and stops only at slot 2.
        assert_eq!(put(trace, &[C]), [Some(2)]);
    });
}

#[test]
fn the_last_available_slot_of_the_search_is_reused() {
    with_slots(4, |trace| {
        put(trace, &[A, B, C, D]);
        for pointer in [D, C, A] {
            trace.unregister(pointer);
        }
        // The search starts at slot 0, which was freed last. It finds slots 0, 2 and 3 available
        // and chooses the last, slot 3.
        assert_eq!(put(trace, &[E]), [Some(3)]);
        // The next search starts after slot 3, at slot 0, and finds slots 0 and 2.
        assert_eq!(put(trace, &[0xF0]), [Some(2)]);
    });
}

#[test]
fn the_search_starts_at_the_slot_freed_last_and_wraps_once() {
    with_slots(4, |trace| {
        put(trace, &[A, B, C, D]);
        trace.unregister(B);
        trace.unregister(C);
        // The search examines slots 2, 3, 0 and 1. Slot 1 is the last available slot.
        assert_eq!(put(trace, &[E]), [Some(1)]);
    });
}

#[test]
fn an_object_gets_its_own_slot_again_if_the_search_finds_it_first() {
    with_slots(3, |trace| {
        put(trace, &[A, B]);
        trace.unregister(A);
        assert_eq!(put(trace, &[A]), [Some(0)]);
        assert_eq!(pointers(trace), [A, B, 0]);
    });
}

#[test]
fn an_object_fills_several_slots_if_the_search_finds_an_unused_one_first() {
    with_slots(4, |trace| {
        put(trace, &[A, B]);
        trace.unregister(A);
        trace.unregister(B);
        // The search starts at slot 1, which does not belong to A. Slot 2 was never used.
        assert_eq!(put(trace, &[A]), [Some(2)]);
        assert_eq!(pointers(trace), [A, B, A, 0]);
        // Unregistering finds the first slot with the address.
        assert_eq!(trace.unregister(A), Some(0));
        let available: Vec<_> =
            Image::read(trace.image()).slots().iter().map(|slot| slot.available).collect();
        assert_eq!(available, [true, true, false, true]);
    });
}

#[test]
fn registering_again_uses_up_the_count_until_nothing_more_is_registered() {
    with_slots(3, |trace| {
        put(trace, &[A]);
        // The unused slots 1 and 2 stop the search. After that, only slots of A are left.
        assert_eq!(put(trace, &[A, A]), [Some(1), Some(2)]);
        assert_eq!(put(trace, &[A]), [None], "the count is 0");
        trace.unregister(A);
        assert_eq!(put(trace, &[A, A]), [Some(0), None], "one freed slot");
    });
}

#[test]
fn names_end_at_their_nul_or_one_byte_before_the_field_does() {
    let long = [b'n'; 40];
    for (name_size, name, stored) in [
        (32, &long[..], &long[..31]),
        (32, &long[..31], &long[..31]),
        (8, b"telemetry", b"telemet"),
        (32, b"cut\0here", b"cut"),
        (32, b"", b""),
    ] {
        let mut memory = [0xEE; 512];
        let mut trace = Trace::new(counting());
        let options = Options { name_size, ..Options::default() };
        trace.enable(&mut memory, 1, &options, [], support::main_thread()).unwrap();
        trace.register(&Object::event_flags(A, name));
        assert_eq!(Image::read(trace.image()).slots()[0].name, stored);
    }
}

#[test]
fn bytes_after_a_name_stay_unchanged() {
    with_slots(1, |trace| {
        trace.register(&Object::event_flags(A, b"long name"));
        trace.unregister(A);
        trace.register(&Object::event_flags(B, b"new\0er"));
        assert_eq!(trace.image()[48 + 16..48 + 16 + 9], *b"new\0 name");
    });
}

#[test]
fn a_reused_slot_of_a_thread_loses_its_priority() {
    with_slots(1, |trace| {
        trace.register(&Object::thread(A, b"", 1023, 0, 0));
        assert_eq!(Image::read(trace.image()).slots()[0].priority, Some(1023));
        trace.unregister(A);
        trace.register(&semaphore(B));
        assert_eq!(Image::read(trace.image()).slots()[0].priority, None);
    });
}
