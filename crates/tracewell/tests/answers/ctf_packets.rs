//! The files of a CTF trace as a sample. Its packets have all fields that CTF 1.8 gives a meaning.
//!
//! Two streams are of the class 0. Their packets have times, sizes, sequence numbers and counts of
//! discarded events. One stream is of the class 1. Its packets have only sizes, and its timestamps
//! are short.

use crate::edits::Random;

/// The metadata.
const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; } := u8;
typealias integer { size = 16; } := u16;
typealias integer { size = 32; } := u32;
typealias integer { size = 64; } := u64;
trace {
  major = 1; minor = 8; byte_order = le; uuid = "00010203-0405-0607-0809-0a0b0c0d0e0f";
  packet.header := struct { u32 magic; u8 uuid[16]; u8 stream_id; u8 stream_instance_id; };
};
env { hostname = "board"; domain = "kernel"; tracer_name = "lttng-modules"; tracer_major = 2; };
clock { name = main; freq = 1000000; offset_s = 5; offset = 7; };
typealias integer { size = 64; map = clock.main.value; } := stamp;
stream {
  id = 0;
  packet.context := struct {
    stamp timestamp_begin; stamp timestamp_end; u64 content_size; u64 packet_size;
    u64 packet_seq_num; u64 events_discarded; u32 cpu_id;
  };
  event.header := struct {
    enum : integer { size = 5; align = 8; } { compact = 0 ... 30, extended = 31 } id;
    variant <id> {
      struct { integer { size = 27; map = clock.main.value; } timestamp; } compact;
      struct { u32 id; stamp timestamp; } extended;
    } v;
  };
  event.context := struct { u8 _tid; };
};
stream {
  id = 1;
  packet.context := struct { u32 content_size; u32 packet_size; };
  event.header := struct { u8 id; integer { size = 8; map = clock.main.value; } timestamp; };
};
event {
  id = 0; stream_id = 0; name = "step"; loglevel = 6;
  fields := struct { u8 number; string text; u8 _length; u16 list[_length]; };
};
event {
  id = 1; stream_id = 0; name = "sched_switch";
  fields := struct { u8 _prev_tid; u8 _prev_prio; u8 _prev_state; u8 _next_tid; u8 _next_prio; };
};
event {
  id = 40; stream_id = 0; name = "parts";
  fields := struct {
    integer { size = 3; signed = true; } low; integer { size = 13; base = 16; } high; integer { size = 16; byte_order = be; } word;
    enum : u8 { A, B = 4 ... 9, C } kind;
    variant <kind> { u8 A; string B; floating_point { exp_dig = 8; mant_dig = 24; } C; } choice;
    struct { u8 timestamp_begin; u16 y; } align(16) points[2];
    struct { u8 cpu_id; } inner;
  };
};
event {
  id = 2; stream_id = 0; name = "sizes";
  fields := struct {
    integer { size = 24; } three; integer { size = 40; signed = true; } five;
    integer { size = 48; } six; integer { size = 56; signed = true; } seven;
    integer { size = 40; byte_order = be; } five_big; integer { size = 56; byte_order = be; } seven_big;
    integer { size = 64; signed = true; base = 8; } eight; integer { size = 64; base = 16; } address;
  };
};
event { id = 0; stream_id = 1; name = "tick"; fields := struct { integer { size = 8; signed = true; } value; }; };
event { id = 1; stream_id = 1; name = "stop"; };
"#;

