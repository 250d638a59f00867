//! Reads event headers whose fields have fixed offsets. This is the usual case.
//!
//! Such a header is a sequence of numbers, or a number that selects one of several sequences, as in
//! LTTng's headers. Headers of all other forms are read by their compiled programs.
//!
//! [`QuickHeader`] reads most of these headers with few instructions. It reads a header only if the
//! header has the first of these sequences, is short, and is not at the end of its packet.

use tracewell_wire::ByteOrder;

use super::bits::{Form, ones};
use super::classes::Role;
use super::fixed::FixedNumber;
use super::position::{Bits, Fault, FaultKind};
use super::program::{Op, Program, State};

/// Maximum number of sequences of fields.
const MAX_PATHS: usize = 16;

/// The layout of event headers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct FixedHeader {
    /// Alignment in bits minus 1.
    mask: u64,
    selector: Option<Selector>,
    /// The sequences of fields. Without a selector, there is exactly one sequence.
    paths: Vec<Path>,
}

/// A number that selects one of the sequences.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Selector {
    number: FixedNumber,
    /// Number of bits up to the end of the selector.
    end: u32,
    is_signed: bool,
    register: u32,
    /// Ranges of values. Each range has the index of the sequence that its values select. A range
    /// is stored as its first value and the distance to its last value, both as words of 64 bits.
    cases: Vec<(u64, u64, usize)>,
}

/// A sequence of fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Path {
    /// The id of the event's class.
    id: Option<FixedNumber>,
    /// The timestamp, and its number of bits.
    stamp: Option<(FixedNumber, u8)>,
    /// Number of bits of the sequence.
    bits: u32,
}

impl FixedHeader {
    /// Returns the layout of the headers that a program reads. Returns `None` if only the program
    /// can read them: for example, if an offset is not fixed, or if a field has a role other than
    /// event class and time.
    pub(super) fn new(program: &Program) -> Option<Self> {
        let (mask, first) = match program.ops.first()? {
            Op::Align { mask } => (*mask, 1),
            Op::Fixed { mask, .. } => (*mask, 0),
            _ => (0, 0),
        };
        // Offsets are fixed only relative to the start of a byte.
        if mask < 7 {
            return None;
        }
        let mut walk = Walk { program, mask, header: Self { mask, selector: None, paths: vec![] } };
        walk.path(first, program.ops.len(), Path::default())?;
        Some(walk.header)
    }

    /// Returns a reader of the headers that have the first sequence of `paths`. Returns `None` if
    /// this sequence has no timestamp. Also returns `None` if one of its numbers is signed or too
    /// far from the start, or if the numbers have different byte orders.
    pub(super) fn quick(&self) -> Option<QuickHeader> {
        let path = self.paths.first().filter(|path| path.bits > 0)?;
        let (stamp, stamp_bits) = path.stamp?;
        let (selector, range) = match &self.selector {
            Some(selector) => {
                let (low, length, _) = selector.cases.first().filter(|(_, _, path)| *path == 0)?;
                (Some(selector.number), (*low, *length))
            }
            None => (None, (0, u64::MAX)),
        };
        let numbers = [Some(stamp), path.id, selector];
        let mut known = numbers.iter().flatten();
        let order = stamp.order();
        let fits = known.all(|number| number.order() == order && QuickNumber::fits(number));
        fits.then(|| QuickHeader {
            mask: self.mask,
            bits: u64::from(path.bits),
            order,
            selector: QuickNumber::of(selector),
            range,
            register: self.selector.as_ref().map(|selector| selector.register),
            id: QuickNumber::of(path.id),
            has_id: path.id.is_some(),
            stamp: QuickNumber::of(Some(stamp)),
            stamp_mask: ones(stamp_bits),
        })
    }

