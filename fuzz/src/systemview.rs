//! Fuzz targets for SystemView streams and for the description files of SystemView.

use std::sync::Arc;

use tracewell::format::systemview::description::to_schema;
use tracewell::format::{self, Settings};
use tracewell::model::schema::Extension;
use tracewell::model::{Batch, Flow, Loss, Sink, Trace};
use tracewell_wire::systemview::{Form, Packet, TextOrder};

/// Reads any bytes as a stream, whole and in parts, with several sets of options. Then reads the
/// bytes as two joined streams. Also reads a packet at the start of the bytes in each form, writes
/// it, and reads it again.
pub fn systemview(data: &[u8]) {
    for texts in [TextOrder::HighFirst, TextOrder::LowFirst] {
        for core_in_id in [false, true] {
            packet(data, Form { texts, core_in_id });
        }
    }
    let options: [&[&str]; 4] = [
        &[],
        &["kernel=freertos", "rate=25MHz"],
        &["cores=in-ids"],
        &["base=0xFFFFFFFF", "shift=31"],
    ];
    for options in options {
        let mut settings = Settings::default();
        options.iter().for_each(|option| settings.options.add(option).expect("it has a ="));
        let whole = read(&settings, data, data.len().max(1));
        assert_eq!(read(&settings, data, 1 + data.len() / 3), whole);
        assert_eq!(read(&settings, data, 1), whole);
    }
    let parts = vec![data.len() / 2];
    read(&Settings { parts, ..Settings::default() }, data, data.len().max(1));
}

fn packet(data: &[u8], form: Form) {
    let Ok(packet) = Packet::read(data, form) else { return };
    assert!(packet.length <= data.len() && packet.payload.len() < packet.length);
    let _ = packet.check(form.texts);
    let mut out = vec![0; packet.length + 16];
    // A number may have more bytes than it needs, so the two packets may differ in length.
    if let Some(length) = packet.write(form, &mut out) {
        let again = Packet::read(&out[..length], form).expect("it was written");
        assert_eq!(Packet { length: packet.length, ..again }, packet);
    }
}

fn read(settings: &Settings, data: &[u8], piece: usize) -> Tally {
    let mut tally = Tally::default();
    let trace = super::arriving("systemview", settings, data, piece, &mut tally);
    let trace = trace.expect("any bytes may be a stream");
    assert_eq!(trace.events, tally.events);
    assert!(tally.events * 2 <= data.len() as u64, "a packet has at least two bytes");
    tally
}

/// Reads any text as a file of descriptions, converts it to a schema, and applies the schema.
pub fn systemview_descriptions(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let Ok(schema) = to_schema(&text, "fuzz.txt") else { return };
    let Ok(file) = Extension::parse(&schema, "fuzz.txt") else {
        panic!("the schema is not valid: {schema}")
    };
    let format = format::by_name("systemview").expect("it is in the list");
    // This may fail, for example if an id is above the limit of schema files.
    let _ = format.extended((format.schema)(), &[Arc::new(file)]);
}

/// Sums over the events and losses of a stream. They must not depend on the lengths of the pieces
/// in which the stream arrives.
#[derive(PartialEq, Eq, Debug, Default)]
struct Tally {
    events: u64,
    ticks: u64,
    bytes: u64,
    losses: Vec<(u64, Option<u64>, u64)>,
}

impl Sink for Tally {
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            assert_eq!(event.seq, self.events);
            assert!(trace.contexts.get(event.context).is_some(), "no such context");
            assert!(event.ticks >= self.ticks, "time goes backwards");
            self.events += 1;
            self.ticks = event.ticks;
            self.bytes += event.record.len() as u64;
        }
        Flow::Continue(())
    }

    fn loss(&mut self, _: &Trace, loss: &Loss) -> Flow {
        self.losses.push((loss.before, loss.events, loss.offset));
        Flow::Continue(())
    }
}
