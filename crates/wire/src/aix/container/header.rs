//! The file header.
//!
//! | offset | size | content |
//! |---|---|---|
//! | 0 | 4 | `TWX1` |
//! | 4 | 1 | endian: 1 little, 2 big |
//! | 5 | 1 | version, 1 |
//! | 6 | 1 | environment of the traced system, 32 or 64 |
//! | 7 | 1 | flags: 1 file of one CPU, 2 circular |
//! | 8 | 8 | wall clock at the start, nanoseconds since 1970 |
//! | 16 | 8 | tick at the start |
//! | 24 | 8 | multiplier of the clock |
//! | 32 | 8 | divisor of the clock |
//! | 40 | 4 | CPUs in the machine |
//! | 44 | 4 | CPUs traced |
//! | 48 | 4 | channel |
//! | 52 | 4 | length of the header, texts included |
//! | 56 | 40 | reserved, 0 |
//! | 96 | .. | six NUL-terminated texts; any further bytes up to the length are skipped |

use super::{Damage, ReadError, Texts};
use crate::ByteOrder;
use crate::aix::{Env, TimeConversion};

/// Maximum header length in bytes that a reader accepts. The limit keeps a damaged length from
/// making a reader wait for 4 GiB of strings.
pub const MAX_HEADER_LENGTH: usize = 65_536;

/// Length of the header in bytes, without the strings.
const FIXED_LENGTH: usize = 96;

/// The header of a file: data that apply to all of its frames. The strings borrow from the file.
///
/// ```
/// use tracewell_wire::ByteOrder;
/// use tracewell_wire::aix::{Env, FileHeader, Texts, TimeConversion};
///
/// let header = FileHeader {
///     order: ByteOrder::Big,
///     env: Env::Bits64,
///     per_cpu: false,
///     circular: false,
///     wall_clock_ns: 1_700_000_000_000_000_000,
///     start_tick: 1000,
///     conversion: TimeConversion { multiplier: 1000, divisor: 512 },
///     cpus: 8,
///     cpus_traced: 8,
///     channel: 0,
///     texts: Texts { node: b"lab7", ..Texts::default() },
/// };
/// let mut bytes = [0; 256];
/// let length = header.write(&mut bytes).unwrap();
/// assert_eq!(FileHeader::read(&bytes), Ok((header, length)));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileHeader<'a> {
    /// Byte order of header and frames. Entries are always big-endian.
    pub order: ByteOrder,
    /// Environment of the traced system. The environment of an entry may differ.
    pub env: Env,
    /// True if this file contains the entries of one CPU, and accompanies a base file.
    pub per_cpu: bool,
    /// True if the entries were recorded in a buffer that overwrites its oldest entries.
    pub circular: bool,
    /// Wall clock at the start of tracing, in nanoseconds since 1970 UTC.
    pub wall_clock_ns: u64,
    /// Tick at the start of tracing.
    pub start_tick: u64,
    /// Factor from ticks to nanoseconds.
    pub conversion: TimeConversion,
    /// Number of CPUs in the machine.
    pub cpus: u32,
    /// Number of CPUs that were traced.
    pub cpus_traced: u32,
    /// Number of the channel, 0 to 7; 0 is the event trace.
    pub channel: u32,
    /// Strings for the heading of a report.
    pub texts: Texts<'a>,
}

impl<'a> FileHeader<'a> {
    /// The first four bytes of every file.
    pub const MAGIC: [u8; 4] = *b"TWX1";
    /// The only version so far.
    pub const VERSION: u8 = 1;
    /// Length of the fixed part in bytes.
    pub const FIXED_LENGTH: usize = FIXED_LENGTH;
    /// Length in bytes of a header with six empty strings.
    pub const MIN_LENGTH: usize = Self::FIXED_LENGTH + Texts::COUNT;

    const PER_CPU: u8 = 1;
    const CIRCULAR: u8 = 2;

    /// Returns the number of bytes that [`FileHeader::write`] stores.
    pub fn length(&self) -> usize {
        Self::FIXED_LENGTH + self.texts.length()
    }

