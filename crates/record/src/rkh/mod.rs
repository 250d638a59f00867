//! A recorder that follows the rules of RKH's trace facility. Trazer and `tracewell` can decode its
//! byte stream.
//!
//! ```text
//! program ─> Trace: compiled in? filters? ─> frame: header, arguments, checksum ─> Buffer ─> link
//! ```
//!
//! [`Trace`] does the work of all `rkhtrc_*.c` files. The program provides:
//! * the [`Options`]: the dialect's event table, all sizes and switches, and the selection of
//!   records that are compiled in;
//! * a [`Clock`](crate::clock::Clock), read once per record if records have timestamps;
//! * a [`Buffer`] in its own memory. [`StreamBuffer`] is the framework's buffer: when it is full,
//!   it drops the oldest bytes, and the decoder finds a damaged frame and a gap. [`FrameBuffer`]
//!   drops and counts whole frames;
//! * a link that removes bytes from the buffer: one at a time, in blocks, or with `flush`. No other
//!   part empties the buffer. The framework flushes after the configuration record, symbols and
//!   assertions, when idle, and on exit;
//! * mutual exclusion. All calls need `&mut Trace`; they neither block nor lock. A call is safe in
//!   an interrupt handler if no other call can be in progress. The framework builds records in its
//!   critical section. To do the same, protect the [`Trace`] with the lock of that section.
//!
//! | file | contents |
//! |---|---|
//! | `options` | sizes, switches, and the selection of compiled-in records |
//! | `filter` | subjects of records; filters that suppress records at run time: four tables |
//! | `frame` | writes bytes, checksum and escapes into a buffer |
//! | `open` | the state that a trace keeps while a record is open |
//! | `trace` | the recorder's state; starts a stream, and writes the head and end of each record |
//! | `record` | a record that is being written, and the checks of its arguments |
//! | `calls` | the calls that begin records: events, symbols, user events, assertions |
//! | `ring` | a ring of bytes |
//! | `stream_buffer` | a buffer that drops the oldest bytes when it is full |
//! | `frame_buffer` | a buffer that drops whole new frames when it is full |
//!
//! The sources of the rules are `rkhtrc_define.h`, `rkhtrc_record.h`, `rkhtrc_filter.c`,
//! `rkhtrc_record.c` and `rkhtrc_stream.c` of the public RKH repository, tags 2.0 to 3.4.00.
//!
//! Not in this module: the byte layout and the events (`tracewell_wire::rkh`), the meaning of
//! events (the decoder in the crate `tracewell`), the link, and the evaluation of unit tests.

mod calls;
mod filter;
mod frame;
mod frame_buffer;
mod open;
mod options;
mod record;
mod ring;
mod status;
mod stream_buffer;
mod trace;

pub use filter::{About, Filter, Filters, RESERVED_SIGNALS};
pub use frame::Buffer;
pub use frame_buffer::FrameBuffer;
pub use options::{Compiled, FilterKinds, Options};
pub use record::Record;
pub use status::{Outcome, Refusal};
pub use stream_buffer::StreamBuffer;
pub use trace::Trace;
