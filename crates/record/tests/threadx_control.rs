//! Tests the control block: enable, disable, filters and notification, including statuses and the
//! order of steps.

mod support;

use std::cell::{Cell, RefCell};

use support::{Image, MAIN, counting, enable, main_thread, size_for};
use tracewell_record::clock::{Clock, Masked};
use tracewell_record::threadx::{
    Big32, Big64, Context, Little32, Little64, Object, Options, Status, Target, Trace,
};
use tracewell_wire::threadx::ids::{self, class};
use tracewell_wire::threadx::{Event, Header, Width};

#[test]
fn memory_one_byte_too_small_is_a_size_error_and_stays_unchanged() {
    let mut memory = vec![0x5A; size_for::<Little32>(2, 1) - 1];
    let mut trace = Trace::<_, Little32>::for_target(counting());
    let refused = trace.enable(&mut memory, 2, &Options::default(), [], main_thread()).unwrap_err();
    assert_eq!(refused.reason, Status::SizeError);
    assert!(refused.memory.iter().all(|&byte| byte == 0x5A));
    assert!(!trace.is_on());
}

#[test]
fn enabling_twice_is_not_done_but_the_size_is_checked_first() {
    let (mut first, mut second, mut small) = ([0; 256], [7; 256], [7; 79]);
    let mut trace = Trace::new(counting());
    enable(&mut trace, &mut first, 1);
    let mut status = |memory| {
        trace.enable(memory, 0, &Options::default(), [], main_thread()).unwrap_err().reason
    };
    assert_eq!(status(&mut second), Status::NotDone);
    assert_eq!(status(&mut small), Status::SizeError);
    assert_eq!(Image::read(trace.image()).ids(), [6, 6], "the trace that was already on continues");
    drop(trace);
    assert_eq!(second, [7; 256]);
}

#[test]
fn services_of_a_disabled_trace_return_an_error_or_do_nothing() {
    let mut trace = Trace::new(|| panic!("nothing is recorded, so the clock is not read"));
    assert_eq!(trace.disable().unwrap_err(), Status::NotDone);
    assert_eq!(trace.user_event(main_thread(), 4096, [0; 4]), Err(Status::NotDone));
    assert_eq!(trace.register(&support::semaphore(1)), None);
    assert_eq!(trace.unregister(1), None);
    trace.event_unfilter(class::ALL);
    assert_eq!(trace.insert(main_thread(), 1, [0; 4], class::ALL), None);
    assert!(trace.image().is_empty());
}

fn header_says_where_everything_is<T: Target>() {
    let (registry, event) = match T::WIDTH {
        Width::Bits32 => (48, 32),
        Width::Bits64 => (96, 64),
    };
    let slot = if event == 32 { 48 } else { 64 };
    let mut memory = vec![0xEE; size_for::<T>(3, 5) + 31];
    let mut trace = Trace::<_, T>::for_target(Masked { clock: counting(), mask: 0x00FF_FFFF });
    enable(&mut trace, &mut memory, 3);
    let image = Image::read(trace.image());
    assert_eq!((image.layout.order, image.layout.width), (T::ORDER, T::WIDTH));
    assert_eq!(image.layout.name_size, 32);
    let base = 0x2000_8000;
    let expected = Header {
        timer_valid_mask: 0x00FF_FFFF,
        trace_base_address: base,
        registry_start: base + registry,
        registry_end: base + registry + 3 * slot,
        buffer_start: base + registry + 3 * slot,
        buffer_end: base + registry + 3 * slot + 5 * event,
        buffer_current: base + registry + 3 * slot + 2 * event,
        reserved1: 0,
        reserved: [0xAAAA_AAAA, 0xBBBB_BBBB, 0xCCCC_CCCC],
    };
    assert_eq!(image.header, expected);
    assert!(trace.image().ends_with(&[0xEE; 31]), "bytes after the last slot are unchanged");
}

#[test]
fn the_header_has_the_addresses_of_all_sections() {
    header_says_where_everything_is::<Little32>();
    header_says_where_everything_is::<Big32>();
    header_says_where_everything_is::<Little64>();
    header_says_where_everything_is::<Big64>();
}