    /// Decodes the header at the start of `bytes`. Returns the header and its length, which is the
    /// offset of the first frame.
    ///
    /// Does not check reserved bytes, unknown flags, or the values of the numbers.
    ///
    /// # Errors
    /// Returns [`ReadError::Damaged`] if `bytes` contains damage, even if the header is also
    /// incomplete. Returns [`ReadError::Incomplete`] if the header is only incomplete.
    pub fn read(bytes: &'a [u8]) -> Result<(Self, usize), ReadError> {
        let incomplete = |needed| ReadError::Incomplete { needed };
        // Four bytes identify the format. To recognise the format, a caller does not have to supply
        // more than these bytes.
        let magic: [u8; 4] = *bytes.first_chunk().ok_or(incomplete(4))?;
        if magic != Self::MAGIC {
            return Err(ReadError::Damaged(Damage::Magic { found: magic }));
        }
        let fixed: &[u8; FIXED_LENGTH] =
            bytes.first_chunk().ok_or(incomplete(Self::FIXED_LENGTH))?;
        let (header, length) = Self::read_fixed(fixed).map_err(ReadError::Damaged)?;
        // The length is known and plausible, so the error can request exactly the missing bytes.
        let texts = bytes.get(Self::FIXED_LENGTH..length).ok_or(incomplete(length))?;
        let texts =
            Texts::read(texts).map_err(|found| ReadError::Damaged(Damage::Texts { found }))?;
        Ok((Self { texts, ..header }, length))
    }

    fn read_fixed(fixed: &[u8; FIXED_LENGTH]) -> Result<(Self, usize), Damage> {
        let order = match fixed[4] {
            1 => ByteOrder::Little,
            2 => ByteOrder::Big,
            found => return Err(Damage::Endian { found }),
        };
        if fixed[5] != Self::VERSION {
            return Err(Damage::Version { found: fixed[5] });
        }
        let env = Env::from_bits(fixed[6]).ok_or(Damage::Environment { found: fixed[6] })?;
        // Two views of the same bytes. Words 1 to 4 of `wide` are the fields of eight bytes. Words
        // 10 to 13 of `narrow` are the fields of four bytes.
        let (wide, _) = fixed.as_chunks::<8>();
        let (narrow, _) = fixed.as_chunks::<4>();
        let found = order.u32(narrow[13]);
        // Check the length before reading any string. Otherwise a damaged length would make a
        // caller wait for gigabytes.
        let length = usize::try_from(found).unwrap_or(usize::MAX);
        if !(Self::MIN_LENGTH..=MAX_HEADER_LENGTH).contains(&length) {
            return Err(Damage::HeaderLength { found });
        }
        let header = Self {
            order,
            env,
            per_cpu: fixed[7] & Self::PER_CPU != 0,
            circular: fixed[7] & Self::CIRCULAR != 0,
            wall_clock_ns: order.u64(wide[1]),
            start_tick: order.u64(wide[2]),
            conversion: TimeConversion {
                multiplier: order.u64(wide[3]),
                divisor: order.u64(wide[4]),
            },
            cpus: order.u32(narrow[10]),
            cpus_traced: order.u32(narrow[11]),
            channel: order.u32(narrow[12]),
            // `read` fills in the texts, because they follow the fixed part.
            texts: Texts::default(),
        };
        Ok((header, length))
    }

    /// Writes the header at the start of `bytes` and returns its length. Returns `None` if `bytes`
    /// is too short, or if the header would be longer than [`MAX_HEADER_LENGTH`].
    pub fn write(&self, bytes: &mut [u8]) -> Option<usize> {
        let length = self.length();
        if length > MAX_HEADER_LENGTH {
            return None;
        }
        let bytes = bytes.get_mut(..length)?;
        let (fixed, texts) = bytes.split_first_chunk_mut::<FIXED_LENGTH>()?;
        // The cast is exact because the length is at most the maximum.
        self.write_fixed(length as u32, fixed);
        self.texts.write(texts)?;
        Some(length)
    }

    fn write_fixed(&self, length: u32, fixed: &mut [u8; FIXED_LENGTH]) {
        let order = self.order;
        // Clear the reserved bytes: the caller's buffer may hold stale bytes.
        fixed.fill(0);
        fixed[..4].copy_from_slice(&Self::MAGIC);
        fixed[4] = match order {
            ByteOrder::Little => 1,
            ByteOrder::Big => 2,
        };
        fixed[5] = Self::VERSION;
        fixed[6] = self.env.bits();
        fixed[7] =
            (u8::from(self.per_cpu) * Self::PER_CPU) | (u8::from(self.circular) * Self::CIRCULAR);
        let TimeConversion { multiplier, divisor } = self.conversion;
        let wide = [self.wall_clock_ns, self.start_tick, multiplier, divisor];
        for (place, value) in fixed[8..].as_chunks_mut().0.iter_mut().zip(wide) {
            *place = order.bytes_of_u64(value);
        }
        let narrow = [self.cpus, self.cpus_traced, self.channel, length];
        for (place, value) in fixed[40..].as_chunks_mut().0.iter_mut().zip(narrow) {
            *place = order.bytes_of_u32(value);
        }
    }
}
