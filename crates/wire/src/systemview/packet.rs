//! Packets: reading, checking and writing them.

use super::ids::{self, SHAPES};
use super::{Fault, MAX_PAYLOAD, TextOrder, number, text};

/// The properties of a stream that its packets do not contain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Form {
    /// The order of the two bytes in the length of a long text.
    pub texts: TextOrder,
    /// True if the ids contain the number of the core, as Espressif's tools wrote them from 2020 to
    /// 2024. The number is bit 6 of a one-byte id, or bit 6 of the second byte of a two-byte id.
    pub core_in_id: bool,
}

/// A packet.
///
/// ```
/// use tracewell_wire::systemview::{Form, Packet, ids};
///
/// let packet = Packet { core: 0, id: ids::ISR_ENTER, payload: &[15], delta: 300, length: 4 };
/// let mut bytes = [0; 4];
/// assert_eq!(packet.write(Form::default(), &mut bytes), Some(4));
/// assert_eq!(bytes, [2, 15, 0xAC, 0x02]);
/// assert_eq!(Packet::read(&bytes, Form::default()), Ok(packet));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<'a> {
    /// Number of the core, if ids contain it; otherwise 0.
    pub core: u8,
    /// The id of the event.
    pub id: u32,
    /// The bytes of the parameters.
    pub payload: &'a [u8],
    /// Ticks since the previous packet.
    pub delta: u32,
    /// Length of the packet in bytes.
    pub length: usize,
}

impl<'a> Packet<'a> {
    /// Reads the packet at the start of `bytes`. Does not check the parameters of packets with a
    /// length; [`Packet::check`] does.
    ///
    /// # Errors
    /// Returns an error if the bytes end within the packet or cannot be a packet.
    #[inline]
    pub fn read(bytes: &'a [u8], form: Form) -> Result<Self, Fault> {
        let (id, core, mut at) = read_id(bytes, form)?;
        let start = match SHAPES.get(id as usize) {
            // The ids 0 to 23 have a known shape and no length.
            Some(shape) => {
                let start = at;
                for _ in 0..shape.numbers {
                    at += number::read(after(bytes, at))?.1;
                }
                if shape.text {
                    at += text::read(after(bytes, at), form.texts)?.1;
                }
                start
            }
            // All other packets contain the length of their parameters.
            None => {
                let (length, count) = number::read(after(bytes, at))?;
                let length = length as usize;
                if length > MAX_PAYLOAD {
                    return Err(Fault::LongPayload);
                }
                at += count + length;
                at - length
            }
        };
        let payload = bytes.get(start..at).ok_or(Fault::Incomplete)?;
        let (delta, count) = number::read(after(bytes, at))?;
        Ok(Self { core, id, payload, delta, length: at + count })
    }

    /// Returns the parameters in the order of the payload. `order` is the byte order of the counts
    /// of long texts.
    pub const fn parameters(&self, order: TextOrder) -> Parameters<'a> {
        Parameters { rest: self.payload, order }
    }

    /// Checks that the known parameters of an event fit into the length of the packet. Returns the
    /// number of bytes after the known parameters. Newer recorders append more parameters.
    ///
    /// # Errors
    /// Returns [`Fault::ShortPayload`] if the known parameters do not fit.
    #[inline]
    pub fn check(&self, order: TextOrder) -> Result<usize, Fault> {
        if self.id < ids::INIT || self.id > ids::EXTENDED {
            return Ok(0);
        }
        self.rest(order).ok_or(Fault::ShortPayload)
    }

    fn rest(&self, order: TextOrder) -> Option<usize> {
        let mut parameters = self.parameters(order);
        let mut numbers = match self.id {
            ids::INIT => 4,
            ids::NUMMODULES | ids::TASK_TERMINATE => 1,
            ids::END_CALL => {
                parameters.number()?;
                u32::from(!parameters.rest.is_empty())
            }
            ids::NAME_RESOURCE => {
                parameters.number()?;
                parameters.text()?;
                0
            }
            ids::PRINT_FORMATTED => {
                parameters.text()?;
                parameters.number()?;
                parameters.number()?
            }
            ids::EXTENDED => {
                return parameters.extended().map(|()| parameters.rest.len());
            }
            _ => 0,
        };
        // Each number has at least one byte.
        if numbers as usize > parameters.rest.len() {
            return None;
        }
        while numbers > 0 {
            parameters.number()?;
            numbers -= 1;
        }
        Some(parameters.rest.len())
    }

    /// Writes the packet at the start of `out` and returns its length, or `None` if it does not
    /// fit. Copies the payload without checking that it matches the id. Ignores `length`.
    pub fn write(&self, form: Form, out: &mut [u8]) -> Option<usize> {
        let mut at = number::write(self.id, out)?;
        if form.core_in_id {
            let last = out.get_mut(at - 1)?;
            // The core is stored in bit 6 of the id's last byte, so the id itself must not use this
            // bit. Ids that contain a core have at most two bytes.
            if *last & 0x40 != 0 || self.core > 1 || at > 2 {
                return None;
            }
            *last |= self.core << 6;
        }
        if self.id as usize >= SHAPES.len() {
            let length = u32::try_from(self.payload.len()).ok()?;
            at += number::write(length, out.get_mut(at..)?)?;
        }
        out.get_mut(at..at + self.payload.len())?.copy_from_slice(self.payload);
        at += self.payload.len();
        at += number::write(self.delta, out.get_mut(at..)?)?;
        Some(at)
    }
}

