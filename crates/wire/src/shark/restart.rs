//! When packet numbers begin again: a target that was reset, a sender that was started once more.
//!
//! Numbers run on as long as a sender lives and begin at 1, and nothing in a datagram says which sender it
//! is of. A datagram that comes twice is the same both times. So one of the first numbers that comes again with
//! other bytes is a new sender's. (Our rule: the kernel's own receiver takes numbers as they come.)

use super::DatagramHeader;
use crate::native::crc32c;

/// The first packets of a sender, remembered to see the next one begin.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SenderStart {
    sums: [u32; Self::NUMBERS as usize],
    /// A bit for each number that came, from the lowest for 1.
    came: u64,
}

impl Default for SenderStart {
    fn default() -> Self {
        Self { sums: [0; Self::NUMBERS as usize], came: 0 }
    }
}

impl SenderStart {
    /// Numbers that are remembered: all of these would have to be lost for a new sender to be missed.
    pub const NUMBERS: u32 = 64;

    /// Takes a packet; whether it is the first one of a new sender.
    pub fn begins_anew(&mut self, header: &DatagramHeader, datagram: &[u8]) -> bool {
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
