//! Generates CTF traces in the layout of LTTng-UST. Contains two baselines for this layout: a loop
//! that only reads, and a loop that does the work of a decoder.

use std::io::Write;

/// The metadata: headers of LTTng-UST's large channels, the thread as context, and two event
/// classes.
pub const METADATA: &str = r#"/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 16; align = 8; signed = false; } := uint16_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 32; align = 8; signed = true; } := int32_t;
trace {
    major = 1; minor = 8; byte_order = le;
    packet.header := struct { uint32_t magic; uint32_t stream_id; };
};
clock { name = monotonic; freq = 1000000000; offset = 1795330231646477582; };
typealias integer { size = 32; align = 8; map = clock.monotonic.value; } := uint32_clock_t;
typealias integer { size = 64; align = 8; map = clock.monotonic.value; } := uint64_clock_t;
stream {
    id = 0;
    packet.context := struct {
        uint64_clock_t timestamp_begin; uint64_clock_t timestamp_end;
        uint64_t content_size; uint64_t packet_size; uint32_t cpu_id;
    };
    event.header := struct {
        enum : uint16_t { compact = 0 ... 65534, extended = 65535 } id;
        variant <id> {
            struct { uint32_clock_t timestamp; } compact;
            struct { uint32_t id; uint64_clock_t timestamp; } extended;
        } v;
    } align(8);
    event.context := struct { int32_t _vtid; };
};
event { name = "app:sample"; id = 0; stream_id = 0;
    fields := struct { uint32_t _sensor; int32_t _value; uint64_t _total; }; };
event { name = "app:message"; id = 1; stream_id = 0;
    fields := struct { string _text; uint8_t _length; int32_t _numbers[_length]; }; };
"#;

/// Length of a packet in bytes.
const PACKET: usize = 64 * 1024;

/// Length of the header and the context of a packet, in bytes.
const HEAD: usize = 44;

/// The number of events in a stream, and the time that they span.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Tally {
    /// Number of events.
    pub events: u64,
    /// Nanoseconds from the first event to the last.
    pub ticks: u64,
}

/// Returns a stream of about `size` bytes from one processor, and its tally.
pub fn stream(size: usize, cpu: u32) -> (Vec<u8>, Tally) {
    let (mut out, mut tally, mut now) = (Vec::new(), Tally::default(), 1_000_000_u64);
    let first = now + 417;
    while out.len() < size {
        let (begin, mut body) = (now, Vec::new());
        while HEAD + body.len() + 64 < PACKET {
            now += 417;
            tally.events += 1;
            let is_message = tally.events % 8 == 0;
            body.extend(u16::from(is_message).to_le_bytes());
            body.extend((now as u32).to_le_bytes());
            body.extend((3881 + tally.events as u32 % 5).to_le_bytes());
            if is_message {
                body.extend(b"the valve is open\0\x02");
                body.extend([1_i32, -2].into_iter().flat_map(i32::to_le_bytes));
            } else {
                body.extend((tally.events as u32 % 16).to_le_bytes());
                body.extend((-(tally.events as i32)).to_le_bytes());
                body.extend(tally.events.to_le_bytes());
            }
        }
        let bits = 8 * (HEAD + body.len()) as u64;
        out.extend(0xC1FC_1FC1_u32.to_le_bytes());
        out.extend(0_u32.to_le_bytes());
        out.extend([begin, now, bits, 8 * PACKET as u64].into_iter().flat_map(u64::to_le_bytes));
        out.extend(cpu.to_le_bytes());
        out.extend(&body);
        out.resize(out.len().next_multiple_of(PACKET), 0);
    }
    tally.ticks = now - first;
    (out, tally)
}

/// Writes a trace to a folder. Each stream has about `size` bytes. Returns the tally of the trace.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub fn write(folder: &std::path::Path, streams: u32, size: usize) -> std::io::Result<Tally> {
    std::fs::write(folder.join("metadata"), METADATA)?;
    let mut all = Tally::default();
    for cpu in 0..streams {
        let (bytes, tally) = stream(size, cpu);
        std::fs::File::create(folder.join(format!("channel_{cpu}")))?.write_all(&bytes)?;
        all = Tally { events: all.events + tally.events, ticks: tally.ticks };
    }
    Ok(all)
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?)))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

