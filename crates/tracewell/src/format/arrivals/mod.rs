//! Files of arrivals: when the bytes came that a collector kept, as a trace of its own.
//!
//! An event is an entry, its time that of the host. Layout and writer: [`tracewell_wire::arrivals`].

mod decoder;

use tracewell_wire::arrivals::HEADER;

use super::{Confidence, Format};

/// The format's entry in the list of formats.
pub static FORMAT: Format = Format {
    name: "arrivals",
    description: "when the bytes came that `collect` kept (FILE.arrivals)",
    recognised_by: "TWARRIVE at the start",
    names_follow: false,
    is_whole: |_| false,
    options: &[],
    recognise: |start| start.starts_with(HEADER.split_at(8).0).then_some(Confidence::Certain),
    decoder: decoder::new,
};
