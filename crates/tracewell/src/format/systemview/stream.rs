//! Splits one stream into packets, and finds the next packet after damage.
//!
//! While the stream is synchronised, each packet begins at the end of the previous packet. A run of
//! at least ten zero bytes is a sync, or unused memory with a sync at its end. If the next bytes
//! are not a packet, the decoder searches the next [`RANGE`] bytes for a sync. If there is none, it
//! continues at the first position from which [`MANY`] plausible packets follow each other. The
//! result does not depend on the lengths of the windows in which the bytes arrive.

use tracewell_wire::systemview::ids::{self, SHAPES};
use tracewell_wire::systemview::{Fault, Form, Packet, SYNC, TextOrder};

/// Number of bytes to search for a sync before the decoder accepts packets without a sync.
const RANGE: usize = 1 << 14;

/// Number of plausible packets that resynchronise a stream without a sync.
const MANY: usize = 8;

/// Number of plausible packets that are enough to resynchronise at the end of a stream.
const FEW: usize = 3;

/// Maximum length, in bytes, of the parameters of a plausible packet.
const PLAUSIBLE_PAYLOAD: usize = 512;

/// An incomplete packet at the end of an input counts as damage only if it is longer than this
/// number of bytes. Recorders limit texts to 128 bytes by default.
const LAST_PACKET: usize = 1 << 10;

/// Maximum plausible number of ticks between two packets, if the rate is unknown.
const PLAUSIBLE_DELTA: u32 = 1 << 30;

/// The reason why bytes are not packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// The input begins within a recording.
    Joined,
    /// The bytes are not a packet.
    Fault(Fault),
    /// The last packet before a sync is incomplete.
    Cut,
    /// The input ends within a packet.
    Truncated,
}

/// Bytes that are not packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Skipped {
    /// Offset of the first byte.
    pub(super) from: u64,
    /// Offset of the byte after the last one.
    pub(super) until: u64,
    pub(super) cause: Cause,
    /// True if no sync confirms that packets follow these bytes.
    pub(super) guessed: bool,
}

/// The next part of a stream.
#[derive(Debug)]
pub(super) enum Part<'a> {
    /// A packet, at this offset.
    Packet(Packet<'a>, u64),
    /// Bytes that are not packets.
    Skipped(Skipped),
    /// The decoder needs at least this number of bytes after the consumed bytes.
    More(usize),
    /// The stream has ended.
    End,
}

/// The available bytes of a stream.
#[derive(Clone, Copy, Debug)]
pub(super) struct Source<'a> {
    /// The bytes.
    pub(super) bytes: &'a [u8],
    /// Offset of the first byte.
    pub(super) offset: u64,
    /// True if the stream ends after these bytes.
    pub(super) last: bool,
}

/// The facts that distinguish plausible packets from other bytes.
pub(super) trait Known {
    /// Returns true if a task with this recorded id may exist.
    fn task(&self, id: u32) -> bool;
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    InStep,
    /// The bytes from this offset on are not packets.
    Searching(u64, Cause),
}

/// The position in a stream.
#[derive(Clone, Debug)]
pub(super) struct Stream {
    /// Offset of the next byte.
    pub(super) at: u64,
    pub(super) form: Form,
    /// Ticks per second, if known.
    pub(super) rate: Option<u32>,
    /// True if the byte order of the counts in long texts is known.
    order_known: bool,
    state: State,
    /// Number of zero bytes at the end of the previous packet.
    zeros: usize,
}

impl Stream {
    /// Creates a stream that begins at this offset.
    pub(super) fn new(at: u64, core_in_id: bool) -> Self {
        Self {
            at,
            form: Form { texts: TextOrder::default(), core_in_id },
            rate: None,
            order_known: false,
            state: State::Searching(at, Cause::Joined),
            zeros: 0,
        }
    }

