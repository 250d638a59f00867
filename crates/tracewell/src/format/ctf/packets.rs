//! Reads the header and the context of a packet.

use super::classes::{Class, Integer, Role};
use super::layout::Layout;
use super::position::{Bits, Fault, FaultKind};
use super::program::{Nothing, PacketNumbers, State};
use super::who::processor;

/// The magic number of packets.
const MAGIC: u64 = 0xC1FC_1FC1;

/// A packet whose header and context were read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    /// All bytes of the packet.
    pub(super) bytes: &'a [u8],
    /// Number of bytes of the packet.
    pub(super) size: usize,
    /// Offset of the packet in its file, in bytes.
    pub(super) offset: u64,
    /// Index of the stream class.
    pub(super) class: usize,
    /// The UUID of the packet, if it differs from that of the metadata.
    pub(super) other_trace: Option<[u8; 16]>,
    /// Position of the context, in bits from the beginning of the packet.
    pub(super) context: u64,
    /// Position of the first event, in bits.
    pub(super) body: u64,
    /// End of the events, in bits.
    pub(super) end: u64,
    /// The processor; 0 if it is not known.
    pub(super) processor: u16,
    pub(super) numbers: PacketNumbers,
}

/// The error for a packet that cannot be read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PacketFault {
    /// The message: what was expected, and what was found.
    pub(super) message: String,
    /// True if the packet may become readable with more bytes of the file or with more metadata.
    pub(super) is_incomplete: bool,
}

impl PacketFault {
    fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), is_incomplete: false }
    }

    fn incomplete(message: impl Into<String>) -> Self {
        Self { is_incomplete: true, ..Self::new(message) }
    }
}

impl Packet<'_> {
    /// Returns true if the packet states its size. A packet without a stated size extends to the
    /// end of its file.
    pub(super) fn has_size(&self) -> bool {
        self.numbers.packet_size.or(self.numbers.content_size).is_some()
    }

    /// Returns the packet within these bytes of its file. The file may have grown since the packet
    /// was read.
    pub(super) fn within(self, file: &[u8]) -> Packet<'_> {
        let rest = file.get(self.offset as usize..).unwrap_or_default();
        let (size, end) = match self.has_size() {
            true => (self.size, self.end),
            false => (rest.len(), rest.len() as u64 * 8),
        };
        Packet { bytes: rest.get(..size).unwrap_or_default(), size, end, ..self }
    }
}

/// Reads the header and the context of the packet at the beginning of `rest`; `rest` extends to the
/// end of the file. `offset` is the packet's offset in the file. Stores the packet's numbers in
/// `state`.
pub(super) fn read<'a>(
    layout: &Layout,
    rest: &'a [u8],
    offset: u64,
    state: &mut State,
) -> Result<Packet<'a>, PacketFault> {
    let all = rest.len() as u64 * 8;
    let mut bits = Bits { bytes: rest, at: 0, end: all };
    state.packet = PacketNumbers::default();
    state.empty_elements = 0;
    state.order = None;
    let fault = |fault: Fault| PacketFault {
        is_incomplete: matches!(fault.kind, FaultKind::Beyond | FaultKind::Unterminated),
        ..PacketFault::new(format!("expected a packet, {fault}"))
    };
    layout.header.run(&mut bits, state, &mut Nothing).map_err(fault)?;
    if let Some(magic) = state.packet.magic.filter(|magic| *magic != MAGIC) {
        let message =
            format!("expected a packet with the magic number 0xC1FC1FC1, found 0x{magic:X}");
        return Err(PacketFault::new(message));
    }
    let other_trace = layout.uuid.and_then(|(expected, from)| {
        let found = rest.get(from..)?.first_chunk::<16>()?;
        (*found != expected).then_some(*found)
    });
    let Some(class) = layout.stream_class(state.packet.class) else {
        let message = match state.packet.class {
            Some(id) => format!("expected a stream class of the metadata, found id {id}"),
            None => "expected one stream class in the metadata".to_owned(),
        };
        return Err(PacketFault::incomplete(message));
    };
    let context = bits.at;
    if let Some(stream) = layout.streams.get(class) {
        state.is_timed = false;
        stream.context.run(&mut bits, state, &mut Nothing).map_err(fault)?;
        state.packet.begin = state.is_timed.then_some(state.clock);
    }
    let numbers = state.packet;
    let size = numbers.packet_size.or(numbers.content_size).unwrap_or(all);
    let content = numbers.content_size.unwrap_or(size);
    if size == 0 || !size.is_multiple_of(8) {
        let message = format!("expected a packet of whole bytes, found a size of {size} bits");
        return Err(PacketFault::new(message));
    }
    if content > size || content < bits.at {
        let message = format!(
            "expected a packet with {} to {size} bits of content, found {content}",
            bits.at
        );
        return Err(PacketFault::new(message));
    }
    let Some(bytes) = usize::try_from(size / 8).ok().and_then(|size| rest.get(..size)) else {
        let message = format!(
            "expected a packet of {} bytes, found the end of the file after {}",
            size / 8,
            rest.len()
        );
        return Err(PacketFault::incomplete(message));
    };
    Ok(Packet {
        bytes,
        size: bytes.len(),
        offset,
        class,
        other_trace,
        context,
        body: bits.at,
        end: content,
        processor: processor(numbers.cpu),
        numbers,
    })
}

/// Returns the number with which packets begin, or `None` if they have no magic number.
fn magic_of(layout: &Layout) -> Option<&Integer> {
    let header = layout.metadata.packet_header.as_ref()?;
    let Class::Integer(first) = &header.members.first()?.class else { return None };
    first.roles.contains(&Role::Magic).then_some(first)
}

/// Returns an identifier as text.
pub(super) fn hyphenated(uuid: [u8; 16]) -> String {
    let mut text = String::new();
    for (index, byte) in uuid.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    text
}

/// Searches `rest` for the next packet and returns its offset, at least 1. Returns `None` if there
/// is no further packet, or if packets have no magic number.
pub(super) fn find(layout: &Layout, rest: &[u8]) -> Option<usize> {
    let magic = magic_of(layout)?.order.bytes_of_u32(MAGIC as u32);
    let mut from = 1;
    loop {
        from += rest.get(from..)?.windows(4).position(|window| window == magic)?;
        // Data can also contain the magic number, so the UUID of the trace must follow it.
        let is_packet = layout.uuid.is_none_or(|(expected, at)| {
            let uuid = rest.get(from + at..).and_then(|after| after.first_chunk::<16>());
            uuid.is_none_or(|uuid| *uuid == expected)
        });
        if is_packet {
            return Some(from);
        }
        from += 1;
    }
}
