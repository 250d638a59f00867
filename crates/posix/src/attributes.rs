//! What a stream is to be, or is.

use tracewell_wire::posix::log::LogHeader;
use tracewell_wire::posix::object::Geometry;
use tracewell_wire::posix::{DATA_MAX, EventSet, LogPolicy, NAME_MAX, StreamPolicy, record_words};

use crate::error::Error;
use crate::sys;

/// Text of the attribute generation-version.
const VERSION: &str = concat!("Tracewell ", env!("CARGO_PKG_VERSION"));

/// Attributes of a stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attributes {
    /// Who made the stream: at most 63 bytes, then a null.
    pub version: [u8; NAME_MAX],
    /// The stream's name: at most 63 bytes, then a null.
    pub name: [u8; NAME_MAX],
    /// When the stream was made, nanoseconds since 1970; 0 before that.
    pub created: u64,
    /// Resolution of the clock in nanoseconds.
    pub resolution: u64,
    /// Bytes for records: so many always fit.
    pub stream_size: usize,
    /// What happens when the stream is full; `None` for loop without a log, flush with one.
    pub stream_policy: Option<StreamPolicy>,
    /// Data of a user event beyond so many bytes is cut.
    pub max_data: usize,
    /// Whether children of a fork are traced as well.
    pub inherited: bool,
    /// Bytes for records in the log; the policy append ignores it.
    pub log_size: usize,
    /// What happens when the log is full.
    pub log_policy: LogPolicy,
}

impl Default for Attributes {
    fn default() -> Self {
        Self {
            version: text(VERSION.as_bytes()),
            name: [0; NAME_MAX],
            created: 0,
            resolution: sys::resolution(),
            stream_size: 65_536,
            stream_policy: None,
            max_data: 4096,
            inherited: false,
            log_size: 1 << 20,
            log_policy: LogPolicy::Loop,
        }
    }
}

/// Text with a null behind, cut where it is too long.
fn text(bytes: &[u8]) -> [u8; NAME_MAX] {
    let mut text = [0; NAME_MAX];
    let length = bytes.len().min(NAME_MAX - 1);
    text[..length].copy_from_slice(&bytes[..length]);
    text
}

impl Attributes {
    /// Sets the name, of which at most 63 bytes count.
    pub fn set_name(&mut self, name: &[u8]) {
        self.name = text(name);
    }

    /// Sets the largest data of a user event.
    ///
    /// # Errors
    /// EINVAL above 65536 bytes.
    pub fn set_max_data(&mut self, bytes: usize) -> Result<(), Error> {
        if bytes > DATA_MAX {
            return Err(Error::INVALID);
        }
        self.max_data = bytes;
        Ok(())
    }

    /// Most bytes that a record of a system event needs.
    pub const fn max_system_event_size() -> usize {
        8 * record_words(2 * EventSet::BYTES)
    }

    /// Most bytes that a record of a user event with so much data needs.
    pub fn max_user_event_size(&self, data: usize) -> usize {
        8 * record_words(data.min(self.max_data))
    }

    /// As they are of a stream with or without a log.
    pub(crate) fn effective(&self, with_log: bool) -> Result<Self, Error> {
        let usual = if with_log { StreamPolicy::Flush } else { StreamPolicy::Loop };
        let policy = self.stream_policy.unwrap_or(usual);
        if policy == StreamPolicy::Flush && !with_log {
            return Err(Error::INVALID);
        }
        let least = Geometry::least_promise(self.max_data);
        Ok(Self {
            created: sys::realtime(),
            stream_policy: Some(policy),
            stream_size: self.stream_size.max(least),
            log_size: if self.log_policy == LogPolicy::Append {
                self.log_size
            } else {
                self.log_size.max(least)
            },
            ..self.clone()
        })
    }

    /// The parts of a stream's memory; the machine must have twice as much.
    pub(crate) fn geometry(&self) -> Result<Geometry, Error> {
        let geometry = Geometry::for_promise(self.stream_size, self.max_data);
        let geometry = geometry.ok_or(Error(libc::ENOMEM))?;
        let needed = u64::from(geometry.closed) * u64::from(geometry.packet_words) * 8;
        if needed > sys::memory() / 2 { Err(Error(libc::ENOMEM)) } else { Ok(geometry) }
    }

    /// What a log says.
    pub(crate) fn of_log(header: &LogHeader) -> Self {
        let size = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
        Self {
            version: header.version,
            name: header.name,
            created: header.created,
            resolution: header.resolution,
            stream_size: size(header.stream_size),
            stream_policy: Some(header.stream_policy),
            max_data: size(header.max_data),
            inherited: header.inherited,
            log_size: size(header.log_size),
            log_policy: header.log_policy,
        }
    }
}
