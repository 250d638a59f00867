//! Recorders that follow the rules of each trace system, in memory that the caller owns.
//!
//! This crate determines *when* and *where* to write bytes; `tracewell-wire` defines their layout.
//! Without optional features, it uses no standard library, no allocator, no `unsafe` code, no
//! interrupt locks and no clock of its own. The caller supplies the memory, a [`clock`] and, if
//! interrupt handlers or several cores record, mutual exclusion between them.
//!
//! There is one module per trace system. [`threadx`] writes the memory image that TraceX reads,
//! [`aix`] implements the trace calls of AIX, [`rkh`] sends the byte stream of RKH's trace
//! facility, and [`shark`] fills the chunks of the S.Ha.R.K. kernel. [`stream`] is our own
//! recorder. With the feature `std`, it shares memory between threads and processes. [`posix`]
//! stores the events of POSIX trace streams.
//!
//! The first four modules work on every target that has `core`. [`stream`] and [`posix`] need
//! 64-bit atomics, provided by the processor or by the crate `portable-atomic` with the feature
//! `critical-section`.
//!
//! This Linux program records two events and saves them; `tracewell report run.twl` prints them:
//!
//! ```no_run
//! # #[cfg(all(feature = "std", target_os = "linux"))]
//! # fn main() -> std::io::Result<()> {
//! use std::fs::File;
//! use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};
//!
//! const NET: Family = Family::new(3, "net");
//! static SENT: EventType<(u32,)> = EventType::new(NET, "sent", &["length"]);
//!
//! let stream = Stream::anonymous(&StreamOptions::default())?;
//! stream.start();
//! stream.record(&SENT, (1500,));
//! stream.record(&SENT, (64,));
//! stream.save(File::create("run.twl")?)?;
//! # Ok(())
//! # }
//! # #[cfg(not(all(feature = "std", target_os = "linux")))]
//! # fn main() {}
//! ```
//!
//! Firmware supplies its own memory and clock:
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
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
pub mod nesting;
#[cfg(any(target_has_atomic = "64", feature = "critical-section"))]
pub mod posix;
mod refused;
pub mod rkh;
pub mod shark;
#[cfg(any(target_has_atomic = "64", feature = "critical-section"))]
pub mod stream;
pub mod target;
#[cfg(all(feature = "std", target_os = "linux", not(loom)))]
pub mod thread_memory;
pub mod threadx;
mod ticks;

pub use refused::Refused;

/// The example of the README, as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