    /// Returns the next part of the stream.
    #[inline]
    pub(super) fn next<'a>(&mut self, source: Source<'a>, known: &impl Known) -> Part<'a> {
        loop {
            let start = usize::try_from(self.at.saturating_sub(source.offset));
            let rest = source.bytes.get(start.unwrap_or(usize::MAX)..).unwrap_or_default();
            let part = match (self.state, rest.first()) {
                (State::Searching(..), _) => self.search(rest, source.last, known),
                (State::InStep, None) if source.last => Some(Part::End),
                (State::InStep, None) => Some(Part::More(1)),
                (State::InStep, Some(0)) => self.zeros(rest, source.last),
                (State::InStep, Some(_)) => self.packet(rest, source.last),
            };
            if let Some(part) = part {
                return part;
            }
        }
    }

    /// Returns the bytes from the current position on, if the next packet begins there and contains
    /// no core number. The caller reads short packets from them, then calls [`Stream::skip`].
    #[inline]
    pub(super) fn packets<'a>(&self, source: Source<'a>) -> Option<&'a [u8]> {
        if self.state != State::InStep || self.form.core_in_id {
            return None;
        }
        source.bytes.get(usize::try_from(self.at.checked_sub(source.offset)?).ok()?..)
    }

    /// Skips the packets that the caller has read. These packets have `bytes` bytes in total. The
    /// last one must not end with a zero byte.
    pub(super) fn skip(&mut self, bytes: usize) {
        self.at += bytes as u64;
        self.zeros = if bytes > 0 { 0 } else { self.zeros };
    }

    /// Reads the packet at the start of `rest`. If there is no packet, returns `None`, and the
    /// search for the next packet must begin.
    #[inline]
    fn packet<'a>(&mut self, rest: &'a [u8], last: bool) -> Option<Part<'a>> {
        // The order of the bytes in a long text's count is unknown until the first long text.
        if !self.order_known && begins_long_text(rest, self.form) {
            match self.infer_order(rest, last) {
                Some(order) => (self.form.texts, self.order_known) = (order, true),
                // One more byte may be enough to determine the order, so request it.
                None if !last => return Some(Part::More(rest.len() + 1)),
                None => {}
            }
        }
        let read = Packet::read(rest, self.form);
        let checked = read.and_then(|packet| packet.check(self.form.texts).map(|_| packet));
        match checked {
            Ok(packet) => {
                let at = self.at;
                self.at += packet.length as u64;
                // Zeros at the end of a packet can be the beginning of a sync, so count them.
                self.zeros = 0;
                if rest.get(packet.length - 1) == Some(&0) {
                    let whole = rest.get(..packet.length).unwrap_or_default();
                    self.zeros = whole.iter().rev().take_while(|byte| **byte == 0).count();
                }
                Some(Part::Packet(packet, at))
            }
            Err(Fault::Incomplete) if !last => Some(Part::More(rest.len() + 1)),
            // If the rest is short and contains no sync, the input ends within a packet. Otherwise
            // the rest is damaged.
            Err(Fault::Incomplete) if rest.len() <= LAST_PACKET && find_sync(rest).is_none() => {
                let from = self.at;
                self.at += rest.len() as u64;
                let cause = Cause::Truncated;
                Some(Part::Skipped(Skipped { from, until: self.at, cause, guessed: false }))
            }
            Err(fault) => {
                self.state = State::Searching(self.at, Cause::Fault(fault));
                None
            }
        }
    }

    /// Handles a zero byte between packets.
    #[cold]
    fn zeros<'a>(&mut self, rest: &'a [u8], last: bool) -> Option<Part<'a>> {
        let run = rest.iter().take_while(|byte| **byte == 0).count();
        let before = self.zeros.min(SYNC);
        if run == rest.len() && !last {
            // The last zeros may belong to a sync. Earlier zeros are unused memory.
            let unused = run.saturating_sub(2 * SYNC);
            self.at += unused as u64;
            return Some(Part::More(run - unused + 1));
        }
        if run >= SYNC {
            self.at += run as u64;
            self.zeros = 0;
            return None;
        }
        if run + before >= SYNC && rest.get(run).is_some_and(|next| self.starts(*next)) {
            let from = self.at;
            self.at += run as u64;
            self.zeros = 0;
            let (cause, guessed) = (Cause::Cut, false);
            return Some(Part::Skipped(Skipped { from, until: from, cause, guessed }));
        }
        self.packet(rest, last)
    }

    /// Returns true if this byte is the id of the event that follows a sync.
    fn starts(&self, id: u8) -> bool {
        is_trace_start(id, self.form.core_in_id)
    }

    /// Searches for the next packet. Returns `None` if the next packet begins at the current
    /// position.
    #[cold]
    fn search<'a>(&mut self, rest: &'a [u8], last: bool, known: &impl Known) -> Option<Part<'a>> {
        let State::Searching(from, cause) = self.state else { return None };
        if cause == Cause::Joined && self.at == from {
            // A stream can begin with unused memory, where nothing is missing. The last zeros may
            // be a sync.
            let zeros = rest.iter().take_while(|byte| **byte == 0).count();
            let is_empty = last && zeros == rest.len();
            let unused = if is_empty { zeros } else { zeros.saturating_sub(SYNC) };
            if unused > 0 {
                self.at += unused as u64;
                self.state = State::Searching(self.at, cause);
                return None;
            }
        }
        let range = rest.get(..RANGE).unwrap_or(rest);
        let whole = range.len() < RANGE;
        let found = syncs(range).find(|end| range.get(*end).is_some_and(|id| self.starts(*id)));
        if let Some(end) = found {
            return self.resume(from, end - SYNC, cause, false);
        }
        if whole && !last {
            return Some(Part::More(RANGE));
        }
        // The next search covers the rest of the range together with the bytes after it.
        let until = if whole { range.len() } else { RANGE / 2 };
        let damaged = usize::from(self.at == from && cause != Cause::Joined);
        let guess = (damaged..until).find(|at| {
            let rest = range.get(*at..).unwrap_or_default();
            is_plausible(rest, whole, self.form, self.rate, known)
        });
        if let Some(start) = guess {
            return self.resume(from, start, cause, true);
        }
        self.at += until as u64;
        if !whole {
            return None;
        }
        self.state = State::InStep;
        let until = self.at;
        (until > from).then_some(Part::Skipped(Skipped { from, until, cause, guessed: false }))
    }

    fn resume<'a>(
        &mut self,
        from: u64,
        skip: usize,
        cause: Cause,
        guessed: bool,
    ) -> Option<Part<'a>> {
        self.at += skip as u64;
        (self.state, self.zeros) = (State::InStep, 0);
        let skipped = Skipped { from, until: self.at, cause, guessed };
        (self.at > from || guessed).then_some(Part::Skipped(skipped))
    }

    /// Returns the byte order of the counts of long texts, or `None` if too few bytes have arrived.
    /// An order is accepted if the parameters fit and another packet follows.
    #[cold]
    fn infer_order(&self, rest: &[u8], last: bool) -> Option<TextOrder> {
        let mut orders = [TextOrder::HighFirst, TextOrder::LowFirst];
        // Try the shorter text first, because it needs fewer bytes.
        let count = rest.iter().position(|byte| *byte == 0xFF);
        let count = count.and_then(|at| rest.get(at + 1..at + 3));
        if let Some([first, second]) = count
            && first > second
        {
            orders.reverse();
        }
        for order in orders {
            let form = Form { texts: order, ..self.form };
            let read = |rest| {
                let packet = Packet::read(rest, form)?;
                packet.check(order).map(|more| (packet, more))
            };
            match read(rest) {
                Ok((packet, 0)) => {
                    let after = rest.get(packet.length..).unwrap_or_default();
                    match read(after) {
                        Ok(_) => return Some(order),
                        Err(Fault::Incomplete) if last => return Some(order),
                        Err(Fault::Incomplete) => return None,
                        Err(_) => {}
                    }
                }
                Err(Fault::Incomplete) if !last => return None,
                _ => {}
            }
        }
        None
    }
}

