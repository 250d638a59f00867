//! Reads Perfetto traces with code that is independent of the export: only the numbers of the
//! fields are known.
#![allow(dead_code, reason = "each test crate uses a part of this")]

use std::collections::HashMap;

/// The fields of a message in order: number, and value or content.
#[derive(Clone, Debug)]
pub(crate) enum Field<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

/// Returns the fields of a message.
pub(crate) fn fields(mut bytes: &[u8]) -> Vec<(u64, Field<'_>)> {
    let mut fields = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes);
        let value = match tag & 7 {
            0 => Field::Number(varint(&mut bytes)),
            1 => {
                let (number, rest) = bytes.split_at(8);
                bytes = rest;
                Field::Number(u64::from_le_bytes(number.try_into().unwrap()))
            }
            2 => {
                let length = varint(&mut bytes) as usize;
                let (content, rest) = bytes.split_at(length);
                bytes = rest;
                Field::Bytes(content)
            }
            other => panic!("wire type {other}"),
        };
        fields.push((tag >> 3, value));
    }
    fields
}

fn varint(bytes: &mut &[u8]) -> u64 {
    let mut value = 0;
    for shift in (0..).step_by(7) {
        let (first, rest) = bytes.split_first().unwrap();
        *bytes = rest;
        value |= u64::from(first & 0x7F) << shift;
        if first & 0x80 == 0 {
            break;
        }
    }
    value
}

/// The first field with this number: a number, or the content of a message or text.
pub(crate) fn number(message: &[u8], field: u64) -> Option<u64> {
    fields(message).into_iter().find(|(id, _)| *id == field).map(|(_, value)| match value {
        Field::Number(number) => number,
        Field::Bytes(_) => panic!("field {field} is not a number"),
    })
}

/// Returns the contents of all fields with this number.
pub(crate) fn contents(message: &[u8], field: u64) -> Vec<&[u8]> {
    let of = fields(message).into_iter().filter(|(id, _)| *id == field);
    of.map(|(_, value)| match value {
        Field::Bytes(bytes) => bytes,
        Field::Number(_) => panic!("field {field} is a number"),
    })
    .collect()
}

pub(crate) fn text(message: &[u8], field: u64) -> Option<String> {
    contents(message, field).first().map(|text| String::from_utf8(text.to_vec()).unwrap())
}

/// A change that a packet contains.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Packet {
    /// Core, thread, state.
    State(u64, u64, u64),
    /// Track, name.
    Begin(u64, String),
    End(u64),
    /// Track, name, numbers of flows.
    Instant(u64, String, Vec<u64>),
    Counter(u64, i64),
    /// Packets before this one are missing.
    Lost,
}

/// The content of a trace.
#[derive(Debug, Default)]
pub(crate) struct Read {
    pub(crate) packets: Vec<(u64, Packet)>,
    /// Name and parent of each track. The track of a thread has the thread's name.
    pub(crate) tracks: HashMap<u64, (String, Option<u64>)>,
    /// Names of threads by number, from the process tree.
    pub(crate) threads: HashMap<u64, String>,
}

impl Read {
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let (mut read, mut names) = (Self::default(), HashMap::new());
        for packet in contents(bytes, 1) {
            if number(packet, 13).unwrap() & 1 == 1 {
                names.clear();
            }
            for interned in contents(packet, 12) {
                for entry in contents(interned, 2) {
                    names.insert(number(entry, 1).unwrap(), text(entry, 2).unwrap());
                }
            }
            let time = number(packet, 8);
            let mut add = |packet| read.packets.push((time.unwrap(), packet));
            if number(packet, 42) == Some(1) {
                add(Packet::Lost);
            }
            for state in contents(packet, 117) {
                let [core, thread, state] = [1, 3, 4].map(|field| number(state, field).unwrap());
                add(Packet::State(core, thread, state));
            }
            for event in contents(packet, 11) {
                let track = number(event, 11).unwrap();
                let name = || names[&number(event, 10).unwrap()].clone();
                let flows = || {
                    let ids = fields(event).into_iter().filter(|(id, _)| [47, 48].contains(id));
                    ids.map(|(_, value)| match value {
                        Field::Number(id) => id,
                        Field::Bytes(_) => panic!("a flow is a number"),
                    })
                    .collect()
                };
                add(match number(event, 9).unwrap() {
                    1 => Packet::Begin(track, name()),
                    2 => Packet::End(track),
                    3 => Packet::Instant(track, name(), flows()),
                    4 => Packet::Counter(track, number(event, 30).unwrap() as i64),
                    other => panic!("type {other}"),
                });
            }
            for track in contents(packet, 60) {
                let of_thread = contents(track, 4).first().and_then(|thread| text(thread, 5));
                let of_process = contents(track, 3).first().and_then(|process| text(process, 6));
                let name = text(track, 2).or(of_thread).or(of_process).unwrap();
                read.tracks.insert(number(track, 1).unwrap(), (name, number(track, 5)));
            }
            for tree in contents(packet, 122) {
                for thread in contents(tree, 2) {
                    read.threads.insert(number(thread, 1).unwrap(), text(thread, 3).unwrap());
                }
            }
        }
        read
    }

    /// Returns the name of a track, after the names of its parents.
    pub(crate) fn path(&self, track: u64) -> String {
        let (name, parent) = &self.tracks[&track];
        parent.map_or(name.clone(), |parent| format!("{}/{name}", self.path(parent)))
    }

    /// Returns all slices: path of the track, name, beginning, end.
    pub(crate) fn slices(&self) -> Vec<(String, String, u64, u64)> {
        let (mut open, mut slices) = (HashMap::<u64, Vec<(String, u64)>>::new(), Vec::new());
        for (time, packet) in &self.packets {
            match packet {
                Packet::Begin(track, name) => {
                    open.entry(*track).or_default().push((name.clone(), *time));
                }
                Packet::End(track) => {
                    let (name, from) = open.get_mut(track).unwrap().pop().unwrap();
                    slices.push((self.path(*track), name, from, *time));
                }
                _ => {}
            }
        }
        assert!(open.values().all(Vec::is_empty), "a slice has no end");
        slices
    }
}