#[inline]
fn after(bytes: &[u8], at: usize) -> &[u8] {
    bytes.get(at..).unwrap_or_default()
}

/// Reads an id. Returns the id, the core and the length of the id.
#[inline]
fn read_id(bytes: &[u8], form: Form) -> Result<(u32, u8, usize), Fault> {
    if !form.core_in_id {
        let (id, length) = number::read(bytes)?;
        return Ok((id, 0, length));
    }
    match bytes {
        // One byte: six bits of the id, and the core in bit 6.
        [low, ..] if *low < 0x80 => Ok((u32::from(low & 0x3F), low >> 6, 1)),
        [_, high, ..] if *high >= 0x80 => Err(Fault::LongNumber),
        // Two bytes: the core is in bit 6 of the second byte, so the first byte has seven bits of
        // the id.
        [low, high, ..] => {
            let id = u32::from(low & 0x7F) | u32::from(high & 0x3F) << 7;
            Ok((id, high >> 6, 2))
        }
        _ => Err(Fault::Incomplete),
    }
}

/// Reads the parameters of a packet one after the other.
#[derive(Clone, Copy, Debug)]
pub struct Parameters<'a> {
    /// The parameters that have not been read.
    pub rest: &'a [u8],
    /// The order of the two bytes in the length of a long text.
    pub order: TextOrder,
}

impl<'a> Parameters<'a> {
    /// Reads a number, or returns `None` if no number follows.
    #[inline]
    pub fn number(&mut self) -> Option<u32> {
        let (number, length) = number::read(self.rest).ok()?;
        self.rest = after(self.rest, length);
        Some(number)
    }

    /// Reads a text, or returns `None` if no complete text follows.
    #[inline]
    pub fn text(&mut self) -> Option<&'a [u8]> {
        let (text, length) = text::read(self.rest, self.order).ok()?;
        self.rest = after(self.rest, length);
        Some(text)
    }

    /// Skips the second id of an extended event and its known parameters.
    fn extended(&mut self) -> Option<()> {
        use ids::extended::{
            HEAP_ALLOC, HEAP_ALLOC_EX, HEAP_DEFINE, HEAP_FREE, MARK, NAME_MARKER, REGISTER_DATA,
        };
        let (numbers, text) = match self.number()? {
            MARK => (1, false),
            NAME_MARKER | REGISTER_DATA => (1, true),
            HEAP_DEFINE | HEAP_ALLOC_EX => (4, false),
            HEAP_ALLOC => (3, false),
            HEAP_FREE => (2, false),
            // The number of parameters is unknown. The caller reads the rest.
            _ => (0, false),
        };
        for _ in 0..numbers {
            self.number()?;
        }
        if text {
            self.text()?;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_more_than_32_bits_are_faults() {
        assert_eq!(number::read(&[0xFF, 0xFF, 0xFF, 0xFF, 0x0F]), Ok((u32::MAX, 5)));
        assert_eq!(number::read(&[0xFF, 0xFF, 0xFF, 0xFF, 0x1F]), Err(Fault::LongNumber));
        assert_eq!(number::read(&[0xFF; 6]), Err(Fault::LongNumber));
        assert_eq!(number::read(&[0xFF; 4]), Err(Fault::Incomplete));
    }

    #[test]
    fn written_packets_read_the_same() {
        let mut out = [0; 64];
        for core_in_id in [false, true] {
            let form = Form { texts: TextOrder::LowFirst, core_in_id };
            for (id, payload) in [(3, &[][..]), (7, &[0x81, 1, 4]), (14, b"\x02hi"), (513, b"abc")]
            {
                let core = u8::from(core_in_id);
                let packet = Packet { core, id, payload, delta: 70_000, length: 0 };
                let length = packet.write(form, &mut out).unwrap();
                let read = Packet::read(&out[..length], form).unwrap();
                assert_eq!(read, Packet { length, ..packet });
                for cut in 0..length {
                    assert_eq!(Packet::read(&out[..cut], form), Err(Fault::Incomplete));
                }
            }
        }
        // With cores in ids, an id of one byte has 6 bits.
        let form = Form { core_in_id: true, ..Form::default() };
        let packet = Packet { core: 0, id: 64, payload: &[], delta: 0, length: 0 };
        assert_eq!(packet.write(form, &mut out), None);
    }

    #[test]
    fn known_parameters_must_fit_into_the_length() {
        let order = TextOrder::HighFirst;
        let packet = |id, payload| Packet { core: 0, id, payload, delta: 0, length: 0 };
        assert_eq!(packet(ids::PRINT_FORMATTED, &b"\x02%d\0\x01\x07"[..]).check(order), Ok(0));
        for short in [&b"\xC8abc"[..], b"\x02%d\0\x02\x07", b"\x02%d\0\xFF\xFF\xFF\xFF\x0F"] {
            let checked = packet(ids::PRINT_FORMATTED, short).check(order);
            assert_eq!(checked, Err(Fault::ShortPayload));
        }
        assert_eq!(packet(ids::INIT, &[1, 2, 3]).check(order), Err(Fault::ShortPayload));
        assert_eq!(packet(ids::INIT, &[1, 2, 3, 4, 5]).check(order), Ok(1));
        assert_eq!(packet(ids::END_CALL, &[40]).check(order), Ok(0));
        assert_eq!(packet(ids::EXTENDED, &[0]).check(order), Err(Fault::ShortPayload));
        assert_eq!(packet(600, &[0xFF]).check(order), Ok(0));
    }
}
