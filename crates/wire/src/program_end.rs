//! The body of a block that states how a recorded program ended. Logs of native and POSIX streams
//! can contain this block. `tracewell record` writes this block, because it waits for the end of
//! the program.

use crate::native::{WORD, join, split, word};

/// How the traced program ended, as stored in a log.
///
/// ```
/// use tracewell_wire::ProgramEnd;
/// use tracewell_wire::native::put_words;
///
/// let killed = ProgramEnd { process: 4711, status: 0, signal: 9 };
/// let mut body = [0; 8 * ProgramEnd::WORDS];
/// put_words(&mut body, &killed.words()).unwrap();
/// assert_eq!(ProgramEnd::read(&body), Some(killed));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ProgramEnd {
    /// Id of the process.
    pub process: u32,
    /// The exit status; 0 if a signal ended the program.
    pub status: u32,
    /// Number of the signal that ended the program; 0 if the program exited.
    pub signal: u32,
}

impl ProgramEnd {
    /// Length of the body in words.
    pub const WORDS: usize = 2;

    /// Returns the body: the process, then the exit status (low half) and the signal (high half).
    pub const fn words(&self) -> [u64; Self::WORDS] {
        [self.process as u64, join(self.status, self.signal)]
    }

    /// Decodes a body, or returns `None` if it is too short.
    pub fn read(body: &[u8]) -> Option<Self> {
        let body = body.get(..Self::WORDS * WORD)?;
        let (status, signal) = split(word(body, 1)?);
        Some(Self { process: word(body, 0)? as u32, status, signal })
    }
}
