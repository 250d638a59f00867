//! One event slot: eight words.
//!
//! | word | name | content |
//! |---|---|---|
//! | 0 | context | thread address, or one of the values in [`context`] |
//! | 1 | priority word | depends on the context, see [`PriorityWord`] |
//! | 2 | id | bits 0-15 event id, bits 24-31 core on SMP ports |
//! | 3 | stamp | timestamp, raw and unmasked |
//! | 4-7 | info 1-4 | depends on the event id |

use super::Layout;

/// Values of the context word that are not addresses of threads.
pub mod context {
    /// The slot is unused.
    pub const UNUSED: u64 = 0;
    /// Recorded before the scheduler started.
    pub const INITIALIZATION: u64 = 0xF0F0_F0F0;
    /// Recorded in an interrupt service routine. The priority word contains the interrupted thread.
    pub const INTERRUPT: u64 = 0xFFFF_FFFF;
}

/// An event slot of the image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// The running thread's address, or a value of [`context`].
    pub context: u64,
    /// Priority and threshold, or the interrupted thread: see [`PriorityWord`].
    pub priority_word: u64,
    /// Event id and core number.
    pub id_word: u64,
    /// Raw timestamp. Bits outside the header's mask are undefined.
    pub stamp: u64,
    /// The four information words, whose meaning depends on the id.
    pub info: [u64; 4],
}

/// The meaning of the second word of an event.
///
/// ```
/// use tracewell_wire::threadx::{PriorityWord, context};
///
/// let word = PriorityWord::of_thread(5, 3);
/// let thread = PriorityWord::Thread { priority: 5, threshold: Some(3) };
/// assert_eq!(PriorityWord::of(0x2000_1000, word), thread);
/// assert_eq!(PriorityWord::of(context::INTERRUPT, 0), PriorityWord::Interrupted(0));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PriorityWord {
    /// Recorded by a thread.
    Thread {
        /// The current, possibly inherited priority: 0 (most urgent) to 1023.
        priority: u16,
        /// Preemption threshold; `None` in dumps of kernels that did not record it.
        threshold: Option<u16>,
    },
    /// Recorded in an interrupt: the address of the interrupted thread, or 0 if the system was
    /// idle. Old kernels always record 0.
    Interrupted(u64),
    /// Recorded during initialization; the word then has no meaning.
    Initialization,
}

impl PriorityWord {
    const THRESHOLD_KNOWN: u64 = 0x8000_0000;

    /// Returns the word that a kernel records for a running thread.
    pub const fn of_thread(priority: u16, threshold: u16) -> u64 {
        Self::THRESHOLD_KNOWN | ((threshold as u64) << 16) | priority as u64
    }

    /// Decodes `word`, the second word of an event. The meaning of `word` depends on the first
    /// word, `context`.
    #[inline]
    pub const fn of(context: u64, word: u64) -> Self {
        match context {
            context::INTERRUPT => Self::Interrupted(word),
            context::INITIALIZATION => Self::Initialization,
            _ => Self::Thread {
                priority: (word & 0x3FF) as u16,
                // Some kernels do not record the threshold and leave the upper half 0. Do not
                // report this as threshold 0.
                threshold: if word & Self::THRESHOLD_KNOWN == 0 {
                    None
                } else {
                    Some(((word >> 16) & 0x3FF) as u16)
                },
            },
        }
    }
}

impl Event {
    /// An unused slot with all words 0. (Targets clear only word 0 and leave the old content of the
    /// other words.)
    pub const UNUSED: Self =
        Self { context: 0, priority_word: 0, id_word: 0, stamp: 0, info: [0; 4] };

    /// Returns the event id, which is in bits 0-15 of the id word.
    #[inline]
    pub const fn id(&self) -> u16 {
        self.id_word as u16
    }

    /// Returns the core that recorded the event, from bits 24-31 of the id word; 0 on single-core
    /// ports.
    #[inline]
    pub const fn core(&self) -> u8 {
        (self.id_word >> 24) as u8
    }

    /// Returns bits 16-23 of the id word, which no kernel sets.
    #[inline]
    pub const fn unexpected_id_bits(&self) -> u8 {
        (self.id_word >> 16) as u8
    }

    /// Decodes the second word; its meaning depends on the first word.
    #[inline]
    pub const fn priority(&self) -> PriorityWord {
        PriorityWord::of(self.context, self.priority_word)
    }

    /// Reads the slot at the start of `bytes`. Returns `None` if the bytes are too few.
    #[inline]
    pub fn read(layout: Layout, bytes: &[u8]) -> Option<Self> {
        let w = layout.width.bytes();
        let bytes = bytes.get(..8 * w)?;
        let word = |index: usize| layout.word(bytes, index * w);
        Some(Self {
            context: word(0)?,
            priority_word: word(1)?,
            id_word: word(2)?,
            stamp: word(3)?,
            info: [word(4)?, word(5)?, word(6)?, word(7)?],
        })
    }

    /// Writes the slot at the start of `bytes`. Returns `None` if the bytes are too few.
    #[inline]
    pub fn write(&self, layout: Layout, bytes: &mut [u8]) -> Option<()> {
        let w = layout.width.bytes();
        let bytes = bytes.get_mut(..8 * w)?;
        let [a, b, c, d] = self.info;
        let words = [self.context, self.priority_word, self.id_word, self.stamp, a, b, c, d];
        for (index, value) in words.into_iter().enumerate() {
            layout.put_word(bytes, index * w, value)?;
        }
        Some(())
    }
}
