//! Traces that are written as letters. `A B7@30` is an event A, followed at tick 30 by an event B
//! with argument n = 7. An event without a time comes ten ticks after its predecessor. A tick is a
//! microsecond. `C#2` is an event of context 2, and `!3` are three missing events; `!` alone is an
//! unknown number of missing events.
#![allow(dead_code, reason = "each test crate uses a part of this")]

use std::fmt::Write as _;
use std::sync::{Arc, LazyLock};

use tracewell::model::schema::Schema;
use tracewell::model::{
    Batch, Clock, Columns, Context, ContextId, ContextKind, Counter, Direction, Loss, LossCause,
    PayloadLayout, Rate, Records, Sink, Trace,
};
use tracewell_wire::ByteOrder;

/// Events named A to Z with an argument n. Argument m is -n, and h is n in hexadecimal.
pub(crate) fn schema() -> Arc<Schema> {
    // Some tests need thousands of traces.
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| Arc::new(parsed_schema()));
    Arc::clone(&SCHEMA)
}

fn parsed_schema() -> Schema {
    let mut text = String::new();
    for (id, letter) in ('A'..='Z').enumerate() {
        let name = format!("name = \"{letter}\"\nlabel = \"{letter}\"\nfamily = \"letters\"");
        writeln!(text, "[[event]]\nid = {id}\n{name}\nargs = [\"n\", \"m: signed\", \"h: hex\"]")
            .unwrap();
    }
    Schema::parse(&text, "letters.toml").unwrap()
}

/// Passes the events of a text to a sink, in batches of at most three, with 32-bit arguments.
pub(crate) fn feed(text: &str, sink: &mut dyn Sink) -> Trace {
    feed_words(text, 4, sink)
}

/// Does the same as [`feed`], with arguments of `width` bytes.
pub(crate) fn feed_words(text: &str, width: u8, sink: &mut dyn Sink) -> Trace {
    feed_at(Rate::new(1_000_000, 1), text, width, sink)
}

/// Does the same as [`feed_words`], with a clock of this rate.
pub(crate) fn feed_at(rate: Option<Rate>, text: &str, width: u8, sink: &mut dyn Sink) -> Trace {
    let counter = Counter::of_mask(u64::MAX, Direction::Up);
    let clock = Clock { rate, changes: Vec::new(), counter, first_stamp: 0 };
    let payload = PayloadLayout::Words { order: ByteOrder::Little, bytes: width };
    let mut trace = Trace::new("letters", schema(), payload, clock);
    for (key, name) in [(1, "main"), (2, "other task")] {
        trace.contexts.add(Context {
            key,
            key_text: key.to_string(),
            kind: ContextKind::Thread,
            name: name.to_owned(),
            object: None,
        });
    }
    let words: Vec<_> = text.split_whitespace().collect();
    let mut ticks = 0;
    for part in words.split_inclusive(|word| word.starts_with('!')) {
        let lost = part.last().and_then(|word| word.strip_prefix('!'));
        let events = &part[..part.len() - usize::from(lost.is_some())];
        for events in events.chunks(3) {
            let (mut columns, mut bytes) = (Columns::default(), Vec::new());
            columns.resize(events.len());
            for (row, event) in events.iter().enumerate() {
                let (event, context) = event.split_once('#').unwrap_or((event, "1"));
                let (event, at) = event.split_once('@').unwrap_or((event, ""));
                let (letter, n) = event.split_at(1);
                ticks = at.parse().unwrap_or(ticks + 10);
                columns.ticks[row] = ticks;
                columns.id[row] = u32::from(letter.as_bytes()[0] - b'A');
                columns.context[row] = ContextId(context.parse::<u32>().unwrap() - 1);
                let n: i64 = n.parse().unwrap_or(0);
                for value in [n, -n, n] {
                    bytes.extend(&value.to_le_bytes()[..usize::from(width)]);
                }
            }
            let records = Records::fixed(&bytes, 0, 3 * usize::from(width), 0);
            let batch = Batch { first: trace.events, columns: &columns, records };
            trace.events += events.len() as u64;
            trace.span = ticks;
            let _ = sink.events(&trace, &batch);
        }
        if let Some(lost) = lost {
            let events = lost.parse().ok();
            let loss =
                Loss { before: trace.events, events, cause: LossCause::BufferFull, offset: 0 };
            trace.losses.add(&loss);
            let _ = sink.loss(&trace, &loss);
        }
    }
    trace
}