    /// Reads a header, as [`Program::run`] does.
    #[inline]
    pub(super) fn read(&self, bits: &mut Bits<'_>, state: &mut State) -> Result<(), Fault> {
        bits.align(self.mask)?;
        let bytes = bits.bytes.get((bits.at / 8) as usize..).unwrap_or_default();
        let index = match &self.selector {
            Some(selector) => selector.select(bytes, bits, state)?,
            None => 0,
        };
        let Some(path) = self.paths.get(index) else { return Ok(()) };
        bits.at = bits.after(u64::from(path.bits))?;
        if let Some(id) = path.id {
            state.event = id.read(bytes);
        }
        if let Some((stamp, length)) = path.stamp {
            state.clock = state.extended(stamp.read(bytes), length);
            state.is_timed = true;
        }
        Ok(())
    }
}

/// Number of bytes from which a quick header is read. These bytes can extend beyond the header.
const WINDOW: usize = 24;

/// The layout of the event headers that have the first sequence of `FixedHeader::paths`. The
/// numbers in this layout begin within the first 16 bytes of a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct QuickHeader {
    /// Alignment in bits minus 1.
    mask: u64,
    /// Number of bits of the header; never 0.
    bits: u64,
    order: ByteOrder,
    /// The number that selects a sequence of fields. `range` describes the values that select the
    /// sequence of this reader: the first value, and the distance to the last value. Without a
    /// selector, the number is 0.
    selector: QuickNumber,
    range: (u64, u64),
    /// The register of the selector, if fields after the header refer to it.
    register: Option<u32>,
    id: QuickNumber,
    has_id: bool,
    stamp: QuickNumber,
    stamp_mask: u64,
}

/// An unsigned number in the window of a header.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct QuickNumber {
    offset: u8,
    shift: u8,
    mask: u64,
}

/// The content of a quick header, and the position after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct QuickEvent {
    /// The id of the event's class; `None` if the header contains none.
    pub(super) id: Option<u64>,
    /// Value of the clock.
    pub(super) clock: u64,
    pub(super) after: u64,
}

impl QuickNumber {
    fn fits(number: &FixedNumber) -> bool {
        number.is_unsigned() && number.offset() < 16
    }

    fn of(number: Option<FixedNumber>) -> Self {
        number.map_or(Self::default(), |number| Self {
            offset: number.offset() as u8,
            shift: number.shift(),
            mask: number.mask(),
        })
    }

    #[inline(always)]
    fn read(self, window: &[u8; WINDOW], order: ByteOrder) -> u64 {
        // The offset is at most 15. The mask makes this known to the compiler.
        let at = usize::from(self.offset & 0xF);
        let word = window.get(at..at + 8).and_then(|word| word.first_chunk()).unwrap_or(&[0; 8]);
        let word = match order {
            ByteOrder::Little => u64::from_le_bytes(*word),
            ByteOrder::Big => u64::from_be_bytes(*word),
        };
        word >> (self.shift & 63) & self.mask
    }
}

impl QuickHeader {
    /// Forgets the register of the selector if no field after the header refers to it. `is_read`
    /// returns true for a register to which such a field refers.
    pub(super) fn forget_register(&mut self, is_read: impl Fn(u32) -> bool) {
        self.register = self.register.filter(|register| is_read(*register));
    }

    /// Reads a header if it has this layout and is not at the end of its packet. Otherwise, returns
    /// `None`, and [`FixedHeader::read`] reads the header.
    #[inline(always)]
    pub(super) fn read(&self, bits: &Bits<'_>, state: &mut State) -> Option<QuickEvent> {
        let at = bits.at.wrapping_add(self.mask) & !self.mask;
        let window = bits.bytes.get((at / 8) as usize..)?.first_chunk()?;
        let after = at + self.bits;
        if after > bits.end {
            return None;
        }
        let [selector, id, stamp] = match self.order {
            ByteOrder::Little => self.numbers(window, ByteOrder::Little),
            ByteOrder::Big => self.numbers(window, ByteOrder::Big),
        };
        if selector.wrapping_sub(self.range.0) > self.range.1 {
            return None;
        }
        if let Some(register) = self.register
            && let Some(register) = state.registers.get_mut(register as usize)
        {
            *register = i128::from(selector);
        }
        // The same as `State::extended`.
        let clock = state.clock.wrapping_add(stamp.wrapping_sub(state.clock) & self.stamp_mask);
        Some(QuickEvent { id: self.has_id.then_some(id), clock, after })
    }