/// Returns the ends of all runs of at least ten zero bytes. If a run reaches the end of the bytes,
/// its end is unknown.
fn syncs(bytes: &[u8]) -> impl Iterator<Item = usize> {
    // At first, examine only every tenth byte, because every run of ten zeros contains one of these
    // bytes.
    let mut at = SYNC - 1;
    std::iter::from_fn(move || {
        loop {
            while *bytes.get(at)? != 0 {
                at += SYNC;
            }
            let (before, after) = bytes.split_at_checked(at)?;
            let zeros = before.iter().rev().take_while(|byte| **byte == 0).count();
            let end = at + after.iter().position(|byte| *byte != 0)?;
            // The byte at `end` is not zero, so the next run of ten zeros cannot end before this
            // position.
            let start = at - zeros;
            at = end + SYNC;
            if end - start >= SYNC {
                return Some(end);
            }
        }
    })
}

/// Returns true if a packet with this first byte is TRACE_START, whose id has one byte.
fn is_trace_start(id: u8, core_in_id: bool) -> bool {
    // Bit 6 of an id of one byte can be the number of the core.
    let id = if core_in_id { id & !0x40 } else { id };
    u32::from(id) == ids::TRACE_START
}

/// Returns the position of the first sync that is followed by an event.
pub(super) fn find_sync(bytes: &[u8]) -> Option<usize> {
    let is_start = |end: &usize| bytes.get(*end).is_some_and(|id| is_trace_start(*id, true));
    syncs(bytes).find(is_start).map(|end| end - SYNC)
}

