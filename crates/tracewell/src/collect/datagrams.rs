//! The account of S.Ha.R.K.'s datagrams: what came, and by the packets' numbers what did not.
//!
//! Everything of the sender is kept, in the order of arrival, also what came twice or is damaged: the reader sorts
//! by number and says the same about it as the [`Report`].
//!
//! Not here: receiving (`udp`), decoding (`format/shark`).

use std::fmt;
use std::net::SocketAddr;

use serde::Serialize;
use tracewell_wire::shark::{DatagramError, DatagramHeader, SenderStart};

use super::numbers::{self, Arrival, MOST_LISTED, Numbers, PacketNumbers};
use crate::text::{counted, missing, times};

/// What was collected.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Report {
    /// Whose packets were taken: the first sender of one.
    pub sender: Option<SocketAddr>,
    /// Packets of different numbers.
    pub packets: u64,
    /// Records in them.
    pub records: u64,
    /// Times that the sender began again at its first number with other packets: a reset target. What
    /// is missing, late or doubled is reckoned for each of its lives.
    pub restarts: u64,
    /// Lowest and highest number since the last restart.
    pub numbers: Option<(u32, u32)>,
    /// First and last number of each row of packets that are missing between those two.
    pub missing: Vec<(u32, u32)>,
    /// Packets in those rows, and in older ones that are not listed any more.
    pub missing_packets: u64,
    /// Packets that came after one with a higher number.
    pub reordered: PacketNumbers,
    /// Packets that came again.
    pub duplicates: PacketNumbers,
    /// Datagrams without a byte: chunks without records.
    pub empty: u64,
    /// Datagrams that begin like the tracer's and contradict themselves. They are in the file, too.
    pub damaged: u64,
    /// Datagrams of other senders, or of other programs. They are not in the file.
    pub foreign: u64,
}

impl Report {
    /// Whether packets are missing or damaged.
    pub fn is_lossy(&self) -> bool {
        self.missing_packets > 0 || self.damaged > 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", counted(self.packets, "packet"))?;
        write!(f, " with {}", counted(self.records, "record"))?;
        if let (Some((first, last)), Some(sender)) = (self.numbers, self.sender) {
            write!(f, " from {sender}, numbers {first} to {last}")?;
        }
        if self.restarts > 0 {
            let again = times(self.restarts);
            write!(f, "\nthe sender began again {again}; numbers are those since")?;
        }
        if self.missing_packets > 0 {
            write!(f, "\n{}: ", missing(self.missing_packets, "packet"))?;
            numbers::list(f, &self.missing)?;
        }
        for (numbers, what) in [(&self.reordered, "came late"), (&self.duplicates, "came again")] {
            if numbers.count > 0 {
                write!(f, "\n{} {what}: {numbers}", counted(numbers.count, "packet"))?;
            }
        }
        let counts = [
            (self.empty, "datagram", " of chunks without records"),
            (self.damaged, "damaged datagram", ""),
            (self.foreign, "datagram", " of others, left out"),
        ];
        for (count, what, which) in counts.into_iter().filter(|(count, ..)| *count > 0) {
            write!(f, "\n{}{which}", counted(count, what))?;
        }
        Ok(())
    }
}

/// Keeps account of datagrams by their numbers.
#[derive(Clone, Debug, Default)]
pub struct Account {
    start: SenderStart,
    numbers: Numbers,
    /// Without what is in `numbers`.
    report: Report,
}

impl Account {
    /// Whether a datagram is none of the sender's: the first sender of a packet is the one that counts.
    pub fn is_foreign(&self, from: SocketAddr, datagram: &[u8]) -> bool {
        self.report.sender.is_some_and(|sender| sender != from)
            || !datagram.is_empty()
                && DatagramHeader::read(datagram) == Err(DatagramError::NotATracer)
    }

    /// Counts a datagram that is left out of the capture.
    pub fn leave_out(&mut self) {
        self.report.foreign += 1;
    }

    /// Takes a datagram that goes into the capture; whether it is a packet with a new number.
    pub fn take(&mut self, from: SocketAddr, datagram: &[u8]) -> bool {
        match DatagramHeader::read(datagram) {
            _ if datagram.is_empty() => self.report.empty += 1,
            Ok((header, _)) => return self.packet(from, header, datagram),
            Err(_) => self.report.damaged += 1,
        }
        false
    }

    fn packet(&mut self, from: SocketAddr, header: DatagramHeader, datagram: &[u8]) -> bool {
        if self.start.begins_anew(&header, datagram) {
            self.report = Report { restarts: self.report.restarts + 1, ..self.report() };
            // Whoever begins again and again fills no memory.
            self.report.missing.truncate(MOST_LISTED);
            self.numbers = Numbers::default();
        }
        let report = &mut self.report;
        report.sender = Some(from);
        match self.numbers.arrive(header.number) {
            Arrival::Again => {
                report.duplicates.add(header.number);
                return false;
            }
            Arrival::Late => report.reordered.add(header.number),
            Arrival::Next => {}
        }
        report.packets += 1;
        report.records += u64::from(header.events);
        true
    }

    /// What was collected so far.
    pub fn report(&self) -> Report {
        let mut report = self.report.clone();
        report.numbers = self.numbers.bounds();
        report.missing.extend(self.numbers.missing());
        report.missing_packets += self.numbers.missing_packets();
        report
    }
}
