//! The six NUL-terminated strings of a file header. Hook 003 repeats them.

use crate::aix::hook::{Env, HookType, HookWord, HookWord32, HookWord64};
use crate::aix::{Entry, EntryError, ids};

/// Strings for the heading of a report. Their encoding is unspecified. A string ends at its first
/// NUL.
///
/// ```
/// use tracewell_wire::aix::Texts;
///
/// let texts = Texts { system: b"AIX 7.2", node: b"lab7", ..Texts::default() };
/// let mut bytes = [0; 64];
/// texts.write(&mut bytes).unwrap();
/// assert_eq!(Texts::read(&bytes), Ok(texts));
/// assert_eq!(Texts::read(b"only\0two\0"), Err(2));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Texts<'a> {
    /// Operating system and its release.
    pub system: &'a [u8],
    /// Node name of the machine.
    pub node: &'a [u8],
    /// Id of the machine.
    pub machine: &'a [u8],
    /// Internet address of the machine.
    pub address: &'a [u8],
    /// Command that started the trace.
    pub command: &'a [u8],
    /// Description of the buffering.
    pub buffering: &'a [u8],
}

impl<'a> Texts<'a> {
    /// Number of strings in a header.
    pub const COUNT: usize = 6;

    /// Returns the number of bytes that [`Texts::write`] stores, including the NULs.
    pub fn length(&self) -> usize {
        self.up_to_nul().map(|text| text.len() + 1).sum()
    }

    /// Decodes six strings from the start of `bytes`.
    ///
    /// # Errors
    /// Returns the number of complete strings if there are fewer than six.
    pub fn read(bytes: &'a [u8]) -> Result<Self, usize> {
        let mut texts = [&[][..]; Self::COUNT];
        let mut rest = bytes;
        for (index, text) in texts.iter_mut().enumerate() {
            let end = rest.iter().position(|&byte| byte == 0).ok_or(index)?;
            (*text, rest) = (&rest[..end], &rest[end + 1..]);
        }
        let [system, node, machine, address, command, buffering] = texts;
        Ok(Self { system, node, machine, address, command, buffering })
    }

    /// Writes the strings, each with its NUL, at the start of `bytes`. Returns `None` if `bytes` is
    /// too short.
    pub fn write(&self, bytes: &mut [u8]) -> Option<()> {
        let mut rest = bytes.get_mut(..self.length())?;
        for text in self.up_to_nul() {
            let (place, after) = rest.split_at_mut_checked(text.len() + 1)?;
            let (end, body) = place.split_last_mut()?;
            body.copy_from_slice(text);
            *end = 0;
            rest = after;
        }
        Some(())
    }

    /// Writes the entry of hook 003 at the start of `bytes` and returns its length. The data word
    /// is the wall clock in seconds since 1970, truncated to 32 bits in a 32-bit entry. The
    /// variable data are the strings.
    ///
    /// # Errors
    /// The errors of [`Entry::write_generic`].
    pub fn write_entry(
        &self,
        env: Env,
        seconds: u64,
        bytes: &mut [u8],
    ) -> Result<usize, EntryError> {
        let id = ids::TRACE_HEADER;
        // `open_generic` puts the length into the hook word.
        let hook = match env {
            Env::Bits32 => HookWord::Bits32(HookWord32::new(id, HookType::Trcgent, 0)),
            Env::Bits64 => HookWord::Bits64(HookWord64::generic(id, 0)),
        };
        let length = Entry::generic_length(env, self.length())?;
        let place = Entry::open_generic(hook, seconds, self.length(), bytes)?;
        // `place` is exactly as long as the strings, so this cannot fail.
        let _ = self.write(place);
        Ok(length)
    }

    fn up_to_nul(&self) -> impl Iterator<Item = &'a [u8]> {
        [self.system, self.node, self.machine, self.address, self.command, self.buffering]
            .into_iter()
            // A NUL within a string would shift all later strings.
            .map(|text| text.split(|&byte| byte == 0).next().unwrap_or_default())
    }
}