/// Reads all fields of a stream with a loop for this layout, without storing anything. Adds the
/// fields to `sum`, so that the compiler does not remove the reads. Returns `None` if the
/// stream is truncated.
pub fn read_stream(stream: &[u8], sum: &mut u64) -> Option<Tally> {
    let (mut tally, mut first) = (Tally::default(), None);
    for packet in stream.chunks(PACKET) {
        let mut clock = u64_at(packet, 8)?;
        let end = (u64_at(packet, 24)? / 8) as usize;
        let mut at = HEAD;
        while at < end {
            let id = u16::from_le_bytes(*packet.get(at..)?.first_chunk()?);
            let stamp = u32_at(packet, at + 2)?;
            clock += stamp.wrapping_sub(clock) & 0xFFFF_FFFF;
            *sum = sum.wrapping_add(u32_at(packet, at + 6)?);
            at += 10;
            if id == 0 {
                let value = u32_at(packet, at)? + u32_at(packet, at + 4)? + u64_at(packet, at + 8)?;
                *sum = sum.wrapping_add(value);
                at += 16;
            } else {
                at += 1 + packet.get(at..)?.iter().position(|byte| *byte == 0)?;
                let numbers = usize::from(*packet.get(at)?);
                at += 1;
                for _ in 0..numbers {
                    *sum = sum.wrapping_add(u32_at(packet, at)?);
                    at += 4;
                }
            }
            tally.events += 1;
            tally.ticks = clock - *first.get_or_insert(clock);
        }
    }
    Some(tally)
}

/// The events that a loop for this layout stores: the facts of each event, and the bytes of its
/// arguments.
#[derive(Debug, Default)]
pub struct Stored {
    /// The time, the id, the processor and the thread of each event, and the position of its
    /// arguments.
    pub events: Vec<(u64, u32, u16, u32, u32)>,
    /// The arguments of all events.
    pub arguments: Vec<u8>,
}

/// The position in a stream.
struct Cursor<'s> {
    packets: std::slice::Chunks<'s, u8>,
    packet: &'s [u8],
    at: usize,
    end: usize,
    cpu: u16,
    /// The time and the id of the next event.
    clock: u64,
    id: u16,
}

impl Cursor<'_> {
    /// Reads the header of the next event. Returns `None` at the end of the stream.
    fn advance(&mut self) -> Option<()> {
        if self.at >= self.end {
            self.packet = self.packets.next()?;
            self.clock = u64_at(self.packet, 8)?;
            self.end = (u64_at(self.packet, 24)? / 8) as usize;
            self.cpu = u32_at(self.packet, 40)? as u16;
            self.at = HEAD;
        }
        let word = u64_at(self.packet, self.at)?;
        self.id = word as u16;
        self.clock += (word >> 16).wrapping_sub(self.clock) & 0xFFFF_FFFF;
        self.at += 6;
        Some(())
    }

    /// Stores the next event.
    fn store(&mut self, out: &mut Stored) -> Option<()> {
        let (packet, place) = (self.packet, out.arguments.len() as u32);
        let thread = u32_at(packet, self.at)?;
        out.events.push((self.clock, u32::from(self.id), self.cpu, thread as u32, place));
        let signed = |at| Some(i64::from(u32_at(packet, at)? as i32).to_le_bytes());
        if self.id == 0 {
            let sensor = u32_at(packet, self.at + 4)?.to_le_bytes();
            let total = u64_at(packet, self.at + 12)?.to_le_bytes();
            let row = [sensor, signed(self.at + 8)?, total, thread.to_le_bytes()];
            out.arguments.extend_from_slice(row.as_flattened());
            self.at += 20;
            return Some(());
        }
        let text = packet.get(self.at + 4..)?;
        let text = text.get(..text.iter().position(|byte| *byte == 0)?)?;
        let numbers = self.at + 4 + text.len() + 2;
        let count = u64::from(*packet.get(numbers - 1)?);
        let row = [text.len() as u64, count, thread].map(u64::to_le_bytes);
        out.arguments.extend_from_slice(row.as_flattened());
        out.arguments.extend_from_slice(text);
        for index in 0..count as usize {
            out.arguments.extend_from_slice(&signed(numbers + 4 * index)?);
        }
        self.at = numbers + 4 * count as usize;
        Some(())
    }
}

/// Merges streams by time and stores all events with their arguments, as a decoder does. The loop
/// is written for this layout, so its time is a lower bound for a decoder. Calls `take` with each
/// batch of events. Returns `None` if a stream is truncated.
pub fn store_streams(streams: &[Vec<u8>], mut take: impl FnMut(&Stored)) -> Option<Tally> {
    let (mut out, mut tally, mut first) = (Stored::default(), Tally::default(), None);
    let cursor = |stream| Cursor {
        packets: <[u8]>::chunks(stream, PACKET),
        packet: &[],
        at: 0,
        end: 0,
        cpu: 0,
        clock: 0,
        id: 0,
    };
    let mut cursors: Vec<_> = streams.iter().map(|stream| cursor(stream)).collect();
    cursors.retain_mut(|cursor| cursor.advance().is_some());
    while let Some(earliest) = (0..cursors.len()).min_by_key(|index| cursors[*index].clock) {
        let cursor = &mut cursors[earliest];
        tally.events += 1;
        tally.ticks = cursor.clock - *first.get_or_insert(cursor.clock);
        cursor.store(&mut out)?;
        if cursor.advance().is_none() {
            cursors.remove(earliest);
        }
        if out.events.len() == 4096 {
            take(&out);
            out.events.clear();
            out.arguments.clear();
        }
    }
    take(&out);
    Some(tally)
}
