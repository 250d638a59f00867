//! Tests that a traced process unmaps the streams of ended controllers.
//!
//! This is a separate test program, because the tests measure the size of the address space.

use std::fs;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use tracewell_posix::{Attributes, Controller, define, record};

/// Each mapping of a stream is larger than this.
const STREAM_BYTES: usize = 4 << 20;

/// Returns the size of the address space in bytes.
fn address_space() -> usize {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<usize>().unwrap() * 1024
}

/// Creates a stream, records into it, and ends it.
fn one_controller(id: u32, recorded: impl Fn()) {
    let attributes = Attributes { stream_size: STREAM_BYTES, ..Default::default() };
    let controller = Controller::create(0, &attributes).unwrap();
    controller.stream().start();
    record(id, b"traced", false, 1);
    recorded();
    drop(controller);
    record(id, b"not traced", false, 1);
}

#[test]
fn streams_of_ended_controllers_are_unmapped() {
    let id = define(b"address space").unwrap();
    one_controller(id, || {});
    let before = address_space();
    (0..20).for_each(|_| one_controller(id, || {}));
    let grown = address_space().saturating_sub(before);
    assert!(grown < STREAM_BYTES, "one thread: grown by {grown} bytes");

    // Threads that record all the time: each sees every stream begin and end.
    let (end, count) = (AtomicBool::new(false), [const { AtomicU64::new(0) }; 3]);
    let all_recorded = || {
        let seen = count.each_ref().map(|count| count.load(Ordering::Relaxed));
        // If a thread has recorded three more events, at least one of them began and ended after
        // the counts were read.
        while (0..3).any(|n| count[n].load(Ordering::Relaxed) < seen[n] + 3) {
            thread::yield_now();
        }
    };
    thread::scope(|scope| {
        for count in &count {
            scope.spawn(|| {
                while !end.load(Ordering::Relaxed) {
                    record(id, b"busy", false, 1);
                    count.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        one_controller(id, all_recorded);
        let before = address_space();
        let grown_after = |controllers| {
            (0..controllers).for_each(|_| one_controller(id, all_recorded));
            address_space().saturating_sub(before)
        };
        let mut grown = grown_after(60);
        // A thread that the system interrupts in the middle of an event delays the unmapping of all
        // streams until later checks. So the test tries again with more controllers: if streams
        // were never unmapped, the size would only grow.
        for _ in 0..10 {
            if grown >= 60 * STREAM_BYTES {
                grown = grown_after(20);
            }
        }
        end.store(true, Ordering::Relaxed);
        assert!(grown < 60 * STREAM_BYTES, "busy threads: grown by {grown} bytes");
    });
}
