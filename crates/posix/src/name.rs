//! Short strings without allocation, for file names. Signal handlers use them as well.

use std::ffi::CStr;
use std::fmt::{self, Write};

/// A string of at most 127 bytes, followed by a NUL.
pub(crate) struct Name {
    bytes: [u8; 128],
    length: usize,
}

impl Name {
    /// Formats a string and truncates it to 127 bytes.
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

/// Returns `p.PID.START`: the name of a process's area.
pub(crate) fn of_area(process: u32, start: u64) -> Name {
    Name::new(format_args!("p.{process}.{start}"))
}

/// Returns `all`: the name of the page that all processes without an area share.
pub(crate) fn of_all() -> Name {
    Name::new(format_args!("all"))
}

/// Returns `n.NONCE`: the name of a name space.
pub(crate) fn of_names(nonce: u64) -> Name {
    Name::new(format_args!("n.{nonce:016x}"))
}

/// Returns `s.NN`: the name of the file with a stream's location.
pub(crate) fn of_reference(number: u32) -> Name {
    Name::new(format_args!("s.{number:02}"))
}

/// Returns `o.NONCE`: the name of the file in which a privileged controller keeps a stream's
/// memory.
pub(crate) fn of_object(nonce: u64) -> Name {
    Name::new(format_args!("o.{nonce:016x}"))
}

/// Returns `t.NONCE`: the name of a file that is renamed once it is complete.
pub(crate) fn of_draft(nonce: u64) -> Name {
    Name::new(format_args!("t.{nonce:016x}"))
}

/// Returns `/proc/PID/fd/N`: the path of an open descriptor of a process.
pub(crate) fn of_descriptor(process: u64, descriptor: u64) -> Name {
    Name::new(format_args!("/proc/{process}/fd/{descriptor}"))
}
