//! Notices for users about a running collection.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use tracewell::text::counted;

/// A notice about a source. `Display` prints the message.
///
/// ```
/// use tracewell_collect::Notice;
///
/// assert_eq!(Notice::Opened("board:6602").to_string(), "connected to board:6602");
/// ```
#[derive(Debug)]
pub enum Notice<'a> {
    /// The source waits for targets at this address.
    Listening(SocketAddr),
    /// A target is connected, or the source is open.
    Opened(&'a str),
    /// The connection to the target ended.
    Closed {
        /// The error that ended the connection; `None` if no error ended it.
        error: Option<&'a io::Error>,
        /// True if the source waits for another connection.
        again: bool,
    },
    /// The source cannot be opened at the moment.
    Trying(&'a io::Error),
    /// The file was truncated or replaced, and is read from its start.
    Restarted,
    /// The buffer is full: bytes are dropped until there is room.
    Dropping,
    /// Bytes arrive faster than they can be shown: they are stored but not shown.
    DisplayOverrun,
    /// This number of bytes has arrived, but the decoder needs more bytes before it can show an
    /// event.
    NoEventYet(u64),
    /// The format is not recognised, so nothing can be shown.
    Unrecognised,
    /// The data cannot be shown, for this reason.
    NotShown(&'a str),
}

impl fmt::Display for Notice<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Listening(at) => write!(f, "listening on {at}"),
            Self::Opened(what) => write!(f, "connected to {what}"),
            Self::Closed { error, again } => {
                f.write_str("the connection ended")?;
                if let Some(error) = error {
                    write!(f, ": {error}")?;
                }
                f.write_str(if *again { "; waiting for another" } else { "" })
            }
            Self::Trying(error) => write!(f, "{error}; trying again"),
            Self::Restarted => {
                f.write_str("the file was truncated or replaced: reading it from its start")
            }
            Self::Dropping => {
                f.write_str("bytes are dropped: they arrive faster than they can be written")
            }
            Self::DisplayOverrun => {
                f.write_str("bytes are not shown: they arrive faster than they can be shown")
            }
            Self::NoEventYet(bytes) => {
                let bytes = counted(*bytes, "byte");
                write!(
                    f,
                    "{bytes} and no event so far: the decoder waits for more bytes; options of the \
                     format (-O) may replace what it looks for"
                )
            }
            Self::Unrecognised => {
                f.write_str("format not recognised, so nothing is shown: try --format-in NAME")
            }
            Self::NotShown(why) => write!(f, "nothing more is shown: {why}"),
        }
    }
}