/// Returns the metadata. The events 2 to 9 of the class 1 have one to eight numbers, of 8 and 16
/// bits in turn. The events 10 to 12 have 31 to 33 numbers. A row can have 32.
fn metadata() -> Vec<u8> {
    let mut text = METADATA.to_owned();
    for count in 1..=8 {
        let fields =
            ["u8 a; ", "u16 b; ", "u8 c; ", "u16 d; ", "u8 e; ", "u16 f; ", "u8 g; ", "u16 h; "];
        let (id, fields) = (count + 1, fields[..count].concat());
        text += &format!(
            "event {{ id = {id}; stream_id = 1; name = n{count}; fields := struct {{ {fields} }}; }};\n"
        );
    }
    for count in 31..=33 {
        let fields: String = (0..count).map(|number| format!("u8 f{number}; ")).collect();
        let id = count - 21;
        text += &format!(
            "event {{ id = {id}; stream_id = 1; name = n{count}; fields := struct {{ {fields} }}; }};\n"
        );
    }
    text.into_bytes()
}

/// Names and contents of the files.
pub(crate) fn files() -> Vec<(&'static str, Vec<u8>)> {
    let in_order = [0, 1, 2, 3, 4];
    let (first, index) = timed(0, in_order, [0, 1, 2, 4, 5], [0, 0, 3, 3, 5]);
    let (second, _) = timed(1, in_order, [7, 8, 9, 10, 3], [2, 2, 2, 1, 4]);
    vec![
        ("metadata", metadata()),
        ("ch_0", first),
        ("ch_1", second),
        ("short", untimed()),
        ("index/ch_0.idx", index),
    ]
}

/// Names and contents of the files of a stream that is a copy of a circular memory: the newest two
/// packets come first. With an index, packets are in order.
pub(crate) fn circular(with_index: bool) -> Vec<(&'static str, Vec<u8>)> {
    let (stream, index) = timed(0, [3, 4, 0, 1, 2], [6, 7, 3, 4, 5], [3, 5, 0, 0, 3]);
    let files = vec![("metadata", metadata()), ("ch_0", stream), ("index/ch_0.idx", index)];
    files.into_iter().filter(|(name, _)| with_index || !name.starts_with("index")).collect()
}

/// Names and contents of the files of a stream whose events begin at any bit. It has random bits,
/// and each of the eight ids has an event. If `aligned` is true, the timestamp in the header of an
/// event begins at a multiple of 16 bits.
pub(crate) fn bits(aligned: bool) -> Vec<(&'static str, Vec<u8>)> {
    let align = if aligned { 16 } else { 1 };
    let mut metadata = format!(
        "/* CTF 1.8 */
        trace {{ major = 1; minor = 8; byte_order = le; }};
        clock {{ name = c; freq = 1000000; }};
        stream {{ event.header := struct {{
            integer {{ size = 3; }} id;
            integer {{ size = 13; align = {align}; map = clock.c.value; }} timestamp;
        }}; }};\n"
    );
    let fields = [
        "integer { size = 5; } a; integer { size = 12; signed = true; } b;",
        "integer { size = 8; align = 1; } a; integer { size = 16; align = 1; } b;",
        "integer { size = 8; } a; integer { size = 1; } b;",
        "integer { size = 32; align = 1; signed = true; } a; integer { size = 3; } b;",
        "integer { size = 16; align = 4; } a; integer { size = 16; align = 4; } b;",
        "integer { size = 64; align = 1; } a;",
        "struct { integer { size = 2; } a; integer { size = 9; } b; } align(4) c[2];",
        "",
    ];
    for (id, fields) in fields.iter().enumerate() {
        metadata +=
            &format!("event {{ id = {id}; name = e{id}; fields := struct {{ {fields} }}; }};\n");
    }
    let mut random = Random::of("bits");
    let stream = (0..160).map(|_| random.below(256) as u8).collect();
    vec![("metadata", metadata.into_bytes()), ("stream", stream)]
}

fn header(class: u8, instance: u8) -> Vec<u8> {
    let mut bytes = 0xC1FC_1FC1_u32.to_le_bytes().to_vec();
    bytes.extend(0..16);
    bytes.extend([class, instance]);
    bytes
}

