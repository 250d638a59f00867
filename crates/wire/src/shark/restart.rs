//! Detects a restarted sender, for example after a reset of the target.
//!
//! A sender numbers its packets from 1, and a datagram does not identify its sender. A duplicated
//! datagram has the same bytes both times. So if a packet repeats one of the first numbers with
//! different bytes, a new sender has started. This rule is Tracewell's own; the kernel's receiver
//! does not check numbers.

use super::DatagramHeader;
use crate::native::crc32c;

/// Checksums of the first packets of a sender, to detect the start of the next sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenderStart {
    sums: [u32; Self::NUMBERS as usize],
    /// The numbers that were received, one bit each. The lowest bit is for number 1.
    came: u64,
}

impl Default for SenderStart {
    fn default() -> Self {
        Self { sums: [0; Self::NUMBERS as usize], came: 0 }
    }
}

impl SenderStart {
    /// Highest packet number for which a checksum is kept. [`SenderStart::restarts`] detects a new
    /// sender only if the same packet number, up to this limit, arrives from both senders.
    pub const NUMBERS: u32 = 64;

    /// Adds a packet. Returns true if this packet shows that a new sender has started.
    pub fn restarts(&mut self, header: &DatagramHeader, datagram: &[u8]) -> bool {
        let Some(index) = header.number.checked_sub(1).filter(|index| *index < Self::NUMBERS)
        else {
            return false;
        };
        let Some(place) = self.sums.get_mut(index as usize) else { return false };
        let (bit, sum) = (1 << index, crc32c(datagram));
        let anew = self.came & bit != 0 && *place != sum;
        *place = sum;
        self.came = if anew { bit } else { self.came | bit };
        anew
    }
}
