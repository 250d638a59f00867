//! How a stream stands, and what is given out of it.

use tracewell_wire::posix::log::{LogRecord, LogStatus};
use tracewell_wire::posix::{FLAG_SYSTEM, FLAG_TRUNCATED, RecordHead};

/// How a stream stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Status {
    /// It records.
    pub running: bool,
    /// It is full; with the policy loop: records were displaced since one was read.
    pub full: bool,
    /// Events were lost since this was asked last.
    pub overrun: bool,
    /// It is being flushed.
    pub flushing: bool,
    /// First error of the flushes since this was asked last; 0 for none.
    pub flush_error: i32,
    /// Events of the stream did not reach the log or are no longer there, since this was asked last.
    pub log_overrun: bool,
    /// The log is full.
    pub log_full: bool,
}

impl Status {
    pub(crate) fn of_log(words: LogStatus) -> Self {
        Self {
            running: false,
            full: words.full != 0,
            overrun: words.overrun != 0,
            flushing: false,
            flush_error: i32::try_from(words.flush_error).unwrap_or(0),
            log_overrun: words.log_overrun != 0,
            log_full: words.log_full != 0,
        }
    }

    pub(crate) fn for_log(&self) -> LogStatus {
        LogStatus {
            full: self.full.into(),
            overrun: self.overrun.into(),
            flush_error: self.flush_error.unsigned_abs().into(),
            log_overrun: self.log_overrun.into(),
            log_full: self.log_full.into(),
        }
    }
}

/// What is known of an event besides its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventInfo {
    /// Its type.
    pub id: u32,
    /// The process; 0 for a system event.
    pub process: u32,
    /// Where it was generated, in that process; 0 for a system event.
    pub address: u64,
    /// Data was cut when it was generated.
    pub truncated: bool,
    /// Nanoseconds since 1970.
    pub stamp: u64,
    /// The thread (`pthread_t`); 0 for a system event.
    pub thread: u64,
    /// Bytes of data that were recorded.
    pub length: usize,
}

impl EventInfo {
    pub(crate) fn new(head: RecordHead, stamp: u64, address: u64, thread: u64) -> Self {
        let system = head.flags & FLAG_SYSTEM != 0;
        let of_user = |value: u64| if system { 0 } else { value };
        Self {
            id: head.id.into(),
            process: if system { 0 } else { head.process },
            address: of_user(address),
            truncated: head.flags & FLAG_TRUNCATED != 0,
            stamp,
            thread: of_user(thread),
            length: head.length as usize,
        }
    }

    pub(crate) fn of_log(record: &LogRecord<'_>) -> Self {
        Self::new(record.head, record.stamp, record.address, record.thread)
    }
}
