//! Fuzz targets for the compact stream of small targets.

use tracewell::format::Settings;
use tracewell_wire::target::packet::CHECKED;
use tracewell_wire::target::{Header, crc16};

use super::{Tally, arriving};

/// Reads any bytes as a line or as a dump of memory, whole and in parts.
pub fn target(data: &[u8]) {
    let whole = tally(data, data.len().max(1));
    assert_eq!(tally(data, 1 + data.len() / 3), whole);
    assert!(whole.events * 2 <= data.len() as u64, "an event needs two bytes");
}

fn tally(data: &[u8], piece: usize) -> Tally {
    let mut tally = Tally { is_unordered: true, ..Tally::default() };
    let trace = arriving("target", &Settings::default(), data, piece, &mut tally);
    let trace = trace.expect("the decoder accepts any bytes");
    assert_eq!((trace.events, trace.span), (tally.events, tally.ticks));
    tally.objects = trace.objects.len();
    tally
}

/// Reads packets with valid checksums and arbitrary content. For each packet, `data` contains four
/// bytes for the fields of the header, a byte for the length of the payload, and the payload.
pub fn target_packets(data: &[u8]) {
    let (mut stream, mut rest) = (Vec::new(), data);
    let mut number = 0;
    while let Some(([core, step, first, time, length], after)) = rest.split_first_chunk() {
        number += u32::from(step & 3);
        let (payload, after) = after.split_at(after.len().min(usize::from(*length)));
        let header = Header {
            core: if core & 4 == 0 { core & 1 } else { 255 },
            number,
            first: u32::from(*first),
            time: u64::from(*time) << (8 * (step >> 5)),
            refused: u16::from(core >> 6),
            session: core >> 3 & 1,
            cores: 2,
        };
        let mut bytes = header.to_bytes();
        let sum = crc16(crc16(u16::MAX, &bytes[..CHECKED]), payload);
        bytes[24..26].copy_from_slice(&(payload.len() as u16).to_le_bytes());
        bytes[26..].copy_from_slice(&sum.to_le_bytes());
        stream.extend(bytes);
        stream.extend(payload);
        rest = after;
    }
    target(&stream);
}
