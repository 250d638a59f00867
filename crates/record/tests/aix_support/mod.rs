//! Decodes logs and buffers with `tracewell-wire`, independently of the recorder, so that tests
//! check the data that a reader gets.

// Each test file compiles this module separately and uses only a part of it.
#![allow(dead_code, unreachable_pub)]

use tracewell_record::aix::{Chunk, Context, Trace};
use tracewell_record::clock::{Clock, Masked};
use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{
    Entry, FileHeader, Frame, FrameHeader, HookId, HookWord, TimeConversion,
};

/// The context for tests that do not depend on it.
pub const THREAD: Context = Context::thread(1, 4242, 70_001);

/// Returns a 64-bit clock that counts 1, 2, 3, …
pub fn counting() -> impl Clock {
    let mut ticks = 0;
    let clock = move || {
        ticks += 1;
        ticks
    };
    Masked { clock, mask: u64::MAX }
}

/// An owned entry with the header of its frame.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Event {
    pub head: FrameHeader,
    pub id: HookId,
    pub hook: HookWord,
    pub generic: bool,
    pub words: Vec<u64>,
    pub data: Vec<u8>,
    pub bytes: Vec<u8>,
}

impl Event {
    fn of(frame: &Frame<'_>) -> Self {
        let entry = Entry::read(frame.head.env, frame.entry).expect("an entry is whole");
        assert_eq!(entry.length(), frame.entry.len());
        Self {
            head: frame.head,
            id: entry.id(),
            hook: entry.hook(),
            generic: entry.is_generic(),
            words: (1..=entry.word_count()).map(|number| entry.word(number).unwrap()).collect(),
            data: entry.variable_data().to_vec(),
            bytes: frame.entry.to_vec(),
        }
    }

    /// Returns the time conversion, if this is a hook 00A that contains a time conversion.
    pub fn conversion(&self) -> Option<TimeConversion> {
        TimeConversion::of_entry(&Entry::read(self.head.env, &self.bytes).unwrap())
    }
}

/// Decodes the events of frames. All frames must be complete.
pub fn events(order: ByteOrder, mut frames: &[u8]) -> Vec<Event> {
    let mut events = Vec::new();
    while !frames.is_empty() {
        let (frame, size) = Frame::read(order, frames).expect("no frame is split");
        events.push(Event::of(&frame));
        frames = &frames[size..];
    }
    events
}

/// A decoded log file.
pub struct Log {
    pub per_cpu: bool,
    pub conversion: TimeConversion,
    pub events: Vec<Event>,
}

impl Log {
    pub fn read(bytes: &[u8]) -> Self {
        let (header, length) = FileHeader::read(bytes).expect("a log starts with a header");
        let events = events(header.order, &bytes[length..]);
        Self { per_cpu: header.per_cpu, conversion: header.conversion, events }
    }

    pub fn short_ids(&self) -> Vec<String> {
        short_ids(&self.events)
    }
}

/// Returns ids in their usual notation.
pub fn short_ids(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| event.id.to_string()).collect()
}

/// Drains the waiting entries into `log`. If the trace starts its log again, clears `log` first.
pub fn drain<C>(trace: &mut Trace<'_, C>, channel: u32, log: &mut Vec<Event>) {
    let order = trace.header(channel).expect("the channel is started").order;
    while let Some(Chunk { bytes, starts_over }) = trace.waiting(channel) {
        if starts_over {
            log.clear();
        }
        log.extend(events(order, bytes));
        assert!(trace.drained(channel));
    }
}

/// Stops a channel and returns everything that was not drained before.
pub fn stopped<C: Clock>(trace: &mut Trace<'_, C>, channel: u32) -> Vec<Event> {
    trace.trcstop(THREAD, channel).expect("the channel is started");
    let mut log = Vec::new();
    drain(trace, channel, &mut log);
    log
}
