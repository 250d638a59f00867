//! A recorder with the rules of RKH's trace facility, whose byte stream Trazer and `tracewell` read.
//!
//! ```text
//! program ──> Trace: compiled in? filters? ──> frame: header, arguments, checksum, escapes ──> Buffer ──> link
//! ```
//!
//! [`Trace`] is what `rkhtrc_*.c` are together. The program brings:
//! * the [`Options`]: the dialect's table of events, all widths and switches, what is compiled in;
//! * a [`Clock`](crate::clock::Clock), read once a record where records have stamps;
//! * a [`Buffer`] over memory of its own. [`StreamBuffer`] is the framework's: when it is full the oldest
//!   bytes make room, and the reader finds a broken frame and a gap. [`FrameBuffer`] leaves whole
//!   frames out and counts them;
//! * a link, by taking bytes out of the buffer: one at a time, in blocks, or with `flush`. Nothing
//!   else empties it; the framework flushes after the configuration record, symbols and assertions,
//!   when it is idle, and at its end;
//! * exclusion. Every call takes `&mut Trace` and neither blocks nor locks; it is safe in an interrupt
//!   exactly when nothing else can be inside a call at that time. The framework builds records in
//!   its critical section; put the [`Trace`] into the lock that the system has for that.
//!
//! | file | what |
//! |---|---|
//! | `options` | widths, switches, what is compiled in |
//! | `filter` | which records pass while the target runs: four tables |
//! | `frame` | header, arguments, checksum and escapes into a buffer |
//! | `record` | a record that is being written, and the check of its arguments |
//! | `trace` | the recorder: start, records, symbols, user events, assertions |
//! | `ring` | bytes in and out of a ring |
//! | `stream_buffer`, `frame_buffer` | what happens when the ring is full |
//!
//! Source of the rules: `rkhtrc_define.h`, `rkhtrc_record.h`, `rkhtrc_filter.c`, `rkhtrc_record.c`,
//! `rkhtrc_stream.c` of the public RKH repository, tags 2.0 to 3.4.00.
//!
//! Not here: what the bytes look like and which events there are (`tracewell_wire::rkh`), what they
//! mean (the reader, in the crate `tracewell`), the link, and the judge of unit tests.

mod filter;
mod frame;
mod frame_buffer;
mod options;
mod record;
mod ring;
mod status;
mod stream_buffer;
mod trace;

pub use filter::{Filter, Filters, RESERVED_SIGNALS};
pub use frame::Buffer;
pub use frame_buffer::FrameBuffer;
pub use options::{Compiled, FilterKinds, Options};
pub use record::Record;
pub use status::{Outcome, Refusal};
pub use stream_buffer::StreamBuffer;
pub use trace::{About, Trace};
