//! Tests that recording makes no system calls and allocates nothing. Every recorder records 100,000
//! events on each of its paths. The process has a counting allocator, and the kernel kills it at
//! the first system call.
//!
//! Waiting for a lock makes a system call (futex). An allocation often makes no system call, so the
//! allocator counts allocations. Reading the time makes no system call, because an instruction
//! reads the counter.
//!
//! Only the first event of a thread in a stream makes system calls. A test uses this event to show
//! that system calls are detected. The event takes a lane, and therefore requests the thread's ids
//! and name from the kernel (`getpid`, `gettid`, `prctl`). If the stream is in a file, it also
//! reserves the lane's pages (`fallocate`). None of these calls waits for another thread.
//!
//! This file uses unsafe code because `fork` and `prctl` are foreign functions.
#![cfg(target_os = "linux")]
#![allow(unsafe_code)]

mod allocations;

use std::hint::black_box;

use allocations::counted;
use tracewell_record::clock::{EventCounter, Masked};
use tracewell_record::shark::Areas;
use tracewell_record::stream::{EventType, Family, FullPolicy, Stream, StreamOptions};
use tracewell_record::threadx::{Context, Info, Object, Options};
use tracewell_record::{aix, event, rkh, shark, threadx};
use tracewell_wire::aix::{HookId, HookWord32};
use tracewell_wire::rkh::events::V3_4;
use tracewell_wire::rkh::{Item, SymbolKind};
use tracewell_wire::shark::ids::{self, flag};
use tracewell_wire::threadx::ids::class;

const EVENTS: u32 = 100_000;

/// Prepares a value, then calls `work` with it in a process that must not make system calls.
/// Returns the number of allocations, or the signal that ended the process.
fn confined<S>(make: impl FnOnce() -> S, work: impl FnOnce(&mut S)) -> Result<u64, i32> {
    // SAFETY: the child has one thread. This thread can still use glibc's allocator.
    let child = unsafe { libc::fork() };
    assert!(child >= 0, "the process can be created");
    if child == 0 {
        let mut made = make();
        confine();
        let before = counted();
        work(&mut made);
        let allocated = (counted() - before).min(255);
        // SAFETY: ends the process at once.
        unsafe { libc::syscall(libc::SYS_exit_group, allocated) };
    }
    let mut status = 0;
    // SAFETY: the status is a local variable.
    unsafe { libc::waitpid(child, &raw mut status, 0) };
    match libc::WIFSIGNALED(status) {
        true => Err(libc::WTERMSIG(status)),
        false => Ok(libc::WEXITSTATUS(status) as u64),
    }
}

/// After this call, every system call except `exit_group` kills the process with SIGSYS.
fn confine() {
    let step =
        |code: u32, jump: u8, k: u32| libc::sock_filter { code: code as u16, jt: jump, jf: 0, k };
    let end = libc::SYS_exit_group as u32;
    let mut filter = [
        // The first word that the filter sees is the number of the system call.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0),
        step(libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K, 1, end),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(libc::BPF_RET | libc::BPF_K, 0, libc::SECCOMP_RET_ALLOW),
    ];
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_mut_ptr() };
    // SAFETY: the kernel copies the filter during the second call.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program), 0);
    }
}

fn leaked(size: usize) -> &'static mut [u8] {
    vec![0; size].leak()
}

#[test]
fn a_system_call_would_be_noticed() {
    // SAFETY: the call has no arguments.
    let asks = |(): &mut ()| _ = unsafe { libc::syscall(libc::SYS_getpid) };
    assert_eq!(confined(|| (), asks), Err(libc::SIGSYS));
    // Without `black_box`, an optimised build would not allocate.
    assert_eq!(confined(|| (), |()| drop(black_box(Box::new(1)))), Ok(2));
}

#[test]
fn threadx_rings() {
    let make = || {
        let mut trace = threadx::Trace::new(EventCounter::default());
        let context = Context::thread(0x1000, 5, 5);
        trace.enable(leaked(4096), 4, &Options::default(), [], context).unwrap();
        trace.buffer_full_notify(Some(|trace| trace.event_unfilter(0)));
        (trace, context)
    };
    let work = |(trace, context): &mut (threadx::Trace<'static, EventCounter>, Context)| {
        for number in 0..EVENTS {
            let info = [u64::from(number); 4];
            let entry = trace.insert(*context, 1, info, class::INTERNAL);
            trace.patch(entry.unwrap(), Info::Four, 7);
            trace.register(&Object::semaphore(1, b"semaphore", 0));
            trace.unregister(1);
            trace.user_event(*context, 4096, info).unwrap();
            trace.event_filter(class::USER);
            trace.user_event(*context, 4096, info).unwrap();
            trace.event_unfilter(class::USER);
        }
        trace.disable().unwrap();
        let _ = trace.user_event(*context, 4096, [0; 4]);
    };
    assert_eq!(confined(make, work), Ok(0));
}

fn rkh_records<B: rkh::Buffer>(trace: &mut rkh::Trace<'static, EventCounter, B>) {
    trace.open();
    for number in 0..EVENTS {
        let about = rkh::About::signal(1, number % 40);
        trace.record(&V3_4::SM_TRN, rkh::About::object(1), &[number, 2, 3]);
        trace.record(&V3_4::SM_EVT_NFOUND, about, &[number, 0x7E]);
        trace.symbol(SymbolKind::State, Some(1), number, b"state");
        trace.user_items(0, &[Item::Text(b"text"), Item::Memory(b"~}"), Item::Signal(1)]);
        trace.assertion(b"main", 7);
        drop(trace.begin(&V3_4::SM_TRN, rkh::About::object(1)));
        trace.filters().event(&V3_4::SM_TRN, rkh::Filter::On);
        trace.record(&V3_4::SM_TRN, rkh::About::object(1), &[number, 2, 3]);
        trace.filters().all(rkh::Filter::Off);
        trace.buffer().block(number as usize % 100);
    }
}

