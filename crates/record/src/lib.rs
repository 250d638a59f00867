//! Recording rules of each trace system, over memory that the caller owns.
//!
//! The crate decides *when* and *where* bytes are written; what they look like is defined in
//! `tracewell-wire`. Without features it takes nothing else: no standard library, no allocator, no
//! `unsafe`, no interrupt lock, no clock. The caller brings the memory, a [`clock`] and, where
//! interrupts or several cores record, the exclusion between them.
//!
//! One module per trace system: [`threadx`] writes the memory image that TraceX reads, [`aix`] takes the
//! trace calls of AIX, [`rkh`] sends the byte stream of RKH's trace facility, [`shark`] fills the chunks of the
//! S.Ha.R.K. kernel; [`stream`] is our own recorder, which with the feature `std` shares memory
//! between threads and processes.
//!
//! Every target that `core` is there for has the first four. [`stream`] and [`posix`] need 64-bit atomics: of the
//! processor, or with the feature `critical-section` of the crate `portable-atomic`.
//!
//! ```
//! use tracewell_record::threadx::{Context, Object, Options, Trace};
//! use tracewell_wire::threadx::{Event, Header};
//!
//! const MAIN: u64 = 0x2000_0400;
//! let mut memory = [0; 1024];
//! let mut cycles = 0;
//! let mut trace = Trace::new(|| { cycles += 100; cycles });
//!
//! let existing = [Object::thread(MAIN, b"main", 8, 0x2000_1000, 0x400)];
//! let running = Context::thread(MAIN, 8, 8);
//! trace.enable(&mut memory, 4, &Options::default(), existing, running).unwrap();
//! trace.user_event(running, 4096, [1, 2, 3, 4]).unwrap();
//! let memory = trace.disable().unwrap();
//!
//! let (layout, header) = Header::read(memory).unwrap();
//! let third = header.buffer_start - header.trace_base_address + 2 * 32;
//! let event = Event::read(layout, &memory[third as usize..]).unwrap();
//! assert_eq!((event.id(), event.context, event.stamp), (4096, MAIN, 300));
//! ```
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "std")]
extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod aix;
pub mod clock;
#[cfg(any(target_has_atomic = "64", feature = "critical-section"))]
pub mod posix;
pub mod rkh;
pub mod shark;
#[cfg(any(target_has_atomic = "64", feature = "critical-section"))]
pub mod stream;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
pub mod thread_memory;
pub mod threadx;
mod ticks;
