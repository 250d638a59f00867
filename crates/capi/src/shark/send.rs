//! Functions that write S.Ha.R.K. chunks to files, send them as UDP datagrams, or pass datagrams to
//! the caller, who transmits them.
//!
//! Unlike recording, these functions allocate and make system calls.
//!
//! Unsafe: exported symbols and C strings.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use tracewell_record::shark::{DiskWriter, Dump, Packets, SendError, Sender, UdpSender};

use super::{tw_shark, with};
use crate::boundary::{guard, hand_over, non_null, path, utf8};
use crate::code::Code;

/// A sender of chunks. Only one thread may use it at a time.
pub struct tw_shark_sender {
    carrier: Carrier,
}

/// The records of a chunk that is being sent.
pub struct tw_shark_dump {
    dump: Dump<'static>,
}

/// Transmits a datagram. Returns 0 or a system error number.
pub type tw_datagram =
    Option<extern "C" fn(context: *mut c_void, bytes: *const c_void, length: usize) -> c_int>;

enum Carrier {
    Disk(DiskWriter),
    Udp(UdpSender),
    Caller {
        packets: Packets,
        function: extern "C" fn(*mut c_void, *const c_void, usize) -> c_int,
        context: *mut c_void,
    },
}

impl Sender for Carrier {
    type Error = io::Error;

    fn send(&mut self, dump: &Dump<'_>) -> io::Result<()> {
        match self {
            Self::Disk(writer) => writer.send(dump),
            Self::Udp(sender) => sender.send(dump),
            Self::Caller { packets, function, context } => packets.send(dump, |datagram| {
                match function(*context, datagram.as_ptr().cast(), datagram.len()) {
                    0 => Ok(()),
                    error => Err(io::Error::from_raw_os_error(error)),
                }
            }),
        }
    }
}

type Place<'a> = Option<&'a mut MaybeUninit<*mut tw_shark_sender>>;

fn hand_over_carrier(place: Place<'_>, carrier: impl FnOnce() -> Result<Carrier, Code>) -> c_int {
    guard(|| hand_over(place, || Ok(tw_shark_sender { carrier: carrier()? })))
}

/// Creates a sender that writes each chunk's records to a file (`FTrace_init_disk_writer`). If the
/// last component of `file` is `NAME`, the chunk that is sent first is written to `0NAME` in the
/// same folder, the next one to `1NAME`, and so on. A file appears when it is complete. `file`
/// itself is not written.
///
/// Ownership: the caller owns `*sender` and passes it to `tw_shark_sender_close`; it is null after
/// an error. Errors: TW_NULL, or an error of the system; TW_INVALID if the name is unsuitable or
/// too long. Not for signal handlers.
///
/// # Safety
/// * `file` must be null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_shark_disk_writer(
    file: *const c_char,
    sender: Option<&mut MaybeUninit<*mut tw_shark_sender>>,
) -> c_int {
    // SAFETY: guaranteed by the caller (see `# Safety`).
    hand_over_carrier(sender, || Ok(Carrier::Disk(DiskWriter::new(unsafe { path(file)? })?)))
}

/// Creates a sender that sends UDP datagrams from address `local` to address `target`
/// (`FTrace_OSD_init_udp`). Both addresses have the form `HOST:PORT`. The kernel uses port 20000 at
/// both ends. `pause_us` is the pause after each datagram in microseconds; the kernel pauses for
/// 5000.
///
/// Datagrams are not acknowledged: success means only that the system accepted them.
///
/// Ownership: as `tw_shark_disk_writer`. Errors: TW_NULL, or an error of the system; TW_INVALID for
/// an invalid address. Not for signal handlers.
///
/// # Safety
/// * `local` and `target` must be null-terminated.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_shark_udp_sender(
    local: *const c_char,
    target: *const c_char,
    pause_us: u32,
    sender: Option<&mut MaybeUninit<*mut tw_shark_sender>>,
) -> c_int {
    hand_over_carrier(sender, || {
        // SAFETY: guaranteed by the caller (see `# Safety`).
        let (local, target) = unsafe { (utf8(local)?, utf8(target)?) };
        let sender = UdpSender::connect(local, target)?;
        Ok(Carrier::Udp(sender.with_pause(Duration::from_micros(pause_us.into()))))
    })
}