/// Returns true if the packet at the start of `rest` contains a text whose length occupies 3 bytes.
#[inline]
fn begins_long_text(rest: &[u8], form: Form) -> bool {
    let mask = if form.core_in_id { 0x3F } else { 0x7F };
    let id = rest.first().map_or(0, |byte| u32::from(byte & mask));
    matches!(
        id,
        ids::TASK_INFO
            | ids::SYSDESC
            | ids::MODULEDESC
            | ids::NAME_RESOURCE
            | ids::PRINT_FORMATTED
            | ids::EXTENDED
    ) && is_long(rest, id)
}

/// Does the rest of the work of [`begins_long_text`]. `id` is the event id of the packet. Events
/// with this id can contain a text.
#[cold]
fn is_long(rest: &[u8], id: u32) -> bool {
    use tracewell_wire::systemview::number;
    let numbers = match id {
        ids::NAME_RESOURCE => 2,
        ids::PRINT_FORMATTED => 1,
        // The length, the second id, and the id of the marker or series.
        ids::EXTENDED => 3,
        id => SHAPES.get(id as usize).map_or(0, |shape| usize::from(shape.numbers)),
    };
    let mut at = 1;
    for index in 0..numbers {
        let Ok((number, length)) = number::read(rest.get(at..).unwrap_or_default()) else {
            return false;
        };
        let is_text = matches!(number, ids::extended::NAME_MARKER | ids::extended::REGISTER_DATA);
        if id == ids::EXTENDED && index == 1 && !is_text {
            return false;
        }
        at += length;
    }
    rest.get(at) == Some(&0xFF)
}

/// Returns true if plausible packets follow each other from the start of `rest`. `whole` is true if
/// the stream ends after `rest`.
fn is_plausible(
    rest: &[u8],
    whole: bool,
    form: Form,
    rate: Option<u32>,
    known: &impl Known,
) -> bool {
    let mut rest = rest;
    for count in 0..MANY {
        let packet = match Packet::read(rest, form) {
            Ok(packet) => packet,
            // At the end of a stream, there may be fewer packets.
            Err(Fault::Incomplete) => return whole && count >= FEW,
            Err(_) => return false,
        };
        let task = || packet.parameters(form.texts).number().unwrap_or(0);
        let is_known = match packet.id {
            // Zero bytes are NOP packets. Unused memory is full of them, so they prove nothing.
            ids::NOP => false,
            ids::TASK_START_EXEC | ids::TASK_START_READY | ids::TASK_STOP_READY => {
                known.task(task())
            }
            id => id < ids::FIRST_UNDEFINED,
        };
        // The rate is the number of ticks in a second. Plausible packets are less than a second
        // apart.
        let in_time = packet.delta < rate.unwrap_or(PLAUSIBLE_DELTA);
        let fits = packet.payload.len() <= PLAUSIBLE_PAYLOAD && packet.check(form.texts).is_ok();
        if !is_known || !in_time || !fits {
            return false;
        }
        rest = rest.get(packet.length..).unwrap_or_default();
    }
    true
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plausible_packets_are_less_than_a_second_apart() {
        struct AnyTask;
        impl Known for AnyTask {
            fn task(&self, _: u32) -> bool {
                true
            }
        }
        let form = Form::default();
        let is_plausible = |delta: u32, count: usize, whole: bool| {
            let mut room = [0; 16];
            let packet = Packet { core: 0, id: ids::ISR_EXIT, payload: &[], delta, length: 0 };
            let length = packet.write(form, &mut room).unwrap();
            let bytes = room[..length].repeat(count);
            is_plausible(&bytes, whole, form, Some(100), &AnyTask)
        };
        assert!(is_plausible(99, MANY, false) && !is_plausible(100, MANY, false));
        // At the end of a stream, few packets are enough.
        assert!(!is_plausible(99, MANY - 1, false) && is_plausible(99, FEW, true));
        assert!(!is_plausible(99, FEW - 1, true));
    }

    proptest! {
        #[test]
        fn runs_of_zeros_end_where_a_count_of_each_byte_says(
            runs in prop::collection::vec((0..25_usize, 0..15_usize), 0..20),
        ) {
            let mut bytes = Vec::new();
            for (zeros, others) in runs {
                bytes.resize(bytes.len() + zeros, 0);
                bytes.resize(bytes.len() + others, 7);
            }
            let (mut zeros, mut ends) = (0, Vec::new());
            for (at, byte) in bytes.iter().enumerate() {
                if *byte == 0 {
                    zeros += 1;
                } else if std::mem::take(&mut zeros) >= SYNC {
                    ends.push(at);
                }
            }
            prop_assert_eq!(syncs(&bytes).collect::<Vec<_>>(), ends);
        }
    }
}
