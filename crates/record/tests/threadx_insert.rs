//! Tests the words of an event, and patching them later.

mod support;

use support::{Image, MAIN, counting, enable, main_thread, size_for};
use tracewell_record::threadx::{
    Big32, Big64, Context, Info, Isr, Little32, Little64, Target, Trace,
};
use tracewell_wire::threadx::ids::{self, class};
use tracewell_wire::threadx::{Event, PriorityWord};

/// Records one event and reads it back.
fn recorded<T: Target>(context: Context, id: u32, info: [u64; 4]) -> Event {
    let mut memory = vec![0; size_for::<T>(1, 4)];
    let mut trace = Trace::<_, T>::for_target(counting());
    enable(&mut trace, &mut memory, 1);
    trace.insert(context, id, info, class::USER);
    Image::read(trace.image()).events()[2]
}

#[test]
fn the_context_of_a_thread_is_its_address_priority_and_threshold() {
    let event = recorded::<Little32>(Context::thread(MAIN, 1023, 512), 4096, [0; 4]);
    assert_eq!(event.context, MAIN);
    assert_eq!(event.priority_word, 0x8200_03FF);
    let expected = PriorityWord::Thread { priority: 1023, threshold: Some(512) };
    assert_eq!(event.priority(), expected);
}

#[test]
fn the_context_of_an_interrupt_has_the_interrupted_thread() {
    let event = recorded::<Little32>(Context::interrupt(MAIN), 4096, [0; 4]);
    assert_eq!((event.context, event.priority_word), (0xFFFF_FFFF, MAIN));
    assert_eq!(recorded::<Little32>(Context::interrupt(0), 1, [0; 4]).priority_word, 0);
}

#[test]
fn the_context_of_initialization_is_only_its_mark() {
    let event = recorded::<Big64>(Context::INITIALIZATION, 4096, [0; 4]);
    assert_eq!((event.context, event.priority_word), (0xF0F0_F0F0, 0));
}

#[test]
fn every_32_bit_id_is_stored_and_the_core_lies_on_top() {
    let on_core_1 = main_thread().on_core(1);
    assert_eq!(recorded::<Little32>(main_thread(), 0xFEDC_BA98, [0; 4]).id_word, 0xFEDC_BA98);
    assert_eq!(recorded::<Little32>(on_core_1, 0x0001_1000, [0; 4]).id_word, 0x0101_1000);
    assert_eq!(recorded::<Little32>(main_thread().on_core(255), 4096, [0; 4]).core(), 255);
}

#[test]
fn words_of_32_bits_keep_the_low_half_and_words_of_64_bits_all() {
    let high = Context::thread(0x7FFF_1234_5678, 1, 1);
    let info = [u64::MAX, 1 << 32, 0x1_0000_0002, 3];
    for event in [recorded::<Little32>(high, 1, info), recorded::<Big32>(high, 1, info)] {
        assert_eq!(event.context, 0x1234_5678);
        assert_eq!(event.info, [0xFFFF_FFFF, 0, 2, 3]);
    }
    for event in [recorded::<Little64>(high, 1, info), recorded::<Big64>(high, 1, info)] {
        assert_eq!((event.context, event.info), (0x7FFF_1234_5678, info));
    }
}

#[test]
fn stamps_are_stored_raw() {
    let mut memory = [0; 256];
    let clock = tracewell_record::clock::Masked { clock: || 0xAB12_3456, mask: 0xFF_FFFF };
    let mut trace = Trace::<_, Little32>::for_target(clock);
    enable(&mut trace, &mut memory, 0);
    let image = Image::read(trace.image());
    assert_eq!(image.events()[0].stamp, 0xAB12_3456);
    assert_eq!(image.header.timer_valid_mask, 0xFF_FFFF);
}

#[test]
fn isr_events_carry_stack_number_state_and_preempt_count() {
    let mut memory = [0; 256];
    let mut trace = Trace::new(counting());
    enable(&mut trace, &mut memory, 0);
    let context = Context::interrupt(MAIN);
    let isr = Isr { number: 7, stack: 0x2000_7F00, system_state: 2, preempt_disable: 1 };
    trace.isr_enter(context, isr);
    trace.isr_exit(context, isr);
    trace.event_filter(class::INTERNAL);
    trace.isr_enter(context, isr);
    let image = Image::read(trace.image());
    assert_eq!(image.ids(), [6, 6, ids::ISR_ENTER, ids::ISR_EXIT]);
    assert!(image.events()[2..].iter().all(|event| event.info == [0x2000_7F00, 7, 2, 1]));
}

