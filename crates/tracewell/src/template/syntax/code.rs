//! Format codes. A code reads a value and determines its printed form, or moves the data pointer.

use std::fmt;

/// The size of a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Size {
    /// A fixed number of bytes.
    Bytes(u8),
    /// A word of the event's environment: 4 or 8 bytes.
    Word,
}

/// A number of bytes and bits, as in `B2.3`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// Number of whole bytes.
    pub bytes: u32,
    /// Number of additional bits, which may be more than 7.
    pub bits: u32,
}

impl Field {
    /// Returns the total number of bits.
    pub const fn total(self) -> u64 {
        8 * self.bytes as u64 + self.bits as u64
    }
}

/// A code that reads a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    /// `X1` to `X16`, `XW`: hexadecimal, two digits per byte.
    Hex(Size),
    /// `X0`: one byte in hexadecimal, without a space after it.
    HexByte,
    /// `D1` to `D8`, `DW`: a signed decimal number.
    Signed(Size),
    /// `U1` to `U8`, `UW`: an unsigned decimal number.
    Unsigned(Size),
    /// `o1` to `o8`: an octal number.
    Octal(u8),
    /// `Am`, `Am.n`: text up to a NUL. `n` is the width of the field.
    Ascii {
        /// Maximum number of bytes, at least 1.
        bytes: u16,
        /// Width of the field in characters.
        width: Option<u16>,
    },
    /// `A0`: one character, without a space after it.
    Character,
    /// `Bm.n`: bits as 0 and 1.
    Bits(Field),
    /// `F4`: a single-precision number.
    Float,
    /// `F8`: a double-precision number.
    Double,
    /// `S1`, `S2`, `S4`: a length that has this many bytes, followed by text of that length.
    Counted(u8),
    /// `S0`: text up to a NUL.
    Terminated,
    /// `T4`: seconds since 1970, printed as date and time.
    Time,
    /// `E1`, `E2`, `E4`: an error number, printed as its name.
    Errno(u8),
    /// `P4`: a process id, printed as the process's name.
    Process,
    /// `HB`: length of the generic buffer.
    BufferBytes,
    /// `HT`: type or flags of the hook word.
    HookType,
}

/// A code that moves the data pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// `Gm.n`: to this position.
    Go(Field),
    /// `Om.n`: forward by this distance.
    Omit(Field),
    /// `Rm`: back by this many bytes.
    Back(u32),
    /// `Wm`: to this word.
    Word(u32),
}

/// Radix of the numbers that a switch compares with a value.
pub(crate) const DECIMAL: u32 = 10;
const OCTAL: u32 = 8;
const BINARY: u32 = 2;
pub(crate) const HEXADECIMAL: u32 = 16;

impl Code {
    /// Returns the radix of the numbers in the cases of a switch over this code.
    pub(crate) const fn radix(self) -> u32 {
        match self {
            Self::Signed(_) | Self::Unsigned(_) | Self::Errno(_) | Self::BufferBytes => DECIMAL,
            Self::Octal(_) => OCTAL,
            Self::Bits(_) => BINARY,
            _ => HEXADECIMAL,
        }
    }

    /// Returns true if the value is text.
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Ascii { .. } | Self::Character | Self::Counted(_) | Self::Terminated)
    }

    /// Returns true if the code can follow `%`. The `S` codes, and the codes `HB` and `HT`, cannot
    /// follow `%`.
    pub const fn is_print_form(self) -> bool {
        !matches!(self, Self::Counted(_) | Self::Terminated | Self::BufferBytes | Self::HookType)
    }
}

/// Maximum number of bytes of an `A` code.
pub(crate) const MAX_ASCII_LEN: u32 = 65_535;
/// Maximum number of bits of a `B` code.
pub(crate) const MAX_BITS: u64 = 65_536;

/// A code that reads a value or moves the data pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum AnyCode {
    Value(Code),
    Move(Move),
}