#[test]
fn rkh_streams() {
    let make = || {
        let (options, clock) = (rkh::Options::default(), EventCounter::default());
        let buffer = rkh::StreamBuffer::new(leaked(512));
        rkh::Trace::new(options, buffer, leaked(4), clock)
    };
    assert_eq!(confined(make, rkh_records), Ok(0));
    let make = || {
        let (options, clock) = (rkh::Options::default(), EventCounter::default());
        rkh::Trace::new(options, rkh::FrameBuffer::new(leaked(512)), leaked(4), clock)
    };
    assert_eq!(confined(make, rkh_records), Ok(0));
}

#[test]
fn aix_channels() {
    type Trace = aix::Trace<'static, EventCounter>;
    let thread = aix::Context::thread(0, 1, 2);
    let list = Box::leak(Box::new([HookId(0x0100)]));
    let make = |mode, events| {
        let mut trace = Trace::new(EventCounter::default(), aix::Machine::default());
        let options = aix::Options { mode, events, ..aix::Options::default() };
        trace.trcstart(thread, leaked(8192), options).unwrap();
        trace
    };
    let work = |trace: &mut Trace| {
        for number in 0..EVENTS {
            trace.trchook(thread, HookWord32(0x010E_0000), [number; 5]);
            trace.trcgent(thread, 0, HookWord32(0x0110_0000).into(), 1, b"a text");
            if number % 1000 == 0 && trace.waiting(0).is_some() {
                trace.drained(0);
            }
        }
        trace.trcoff(thread, 0).unwrap();
        trace.trchook(thread, HookWord32(0x010E_0000), [0; 5]);
        trace.trcstop(thread, 0).unwrap();
    };
    for mode in [aix::Mode::Alternate, aix::Mode::Circular] {
        for events in
            [aix::EventList::All, aix::EventList::Except(list), aix::EventList::Only(list)]
        {
            assert_eq!(confined(|| make(mode, events), work), Ok(0), "{mode:?} {events:?}");
        }
    }
}

#[test]
fn shark_chunks() {
    type Trace = shark::Trace<'static, Masked<EventCounter>, 2>;
    let make = |mode| {
        let mut trace = Trace::new(Masked { clock: EventCounter::default(), mask: u64::MAX });
        let areas = Areas { normal: 1600, emergency: 160, base_address: None };
        for mode in [flag::JUMP_TO_NEXT, mode] {
            trace.chunk_create(leaked(2000), areas, flag::FREE | mode).unwrap();
        }
        trace.chunk_link(0, 1).unwrap();
        trace.chunk_select(0).unwrap();
        trace
    };
    let work = |trace: &mut Trace| {
        trace.log(0x09, 0, 0);
        trace.enable().unwrap();
        for number in 0..EVENTS {
            trace.log(0x09, number as u16, number);
            trace.log_fast(0x19, number as u16, 0);
            trace.log(ids::TASK_CREATE, 0x100, 7);
            let _ = trace.set_filter(ids::family::TIMER, (number % 2) as u16);
            trace.log(ids::TIMER_POST, 0, 0);
        }
        trace.next_chunk();
        trace.disable();
    };
    for mode in [flag::CYCLIC, flag::STOP] {
        assert_eq!(confined(|| make(mode), work), Ok(0), "mode {mode}");
    }
}

const ONE: Family = Family::new(1, "one");
const OTHER: Family = Family::new(2, "other");
static PAIR: EventType<(u32, u32)> = EventType::new(ONE, "pair", &["a", "b"]);
static NOTE: EventType<(u32,), str> = EventType::new(ONE, "note", &["a", "text"]);
static HIDDEN: EventType<(u32,)> = EventType::new(OTHER, "hidden", &["a"]);

fn stream(policy: FullPolicy) -> Stream {
    let options =
        StreamOptions { policy, packets: 2, packet_size: 4096, ..StreamOptions::default() };
    let stream = Stream::anonymous(&options).unwrap();
    stream.image().set_family_filter(OTHER.bit());
    stream.start();
    stream
}

fn record(stream: &mut Stream) {
    for number in 0..EVENTS {
        stream.record(&PAIR, (number, 2));
        stream.record_with(&NOTE, (number,), "a text");
        event!(stream, HIDDEN, number);
    }
    stream.stop();
    stream.record(&PAIR, (0, 2));
}

#[test]
fn streams_after_the_first_event_of_a_thread() {
    if !tracewell_record::clock::counter::is_invariant() {
        // Without the counter, recording reads the system clock, which can be a system call.
        println!("skipped: the processor's counter is not usable as a clock on this machine");
        return;
    }
    for policy in [FullPolicy::Loop, FullPolicy::UntilFull, FullPolicy::Flush] {
        let make = || {
            let stream = stream(policy);
            stream.record(&PAIR, (0, 0));
            stream
        };
        assert_eq!(confined(make, record), Ok(0), "{}", policy.as_str());
        // The first event takes a lane, and therefore makes a system call.
        assert_eq!(confined(|| stream(policy), record), Err(libc::SIGSYS), "{}", policy.as_str());
    }
}
