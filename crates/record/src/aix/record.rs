//! The entries to be written: entries of the caller and of the trace itself.
//!
//! `tracewell_wire::aix::ids` describes the layouts of the trace's own entries.

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{
    Entry, EntryError, Env, Frame, FrameHeader, HookId, HookType, HookWord, HookWord32, HookWord64,
    Texts, TimeConversion, ids,
};

/// An entry that has not been written yet.
#[derive(Clone, Copy)]
pub(super) enum Record<'a> {
    Plain { hook: HookWord, words: [u64; 5] },
    Generic { hook: HookWord, word: u64, data: &'a [u8] },
    Heading { env: Env, seconds: u64, texts: Texts<'a> },
    Conversion { env: Env, conversion: TimeConversion },
}

impl Record<'_> {
    /// Returns the length of the entry in bytes.
    #[inline]
    pub(super) fn length(&self) -> Result<usize, EntryError> {
        match self {
            Self::Plain { hook, .. } => Entry::plain_length(*hook),
            Self::Generic { hook, data, .. } => Entry::generic_length(hook.env(), data.len()),
            Self::Heading { env, texts, .. } => Entry::generic_length(*env, texts.length()),
            Self::Conversion { env, .. } => Entry::generic_length(*env, TimeConversion::BYTES),
        }
    }

    pub(super) const fn env(&self) -> Env {
        match self {
            Self::Plain { hook, .. } | Self::Generic { hook, .. } => hook.env(),
            Self::Heading { env, .. } | Self::Conversion { env, .. } => *env,
        }
    }

    /// Writes the frame of an entry of `length` bytes into `place`, which must be exactly as long
    /// as the frame.
    #[inline]
    pub(super) fn write(
        &self,
        order: ByteOrder,
        head: FrameHeader,
        length: usize,
        place: &mut [u8],
    ) -> Option<()> {
        let entry = head.write(order, length, place)?;
        let written = match self {
            Self::Plain { hook, words } => Entry::write_plain(*hook, words, entry),
            Self::Generic { hook, word, data } => Entry::write_generic(*hook, *word, data, entry),
            Self::Heading { env, seconds, texts } => texts.write_entry(*env, *seconds, entry),
            Self::Conversion { env, conversion } => conversion.write_entry(*env, entry),
        };
        written.ok().map(|_| ())
    }

    /// Creates one of the trace's own entries, with one data word.
    pub(super) fn own_1(env: Env, id: HookId, word: u64) -> Self {
        Self::Plain { hook: own_hook(env, id, 1), words: [word_of(env, word), 0, 0, 0, 0] }
    }

    /// Creates one of the trace's own entries, with two data words.
    pub(super) fn own_2(env: Env, id: HookId, words: [u64; 2]) -> Self {
        let [a, b] = words.map(|word| word_of(env, word));
        Self::Plain { hook: own_hook(env, id, 2), words: [a, b, 0, 0, 0] }
    }

    /// Creates a hook 006 with the number of losses so far and the number of entries lost at this
    /// position.
    pub(super) fn buffer_wrap(env: Env, wraps: u64, lost: u64) -> Self {
        Self::own_2(env, ids::BUFFER_WRAP, [wraps, lost])
    }
}

fn own_hook(env: Env, id: HookId, words: u16) -> HookWord {
    let hook_type = HookType::for_words(usize::from(words)).stamped();
    match env {
        Env::Bits32 => HookWord::Bits32(HookWord32::new(id, hook_type, 0)),
        Env::Bits64 => HookWord::Bits64(HookWord64::plain(id, 0, words)),
    }
}

/// Limits a number to the largest value that fits into a word, so that a large count is not stored
/// as a small number.
fn word_of(env: Env, word: u64) -> u64 {
    match env {
        Env::Bits32 => word.min(u64::from(u32::MAX)),
        Env::Bits64 => word,
    }
}

/// Maximum length in bytes of the frame of [`Record::own_1`].
pub(super) const OWN_1_SIZE: usize = Frame::size(16);
/// Length in bytes of the entry of [`Record::own_2`]. A 32-bit entry has a hook word and five words
/// of 4 bytes. A 64-bit entry has the same length.
pub(super) const OWN_2_LENGTH: usize = 24;
/// Length in bytes of the frame of [`Record::own_2`].
pub(super) const OWN_2_SIZE: usize = Frame::size(OWN_2_LENGTH);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_without_room_is_the_largest_number() {
        let counts = [7, u64::from(u32::MAX) + 1];
        let in_env = |env| counts.map(|count| word_of(env, count));
        assert_eq!(in_env(Env::Bits32), [7, u64::from(u32::MAX)]);
        assert_eq!(in_env(Env::Bits64), counts);
    }
}
