//! Short texts without allocation: names of files, for signal handlers too.

use std::ffi::CStr;
use std::fmt::{self, Write};

/// A text of at most 127 bytes that ends with a null.
pub(crate) struct Name {
    bytes: [u8; 128],
    length: usize,
}

impl Name {
    /// From pieces; what does not fit is cut off.
    pub(crate) fn new(pieces: fmt::Arguments<'_>) -> Self {
        let mut name = Self { bytes: [0; 128], length: 0 };
        let _ = name.write_fmt(pieces);
        name
    }

    pub(crate) fn as_c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or_default()
    }
}

impl Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = &mut self.bytes[self.length..127];
        let bytes = text.as_bytes();
        let count = bytes.len().min(room.len());
        room[..count].copy_from_slice(&bytes[..count]);
        self.length += count;
        if count == bytes.len() { Ok(()) } else { Err(fmt::Error) }
    }
}

/// `p.PID.START`: the area of a process.
pub(crate) fn of_area(process: u32, start: u64) -> Name {
    Name::new(format_args!("p.{process}.{start}"))
}

/// `all`: the page of all processes that have no area.
pub(crate) fn of_all() -> Name {
    Name::new(format_args!("all"))
}

/// `n.NONCE`: a name space.
pub(crate) fn of_names(nonce: u64) -> Name {
    Name::new(format_args!("n.{nonce:016x}"))
}

/// `s.NN`: where a stream is.
pub(crate) fn of_reference(number: u32) -> Name {
    Name::new(format_args!("s.{number:02}"))
}

/// `o.NONCE`: a stream that a privileged controller keeps in a file.
pub(crate) fn of_object(nonce: u64) -> Name {
    Name::new(format_args!("o.{nonce:016x}"))
}

/// `t.NONCE`: a file that gets its name when it is complete.
pub(crate) fn of_draft(nonce: u64) -> Name {
    Name::new(format_args!("t.{nonce:016x}"))
}

/// A descriptor of a process.
pub(crate) fn of_descriptor(process: u64, descriptor: u64) -> Name {
    Name::new(format_args!("/proc/{process}/fd/{descriptor}"))
}
