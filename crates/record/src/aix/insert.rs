//! Recording: the trace calls, and the macros around them.
//!
//! AIX has each call twice: for programs (`utrchook`, `utrchook64`, `trcgen`, `trcgent`) and for
//! the kernel (`trchook`, `trchook64`, `trcgenk`, `trcgenkt`). Documented: who may call which, and
//! that the arguments are the same. That the same is recorded is our reading, so here is one
//! function for both; the [`Context`] says who calls.
//!
//! Every event is time-stamped, since AIX 5.3 TL5 whatever call or macro recorded it (documented).
//! The `t` forms still leave their mark in the hook word.

use tracewell_wire::aix::{HookType, HookWord, HookWord32, HookWord64};

use super::channel::{Moment, State};
use super::record::Record;
use super::{Context, Outcome, Trace};
use crate::clock::Clock;

/// The channel of the event trace, to which all calls without a channel go.
pub const EVENT_TRACE: u32 = 0;

/// The hook word that the macro `TRCHKLn` makes: the least type that holds so many words.
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

/// The hook word that the macro `TRCHKLnT` makes.
pub const fn trchklt(hkwd: u32, words: usize) -> HookWord32 {
    HookWord32(hkwd).with_type(HookType::for_words(words).stamped())
}

impl<C: Clock> Trace<'_, C> {
    /// Records a 32-bit event on channel 0 (`trchook`, `utrchook`).
    ///
    /// The type in the hook word says how many of the words go into the entry: 0, 1 or 5.
    #[doc(alias = "utrchook")]
    #[inline]
    pub fn trchook(&mut self, context: Context, hook: HookWord32, words: [u32; 5]) -> Outcome {
        let words = words.map(u64::from);
        self.insert(context, EVENT_TRACE, &Record::Plain { hook: hook.into(), words }, hook.into())
    }

    /// Records a 64-bit event on channel 0 (`trchook64`, `utrchook64`).
    ///
    /// The length in the hook word says how many of the words go into the entry: 0 to 5.
    #[doc(alias = "utrchook64")]
    #[inline]
    pub fn trchook64(&mut self, context: Context, hook: HookWord64, words: [u64; 5]) -> Outcome {
        self.insert(context, EVENT_TRACE, &Record::Plain { hook: hook.into(), words }, hook.into())
    }

    /// Records a 32-bit event with up to five words (`TRCHKL0` to `TRCHKL5`); the type in `hkwd` is
    /// replaced.
    ///
    /// Two to five words make an entry of five, since its type has no count; the rest are 0.
    pub fn trchkl<const N: usize>(
        &mut self,
        context: Context,
        hkwd: u32,
        words: [u32; N],
    ) -> Outcome {
        self.trchook(context, trchkl(hkwd, N), five(words))
    }

    /// As [`Trace::trchkl`], with the mark of a time stamp (`TRCHKL0T` to `TRCHKL5T`).
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
    /// The hook word says the environment (that a 64-bit program passes a 64-bit one is our
    /// decision); type and length in it are replaced. In a 32-bit entry the upper half of the data
    /// word is cut off.
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

    /// As [`Trace::trcgen`], with the mark of a time stamp (`trcgent`, `trcgenkt`, `TRCGENT`).
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

    /// Stores an entry if its channel is on and its list admits it. The clock is read only then.
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

/// The hook word of a generic call, with or without the mark of a time stamp.
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

/// The words of a macro, and 0 for those that it does not have; more than five do not compile.
fn five<const N: usize>(words: [u32; N]) -> [u32; 5] {
    const { assert!(N <= 5, "an entry has five data words at most") };
    let mut five = [0; 5];
    five[..N].copy_from_slice(&words);
    five
}
