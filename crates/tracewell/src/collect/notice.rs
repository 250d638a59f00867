//! What happens while collecting, for people who watch.

use std::fmt;
use std::io;
use std::net::SocketAddr;

/// Something that happened to a source.
#[derive(Debug)]
pub enum Notice<'a> {
    /// It waits for a target.
    Listening(SocketAddr),
    /// A target is there, or the source is open.
    Opened(&'a str),
    /// The connection ended; whether another one is waited for.
    Closed {
        /// Why, where it was not simply ended.
        error: Option<&'a io::Error>,
        /// Whether the source goes on.
        again: bool,
    },
    /// It cannot be opened for now.
    Trying(&'a io::Error),
    /// A file was cut or replaced, and is read from its beginning.
    Restarted,
    /// There is no room: what comes is dropped from here on, until there is.
    Dropping,
    /// What is shown falls behind: bytes are left out there, not in what is kept.
    Behind,
    /// No known format is recognised, so that nothing can be shown.
    Unrecognised,
    /// What comes cannot be shown, for this reason.
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
                f.write_str("the file was cut or replaced: reading it from its start")
            }
            Self::Dropping => f.write_str("writing is slower than the source: bytes are dropped"),
            Self::Behind => f.write_str("showing is slower than the source: bytes are left out"),
            Self::Unrecognised => {
                f.write_str("no known format is recognised: nothing is shown (--format-in NAME)")
            }
            Self::NotShown(why) => write!(f, "nothing more is shown: {why}"),
        }
    }
}
