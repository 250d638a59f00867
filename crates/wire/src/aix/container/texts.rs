//! The six NUL-terminated texts of a file header, which hook 003 repeats.

use crate::aix::hook::{Env, HookType, HookWord, HookWord32, HookWord64};
use crate::aix::{Entry, EntryError, ids};

/// Who recorded, for the heading of a report. No encoding is declared; a text ends at its first
/// NUL.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Texts<'a> {
    /// Operating system and release.
    pub system: &'a [u8],
    /// Node name.
    pub node: &'a [u8],
    /// Machine id.
    pub machine: &'a [u8],
    /// Internet address.
    pub address: &'a [u8],
    /// The command that started the trace.
    pub command: &'a [u8],
    /// How it was buffered.
    pub buffering: &'a [u8],
}

impl<'a> Texts<'a> {
    /// How many there are.
    pub const COUNT: usize = 6;

    /// Bytes that [`Texts::write`] stores, NULs included.
    pub fn length(&self) -> usize {
        self.up_to_nul().map(|text| text.len() + 1).sum()
    }

    /// Reads six texts from the start of `bytes`.
    ///
    /// # Errors
    /// How many there are, where that is fewer than six.
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

    /// Writes the texts, each with its NUL, at the start of `bytes`; `None` where they are too few.
    pub fn write(&self, bytes: &mut [u8]) -> Option<()> {
        let mut rest = bytes.get_mut(..self.length())?;
        for text in self.up_to_nul() {
            let (place, behind) = rest.split_at_mut_checked(text.len() + 1)?;
            let (end, body) = place.split_last_mut()?;
            body.copy_from_slice(text);
            *end = 0;
            rest = behind;
        }
        Some(())
    }

    /// Writes the entry of hook 003 at the start of `bytes`: the wall clock in seconds since 1970,
    /// cut to 32 bits where words have no more, and the texts as variable data. Its length.
    ///
    /// # Errors
    /// Those of [`Entry::write_generic`].
    pub fn write_entry(
        &self,
        env: Env,
        seconds: u64,
        bytes: &mut [u8],
    ) -> Result<usize, EntryError> {
        let id = ids::TRACE_HEADER;
        let hook = match env {
            Env::Bits32 => HookWord::Bits32(HookWord32::new(id, HookType::Trcgent, 0)),
            Env::Bits64 => HookWord::Bits64(HookWord64::generic(id, 0)),
        };
        let length = Entry::generic_length(env, self.length())?;
        let place = Entry::open_generic(hook, seconds, self.length(), bytes)?;
        // The place is exactly as long as the texts.
        let _ = self.write(place);
        Ok(length)
    }

    fn up_to_nul(&self) -> impl Iterator<Item = &'a [u8]> {
        [self.system, self.node, self.machine, self.address, self.command, self.buffering]
            .into_iter()
            .map(|text| text.split(|&byte| byte == 0).next().unwrap_or_default())
    }
}
