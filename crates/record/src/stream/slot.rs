//! The slot of one event type: a header word and a string, which any number of threads may define
//! at once.
//!
//! Once defined, a slot keeps its definition. No thread waits for the thread that started the
//! definition. That thread may be preempted, stopped or dead. If a signal handler that has
//! interrupted that thread waited for it, the handler would never end. Instead, a thread that finds
//! an incomplete definition completes it:
//!
//! 1. The header changes from 0 to a claim, which contains the length of the string. From then on,
//!    the slot accepts only strings of this length.
//! 2. The words of the string change from 0, in order. After each word, a thread compares the
//!    slot's word with the word of its own string, and continues only if they are equal. It does
//!    not matter which thread stored the slot's word. If the words differ, the slot contains a
//!    different string, and the thread abandons this slot. So the stored words always form the
//!    beginning of a single string: the string of the thread that stored the latest word.
//! 3. A thread that has seen all words of its own string sets the header to ready.
//!
//! A thread either replaces the value 0, or stores the value that every other thread stores there
//! too. So a thread that stops between two changes loses no data and delays no other thread. All
//! threads that define the same string get the same result from a slot: accepted or rejected. So
//! threads that try slots in the same order assign the same id to a string. A string contains no
//! NUL, so none of its words is 0.
//!
//! | access | ordering | why |
//! |---|---|---|
//! | header, from 0 to a claim | relaxed | a claim needs no other word |
//! | words of the string | relaxed | each changes once; the header publishes them |
//! | header, to ready | release | pairs with a reader's acquire load; all words were seen |
//! | header, by a reader | acquire | sees all words that a thread saw before its release store |

use tracewell_wire::native::image::{TYPE_TEXT, TypeHeader};

use super::sync::AtomicU64;
use super::sync::Ordering::{Acquire, Relaxed, Release};

/// The words of one event type's slot.
pub(super) struct Slot<'a>(pub(super) &'a [AtomicU64]);

impl Slot<'_> {
    /// Defines the slot with a string of 1 to `TYPE_TEXT` bytes without NUL. Returns false if the
    /// slot contains a different string.
    pub(super) fn define(&self, family: u16, text: &[u8]) -> bool {
        let Some((head, words)) = self.0.split_first() else { return false };
        let length = text.len() as u32;
        let claim = TypeHeader { state: TypeHeader::CLAIMED, family, length };
        let found = set_if_zero(head, claim.pack());
        let found = TypeHeader::unpack(found);
        // Step 1: the slot can contain only a string of the claimed length.
        if found.length != length {
            return false;
        }
        let same = |(word, piece): (&AtomicU64, &[u8])| {
            let own = word_of(piece);
            set_if_zero(word, own) == own
        };
        // Step 2: `all` stops at the first word of a different string.
        if !words.iter().zip(text.chunks(8)).all(same) {
            return false;
        }
        // Step 3. The family comes from the claim, so all threads that get here store the same
        // header.
        head.store(TypeHeader { state: TypeHeader::READY, ..found }.pack(), Release);
        true
    }

    /// Copies the string, and returns the family and the length in bytes, or `None` if the slot is
    /// not defined yet.
    pub(super) fn read(&self, text: &mut [u8; TYPE_TEXT]) -> Option<(u16, usize)> {
        let (head, words) = self.0.split_first()?;
        let head = TypeHeader::unpack(head.load(Acquire));
        if head.state != TypeHeader::READY {
            return None;
        }
        for (word, to) in words.iter().zip(text.as_chunks_mut::<8>().0) {
            // The head becomes READY only after all words are stored, so the words are complete.
            *to = word.load(Relaxed).to_le_bytes();
        }
        Some((head.family, TYPE_TEXT.min(head.length as usize)))
    }
}

/// Stores `value` if the word is 0, and returns the word's resulting value.
fn set_if_zero(word: &AtomicU64, value: u64) -> u64 {
    // Most slots are already defined: a load is cheaper than an exchange.
    match word.load(Relaxed) {
        0 => {
            word.compare_exchange(0, value, Relaxed, Relaxed).map_or_else(|found| found, |_| value)
        }
        found => found,
    }
}

fn word_of(piece: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..piece.len()].copy_from_slice(piece);
    u64::from_le_bytes(word)
}
