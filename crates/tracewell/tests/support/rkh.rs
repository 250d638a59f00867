//! RKH captures with expected results, and constructed streams.
#![allow(dead_code, unreachable_pub, reason = "each test crate uses a part of this")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use tracewell_wire::rkh::{Configuration, Dialect, Form, Settings, encode, ids, switches};

use tracewell::format::{self, Input};
use tracewell::model::{Batch, Event, Flow, Sink, Trace};
use tracewell::text::{Describer, TextBuffer};

use super::support::{fixture, settings, shared, table};

/// A capture, and the options that it needs.
#[derive(Debug)]
pub struct Capture {
    pub path: PathBuf,
    pub options: Vec<String>,
    /// The capture's row in the table of expected totals.
    pub expected: HashMap<String, String>,
}

/// Returns the captures of the project, and the shared captures if they are present.
pub fn captures() -> Vec<Capture> {
    let outside = shared().map(|shared| shared.join("data/rkh"));
    let sets = outside.iter().flat_map(|rkh| ["linux", "real"].map(|set| rkh.join(set)));
    let captures: Vec<_> = std::iter::once(fixture("rkh"))
        .chain(sets)
        .flat_map(|folder: PathBuf| set(&folder))
        .collect();
    assert!(captures.len() >= 3);
    captures
}

fn set(folder: &Path) -> Vec<Capture> {
    let settings = folder.join("captures.tsv");
    let settings = if settings.exists() { table(&settings) } else { Vec::new() };
    let capture = |expected: HashMap<String, String>| {
        let path = folder.join(&expected["file"]);
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let options = match name.split('-').nth(1) {
            // A capture of dialect 2.0-pre, which has no configuration record.
            Some("2012") => vec!["dialect=2.0-pre".to_owned()],
            Some("a") if name.ends_with("late") => {
                let row = settings.iter().find(|row| row["file"] == name).unwrap();
                options(row)
            }
            _ => Vec::new(),
        };
        Capture { path, options, expected }
    };
    table(&folder.join("expected.tsv")).into_iter().map(capture).collect()
}

/// The options for a row of the table of settings.
fn options(row: &HashMap<String, String>) -> Vec<String> {
    let keys = [
        ("id", "id_bytes"),
        ("seq", "seq"),
        ("ts", "ts_bytes"),
        ("checksum", "checksum"),
        ("ptr", "ptr"),
        ("fptr", "fptr"),
        ("sig", "sig"),
        ("ntimer", "ntimer"),
        ("nblock", "nblock"),
        ("bsize", "bsize"),
        ("nelem", "nelem"),
        ("esize", "esize"),
        ("sender", "sender"),
        ("que-lwm", "que_lwm"),
        ("mp-lwm", "mp_lwm"),
        ("rate", "ts_hz"),
    ];
    keys.iter().map(|(key, column)| format!("{key}={}", row[*column])).collect()
}

/// A stream under construction.
#[derive(Debug)]
pub struct Stream {
    pub settings: Settings,
    pub bytes: Vec<u8>,
    number: u8,
}

impl Stream {
    /// Creates a stream that begins with the flag.
    pub fn new(settings: Settings) -> Self {
        Self { settings, bytes: vec![0x7E], number: 0 }
    }

    /// Adds a record with the next number.
    pub fn record(&mut self, id: u32, stamp: u32, arguments: &[u8]) -> &mut Self {
        let s = self.settings;
        let mut frame = id.to_le_bytes()[..usize::from(s.id)].to_vec();
        if s.sequence {
            frame.push(self.number);
            self.number = self.number.wrapping_add(1);
        }
        frame.extend(&stamp.to_le_bytes()[..usize::from(s.stamp)]);
        frame.extend(arguments);
        self.frame(&frame)
    }

    /// Adds a frame with this content: escapes the bytes, and appends a checksum if the settings
    /// require it.
    pub fn frame(&mut self, frame: &[u8]) -> &mut Self {
        let mut room = vec![0; 2 * frame.len() + 4];
        let length = encode(frame, self.settings.checksum, &mut room).unwrap();
        self.bytes.extend(&room[..length]);
        self
    }

    /// Adds bytes unchanged.
    pub fn raw(&mut self, bytes: &[u8]) -> &mut Self {
        self.bytes.extend(bytes);
        self
    }

    /// Sets the sequence number of the next record.
    pub fn number(&mut self, number: u8) -> &mut Self {
        self.number = number;
        self
    }
}

/// A configuration record's payload.
pub fn configuration(settings: Settings, version: u16) -> Vec<u8> {
    let flags = [
        (settings.sender, switches::SENDER),
        (settings.queue_low_water, switches::QUEUE_LOW_WATER),
        (settings.pool_low_water, switches::POOL_LOW_WATER),
        (settings.sequence, switches::SEQUENCE),
        (settings.stamp > 0, switches::STAMP),
        (settings.checksum, switches::CHECKSUM),
    ];
    let form = match version {
        0 => Form::Five,
        0x2403 => Form::Ten,
        _ => Form::Thirteen,
    };
    let record = Configuration {
        form,
        version,
        flags: flags.iter().filter(|(on, _)| *on).fold(0, |flags, (_, bit)| flags | bit),
        settings,
        stamp_size: settings.stamp.max(1),
        max_pools: 4,
        stamps_per_second: 1000,
    };
    let mut payload = vec![0; form.payload()];
    record.write_payload(&mut payload).unwrap();
    payload
}

/// Adds the configuration record that a target with RKH 3.4 sends when it starts.
pub fn configure(stream: &mut Stream) {
    let id = ids::id(ids::TCFG, stream.settings.id, true);
    let mut frame = id.to_le_bytes()[..usize::from(stream.settings.id)].to_vec();
    frame.extend(configuration(stream.settings, 0x3400));
    stream.frame(&frame);
}

/// Returns the texts of a stream's events.
pub fn texts(bytes: &[u8], options: &[&str]) -> Vec<String> {
    struct Texts(Describer, Vec<String>);
    impl Sink for Texts {
        fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
            for row in batch.events() {
                let mut out = TextBuffer::default();
                self.0.put(&mut out, Event::new(trace, &row));
                self.1.push(String::from_utf8(out.as_bytes().to_vec()).unwrap());
            }
            Flow::Continue(())
        }
    }
    let format = format::by_name("rkh").unwrap();
    let mut decoder = format.decoder(&settings(options)).unwrap();
    let (mut trace, mut texts) = (decoder.trace(), Texts(Describer::default(), Vec::new()));
    let input = Input { offset: 0, bytes, last: true };
    decoder.decode(input, &mut trace, &mut texts).unwrap();
    texts.1
}

/// Returns the options that replace a configuration record.
pub fn options_of(dialect: Dialect, s: &Settings) -> Vec<String> {
    let on = |on: bool| if on { "on" } else { "off" };
    vec![
        format!("dialect={dialect}"),
        format!("id={}", s.id),
        format!("seq={}", on(s.sequence)),
        format!("ts={}", s.stamp),
        format!("checksum={}", on(s.checksum)),
        format!("ptr={}", s.pointer),
        format!("sig={}", s.signal),
        format!("esize={}", s.event_size),
        format!("nblock={}", s.block_count),
        format!("bsize={}", s.block_size),
        format!("nelem={}", s.queue_count),
        format!("ntimer={}", s.timer_ticks),
        format!("sender={}", on(s.sender)),
        format!("que-lwm={}", on(s.queue_low_water)),
        format!("mp-lwm={}", on(s.pool_low_water)),
    ]
}
