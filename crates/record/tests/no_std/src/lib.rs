//! A target without standard library and allocator that records.
//!
//! If the recorder took `std`, there would be two panic handlers; if it took `alloc`, there would
//! be no allocator. Either stops the build.
#![no_std]

use tracewell_record::aix::{self, Machine};
use tracewell_record::clock::EventCounter;
use tracewell_record::threadx::{Context, Object, Options, Trace};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Uses each part of the recorder once; the number of the registry slot, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn record(memory: &mut [u8; 512]) -> i32 {
    let mut trace = Trace::new(EventCounter::default());
    trace.buffer_full_notify(Some(|trace| {
        let _ = trace.disable();
    }));
    let context = Context::INITIALIZATION;
    if trace.enable(memory, 2, &Options::default(), [], context).is_err() {
        return -1;
    }
    let slot = trace.register(&Object::semaphore(1, b"semaphore", 0));
    let _ = trace.user_event(context, 4096, [1, 2, 3, 4]);
    let entry = trace.thread_resume(context, 1, 3, 0, 0);
    trace.set_next_thread(entry, 1);
    trace.unregister(1);
    slot.and_then(|slot| i32::try_from(slot).ok()).unwrap_or(-1)
}

/// Uses the AIX recorder; how many bytes wait at its end, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn record_aix(memory: &mut [u8; 2048]) -> i32 {
    let mut trace = aix::Trace::new(EventCounter::default(), Machine::default());
    let context = aix::Context::thread(0, 1, 2);
    let Ok(channel) = trace.trcstart(context, memory, aix::Options::default()) else { return -1 };
    trace.trchkl(context, 0x1000_0000, [1, 2]);
    if trace.trcstop(context, channel).is_err() {
        return -1;
    }
    let waiting = trace.waiting(channel).map(|chunk| chunk.bytes.len());
    waiting.and_then(|bytes| i32::try_from(bytes).ok()).unwrap_or(-1)
}
