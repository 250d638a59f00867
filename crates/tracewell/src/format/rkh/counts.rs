//! Counts frames by decoding result, and adds the counts to the facts of the trace.

use tracewell_wire::rkh::{Dialect, Settings};

use crate::model::{Fact, FactForm};

/// Counts of frames by decoding result, and counts of bytes outside of frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Counts {
    /// Frames that were decoded with all arguments, including configuration records.
    pub(super) good: u64,
    pub(super) bad_checksum: u64,
    /// Frames shorter than the header.
    pub(super) short: u64,
    pub(super) unknown_id: u64,
    /// Frames whose arguments do not end where the record ends.
    pub(super) bad_args: u64,
    /// Frames that were skipped because the settings were unknown.
    pub(super) unsettled: u64,
    /// Frames that the sender aborted with an escape before the flag.
    pub(super) aborted: u64,
    /// Frames longer than [`MAX_FRAME_LEN`](tracewell_wire::rkh::MAX_FRAME_LEN).
    pub(super) oversize: u64,
    pub(super) sequence_gaps: u64,
    pub(super) lost_frames: u64,
    pub(super) restarts: u64,
    /// Bytes before the first flag, and bytes dropped from oversized frames.
    pub(super) dropped_bytes: u64,
    /// Bytes after the last flag.
    pub(super) tail_bytes: u64,
}

impl Counts {
    pub(super) fn facts(
        &self,
        dialect: Dialect,
        version: u16,
        settings: &Settings,
        numbers: [Option<u8>; 2],
    ) -> Vec<Fact> {
        let text = |name, text| Fact { name, value: 0, form: FactForm::Text(text) };
        let number = |name, value| Fact { name, value, form: FactForm::Decimal };
        let size = |name, bytes: u8| number(name, u64::from(bytes));
        let switch = |name, on| Fact {
            name,
            value: u64::from(on),
            form: FactForm::Text(if on { "on" } else { "off" }),
        };
        let s = settings;
        let mut facts = vec![text("dialect", dialect.as_str())];
        if version != 0 {
            facts.push(Fact {
                name: "version",
                value: u64::from(version),
                form: FactForm::Hexadecimal,
            });
        }
        facts.extend([
            size("id_bytes", s.id),
            switch("sequence", s.sequence),
            size("stamp_bytes", s.stamp),
            switch("checksum", s.checksum),
            size("pointer_bytes", s.pointer),
            size("function_bytes", s.function),
            size("signal_bytes", s.signal),
            size("event_size_bytes", s.event_size),
            size("block_count_bytes", s.block_count),
            size("block_size_bytes", s.block_size),
            size("queue_count_bytes", s.queue_count),
            size("timer_bytes", s.timer_ticks),
            switch("sender", s.sender),
            switch("queue_low_water", s.queue_low_water),
            switch("pool_low_water", s.pool_low_water),
            number("good", self.good),
            number("bad_checksum", self.bad_checksum),
            number("short", self.short),
            number("unknown_id", self.unknown_id),
            number("bad_args", self.bad_args),
            number("aborted", self.aborted),
            number("oversize", self.oversize),
            number("sequence_gaps", self.sequence_gaps),
            number("lost_frames", self.lost_frames),
            number("restarts", self.restarts),
            number("dropped_bytes", self.dropped_bytes),
            number("tail_bytes", self.tail_bytes),
        ]);
        if self.unsettled > 0 {
            facts.push(number("unsettled", self.unsettled));
        }
        let numbers = ["first_seq", "last_seq"].into_iter().zip(numbers);
        facts.extend(numbers.filter_map(|(name, n)| Some(number(name, u64::from(n?)))));
        facts
    }
}
