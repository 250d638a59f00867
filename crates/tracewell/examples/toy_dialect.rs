//! A whole dialect in one file. It follows the recipe in ARCHITECTURE.md.
//!
//! A toy trace begins with `TOY1`. Records of 8 bytes follow: a timestamp in microseconds (4
//! bytes), a task (1), an event id (1) and a value (2), little-endian. In Tracewell itself, the
//! layout is a module in `crates/wire`, the schema is a file in `schemas/`, and `FORMAT` is listed
//! in `format::FORMATS`.

use std::sync::{Arc, LazyLock};

use tracewell::format::{Confidence, Decoder, Format, Input, Progress, ReadError, Settings};
use tracewell::model::schema::Schema;
use tracewell::model::{
    Clock, Context, ContextId, ContextKind, Emitter, Field, Flow, LossCause, NewEvent,
    PayloadLayout, Rate, Trace,
};
use tracewell::report::{Report, ReportOptions};

/// Step 1, the bytes.
const MAGIC: &[u8] = b"TOY1";
const RECORD: usize = 8;
/// Length in bytes of the part of a record before its argument.
const HEAD: u32 = 6;

/// Step 2, the events: names, arguments and what they mean.
fn schema() -> Arc<Schema> {
    static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
        let text = r#"
            [[event]]
            id = 1
            name = "SEND"
            label = "send"
            family = "queue"
            args = ["length"]
            means = { is = "send" }
        "#;
        Schema::built_in(text, "toy.toml")
    });
    SCHEMA.clone()
}

/// Step 3, the format: the facts about the dialect that the rest of the program uses.
static FORMAT: Format = Format {
    description: "toy trace",
    recognised_by: "TOY1 at the start",
    schema,
    ..Format::new(
        "toy",
        |start| start.starts_with(MAGIC).then_some(Confidence::Certain),
        |_| Ok(Box::new(Toy)),
    )
};

/// Step 4, the decoder.
struct Toy;

impl Decoder for Toy {
    fn trace(&self) -> Trace {
        let payload = PayloadLayout::Fields(&[Field { offset: 0, bytes: 2, absent: None }]);
        let clock = Clock::of_64_bits(Rate::new(1_000_000, 1));
        Trace::new(FORMAT.name, schema(), payload, clock)
    }

    fn decode_to(
        &mut self,
        input: Input<'_>,
        out: &mut Emitter<'_>,
    ) -> Result<Progress, ReadError> {
        let mut consumed = if input.offset == 0 { MAGIC.len() } else { 0 };
        // If the sink stopped early, it has received everything that it needs.
        if self.records(&input, &mut consumed, out).is_break() || input.last {
            return Ok(Progress::Done);
        }
        Ok(Progress::More { consumed: consumed.min(input.bytes.len()), wanted: RECORD })
    }
}

impl Toy {
    fn records(&self, input: &Input<'_>, consumed: &mut usize, out: &mut Emitter<'_>) -> Flow {
        let rest = input.bytes.get(*consumed..).unwrap_or_default();
        let (records, cut) = rest.as_chunks::<RECORD>();
        for [s0, s1, s2, s3, task, id, ..] in records {
            let offset = input.offset + *consumed as u64;
            let stamp = u32::from_le_bytes([*s0, *s1, *s2, *s3]);
            let ticks = out.ticks(u64::from(stamp));
            let event = NewEvent::new(ticks, context(out.trace, *task), u32::from(*id));
            out.event(event, offset..offset + RECORD as u64, HEAD)?;
            *consumed += RECORD;
        }
        if input.last && !cut.is_empty() {
            let message = format!("expected a record of {RECORD} bytes, found {}", cut.len());
            let offset = input.offset + *consumed as u64;
            out.damage(message, (Some(1), LossCause::Truncated), offset)?;
        }
        out.flush()
    }
}

/// Returns the context of a task. Adds it to the trace at the first event of the task.
fn context(trace: &mut Trace, task: u8) -> ContextId {
    let key = u64::from(task);
    let known = trace.contexts.find(key);
    let (key_text, name) = (task.to_string(), format!("task {task}"));
    let new = Context { key, key_text, kind: ContextKind::Thread, name, object: None };
    known.unwrap_or_else(|| trace.contexts.add(new))
}

fn main() {
    let bytes = b"TOY1\x00\x01\x00\x00\x02\x01\x40\x00\x05\x01\x00\x00\x03\x01\x41\x00cut";
    let mut decoder = FORMAT.decoder(&Settings::default()).expect("there are no options");
    let (mut trace, mut report) =
        (decoder.trace(), Report::new(Vec::new(), ReportOptions::default()));
    let input = Input { offset: 0, bytes, last: true };
    decoder.decode(input, &mut trace, &mut report).expect("it is a toy trace");
    assert_eq!((trace.events, trace.span, trace.losses.events()), (2, 5, Some(1)));
    let names: Vec<_> = trace.contexts.iter().map(|(_, context)| context.name.as_str()).collect();
    assert_eq!(names, ["task 2", "task 3"]);
    let text = report.into_inner().expect("writing to memory cannot fail");
    let text = String::from_utf8(text).expect("reports are UTF-8");
    assert!(text.contains("send") && text.contains("length=64"), "{text}");
    print!("{text}");
}

#[test]
fn the_toy_trace_is_decoded() {
    main();
}