/// Parses a word as a code. Returns an error message if the size of the code is wrong, and `None`
/// if the word is not a code at all.
pub(crate) fn any_code(word: &str) -> Option<Result<AnyCode, String>> {
    use AnyCode::{Move as M, Value as V};
    let letter = word.chars().next()?;
    let size = word.get(1..)?;
    match word {
        "HB" => return Some(Ok(V(Code::BufferBytes))),
        "HT" => return Some(Ok(V(Code::HookType))),
        _ => {}
    }
    // A word that begins with another letter is a name, not an invalid code.
    if !"GORWXDUoABFSTEP".contains(letter) {
        return None;
    }
    if size == "W" {
        return match letter {
            'X' => Some(Ok(V(Code::Hex(Size::Word)))),
            'D' => Some(Ok(V(Code::Signed(Size::Word)))),
            'U' => Some(Ok(V(Code::Unsigned(Size::Word)))),
            _ => None,
        };
    }
    let (whole, fraction) = numbers(size)?;
    Some(match letter {
        // The sizes of `G`, `O`, `B` and `A` may have a second number after a point. The sizes of
        // all other codes are whole numbers.
        'G' => field(whole, fraction).map(|f| M(Move::Go(f))),
        'O' => field(whole, fraction).map(|f| M(Move::Omit(f))),
        'B' => field(whole, fraction).and_then(bits).map(V),
        'A' => ascii(whole, fraction).map(V),
        _ if fraction.is_some() => Err(format!("the size of {letter} is a whole number")),
        'R' => limit(whole).map(|m| M(Move::Back(m))),
        'W' => limit(whole).map(|m| M(Move::Word(m))),
        'X' => match whole {
            Some(0) => Ok(V(Code::HexByte)),
            _ => sized(letter, whole, 1..=16).map(|m| V(Code::Hex(Size::Bytes(m)))),
        },
        'D' => sized(letter, whole, 1..=8).map(|m| V(Code::Signed(Size::Bytes(m)))),
        'U' => sized(letter, whole, 1..=8).map(|m| V(Code::Unsigned(Size::Bytes(m)))),
        'o' => sized(letter, whole, 1..=8).map(|m| V(Code::Octal(m))),
        'F' => one_of(letter, whole, &[4, 8])
            .map(|m| V(if m == 4 { Code::Float } else { Code::Double })),
        'S' => one_of(letter, whole, &[0, 1, 2, 4])
            .map(|m| V(if m == 0 { Code::Terminated } else { Code::Counted(m) })),
        'T' => one_of(letter, whole, &[4]).map(|_| V(Code::Time)),
        'E' => one_of(letter, whole, &[1, 2, 4]).map(|m| V(Code::Errno(m))),
        _ => one_of(letter, whole, &[4]).map(|_| V(Code::Process)),
    })
}

