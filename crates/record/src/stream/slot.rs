//! The slot of one event type: a head and a text, which any number of threads may give a meaning at a time.
//!
//! A slot gets one meaning and keeps it. Nobody waits for the thread that began: it may be preempted by the
//! caller, interrupted by it, stopped, or dead. Whoever finds a definition in the middle completes it:
//!
//! 1. The head changes from 0 to a claim, which says the length of the text. From then on no text of another
//!    length can be in the slot.
//! 2. Each word of the text changes from 0, in order. A thread goes on to the next word only if the one before is
//!    that of its own text, no matter who stored it; otherwise the slot has another text, and it leaves.
//!    So the words that are there are always the beginning of one text, that of the thread that stored the
//!    last of them.
//! 3. A thread that has seen all words of its own text makes the head ready.
//!
//! Every change is one from 0, or the same store by all who make it, so a thread that stops between two of them
//! loses nothing and holds nobody up. Every thread that defines a text gets the same answer from a slot: this one
//! or not. So threads that try slots in the same order give a text the same id. A text has no NUL, so that none of
//! its words is 0.
//!
//! | access | ordering | why |
//! |---|---|---|
//! | head, from 0 to a claim | relaxed | the claim says all by itself |
//! | words of the text | relaxed | each changes once; the head publishes them |
//! | head, to ready | release | pairs with the acquire load of a reader: the thread has seen every word |
//! | head, by a reader | acquire | a word that a thread saw before its release store is there for the reader |

use tracewell_wire::native::image::{TYPE_TEXT, TypeHead};

use super::sync::AtomicU64;
use super::sync::Ordering::{Acquire, Relaxed, Release};

/// The words of one event type's slot.
pub(super) struct Slot<'a>(pub(super) &'a [AtomicU64]);

impl Slot<'_> {
    /// Gives the slot a text of 1 to `TYPE_TEXT` bytes without NUL; false if it has another one.
    pub(super) fn give(&self, family: u16, text: &[u8]) -> bool {
        let Some((head, words)) = self.0.split_first() else { return false };
        let length = text.len() as u32;
        let claim = TypeHead { state: TypeHead::CLAIMED, family, length };
        let found = became(head, claim.pack());
        let found = TypeHead::unpack(found);
        if found.length != length {
            return false;
        }
        let same = |(word, piece): (&AtomicU64, &[u8])| {
            let own = word_of(piece);
            became(word, own) == own
        };
        if !words.iter().zip(text.chunks(8)).all(same) {
            return false;
        }
        // The family is that of the claim, so all who come here store the same.
        head.store(TypeHead { state: TypeHead::READY, ..found }.pack(), Release);
        true
    }

    /// Copies the text; its family and its length. `None` if the slot has no meaning yet.
    pub(super) fn read(&self, text: &mut [u8; TYPE_TEXT]) -> Option<(u16, usize)> {
        let (head, words) = self.0.split_first()?;
        let head = TypeHead::unpack(head.load(Acquire));
        if head.state != TypeHead::READY {
            return None;
        }
        for (word, to) in words.iter().zip(text.as_chunks_mut::<8>().0) {
            *to = word.load(Relaxed).to_le_bytes();
        }
        Some((head.family, TYPE_TEXT.min(head.length as usize)))
    }
}

/// Changes a word from 0; what it is then, by whomever.
fn became(word: &AtomicU64, value: u64) -> u64 {
    // Most slots that a thread looks at have a meaning already: a load costs less than an exchange.
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