/// The first bytes of an image for a target.
fn first_bytes<T: Target>() -> [u8; 8] {
    let mut memory = [0; 256];
    let mut trace = Trace::<_, T>::for_target(Masked { clock: counting(), mask: 0x0102_0304 });
    enable(&mut trace, &mut memory, 0);
    *trace.image().first_chunk().unwrap()
}

#[test]
fn the_target_decides_order_and_width_of_the_id() {
    assert_eq!(first_bytes::<Little32>(), *b"BTXT\x04\x03\x02\x01");
    assert_eq!(first_bytes::<Big32>(), *b"TXTB\x01\x02\x03\x04");
    assert_eq!(first_bytes::<Little64>(), *b"BTXT\0\0\0\0");
    assert_eq!(first_bytes::<Big64>(), *b"\0\0\0\0TXTB");
}

#[test]
fn without_a_base_address_the_image_has_the_address_of_its_memory() {
    let mut memory = vec![0; 256];
    let address = memory.as_ptr() as u64;
    let mut trace = Trace::<_, Little64>::for_target(counting());
    trace.enable(&mut memory, 0, &Options::default(), [], main_thread()).unwrap();
    assert_eq!(Image::read(trace.image()).header.trace_base_address, address);
}

#[test]
fn unused_slots_are_marked_by_one_word_and_keep_the_rest_of_the_memory() {
    let mut memory = vec![0xEE; size_for::<Little32>(1, 3)];
    let mut trace = Trace::<_, Little32>::for_target(counting());
    enable(&mut trace, &mut memory, 1);
    let image = trace.image();
    assert_eq!(image[48..52], [1, 0, 0, 0], "available, type 0, reserved bytes 0");
    assert_eq!(image[52..56], [0; 4], "no pointer");
    assert_eq!(image[56..96], [0xEE; 40], "parameters and name keep stale bytes");
    let third = 48 + 48 + 2 * 32;
    assert_eq!(image[third..third + 4], [0; 4]);
    assert_eq!(image[third + 4..third + 32], [0xEE; 28]);
}

#[test]
fn enable_records_running_twice_in_the_callers_context() {
    let mut memory = [0; 512];
    let mut trace = Trace::new(counting());
    let context = Context::thread(MAIN, 5, 3).on_core(2);
    trace.enable(&mut memory, 1, &Options::default(), [], context).unwrap();
    let events = Image::read(trace.image()).events();
    let words = |e: &Event| (e.context, e.priority_word, e.id_word, e.stamp, e.info);
    let expected = [1, 2].map(|stamp| (MAIN, 0x8003_0005, 0x0200_0006, stamp, [0; 4]));
    assert_eq!(events.iter().map(words).collect::<Vec<_>>(), expected);
}

#[test]
fn enable_registers_existing_objects_by_type_and_creation() {
    let existing = [
        Object::byte_pool(8, b"bytes", 4096),
        Object::thread(0x10, b"first", 1000, 0x100, 0x200),
        Object::queue(3, b"queue", 128, 4),
        Object::thread(0x11, b"second", 2, 0x300, 0x200),
        Object::new(11, 0x99, b"ip instance", [0, 0]),
        Object::timer(2, b"timer", 3, 5),
    ];
    let mut memory = [0; 1024];
    let mut trace = Trace::new(counting());
    trace.enable(&mut memory, 8, &Options::default(), existing, main_thread()).unwrap();
    let slots = Image::read(trace.image()).slots();
    let objects: Vec<_> = slots.iter().take(5).map(|s| (s.kind, s.pointer, s.parameters)).collect();
    let expected = [
        (1, 0x10, [0x100, 0x200]),
        (1, 0x11, [0x300, 0x200]),
        (2, 2, [0, 5]),
        (3, 3, [32, 0]),
        (8, 8, [4096, 0]),
    ];
    assert_eq!(objects, expected);
    assert_eq!(slots[0].priority, Some(1000));
    assert_eq!(slots[2].priority, None);
    assert_eq!(slots[1].name, b"second");
    assert!(slots[5..].iter().all(|slot| slot.available && slot.kind == 0));
}

