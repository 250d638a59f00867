//! A target that records without the standard library and without an allocator.
//!
//! If the recorder used `std`, there would be two panic handlers. If it used `alloc`, an allocator
//! would be missing. In both cases the build fails.
#![no_std]

use tracewell_record::aix::{self, Machine};
use tracewell_record::clock::EventCounter;
use tracewell_record::rkh::{self, About, Buffer, Filter};
use tracewell_record::shark::{self, Areas};
use tracewell_record::threadx::{Context, Object, Options, Trace};

#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    loop {}
}

/// Uses each part of the ThreadX recorder once. Returns the index of the registry slot, or -1.
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

/// Uses the AIX recorder. Returns the number of bytes to be drained, or -1.
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

/// Uses the S.Ha.R.K. recorder with a compressed chunk. Returns the number of records, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn record_shark(memory: &mut [u8; 512], packed: &mut [u8; 512]) -> i32 {
    let mut trace = shark::Trace::<_, 2>::new(EventCounter::default());
    let (first, second) = memory.split_at_mut(256);
    let areas = Areas { normal: 64, emergency: 32, base_address: None };
    for memory in [first, second] {
        if trace.chunk_create(memory, areas, 0x05).is_err() {
            return -1;
        }
    }
    let _ = (trace.chunk_select(0), trace.chunk_link(0, 1), trace.enable());
    trace.log(0x20, 0x100, 1000);
    trace.log_fast(0x09, 1, 0);
    trace.next_chunk();
    if trace.compress_chunk(0, 0, packed).is_err() {
        return -1;
    }
    let Ok(dump) = trace.begin_send(0) else { return -1 };
    let records = dump.records().count();
    let _ = trace.end_send(dump, Some(0x01));
    i32::try_from(records).unwrap_or(-1)
}

/// Uses the RKH recorder with both buffers. Returns the number of bytes to be sent, or -1.
#[unsafe(no_mangle)]
pub extern "C" fn record_rkh(memory: &mut [u8; 512], signals: &mut [u8; 4]) -> i32 {
    use tracewell_record::rkh::{FrameBuffer, Options, StreamBuffer, Trace};
    use tracewell_wire::rkh::events::V3_4;
    use tracewell_wire::rkh::{Item, SymbolKind};

    let (first, second) = memory.split_at_mut(256);
    let mut whole =
        Trace::new(Options::default(), FrameBuffer::new(first), &mut [], EventCounter::default());
    let _ = whole.open();
    let buffer = StreamBuffer::new(second);
    let mut trace = Trace::new(Options::default(), buffer, signals, EventCounter::default());
    let opened = trace.open();
    trace.filters().all(Filter::Off);
    let _ = trace.symbol(SymbolKind::Signal, None, 1, b"GO");
    let _ = trace.record(&V3_4::SM_TRN, About::object(1), &[1, 2, 3]);
    let _ = trace.user_items(0, &[Item::Text(b"text"), Item::Memory(b"memory")]);
    let _ = trace.assertion(b"main", 7);
    if opened != rkh::Outcome::Recorded {
        return -1;
    }
    i32::try_from(trace.buffer().len() + whole.buffer().len()).unwrap_or(-1)
}
