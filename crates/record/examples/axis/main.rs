//! Uses the recorder for small targets to record two tasks of a machine, and writes the packets to
//! standard output. `examples/cortex-m` records the same bytes on a Cortex-M3.
//!
//! ```text
//! cargo run -p tracewell-record --example axis | tracewell report -
//! ```

mod axis;

use std::io::{self, Write};

fn main() -> io::Result<()> {
    let (mut memory, mut line) = ([0; 8192], [0; 8192]);
    let length = axis::record(&mut memory, &mut line).map_err(io::Error::other)?;
    io::stdout().write_all(&line[..length])
}