#[test]
fn disable_returns_the_image_and_enabling_again_starts_an_empty_one() {
    let mut memory = [0; 512];
    let mut trace = Trace::new(counting());
    enable(&mut trace, &mut memory, 2);
    trace.register(&support::semaphore(0x77));
    trace.event_filter(class::ALL);
    let memory = trace.disable().unwrap();
    assert_eq!(Image::read(memory).objects(), [(4, 0x77)]);
    assert_eq!(Image::read(memory).ids(), [6, 6]);

    enable(&mut trace, memory, 2);
    assert_eq!(Image::read(trace.image()).objects(), []);
    assert_eq!(Image::read(trace.image()).ids(), [6, 6], "all classes are on again");
    let stamps: Vec<_> =
        Image::read(trace.image()).events().iter().map(|event| event.stamp).collect();
    assert_eq!(stamps, [3, 4]);
}

#[test]
fn a_filter_hides_classes_until_they_are_unfiltered() {
    let mut memory = [0; 1024];
    let mut trace = Trace::new(counting());
    enable(&mut trace, &mut memory, 0);
    let record = |trace: &mut Trace<'_, _>| {
        trace.insert(main_thread(), 52, [0; 4], class::MUTEX);
        trace.insert(main_thread(), 60, [0; 4], class::QUEUE);
        assert_eq!(trace.user_event(main_thread(), 5000, [0; 4]), Ok(()));
    };
    trace.event_filter(class::MUTEX | class::USER);
    record(&mut trace);
    trace.event_unfilter(class::USER);
    record(&mut trace);
    trace.event_filter(class::ALL);
    record(&mut trace);
    trace.event_unfilter(class::MUTEX);
    record(&mut trace);
    assert_eq!(Image::read(trace.image()).ids(), [6, 6, 60, 60, 5000, 52]);
}

#[test]
fn an_event_of_two_classes_is_recorded_while_one_of_them_is_on() {
    let mut memory = [0; 256];
    let mut trace = Trace::new(counting());
    enable(&mut trace, &mut memory, 0);
    trace.event_filter(class::MUTEX);
    trace.insert(main_thread(), 7, [0; 4], class::MUTEX | class::QUEUE);
    assert_eq!(Image::read(trace.image()).ids(), [6, 6, 7]);
}

#[test]
fn the_clock_is_not_read_for_events_that_are_not_recorded() {
    let reads = Cell::new(0);
    let clock = || {
        reads.set(reads.get() + 1);
        reads.get()
    };
    let mut memory = [0; 512];
    let mut trace = Trace::new(clock);
    enable(&mut trace, &mut memory, 0);
    trace.event_filter(class::USER);
    trace.user_event(main_thread(), 5000, [0; 4]).unwrap();
    assert_eq!(reads.get(), 2);
}

/// A clock that also holds the values that the notification functions store.
#[derive(Default)]
struct Diary {
    ticks: u64,
    /// Slot numbers of `buffer_current` at each notification.
    wraps: RefCell<Vec<usize>>,
    /// Images that the notification saved.
    saved: Vec<Vec<u8>>,
}

impl Clock for Diary {
    fn ticks(&mut self) -> u64 {
        self.ticks += 1;
        self.ticks
    }
}

fn note(trace: &mut Trace<'_, Diary>) {
    let current = Image::read(trace.image()).current();
    trace.clock().wraps.borrow_mut().push(current);
}

fn user(trace: &mut Trace<'_, Diary>, ids: core::ops::Range<u32>) {
    for id in ids {
        trace.user_event(main_thread(), id, [0; 4]).unwrap();
    }
}

#[test]
fn every_wrap_calls_the_notification_after_setting_the_current_slot() {
    let mut memory = vec![0; size_for::<Little32>(0, 4)];
    let mut trace = Trace::new(Diary::default());
    trace.buffer_full_notify(Some(note));
    enable(&mut trace, &mut memory, 0);
    user(&mut trace, 4096..4097);
    assert_eq!(trace.clock().wraps.take(), [], "three of four slots are filled");
    user(&mut trace, 4097..4098);
    assert_eq!(trace.clock().wraps.take(), [0], "exactly full");
    user(&mut trace, 4098..4106);
    assert_eq!(trace.clock().wraps.take(), [0, 0]);
    trace.buffer_full_notify(None);
    user(&mut trace, 4106..4120);
    assert_eq!(trace.clock().wraps.take(), []);
}