/// Returns the packets of a stream with these positions in time, sequence numbers and counts of
/// discarded events. Also returns the index that LTTng would write.
fn timed(
    instance: u8,
    order: [u64; 5],
    numbers: [u64; 5],
    discarded: [u64; 5],
) -> (Vec<u8>, Vec<u8>) {
    let mut stream = Vec::new();
    // The magic number, the version 1.1 and the length of an entry.
    let mut index = [0xC1F1_DCC1_u32, 1, 1, 72].map(u32::to_be_bytes).concat();
    for packet in 0..5_u64 {
        let begin = (1 << 27) - 300 + 400 * order[packet as usize] + 150 * u64::from(instance);
        let mut events = Vec::new();
        for event in 0..5 {
            let stamp = begin + 45 * event;
            match (packet + event) % 4 {
                0 => {
                    events.extend(((stamp as u32) << 5).to_le_bytes());
                    events.extend([instance + 1, event as u8]);
                    events.extend(b"text\0\x02\x01\x00\x05\x01");
                }
                1 => {
                    events.extend(((stamp as u32) << 5 | 1).to_le_bytes());
                    let (from, to) = (1 + event as u8 % 2, 1 + packet as u8 % 2);
                    events.extend([from, from, 20, (event % 2) as u8, to, 21]);
                }
                2 => {
                    events.extend(((stamp as u32) << 5 | 2).to_le_bytes());
                    events.push(instance + 1);
                    events.extend((0..49).map(|byte| (byte * 5 + packet as u8).wrapping_add(0x70)));
                }
                _ => {
                    events.push(31);
                    events.extend(40_u32.to_le_bytes());
                    events.extend(stamp.to_le_bytes());
                    events.extend([instance + 1, 0xA5, 0x5A, 1, 2]);
                    events.extend(
                        [&[10, 0, 0, 0x40, 0x41][..], &[0, 0], b"\x04some\0"][event as usize % 3],
                    );
                    // Structures of the array begin at even bytes of the packet.
                    let at = 22 + 52 + events.len();
                    events.resize(events.len() + at % 2, 0);
                    events.extend([1, 2, 0, 0, 4, 5, 6, 7]);
                }
            }
        }
        let content = 8 * (22 + 52 + events.len()) as u64;
        let size = content + 8 * (packet % 3);
        let end = begin + 200;
        let offset = stream.len() as u64;
        stream.extend(header(0, instance));
        let number = numbers[packet as usize];
        let lost = discarded[packet as usize];
        let context = [begin, end, content, size, number, lost];
        stream.extend(context.map(u64::to_le_bytes).concat());
        stream.extend(u32::from(instance).to_le_bytes());
        stream.extend(events);
        stream.resize(stream.len() + (packet % 3) as usize, 0);
        let entry = [offset, size, content, begin, end, lost, 0, u64::from(instance), number];
        index.extend(entry.map(u64::to_be_bytes).concat());
    }
    (stream, index)
}

/// Returns the packets of the stream without times. The timestamps wrap at 256.
fn untimed() -> Vec<u8> {
    let mut stream = Vec::new();
    for packet in 0..4_u8 {
        let mut events = Vec::new();
        for event in 0..5_u8 {
            events.extend([
                0,
                (packet * 40).wrapping_add(event.wrapping_mul(67)),
                event.wrapping_sub(2),
            ]);
        }
        events.extend([1, (packet * 40).wrapping_add(220)]);
        for count in 1 + packet % 2 * 4..=4 + packet % 2 * 4 {
            events.extend([count + 1, (packet * 40).wrapping_add(225 + count)]);
            events.extend((0..count + count / 2).map(|byte| byte * 16 + count));
        }
        if packet == 2 {
            for count in 31..=33 {
                events.extend([count - 21, count - 1]);
                events.extend(0..count);
            }
        }
        let content = 8 * (22 + 8 + events.len()) as u32;
        let size = content + 8 * u32::from(packet);
        stream.extend(header(1, 0));
        stream.extend([content, size].map(u32::to_le_bytes).concat());
        stream.extend(events);
        stream.resize(stream.len() + usize::from(packet), 0);
    }
    stream
}
