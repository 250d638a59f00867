//! The functions that the page's worker calls in the WebAssembly module.
//!
//! WebAssembly functions have only numbers as arguments, so bytes pass through the module's memory:
//!
//! 1. The worker calls `reserve`, and writes a trace or a request to the returned address.
//! 2. The worker calls `ask`, which answers the request. `ask` returns 1, or 0 if the answer is an
//!    error message.
//! 3. The worker copies `answer_length` bytes from the address `answer`. The answer is valid until
//!    the next call of `ask` or `reserve`.
//!
//! A WebAssembly instance has a single thread, so the state is in a `thread_local`. No function
//! here dereferences a pointer. The code needs `unsafe` only to import a function, and to export
//! names that the worker can call.

use std::arch::wasm32::memory_size;
use std::cell::{Cell, RefCell};
use std::hint::black_box;

use tracewell::input::Advance;

use crate::{MAX_BYTES, Reader};

/// The `kind` of memory that is reserved for a trace.
const TRACE: u32 = 0;

#[derive(Default)]
struct State {
    reader: Reader,
    /// The trace that the worker supplied. The next request loads it into the reader.
    trace: Option<Vec<u8>>,
    request: Vec<u8>,
    answer: Vec<u8>,
}

thread_local! {
    static STATE: RefCell<State> = RefCell::default();
    /// The size of the memory, in pages of 64 KiB, after the last call of [`grow`].
    static PAGES: Cell<usize> = const { Cell::new(0) };
}

#[link(wasm_import_module = "worker")]
unsafe extern "C" {
    /// Receives the number of bytes and the number of events that the reader has read.
    safe fn progress(bytes: f64, events: f64);
}

fn watch(advance: Advance) {
    grow();
    progress(advance.bytes as f64, advance.events as f64);
}

/// Grows the memory by a quarter if it has grown since the last call.
///
/// The allocator grows the memory in small steps, and V8 may collect garbage after each step: in
/// Node.js 20, this took a sixth of the time of reading. The allocator keeps freed memory, so after
/// this call it needs no step for a while. The browser supplies memory only when it is used.
fn grow() {
    let pages = memory_size::<0>();
    if PAGES.get() < pages {
        let mut room = Vec::<u8>::new();
        // If there is not so much memory, the reader may still need no more than there is.
        let _ = room.try_reserve_exact((pages << 16) / 4);
        // Without `black_box`, the compiler would remove the allocation.
        drop(black_box(room));
        PAGES.set(memory_size::<0>());
    }
}

/// Reserves memory for a trace (`kind` 0) or a request (1) of `length` bytes, and returns its
/// address. If `length` exceeds [`MAX_BYTES`], or the browser does not have enough memory, returns
/// 0, and the answer is an error message.
#[unsafe(no_mangle)]
extern "C" fn reserve(kind: u32, length: f64) -> *mut u8 {
    STATE.with_borrow_mut(|state| {
        let mut room = Vec::new();
        // The conversion saturates, so a length that exceeds `usize` also exceeds the limit.
        let bytes = length as usize;
        if bytes > MAX_BYTES || room.try_reserve_exact(bytes).is_err() {
            state.answer = refusal(length).into_bytes();
            return std::ptr::null_mut();
        }
        room.resize(bytes, 0);
        let kept = if kind == TRACE {
            state.trace.insert(room)
        } else {
            state.request = room;
            &mut state.request
        };
        kept.as_mut_ptr()
    })
}

fn refusal(length: f64) -> String {
    let mib = |bytes: f64| (bytes / f64::from(1 << 20)).ceil();
    let (found, most) = (mib(length), MAX_BYTES >> 20);
    if length > MAX_BYTES as f64 {
        return format!(
            "this page reads traces of at most {most} MiB, found {found} MiB; \
             `tracewell serve` has no limit"
        );
    }
    format!("the browser has no memory for a trace of {found} MiB; try `tracewell serve`")
}

/// Answers the request in the reserved memory. Returns 1, or 0 if the answer is an error message.
#[unsafe(no_mangle)]
extern "C" fn ask() -> u32 {
    STATE.with_borrow_mut(|state| {
        if let Some(trace) = state.trace.take() {
            state.reader.load(trace);
        }
        let request = std::mem::take(&mut state.request);
        // Free the old answer before the new one needs memory.
        state.answer = Vec::new();
        let answer = state.reader.answer(&request, watch);
        let is_answered = answer.is_ok();
        state.answer = answer.unwrap_or_else(String::into_bytes);
        u32::from(is_answered)
    })
}

/// Returns the address of the answer.
#[unsafe(no_mangle)]
extern "C" fn answer() -> *const u8 {
    STATE.with_borrow(|state| state.answer.as_ptr())
}

/// Returns the number of bytes of the answer.
#[unsafe(no_mangle)]
extern "C" fn answer_length() -> usize {
    STATE.with_borrow(|state| state.answer.len())
}
