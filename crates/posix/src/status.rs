//! The status of a stream, and the description of an event.

use tracewell_wire::posix::log::{LogRecord, LogStatus};
use tracewell_wire::posix::{FLAG_SYSTEM, FLAG_TRUNCATED, RecordHeader};

/// The status of a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Status {
    /// True if events are being recorded.
    pub running: bool,
    /// True if the stream is full. With the loop policy: true if records were overwritten since the
    /// last record was read.
    pub full: bool,
    /// True if events were lost since the last status call.
    pub overrun: bool,
    /// True if the stream is being flushed.
    pub flushing: bool,
    /// Error number of the first failed flush since the last status call; 0 if none failed.
    pub flush_error: i32,
    /// True if the log has lost events since the last status call. The events could not be written,
    /// or they were overwritten.
    pub log_overrun: bool,
    /// True if the log is full.
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

/// The description of an event, without its data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventInfo {
    /// Id of the event type.
    pub id: u32,
    /// Id of the process; 0 for a system event.
    pub process: u32,
    /// Address of the instruction that generated the event; 0 for a system event.
    pub address: u64,
    /// True if the data was truncated when the event was generated.
    pub truncated: bool,
    /// Timestamp in nanoseconds since 1970-01-01 UTC.
    pub stamp: u64,
    /// Thread (`pthread_t`); 0 for a system event.
    pub thread: u64,
    /// Size of the recorded data in bytes.
    pub length: usize,
}

impl EventInfo {
    pub(crate) fn new(head: RecordHeader, stamp: u64, address: u64, thread: u64) -> Self {
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