    #[inline(always)]
    fn numbers(&self, window: &[u8; WINDOW], order: ByteOrder) -> [u64; 3] {
        [
            self.selector.read(window, order),
            self.id.read(window, order),
            self.stamp.read(window, order),
        ]
    }
}

impl Selector {
    #[inline]
    fn select(&self, bytes: &[u8], bits: &Bits<'_>, state: &mut State) -> Result<usize, Fault> {
        bits.after(u64::from(self.end))?;
        let word = self.number.read(bytes);
        let value = if self.is_signed { word.cast_signed().into() } else { i128::from(word) };
        if let Some(register) = state.registers.get_mut(self.register as usize) {
            *register = value;
        }
        let case = self.cases.iter().find(|(low, length, _)| word.wrapping_sub(*low) <= *length);
        case.map(|(_, _, path)| *path).ok_or_else(|| bits.fault(FaultKind::NoOption(value)))
    }
}

/// Collects the sequences of fields of a program.
struct Walk<'p> {
    program: &'p Program,
    mask: u64,
    header: FixedHeader,
}

impl Walk<'_> {
    /// Extends `path` by the instructions from `next` up to `end`, and adds the result to the
    /// sequences. Returns the index of the first sequence that it adds, or `None` if only a program
    /// can read the header.
    fn path(&mut self, mut next: usize, end: usize, mut path: Path) -> Option<usize> {
        let mut last = None;
        let mut stored = None;
        while next < end {
            let op = *self.program.ops.get(next)?;
            next += 1;
            match op {
                Op::Align { mask } => self.align(&mut path, mask)?,
                Op::Fixed { mask, bits, .. } => {
                    self.align(&mut path, mask)?;
                    path.bits = path.bits.checked_add(bits)?;
                }
                Op::Bits { form, is_signed, .. } => {
                    last = Some((self.number(&mut path, form, is_signed)?, form.bits, is_signed));
                }
                Op::Bytes { bits, order, is_signed, .. } => {
                    let form = Form { bits, order, reversed: false };
                    last = Some((self.number(&mut path, form, is_signed)?, bits, is_signed));
                }
                Op::Store { register, .. } if stored.is_none() => {
                    stored = Some((register, last?, path.bits));
                }
                Op::Role { role: Role::EventClass, .. } => path.id = Some(last?.0),
                Op::Role { role: Role::Time, .. } if path.stamp.is_none() => {
                    path.stamp = last.map(|(number, bits, _)| (number, bits));
                }
                Op::Jump { to } => next = to as usize,
                Op::Choose { register, first, count, absent: None } => {
                    let (stored, (number, _, is_signed), end_of_selector) = stored.take()?;
                    let cases = self.program.cases.get(first as usize..)?.get(..count as usize)?;
                    if stored != register || self.header.selector.is_some() {
                        return None;
                    }
                    self.header.selector = Some(Selector {
                        number,
                        end: end_of_selector,
                        is_signed,
                        register,
                        cases: Vec::new(),
                    });
                    let mut known: Vec<(u32, usize)> = Vec::new();
                    for case in cases {
                        let found = known.iter().find(|(to, _)| *to == case.to);
                        let index = match found {
                            Some((_, index)) => *index,
                            None => {
                                let index = self.path(case.to as usize, end, path)?;
                                known.push((case.to, index));
                                index
                            }
                        };
                        let selector = self.header.selector.as_mut()?;
                        let (least, most) = match is_signed {
                            true => (i64::MIN.into(), i64::MAX.into()),
                            false => (0, u64::MAX.into()),
                        };
                        let (low, high) = (case.low.max(least), case.high.min(most));
                        if low <= high {
                            selector.cases.push((low as u64, (high - low) as u64, index));
                        }
                    }
                    return Some(0);
                }
                _ => return None,
            }
        }
        // If a later field refers to the stored number, only a program can read the header.
        if stored.is_some() || self.header.paths.len() == MAX_PATHS {
            return None;
        }
        self.header.paths.push(path);
        Some(self.header.paths.len() - 1)
    }

    fn align(&self, path: &mut Path, mask: u64) -> Option<()> {
        let mask = u32::try_from(mask).ok().filter(|_| mask <= self.mask)?;
        path.bits = path.bits.checked_add(mask)? & !mask;
        Some(())
    }

    fn number(&self, path: &mut Path, form: Form, is_signed: bool) -> Option<FixedNumber> {
        let number = FixedNumber::new(form, path.bits, is_signed)?;
        path.bits = path.bits.checked_add(u32::from(form.bits))?;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::ctf::layout::{Layout, Programs};
    use crate::format::ctf::metadata;
    use crate::format::ctf::program::{NO_VALUE, Nothing};

    fn layout(header: &str) -> Layout {
        layout_with(header, "u16 x;")
    }

    /// Like [`layout`], for an event with these fields.
    fn layout_with(header: &str, fields: &str) -> Layout {
        let text = format!(
            "/* CTF 1.8 */ trace {{ major = 1; minor = 8; byte_order = le; }};\n\
             clock {{ name = c; }};\n\
             typealias integer {{ size = 16; align = 8; }} := u16;\n\
             typealias integer {{ size = 32; align = 8; }} := u32;\n\
             typealias integer {{ size = 32; align = 8; map = clock.c.value; }} := t32;\n\
             typealias integer {{ size = 64; align = 8; map = clock.c.value; }} := t64;\n\
             stream {{ event.header := {header}; }};\n\
             event {{ name = e; id = 3; fields := struct {{ {fields} }}; }};\n"
        );
        Layout::new(metadata::read(text.as_bytes()).unwrap().metadata, Programs::One).unwrap()
    }

    /// The layout of LTTng's headers for large channels.
    const LTTNG: &str = "struct { enum : u16 { compact = 0 ... 65534, extended = 65535 } id;
        variant <id> { struct { t32 timestamp; } compact;
                       struct { u32 id; t64 timestamp; } extended; } v; } align(8)";

    /// The layout of LTTng's headers for small channels. Extended headers have aligned fields.
    const SMALL: &str = "struct {
        enum : integer { size = 5; align = 1; } { compact = 0 ... 30, extended = 31 } id;
        variant <id> {
            struct { integer { size = 27; align = 1; map = clock.c.value; } timestamp; } compact;
            struct { u32 id; t64 timestamp; } extended; } v; } align(8)";

    /// Headers with fields that have no role.
    const UNUSED_FIRST: &str = "struct { u16 x; u16 y; u32 id; t32 timestamp; }";
    const UNUSED_LATER: &str = "struct { u16 id; u16 x; t32 timestamp; u16 y; }";

    #[test]
    fn headers_are_those_that_their_program_reads() {
        // A compact header with a stamp that has wrapped, and an extended header.
        let compact = [3, 0, 5, 0, 0, 0, 0xAA];
        let extended = [0xFF, 0xFF, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0xAA];
        let small_compact = [5 << 5 | 3, 0, 0, 0, 0xAA];
        let small_extended = [31, 7, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0xAA];
        for (header, bytes, event, clock) in [
            (LTTNG, &compact[..], 3, 0x1_0000_0005),
            (LTTNG, &extended, 7, 0x2_0000_0001),
            (SMALL, &small_compact, 3, 0x800_0005),
            (SMALL, &small_extended, 7, 0x2_0000_0001),
            (UNUSED_FIRST, &[1, 1, 2, 2, 7, 0, 0, 0, 5, 0, 0, 0, 0xAA], 7, 0x1_0000_0005),
            (UNUSED_LATER, &[7, 0, 1, 1, 5, 0, 0, 0, 2, 2, 0xAA], 7, 0x1_0000_0005),
        ] {
            let layout = layout(header);
            let class = &layout.streams[0];
            let header = class.fixed_header.as_ref().unwrap();
            for length in 0..=bytes.len() {
                let begin = || {
                    let state = State {
                        registers: vec![NO_VALUE; layout.registers],
                        clock: 6,
                        event: 3,
                        ..State::default()
                    };
                    (Bits { bytes: &bytes[..length], at: 0, end: 8 * length as u64 }, state)
                };
                let (mut bits, mut state) = begin();
                let read = header.read(&mut bits, &mut state);
                let (mut expected_bits, mut expected) = begin();
                let program = &class.event_header;
                let run = program.run(&mut expected_bits, &mut expected, &mut Nothing);
                assert_eq!(read.is_ok(), run.is_ok(), "{length} bytes");
                if read.is_ok() {
                    assert_eq!((state.event, state.clock), (event, clock));
                    assert_eq!((expected.event, expected.clock), (event, clock));
                    assert_eq!(bits.at, expected_bits.at);
                    assert_eq!(state.registers, expected.registers);
                }
            }
        }
    }

    #[test]
    fn quick_headers_are_those_that_their_program_reads() {
        let big = LTTNG.replace("u16 {", "integer { size = 16; align = 8; byte_order = be; } {");
        let big = big.replace(
            "t32",
            "integer { size = 32; align = 8; byte_order = be; map = clock.c.value; }",
        );
        let short = "struct { t64 timestamp; u16 id; }";
        for header in [LTTNG, &big, short] {
            let layout = layout(header);
            let class = &layout.streams[0];
            let quick = class.quick_header.unwrap();
            for bytes in [
                [3, 0, 5, 0, 0, 0, 1, 0, 3, 0, 0xAA],
                [0, 3, 0, 0, 0, 5, 0, 0, 3, 0, 0xAA],
                [0xFF, 0xFF, 3, 0, 0, 0, 1, 0, 0, 0, 2],
            ] {
                for (before, room) in [(6, 40), (u64::MAX - 7, 40), (6, 20), (6, 5)] {
                    let mut padded = vec![0; room];
                    padded.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
                    let begin = || State {
                        registers: vec![NO_VALUE; layout.registers],
                        clock: before,
                        event: 0,
                        ..State::default()
                    };
                    let mut bits = Bits { bytes: &padded, at: 0, end: 8 * room as u64 };
                    let (mut state, mut expected) = (begin(), begin());
                    let read = quick.read(&bits, &mut state);
                    let run = class.event_header.run(&mut bits, &mut expected, &mut Nothing);
                    // [`QuickHeader`] reads only headers with the first sequence of fields, and
                    // none at the end of the packet.
                    let is_extended = header != short && bytes[..2] == [0xFF, 0xFF];
                    assert_eq!(read.is_some(), room == 40 && !is_extended, "{header} {bytes:?}");
                    if let Some(read) = read {
                        assert!(run.is_ok());
                        let found = (read.id, read.clock, read.after);
                        assert_eq!(found, (Some(expected.event), expected.clock, bits.at));
                    }
                }
            }
        }
    }

    #[test]
    fn a_quick_header_stores_a_value_that_an_event_reads() {
        let variant = "variant <stream.event.header.id> { u16 compact; u32 extended; } x;";
        for (fields, is_stored) in [("u16 x;", false), (variant, true)] {
            let header = layout_with(LTTNG, fields).streams[0].quick_header.unwrap();
            assert_eq!(header.register.is_some(), is_stored, "{fields}");
        }
    }

    #[test]
    fn other_headers_have_no_fixed_offsets() {
        // A string can have any length, and a number of 5 bits can begin within a byte.
        for header in [
            "struct { string s; t32 timestamp; }",
            "struct { integer { size = 5; align = 1; } id; t32 timestamp; } align(1)",
        ] {
            let layout = layout(header);
            let is_text = header.contains("string");
            assert_eq!(layout.streams[0].fixed_header.is_none(), is_text, "{header}");
        }
        let bits = layout("struct { integer { size = 5; align = 1; } id; }");
        assert_eq!(bits.streams[0].fixed_header, None);
    }
}
