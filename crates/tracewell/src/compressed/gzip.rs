//! Decompresses the members of a gzip file (RFC 1952). A member is a header, deflated data, a
//! checksum and a length.

use std::io::{BufRead, Read};

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::source::{Broken, Source};

const MAGIC: [u8; 3] = [0x1F, 0x8B, 8];
const HAS_CHECKSUM: u8 = 0x02;
const HAS_EXTRA: u8 = 0x04;
const HAS_NAME: u8 = 0x08;
const HAS_COMMENT: u8 = 0x10;

/// Decompresses one member after another.
pub(super) struct Members {
    inflate: Decompress,
    sum: Crc,
}

impl Members {
    pub(super) fn new() -> Self {
        Self { inflate: Decompress::new(false), sum: Crc::new() }
    }

    /// Reads the header of the next member. Returns false if there is none. Zeros between and after
    /// members are padding.
    pub(super) fn begin(&mut self, source: &mut Source<impl BufRead>) -> Result<bool, Broken> {
        loop {
            let bytes = source.fill_buf()?;
            if bytes.is_empty() {
                return Ok(false);
            }
            let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
            if zeros == 0 {
                break;
            }
            source.consume(zeros);
        }
        header(source)?;
        self.inflate.reset(false);
        self.sum.reset();
        Ok(true)
    }

    /// Decompresses into `into`, which must not be empty. Returns the number of bytes, or 0 at the
    /// end of the member.
    pub(super) fn read(
        &mut self,
        source: &mut Source<impl BufRead>,
        into: &mut [u8],
    ) -> Result<usize, Broken> {
        loop {
            let bytes = source.fill_buf()?;
            if bytes.is_empty() {
                return Err(Broken::Truncated);
            }
            let (consumed, made) = (self.inflate.total_in(), self.inflate.total_out());
            let result = self.inflate.decompress(bytes, into, FlushDecompress::None);
            source.consume((self.inflate.total_in() - consumed) as usize);
            let made = (self.inflate.total_out() - made) as usize;
            if made > 0 {
                self.sum.update(&into[..made]);
                // If there is also an error, the next call finds it again and returns it.
                return Ok(made);
            }
            match result {
                Ok(Status::StreamEnd) => break,
                Ok(_) => {}
                Err(error) => {
                    return Err(Broken::Damaged(format!("expected deflated data: {error}")));
                }
            }
        }
        let mut sums = [0; 8];
        source.read_exact(&mut sums)?;
        let expected = u64::from(self.sum.sum()) | u64::from(self.sum.amount()) << 32;
        if u64::from_le_bytes(sums) == expected { Ok(0) } else { Err(Broken::Checksum) }
    }
}

fn header(source: &mut Source<impl BufRead>) -> Result<(), Broken> {
    let mut fixed = [0; 10];
    // Read only the magic number first, because fewer than 10 bytes of other data may follow the
    // last member.
    source.read_exact(&mut fixed[..3])?;
    if fixed[..3] != MAGIC {
        let found = &fixed[..3];
        return Err(Broken::Damaged(format!("expected a member (1F 8B 08), found {found:02X?}")));
    }
    source.read_exact(&mut fixed[3..])?;
    // Bytes 4 to 9 (time, level, system) have no effect on the data.
    let flags = fixed[3];
    // The optional fields follow in this order (RFC 1952, section 2.3).
    if flags & HAS_EXTRA != 0 {
        let mut length = [0; 2];
        source.read_exact(&mut length)?;
        skip(source, u64::from(u16::from_le_bytes(length)))?;
    }
    for flag in [HAS_NAME, HAS_COMMENT] {
        if flags & flag != 0 {
            skip_text(source)?;
        }
    }
    if flags & HAS_CHECKSUM != 0 {
        skip(source, 2)?;
    }
    Ok(())
}

/// Skips a string and the NUL that ends it.
fn skip_text(source: &mut Source<impl BufRead>) -> Result<(), Broken> {
    loop {
        let bytes = source.fill_buf()?;
        if bytes.is_empty() {
            return Err(Broken::Truncated);
        }
        let end = bytes.iter().position(|byte| *byte == 0);
        let length = bytes.len();
        source.consume(end.map_or(length, |end| end + 1));
        if end.is_some() {
            return Ok(());
        }
    }
}

/// Skips a number of bytes.
pub(super) fn skip(source: &mut Source<impl BufRead>, count: u64) -> Result<(), Broken> {
    let skipped = std::io::copy(&mut source.by_ref().take(count), &mut std::io::sink())?;
    if skipped < count { Err(Broken::Truncated) } else { Ok(()) }
}
