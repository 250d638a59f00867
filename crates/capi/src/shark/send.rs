//! Sending chunks of a S.Ha.R.K. tracer: to files, as UDP datagrams, as datagrams that the caller carries.
//!
//! Unlike recording, these functions allocate and call the operating system.
//!
//! The module holds `unsafe` code because exported names and C's texts are that by nature.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::io;
use std::mem::MaybeUninit;
use std::time::Duration;

use tracewell_record::shark::{DiskWriter, Dump, Packets, SendError, Sender, UdpSender};

use super::{tw_shark, with};
use crate::boundary::{guard, hand_over, path, some, utf8};
use crate::code::Code;

/// Carries chunks. One thread at a time.
pub struct tw_shark_sender {
    carrier: Carrier,
}

/// A chunk that is being sent.
pub struct tw_shark_dump {
    dump: Dump<'static>,
}

/// Carries a datagram: returns 0, or an error number of the system.
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

/// A sender that writes each chunk's records to a file: `0NAME`, `1NAME`, ... beside `file`, which is
/// not written itself (`FTrace_init_disk_writer`). A file appears when all of it is on the disk.
///
/// Ownership: `*sender` is the caller's, to be given to `tw_shark_sender_close`; null on errors. Errors:
/// TW_NULL, TW_INVALID for a name that is none or too long, or the system's. Not for signal handlers.
///
/// # Safety
/// * `file` ends with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_shark_disk_writer(
    file: *const c_char,
    sender: Option<&mut MaybeUninit<*mut tw_shark_sender>>,
) -> c_int {
    // SAFETY: the bullet above.
    hand_over_carrier(sender, || Ok(Carrier::Disk(DiskWriter::new(unsafe { path(file)? })?)))
}

/// A sender of UDP datagrams (`FTrace_OSD_init_udp`) from one address to another, each `HOST:PORT`; the
/// kernel has port 20000 on both ends. `pause_us` is how long it pauses behind each datagram: 5000 is
/// the kernel's.
///
/// Nothing acknowledges a datagram: success says that the system took it.
/// Ownership: as `tw_shark_disk_writer`. Errors: TW_NULL, TW_INVALID for a text that is no address, or the
/// system's. Not for signal handlers.
///
/// # Safety
/// * `local` and `target` end with a NUL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn tw_shark_udp_sender(
    local: *const c_char,
    target: *const c_char,
    pause_us: u32,
    sender: Option<&mut MaybeUninit<*mut tw_shark_sender>>,
) -> c_int {
    hand_over_carrier(sender, || {
        // SAFETY: the bullet above.
        let (local, target) = unsafe { (utf8(local)?, utf8(target)?) };
        let sender = UdpSender::connect(local, target)?;
        Ok(Carrier::Udp(sender.with_pause(Duration::from_micros(pause_us.into()))))
    })
}

/// A sender that gives the same datagrams to a function, which `context` is handed to: for a serial
/// line, a network stack without sockets. A chunk without records makes a datagram of no bytes.
///
/// Ownership: as `tw_shark_disk_writer`; what `context` points at stays as long as the sender. Errors:
/// TW_NULL. Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_datagrams(
    send: tw_datagram,
    context: *mut c_void,
    sender: Option<&mut MaybeUninit<*mut tw_shark_sender>>,
) -> c_int {
    hand_over_carrier(sender, || {
        let function = some(send)?;
        Ok(Carrier::Caller { packets: Packets::default(), function, context })
    })
}

/// Ends a sender. Null is allowed.
///
/// Ownership: the sender is gone. Errors: none. Not for signal handlers.
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

/// Sends a chunk and gives it new flags (`FTrace_send_chunk`), of which TW_FREE empties it. Nobody may
/// call anything else with the trace meanwhile: for slow carriers there are `tw_shark_begin_send` and what
/// follows.
///
/// Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_INVALID for flags, TW_IN_USE where
/// it is being sent or linked to, or the sender's: the chunk is as it was, send it again. Not for signal
/// handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_send_chunk(
    trace: Option<&mut tw_shark>,
    number: u8,
    new_flags: u8,
    sender: Option<&mut tw_shark_sender>,
) -> c_int {
    with(trace, |trace| Ok(trace.send_chunk(number, new_flags, &mut some(sender)?.carrier)?))
}

/// Takes a chunk's records out for a sender, while recording goes on in other chunks. Events for this
/// one are dropped and counted until `tw_shark_end_send`.
///
/// Ownership: `*dump` is the caller's, to be given to `tw_shark_end_send`; null on errors. Errors: TW_NULL,
/// TW_NOT_INITIALISED, TW_NOTHING, TW_IN_USE. Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_begin_send(
    trace: Option<&mut tw_shark>,
    number: u8,
    dump: Option<&mut MaybeUninit<*mut tw_shark_dump>>,
) -> c_int {
    with(trace, |trace| hand_over(dump, || Ok(tw_shark_dump { dump: trace.begin_send(number)? })))
}

/// Sends what was taken out, without the trace.
///
/// Ownership: none. Errors: TW_NULL, or the sender's: send it again, or give the chunk back as it was.
/// Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_send(
    sender: Option<&mut tw_shark_sender>,
    dump: Option<&tw_shark_dump>,
) -> c_int {
    guard(|| Ok(some(sender)?.carrier.send(&some(dump)?.dump)?))
}

/// Gives a chunk back to its trace: with new flags where it was sent (`sent` 1), as it was where not (0).
///
/// Ownership: the dump is gone, whatever is returned. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID for
/// flags (the chunk is as it was) or another trace's dump (its chunk stays busy). Not for signal handlers.
#[unsafe(no_mangle)]
pub extern "C" fn tw_shark_end_send(
    trace: Option<&mut tw_shark>,
    dump: Option<Box<tw_shark_dump>>,
    sent: c_int,
    new_flags: u8,
) -> c_int {
    with(trace, |trace| Ok(trace.end_send(some(dump)?.dump, (sent != 0).then_some(new_flags))?))
}