#[test]
fn resume_and_suspend_get_their_next_thread_later() {
    let mut memory = [0; 512];
    let mut trace = Trace::new(counting());
    enable(&mut trace, &mut memory, 0);
    let resume = trace.thread_resume(main_thread(), 0x30, 6, 0x40, MAIN);
    let suspend = trace.thread_suspend(main_thread(), MAIN, 4, 0x40, MAIN);
    assert!(trace.set_next_thread(resume, 0x30));
    assert!(trace.set_next_thread(suspend, 0));
    let events = Image::read(trace.image()).events();
    assert_eq!((events[2].id(), events[2].info), (1, [0x30, 6, 0x40, 0x30]));
    assert_eq!((events[3].id(), events[3].info), (2, [MAIN, 4, 0x40, 0]));
    trace.event_filter(class::INTERNAL);
    let filtered = trace.thread_resume(main_thread(), 0x30, 6, 0x40, MAIN);
    assert!(!trace.set_next_thread(filtered, 0x30));
}

#[test]
fn each_information_word_can_be_patched() {
    let mut memory = [0; 512];
    let mut trace = Trace::<_, Big32>::for_target(counting());
    enable(&mut trace, &mut memory, 0);
    let entry = trace.insert(main_thread(), 10, [1, 0, 3, 4], class::BLOCK_POOL).unwrap();
    for (info, value) in [(Info::One, 10), (Info::Two, 20), (Info::Three, 30), (Info::Four, 40)] {
        assert!(trace.patch(entry, info, value));
    }
    assert_eq!(Image::read(trace.image()).events()[2].info, [10, 20, 30, 40]);
}

#[test]
fn a_slot_that_now_holds_another_event_is_not_patched() {
    let mut memory = vec![0; size_for::<Little32>(0, 3)];
    let mut trace = Trace::<_, Little32>::for_target(counting());
    enable(&mut trace, &mut memory, 0);
    let entry = trace.insert(main_thread(), 10, [0; 4], class::BLOCK_POOL).unwrap();
    for id in 4096..4099 {
        trace.user_event(main_thread(), id, [0; 4]).unwrap();
    }
    assert!(!trace.patch(entry, Info::Two, 0xDEAD));
    assert!(Image::read(trace.image()).events().iter().all(|event| event.info == [0; 4]));
}

#[test]
fn a_stamp_wider_than_a_word_can_still_be_patched() {
    let mut memory = [0; 256];
    let mut ticks = u64::from(u32::MAX) - 1;
    let mut trace = Trace::<_, Little32>::for_target(|| {
        ticks += 1;
        ticks
    });
    enable(&mut trace, &mut memory, 0);
    let entry = trace.insert(main_thread(), 10, [0; 4], class::BLOCK_POOL).unwrap();
    assert!(trace.patch(entry, Info::Two, 5));
}

#[test]
fn nothing_is_patched_after_disable() {
    let mut memory = [0; 256];
    let mut trace = Trace::new(counting());
    enable(&mut trace, &mut memory, 0);
    let entry = trace.insert(main_thread(), 10, [0; 4], class::BLOCK_POOL).unwrap();
    let memory = trace.disable().unwrap();
    assert!(!trace.patch(entry, Info::Two, 5));
    assert_eq!(Image::read(memory).events()[2].info, [0; 4]);
}

#[test]
fn cores_that_record_under_one_lock_share_one_order() {
    const CORES: u8 = 4;
    const EVENTS: u64 = 100;
    let mut memory = vec![0; size_for::<Little32>(0, 2 + 400)];
    let mut trace = Trace::<_, Little32>::for_target(counting());
    enable(&mut trace, &mut memory, 0);
    let kernel_lock = std::sync::Mutex::new(trace);
    std::thread::scope(|scope| {
        for core in 0..CORES {
            let lock = &kernel_lock;
            scope.spawn(move || {
                let context = Context::thread(MAIN + u64::from(core), 8, 8).on_core(core);
                for count in 0..EVENTS {
                    let mut trace = lock.lock().unwrap();
                    trace.user_event(context, 4096, [count, 0, 0, 0]).unwrap();
                }
            });
        }
    });
    let trace = kernel_lock.into_inner().unwrap();
    let events = Image::read(trace.image()).events();
    assert!(events.is_sorted_by_key(|event| event.stamp));
    for core in 0..CORES {
        let of_core = events[2..].iter().filter(|event| event.core() == core);
        let counts: Vec<_> = of_core.map(|event| event.info[0]).collect();
        assert!(counts.into_iter().eq(0..EVENTS), "core {core}");
    }
}
