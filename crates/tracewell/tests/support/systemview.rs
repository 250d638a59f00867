//! Reads the expected lists of SystemView streams, and builds packets.

use std::path::Path;

use serde_json::Value;
use tracewell::model::{Trace, values};
use tracewell_wire::systemview::{Form, Packet, number};

use super::Row;

/// A row of an expected list.
#[derive(Clone, Debug)]
pub struct Expected {
    pub core: u16,
    pub offset: usize,
    pub size: usize,
    pub ticks: Option<u64>,
    pub name: String,
    pub args: Value,
}

/// Reads `FILE.events.tsv`: all parts of a stream in the order of the file.
pub fn events(path: &Path) -> Vec<Expected> {
    let number = |row: &[&str], at: usize| row[at].parse::<u64>().unwrap();
    let read = |row: &[&str]| Expected {
        core: number(row, 1) as u16,
        offset: number(row, 2) as usize,
        size: number(row, 3) as usize,
        ticks: row[4].parse().ok(),
        name: row[6].to_owned(),
        args: serde_json::from_str(row[7]).unwrap(),
    };
    rows(path).iter().map(|row| read(&row.iter().map(String::as_str).collect::<Vec<_>>())).collect()
}

/// Reads `NAME.truth.tsv`: the events that a simulated target recorded or lost.
pub fn truth(path: &Path) -> Vec<Expected> {
    let read = |row: &Vec<String>| Expected {
        core: row[0].parse().unwrap(),
        offset: 0,
        size: 0,
        ticks: row[1].parse().ok(),
        name: row[2].clone(),
        args: serde_json::from_str(&row[3]).unwrap(),
    };
    rows(path).iter().map(read).collect()
}

/// Reads the rows of a tab-separated table, without its header.
pub fn rows(path: &Path) -> Vec<Vec<String>> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines().skip(1).map(|line| line.split('\t').map(str::to_owned).collect()).collect()
}

/// Returns true if a row is a packet.
pub fn is_packet(row: &Expected) -> bool {
    !["sync", "skipped", "truncated", "damage", "lost"].contains(&row.name.as_str())
}

/// Returns the name of an event in expected lists.
pub fn name(trace: &Trace, id: u32) -> String {
    match id {
        0..30 | 32768..32775 => trace.schema.event(id).name.clone(),
        id => format!("ID_{id}"),
    }
}

/// Returns the decoded arguments of a standard event, written as in the expected lists. If `init`
/// contains the address base and the shift, shrinks the addresses of tasks and resources. Returns
/// `None` for events of operating systems and modules.
pub fn args(trace: &Trace, row: &Row, init: Option<(u64, u64)>) -> Option<Value> {
    let event = trace.schema.event(row.id);
    let number = |at: usize| trace.payload.argument(&row.payload, at);
    let text = |at| String::from_utf8_lossy(trace.payload.bytes(&row.payload, at)).into_owned();
    let id = |at: usize| {
        let address = number(at)?;
        let shrink = |(base, shift)| (address.wrapping_sub(base) & 0xFFFF_FFFF) >> shift;
        Some(Value::from(init.map_or(address, shrink)))
    };
    let plain = |at: usize| number(at).map(Value::from);
    let float = |at: usize| number(at).map(|bits| Value::from(f64::from_bits(bits)));
    let signed = |at: usize| number(at).map(|n| Value::from(n as u32 as i32));
    let is_shrunk = |name: &str| ["task", "timer", "resource", "heap", "block"].contains(&name);
    let mut out = serde_json::Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        value.into_iter().for_each(|value| drop(out.insert(name.to_owned(), value)));
    };
    match row.id {
        26 => {
            let is_formatted = number(2).is_some();
            put("text", Some(text(if is_formatted { 2 } else { 0 }).into()));
            put("level", plain(1));
            let list = trace.payload.bytes(&row.payload, 3);
            let list: Vec<_> = values::list_items(list)
                .map(|item| match item {
                    values::ListItem::Unsigned(value, _) => Value::from(value),
                    other => panic!("{other:?}"),
                })
                .collect();
            put("argc", Some(list.len().into()));
            put("argv", Some(list.into()));
        }
        23 => {
            put("data", plain(0));
            put("value", float(1));
        }
        32774 => {
            put("data", plain(0));
            put("name", Some(text(1).into()));
            put("type", plain(2));
            put("offset", signed(3));
            put("min", signed(4));
            put("max", signed(5));
            put("scale", float(6));
            put("unit", number(7).map(|_| text(7).into()));
        }
        32770 => {
            put("heap", id(0));
            put("base", id(1));
            let shift = init.map_or(0, |(_, shift)| shift);
            put("size", number(2).map(|size| Value::from(size >> shift)));
            put("metadata", plain(3));
        }
        1..30 | 32768..32774 => {
            let shift = init.map_or(0, |(_, shift)| shift);
            for (at, argument) in event.args.iter().enumerate() {
                let expected = match (row.id, argument.name.as_str()) {
                    (9, "priority") => "prio",
                    (14 | 22, "description") => "desc",
                    (22, "first_id") => "offset",
                    (28, "result") => "value",
                    (_, name) => name,
                };
                let value = match argument.kind {
                    tracewell::model::schema::ArgumentKind::Text => Some(text(at).into()),
                    _ if is_shrunk(expected) => id(at),
                    _ if row.id > 30 && expected == "size" => {
                        number(at).map(|size| Value::from(size >> shift))
                    }
                    _ => plain(at),
                };
                put(expected, value);
            }
        }
        _ => return None,
    }
    Some(Value::Object(out))
}

/// Returns a payload with further numbers.
pub fn with_numbers(mut payload: Vec<u8>, numbers: &[u32]) -> Vec<u8> {
    for number in numbers {
        let mut room = [0; number::MAX_BYTES];
        let length = number::write(*number, &mut room).expect("there is room");
        payload.extend(&room[..length]);
    }
    payload
}

/// Appends a packet that follows one tick after the previous one.
pub fn put(bytes: &mut Vec<u8>, id: u32, payload: &[u8]) {
    put_after(1, bytes, id, payload);
}

/// Appends a packet that follows a number of ticks after the previous one.
pub fn put_after(delta: u32, bytes: &mut Vec<u8>, id: u32, payload: &[u8]) {
    let mut room = vec![0; payload.len() + 16];
    let packet = Packet { core: 0, id, payload, delta, length: 0 };
    let length = packet.write(Form::default(), &mut room).unwrap();
    bytes.extend(&room[..length]);
}