/// Creates a sender that passes the datagrams to a function, together with `context`. Use it for
/// serial lines and for network stacks without sockets. A chunk without records is sent as a
/// datagram of 0 bytes.
///
/// Ownership: as `tw_shark_disk_writer`; the memory of `context` must outlive the sender. Errors:
/// TW_NULL. Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_datagrams(
    send: tw_datagram,
    context: *mut c_void,
    sender: Option<&mut MaybeUninit<*mut tw_shark_sender>>,
) -> c_int {
    hand_over_carrier(sender, || {
        let function = non_null(send)?;
        Ok(Carrier::Caller { packets: Packets::default(), function, context })
    })
}

/// Frees a sender. Null is allowed.
///
/// Ownership: the sender is freed. Errors: none. Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_sender_close(sender: Option<Box<tw_shark_sender>>) {
    guard(|| {
        drop(sender);
        Ok(())
    });
}

impl From<SendError<io::Error>> for Code {
    fn from(error: SendError<io::Error>) -> Self {
        match error {
            SendError::Control(error) => error.into(),
            SendError::Sender(error) => error.into(),
        }
    }
}

/// Sends a chunk and then sets its flags (`FTrace_send_chunk`). The flag TW_FREE clears the chunk.
/// No other function may use the trace in the meantime. For slow senders use `tw_shark_begin_send`,
/// `tw_shark_send` and `tw_shark_end_send`.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, or an error of the sender;
/// TW_INVALID for invalid flags; TW_IN_USE if the chunk is being sent or is the target of a link.
/// After an error the chunk is unchanged and can be sent again. Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_send_chunk(
    trace: Option<&mut tw_shark>,
    number: u8,
    new_flags: u8,
    sender: Option<&mut tw_shark_sender>,
) -> c_int {
    with(trace, |trace| Ok(trace.send_chunk(number, new_flags, &mut non_null(sender)?.carrier)?))
}

/// Copies a chunk's records for a sender, while recording continues in other chunks. Until
/// `tw_shark_end_send`, events for this chunk are dropped and counted.
///
/// Ownership: the caller owns `*dump` and passes it to `tw_shark_end_send`; it is null after an
/// error. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_IN_USE. Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_begin_send(
    trace: Option<&mut tw_shark>,
    number: u8,
    dump: Option<&mut MaybeUninit<*mut tw_shark_dump>>,
) -> c_int {
    with(trace, |trace| hand_over(dump, || Ok(tw_shark_dump { dump: trace.begin_send(number)? })))
}

/// Sends the copied records. Does not use the trace.
///
/// Ownership: none. Errors: TW_NULL, or an error of the sender. After an error, call this function
/// again, or call `tw_shark_end_send` with `sent` 0. Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_send(
    sender: Option<&mut tw_shark_sender>,
    dump: Option<&tw_shark_dump>,
) -> c_int {
    guard(|| Ok(non_null(sender)?.carrier.send(&non_null(dump)?.dump)?))
}

/// Returns a chunk to its trace. If `sent` is 1, the chunk was sent and gets the new flags. If
/// `sent` is 0, the chunk is unchanged.
///
/// Ownership: the dump is freed, even after an error. Errors: TW_NULL, TW_NOT_INITIALISED;
/// TW_INVALID for invalid flags (the chunk is unchanged) or for the dump of another trace (the
/// dumped chunk stays busy). Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_end_send(
    trace: Option<&mut tw_shark>,
    dump: Option<Box<tw_shark_dump>>,
    sent: c_int,
    new_flags: u8,
) -> c_int {
    with(trace, |trace| Ok(trace.end_send(non_null(dump)?.dump, (sent != 0).then_some(new_flags))?))
}
