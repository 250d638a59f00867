//! The recording calls, and the macros based on them.
//!
//! AIX provides each call in two variants: for programs (`utrchook`, `utrchook64`, `trcgen`,
//! `trcgent`) and for the kernel (`trchook`, `trchook64`, `trcgenk`, `trcgenkt`). According to the
//! AIX documentation, the variants take the same arguments but permit different callers. We assume
//! that both variants of a call record the same entry, so one function here replaces both; the
//! [`Context`] identifies the caller.
//!
//! According to the AIX documentation, every event has a timestamp in AIX 5.3 TL5 and later,
//! regardless of the call or macro that recorded it. The `t` forms still set the timestamp mark in
//! the hook word.

use tracewell_wire::aix::{HookType, HookWord, HookWord32, HookWord64};

use super::channel::{Moment, State};
use super::record::Record;
use super::{Context, Outcome, Trace};
use crate::clock::Clock;

/// The channel of the event trace, used by all calls without a channel argument.
pub const EVENT_TRACE: u32 = 0;

/// Returns the hook word of the macro `TRCHKLn`: its type is the smallest that can hold `words`
/// words.
///
/// ```
/// use tracewell_record::aix::{trchkl, trchklt};
///
/// assert_eq!(trchkl(0x15B0_0000, 1).0, 0x15B2_0000);
/// assert_eq!(trchklt(0x15B0_0007, 3).0, 0x15BE_0007);
/// ```
pub const fn trchkl(hkwd: u32, words: usize) -> HookWord32 {
    HookWord32(hkwd).with_type(HookType::for_words(words))
}

/// Returns the hook word of the macro `TRCHKLnT`.
pub const fn trchklt(hkwd: u32, words: usize) -> HookWord32 {
    HookWord32(hkwd).with_type(HookType::for_words(words).stamped())
}

impl<C: Clock> Trace<'_, C> {
    /// Records a 32-bit event on channel 0 (`trchook`, `utrchook`).
    ///
    /// The type in the hook word determines how many of the words are stored: 0, 1 or 5.
    #[doc(alias = "utrchook")]
    #[inline]
    pub fn trchook(&mut self, context: Context, hook: HookWord32, words: [u32; 5]) -> Outcome {
        let words = words.map(u64::from);
        self.insert(context, EVENT_TRACE, &Record::Plain { hook: hook.into(), words }, hook.into())
    }

    /// Records a 64-bit event on channel 0 (`trchook64`, `utrchook64`).
    ///
    /// The length in the hook word determines how many of the words are stored: 0 to 5.
    #[doc(alias = "utrchook64")]
    #[inline]
    pub fn trchook64(&mut self, context: Context, hook: HookWord64, words: [u64; 5]) -> Outcome {
        self.insert(context, EVENT_TRACE, &Record::Plain { hook: hook.into(), words }, hook.into())
    }

    /// Records a 32-bit event with up to five words (`TRCHKL0` to `TRCHKL5`). The type in `hkwd` is
    /// overwritten.
    ///
    /// The type can only express that an entry has 0, 1 or 5 words. So an entry with two, three or
    /// four words is filled with zeros up to five.
    ///
    /// ```
    /// use tracewell_record::aix::{Context, Machine, Options, Outcome, Trace};
    ///
    /// let mut memory = [0; 2048];
    /// let mut trace = Trace::new(|| 7, Machine::default());
    /// let context = Context::default();
    /// assert_eq!(trace.trchkl(context, 0x0100_0000, [1, 2, 3]), Outcome::Off);
    /// trace.trcstart(context, &mut memory, Options::default()).unwrap();
    /// assert_eq!(trace.trchkl(context, 0x0100_0000, [1, 2, 3]), Outcome::Recorded);
    /// ```
    pub fn trchkl<const N: usize>(
        &mut self,
        context: Context,
        hkwd: u32,
        words: [u32; N],
    ) -> Outcome {
        self.trchook(context, trchkl(hkwd, N), five(words))
    }

    /// Does the same as [`Trace::trchkl`], with the timestamp mark (`TRCHKL0T` to `TRCHKL5T`).
    pub fn trchklt<const N: usize>(
        &mut self,
        context: Context,
        hkwd: u32,
        words: [u32; N],
    ) -> Outcome {
        self.trchook(context, trchklt(hkwd, N), five(words))
    }

    /// Records a generic event: one data word and up to 4096 bytes (`trcgen`, `trcgenk`, `TRCGEN`).
    ///
    /// The hook word selects the environment; a 64-bit program passes a 64-bit hook word (our
    /// decision). The type and length in the hook word are overwritten. A 32-bit entry stores only
    /// the lower half of the data word.
    #[doc(alias = "trcgenk")]
    pub fn trcgen(
        &mut self,
        context: Context,
        channel: u32,
        hook: HookWord,
        word: u64,
        data: &[u8],
    ) -> Outcome {
        let hook = generic(hook, false);
        self.insert(context, channel, &Record::Generic { hook, word, data }, hook)
    }

    /// Does the same as [`Trace::trcgen`], with the timestamp mark (`trcgent`, `trcgenkt`,
    /// `TRCGENT`).
    #[doc(alias = "trcgenkt")]
    pub fn trcgent(
        &mut self,
        context: Context,
        channel: u32,
        hook: HookWord,
        word: u64,
        data: &[u8],
    ) -> Outcome {
        let hook = generic(hook, true);
        self.insert(context, channel, &Record::Generic { hook, word, data }, hook)
    }

    /// Stores an entry if the channel is on and its event list selects the hook id. Reads the clock
    /// only in that case.
    #[inline]
    fn insert(
        &mut self,
        context: Context,
        number: u32,
        record: &Record<'_>,
        hook: HookWord,
    ) -> Outcome {
        let Some(channel) = self.channel(number).filter(|channel| channel.state == State::On)
        else {
            return Outcome::Off;
        };
        if !channel.options.events.admits(hook.id()) {
            return Outcome::Excluded;
        }
        let moment = Moment { context, tick: self.ticks.now() };
        self.channel_mut(number).map_or(Outcome::Off, |channel| channel.put(moment, record))
    }
}

/// Returns the hook word of a generic call, with or without the timestamp mark.
fn generic(hook: HookWord, stamped: bool) -> HookWord {
    match hook {
        HookWord::Bits32(word) => {
            let hook_type = if stamped { HookType::Trcgent } else { HookType::Trcgen };
            word.with_type(hook_type).into()
        }
        HookWord::Bits64(word) if stamped => {
            let flags = word.flags() | HookWord64::STAMPED;
            HookWord64::new(flags, word.length(), word.id(), word.sub_hook()).into()
        }
        wide => wide,
    }
}

/// Returns five words: the words of a macro, followed by zeros. More than five words cause a
/// compile-time error.
fn five<const N: usize>(words: [u32; N]) -> [u32; 5] {
    const { assert!(N <= 5, "an entry has at most five data words") };
    let mut five = [0; 5];
    five[..N].copy_from_slice(&words);
    five
}
