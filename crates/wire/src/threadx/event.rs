//! One event slot: eight words.
//!
//! | word | name | content |
//! |---|---|---|
//! | 0 | context | thread address, or one of the values in [`context`] |
//! | 1 | priority word | by context, see [`PriorityWord`] |
//! | 2 | id | bits 0-15 event id, bits 24-31 core on SMP ports |
//! | 3 | stamp | raw, unmasked |
//! | 4-7 | info 1-4 | per event id |

use super::Layout;

/// Values of the context word that are not addresses of threads.
pub mod context {
    /// The slot was not written yet.
    pub const UNUSED: u64 = 0;
    /// Recorded before the scheduler started.
    pub const INITIALIZATION: u64 = 0xF0F0_F0F0;
    /// Recorded in an interrupt service routine; the priority word tells what was interrupted.
    pub const INTERRUPT: u64 = 0xFFFF_FFFF;
}

/// An event slot as it lies in the image.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Who was running: a thread's address or a value of [`context`].
    pub context: u64,
    /// Priority and threshold, or the interrupted thread; see [`PriorityWord`].
    pub priority_word: u64,
    /// Event id and core number.
    pub id_word: u64,
    /// Time stamp, raw: bits above the header's mask may be junk.
    pub stamp: u64,
    /// The four information words, whose meaning depends on the id.
    pub info: [u64; 4],
}

/// What the second word of an event says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PriorityWord {
    /// Recorded by a thread: its current, possibly inherited, priority.
    Thread {
        /// 0 is the most urgent, at most 1023.
        priority: u16,
        /// Preemption threshold; `None` in dumps of kernels that did not record it.
        threshold: Option<u16>,
    },
    /// Recorded in an interrupt: the interrupted thread's address; 0 when the system was idle, and
    /// always in dumps of old kernels.
    Interrupted(u64),
    /// Recorded during initialization; says nothing.
    Initialization,
}

impl PriorityWord {
    const THRESHOLD_KNOWN: u64 = 0x8000_0000;

    /// The word that a kernel records for a running thread.
    pub const fn of_thread(priority: u16, threshold: u16) -> u64 {
        Self::THRESHOLD_KNOWN | ((threshold as u64) << 16) | priority as u64
    }
}

impl Event {
    /// An unused slot with all words 0. (Targets clear only word 0; the rest is stale memory.)
    pub const UNUSED: Self =
        Self { context: 0, priority_word: 0, id_word: 0, stamp: 0, info: [0; 4] };

    /// The event id without core number: bits 0-15.
    #[inline]
    pub const fn id(&self) -> u16 {
        self.id_word as u16
    }

    /// The core that recorded the event: bits 24-31, 0 on single-core ports.
    #[inline]
    pub const fn core(&self) -> u8 {
        (self.id_word >> 24) as u8
    }

    /// Bits 16-23 of the id word, which no kernel sets.
    #[inline]
    pub const fn unexpected_id_bits(&self) -> u8 {
        (self.id_word >> 16) as u8
    }

    /// The second word, read by what the first one says.
    #[inline]
    pub const fn priority(&self) -> PriorityWord {
        match self.context {
            context::INTERRUPT => PriorityWord::Interrupted(self.priority_word),
            context::INITIALIZATION => PriorityWord::Initialization,
            _ => PriorityWord::Thread {
                priority: (self.priority_word & 0x3FF) as u16,
                threshold: if self.priority_word & PriorityWord::THRESHOLD_KNOWN == 0 {
                    None
                } else {
                    Some(((self.priority_word >> 16) & 0x3FF) as u16)
                },
            },
        }
    }

    /// Reads the slot at the start of `bytes`; `None` where they are too few.
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

    /// Writes the slot at the start of `bytes`; `None` where they are too few.
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