/// Parses `m`, `m.n` or `.n`. Numbers that are too large become `u32::MAX`. Returns `None` for
/// anything else.
fn numbers(size: &str) -> Option<(Option<u32>, Option<u32>)> {
    let (whole, fraction) = match size.split_once('.') {
        None => (size, None),
        Some((whole, fraction)) => (whole, Some(fraction)),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let number = |text: &str| text.parse().unwrap_or(u32::MAX);
    let fits = match fraction {
        None => digits(whole),
        Some(fraction) => (whole.is_empty() || digits(whole)) && digits(fraction),
    };
    let whole = (!whole.is_empty()).then(|| number(whole));
    fits.then(|| (whole, fraction.map(number)))
}

/// Maximum offset in bytes. No entry is this long.
const MAX_OFFSET: u32 = 1 << 24;

fn limit(number: Option<u32>) -> Result<u32, String> {
    match number.unwrap_or(0) {
        number if number <= MAX_OFFSET => Ok(number),
        _ => Err(format!("expected at most {MAX_OFFSET}")),
    }
}

fn field(whole: Option<u32>, fraction: Option<u32>) -> Result<Field, String> {
    Ok(Field { bytes: limit(whole)?, bits: limit(fraction)? })
}

fn bits(field: Field) -> Result<Code, String> {
    match field.total() {
        1..=MAX_BITS => Ok(Code::Bits(field)),
        found => Err(format!("B takes 1 to {MAX_BITS} bits, found {found}")),
    }
}

fn ascii(whole: Option<u32>, fraction: Option<u32>) -> Result<Code, String> {
    let number = |number: u32| {
        u16::try_from(number).map_err(|_| format!("A takes at most {MAX_ASCII_LEN} bytes"))
    };
    let width = fraction.map(number).transpose()?;
    match (whole.unwrap_or(0), width) {
        (0, None) => Ok(Code::Character),
        (0, Some(_)) => Err("A0 has no width; a single character in a field is A1.n".to_owned()),
        (bytes, width) => Ok(Code::Ascii { bytes: number(bytes)?, width }),
    }
}

fn sized(
    letter: char,
    size: Option<u32>,
    range: std::ops::RangeInclusive<u8>,
) -> Result<u8, String> {
    let found = size.unwrap_or(0);
    let fits = u8::try_from(found).ok().filter(|size| range.contains(size));
    let (least, most) = (range.start(), range.end());
    fits.ok_or_else(|| format!("{letter} takes {least} to {most} bytes, found {found}"))
}

fn one_of(letter: char, size: Option<u32>, sizes: &[u8]) -> Result<u8, String> {
    let found = size.unwrap_or(0);
    let fits = sizes.iter().copied().find(|size| u32::from(*size) == found);
    fits.ok_or_else(|| {
        let codes: Vec<_> = sizes.iter().map(|size| format!("{letter}{size}")).collect();
        match &codes[..] {
            [rest @ .., last] if !rest.is_empty() => {
                format!("expected {} or {last}", rest.join(", "))
            }
            _ => format!("expected {}", codes.concat()),
        }
    })
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bytes(bytes) => write!(f, "{bytes}"),
            Self::Word => f.write_str("W"),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.bytes)?;
        if self.bits > 0 { write!(f, ".{}", self.bits) } else { Ok(()) }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hex(size) => write!(f, "X{size}"),
            Self::HexByte => f.write_str("X0"),
            Self::Signed(size) => write!(f, "D{size}"),
            Self::Unsigned(size) => write!(f, "U{size}"),
            Self::Octal(bytes) => write!(f, "o{bytes}"),
            Self::Ascii { bytes, width: None } => write!(f, "A{bytes}"),
            Self::Ascii { bytes, width: Some(width) } => write!(f, "A{bytes}.{width}"),
            Self::Character => f.write_str("A0"),
            Self::Bits(field) => write!(f, "B{field}"),
            Self::Float => f.write_str("F4"),
            Self::Double => f.write_str("F8"),
            Self::Counted(bytes) => write!(f, "S{bytes}"),
            Self::Terminated => f.write_str("S0"),
            Self::Time => f.write_str("T4"),
            Self::Errno(bytes) => write!(f, "E{bytes}"),
            Self::Process => f.write_str("P4"),
            Self::BufferBytes => f.write_str("HB"),
            Self::HookType => f.write_str("HT"),
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Go(field) => write!(f, "G{field}"),
            Self::Omit(field) => write!(f, "O{field}"),
            Self::Back(bytes) => write!(f, "R{bytes}"),
            Self::Word(word) => write!(f, "W{word}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_written_as_they_are_read() {
        let codes = "G4 G4.3 O2 O0.7 R2 W1 X0 X1 X16 XW D8 DW U3 UW o4 A0 A1 A4.6 B0.5 B2.3 F4 F8 \
                     S0 S1 S4 T4 E2 P4 HB HT";
        for word in codes.split_whitespace() {
            let shown = match any_code(word).expect("a code").expect("a size of the table") {
                AnyCode::Value(code) => code.to_string(),
                AnyCode::Move(code) => code.to_string(),
            };
            assert_eq!(shown, word);
        }
    }

    #[test]
    fn sizes_outside_the_table_are_errors_and_other_words_no_codes() {
        for word in ["X17", "D0", "D9", "o0", "F2", "S3", "T8", "E3", "P8", "B0", "X1.2", "A70000"]
        {
            assert!(matches!(any_code(word), Some(Err(_))), "{word}");
        }
        for word in ["", "X", "AW", "q4", "LOOP", "D1x", "st", "HX", "X.", "O1.2.3"] {
            assert!(any_code(word).is_none(), "{word}");
        }
    }
}