#[test]
fn one_slot_keeps_the_newest_event_and_wraps_each_time() {
    let mut memory = vec![0; size_for::<Little32>(0, 1)];
    let mut trace = Trace::new(Diary::default());
    trace.buffer_full_notify(Some(note));
    enable(&mut trace, &mut memory, 0);
    assert_eq!(trace.clock().wraps.take(), [0, 0], "once for each RUNNING event");
    user(&mut trace, 4096..4098);
    assert_eq!(trace.clock().wraps.take(), [0, 0]);
    assert_eq!(Image::read(trace.image()).ids(), [4097]);
}

#[test]
fn events_of_the_notification_are_recorded_after_the_wrap() {
    let mut memory = vec![0; size_for::<Little32>(0, 4)];
    let mut trace = Trace::new(Diary::default());
    trace.buffer_full_notify(Some(|trace| user(trace, 9000..9001)));
    enable(&mut trace, &mut memory, 0);
    user(&mut trace, 4096..4099);
    let image = Image::read(trace.image());
    let slots: Vec<_> = image.event_slots().iter().map(|event| event.id()).collect();
    assert_eq!(slots, [9000, 4098, 4096, 4097]);
    assert_eq!(image.current(), 2);
}

#[test]
fn the_notification_may_switch_tracing_off() {
    let mut memory = vec![0; size_for::<Little32>(0, 3)];
    let mut trace = Trace::new(Diary::default());
    trace.buffer_full_notify(Some(|trace| {
        let image = trace.disable().unwrap().to_vec();
        trace.clock().saved.push(image);
    }));
    enable(&mut trace, &mut memory, 0);
    user(&mut trace, 4096..4097);
    assert!(!trace.is_on());
    assert_eq!(trace.user_event(main_thread(), 4097, [0; 4]), Err(Status::NotDone));
    assert_eq!(Image::read(&trace.clock().saved[0]).ids(), [6, 6, 4096]);
}

#[test]
fn the_notification_may_save_the_image_and_enable_again() {
    let mut memory = vec![0; size_for::<Little32>(0, 4)];
    let mut trace = Trace::new(Diary::default());
    trace.buffer_full_notify(Some(|trace| {
        let memory = trace.disable().unwrap();
        trace.clock().saved.push(memory.to_vec());
        enable(trace, memory, 0);
    }));
    enable(&mut trace, &mut memory, 0);
    user(&mut trace, 4096..4101);
    let saved = core::mem::take(&mut trace.clock().saved);
    let ids: Vec<_> = saved.iter().map(|image| Image::read(image).ids()).collect();
    assert_eq!(ids, [[6, 6, 4096, 4097], [6, 6, 4098, 4099]]);
    assert_eq!(Image::read(trace.image()).ids(), [6, 6, 4100]);
}

#[test]
fn the_notification_stays_set_after_disable() {
    let mut memory = vec![0; size_for::<Little32>(0, 2)];
    let mut trace = Trace::new(Diary::default());
    trace.buffer_full_notify(Some(note));
    enable(&mut trace, &mut memory, 0);
    let memory = trace.disable().unwrap();
    enable(&mut trace, memory, 0);
    assert_eq!(trace.clock().wraps.take(), [0, 0]);
}

#[test]
fn interrupt_control_records_and_changes_the_posture_even_when_off() {
    let posture = Cell::new(0);
    let mut memory = [0; 256];
    let mut trace = Trace::new(counting());
    assert_eq!(trace.interrupt_control(main_thread(), 1, 0x77, |new| posture.replace(new)), 0);
    enable(&mut trace, &mut memory, 0);
    assert_eq!(trace.interrupt_control(main_thread(), 0, 0x77, |new| posture.replace(new)), 1);
    let event = *Image::read(trace.image()).events().last().unwrap();
    assert_eq!((event.id(), event.info), (ids::INTERRUPT_CONTROL, [0, 0x77, 0, 0]));
    trace.event_filter(class::INTERRUPT_CONTROL);
    trace.interrupt_control(main_thread(), 1, 0x77, |new| posture.replace(new));
    assert_eq!(posture.get(), 1);
    assert_eq!(Image::read(trace.image()).ids(), [6, 6, 40]);
}
