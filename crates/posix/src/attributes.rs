//! The attributes of a stream, their defaults and their limits.

use tracewell_wire::posix::log::LogHeader;
use tracewell_wire::posix::object::Geometry;
use tracewell_wire::posix::{DATA_MAX, EventSet, LogPolicy, NAME_MAX, StreamPolicy, record_words};

use crate::error::Error;
use crate::sys;

/// The default of the attribute generation-version.
const VERSION: &str = concat!("Tracewell ", env!("CARGO_PKG_VERSION"));

/// The attributes of a stream.
///
/// ```
/// use tracewell_posix::{Attributes, LogPolicy, StreamPolicy};
///
/// let mut attributes = Attributes {
///     stream_size: 1 << 20,
///     stream_policy: Some(StreamPolicy::UntilFull),
///     log_policy: LogPolicy::Append,
///     ..Attributes::default()
/// };
/// attributes.set_name(b"pump");
/// assert!(attributes.name.starts_with(b"pump\0"));
/// assert_eq!(attributes.max_data, 4096);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Attributes {
    /// Name and version of the implementation that created the stream: at most 63 bytes, followed
    /// by a NUL.
    pub version: [u8; NAME_MAX],
    /// The stream's name: at most 63 bytes, followed by a NUL.
    pub name: [u8; NAME_MAX],
    /// Creation time in nanoseconds since 1970-01-01 UTC; 0 before creation.
    pub created: u64,
    /// Resolution of the clock in nanoseconds.
    pub resolution: u64,
    /// The stream always has space for records of this total size, in bytes.
    pub stream_size: usize,
    /// Policy for a full stream; `None` selects the loop policy for a stream without a log, and the
    /// flush policy for a stream with a log.
    pub stream_policy: Option<StreamPolicy>,
    /// Maximum data size of a user event in bytes; longer data is truncated.
    pub max_data: usize,
    /// True if child processes of traced processes are traced as well.
    pub inherited: bool,
    /// Maximum total size of records in the log, in bytes. Ignored with the append policy.
    pub log_size: usize,
    /// Policy for a full log.
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

/// Copies a string, truncated to 63 bytes and padded with NULs.
fn text(bytes: &[u8]) -> [u8; NAME_MAX] {
    let mut text = [0; NAME_MAX];
    let length = bytes.len().min(NAME_MAX - 1);
    text[..length].copy_from_slice(&bytes[..length]);
    text
}

impl Attributes {
    /// Sets the stream's name, truncated to 63 bytes.
    pub fn set_name(&mut self, name: &[u8]) {
        self.name = text(name);
    }

    /// Sets the maximum data size of a user event in bytes; longer data is truncated.
    ///
    /// # Errors
    ///
    /// EINVAL if the size exceeds 65536 bytes.
    ///
    /// ```
    /// use tracewell_posix::Attributes;
    ///
    /// let mut attributes = Attributes::default();
    /// assert!(attributes.set_max_data(65_536).is_ok());
    /// assert!(attributes.set_max_data(65_537).is_err());
    /// ```
    pub fn set_max_data(&mut self, bytes: usize) -> Result<(), Error> {
        if bytes > DATA_MAX {
            return Err(Error::INVALID);
        }
        self.max_data = bytes;
        Ok(())
    }

    /// Returns the maximum size in bytes of a system event's record.
    pub const fn max_system_event_size() -> usize {
        8 * record_words(2 * EventSet::BYTES)
    }

    /// Returns the maximum size, in bytes, of the record that a user event with `data` bytes of
    /// data needs.
    ///
    /// ```
    /// use tracewell_posix::Attributes;
    ///
    /// let attributes = Attributes { max_data: 100, ..Attributes::default() };
    /// assert_eq!(attributes.max_user_event_size(0), 32);
    /// assert_eq!(attributes.max_user_event_size(1), 40);
    /// assert_eq!(attributes.max_user_event_size(5000), attributes.max_user_event_size(100));
    /// ```
    pub fn max_user_event_size(&self, data: usize) -> usize {
        8 * record_words(data.min(self.max_data))
    }

    /// Returns the complete attributes of a new stream. Adds the creation time and, if no policy is
    /// selected, the default policy. Increases sizes that are too small. `with_log` is true if the
    /// stream has a log.
    pub(crate) fn effective(&self, with_log: bool) -> Result<Self, Error> {
        let usual = if with_log { StreamPolicy::Flush } else { StreamPolicy::Loop };
        let policy = self.stream_policy.unwrap_or(usual);
        // Flushing moves records to a log, so this policy needs one.
        if policy == StreamPolicy::Flush && !with_log {
            return Err(Error::INVALID);
        }
        let least = Geometry::min_promise(self.max_data);
        Ok(Self {
            created: sys::realtime(),
            stream_policy: Some(policy),
            stream_size: self.stream_size.max(least),
            // With the append policy, the log has no limit.
            log_size: if self.log_policy == LogPolicy::Append {
                self.log_size
            } else {
                self.log_size.max(least)
            },
            ..self.clone()
        })
    }

    /// Returns the memory layout of the stream. Fails with ENOMEM if the stream needs more than
    /// half of the machine's memory.
    pub(crate) fn geometry(&self) -> Result<Geometry, Error> {
        let geometry = Geometry::for_promise(self.stream_size, self.max_data);
        let geometry = geometry.ok_or(Error(libc::ENOMEM))?;
        let needed = u64::from(geometry.closed) * u64::from(geometry.packet_words) * 8;
        if needed > sys::memory() / 2 { Err(Error(libc::ENOMEM)) } else { Ok(geometry) }
    }

    /// Returns the attributes that a log's header contains.
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
