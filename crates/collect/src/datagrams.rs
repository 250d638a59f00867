//! Counts the datagrams of S.Ha.R.K.'s tracer and finds missing packets from the packet numbers.
//!
//! All datagrams of the sender are stored in order of arrival, including duplicate and damaged
//! datagrams. The decoder sorts them by number and reports the same counts as [`Report`].

use std::fmt;
use std::net::SocketAddr;

use serde::Serialize;
use tracewell_wire::shark::{DatagramError, DatagramHeader, SenderStart};

use crate::numbers::{self, Arrival, MAX_LISTED, Numbers, PacketNumbers};
use tracewell::text::{counted, missing, times};

/// Statistics of received packets.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The sender of the first packet. Datagrams of other senders are ignored.
    #[cfg_attr(feature = "schema", schemars(with = "Option<String>"))]
    pub sender: Option<SocketAddr>,
    /// Number of packets, without duplicates.
    pub packets: u64,
    /// Number of records in these packets.
    pub records: u64,
    /// Number of target resets. After a reset, the sender numbers its packets from 1 again. Only
    /// the packet numbers since the last reset determine which packets are missing, late or
    /// duplicate. The counts are totals over all resets.
    pub restarts: u64,
    /// Lowest and highest packet number since the last reset.
    pub numbers: Option<(u32, u32)>,
    /// First and last number of each gap.
    pub missing: Vec<(u32, u32)>,
    /// Number of packets in all gaps, including gaps that are no longer listed.
    pub missing_packets: u64,
    /// Packets that arrived after a packet with a higher number.
    pub reordered: PacketNumbers,
    /// Packets with a number that has already been received.
    pub duplicates: PacketNumbers,
    /// Empty datagrams, which represent chunks without records.
    pub empty: u64,
    /// Datagrams with the tracer's identification but an inconsistent header. These datagrams are
    /// also stored.
    pub damaged: u64,
    /// Datagrams of other senders or other programs. They are not stored.
    pub foreign: u64,
}

impl Report {
    /// Returns true if packets are missing or damaged.
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
            write!(
                f,
                "\nthe sender restarted {again}; these are the numbers since the last restart"
            )?;
        }
        if self.missing_packets > 0 {
            write!(f, "\n{}: ", missing(self.missing_packets, "packet"))?;
            numbers::list(f, &self.missing)?;
        }
        for (numbers, what) in
            [(&self.reordered, "arrived late"), (&self.duplicates, "arrived again")]
        {
            if numbers.count > 0 {
                write!(f, "\n{} {what}: {numbers}", counted(numbers.count, "packet"))?;
            }
        }
        let counts = [
            (self.empty, "datagram", " of chunks without records"),
            (self.damaged, "damaged datagram", ""),
            (self.foreign, "datagram", " of other senders, ignored"),
        ];
        for (count, what, which) in counts.into_iter().filter(|(count, ..)| *count > 0) {
            write!(f, "\n{}{which}", counted(count, what))?;
        }
        Ok(())
    }
}

/// Counts datagrams by their packet numbers.
///
/// ```
/// use tracewell_collect::Account;
///
/// let (mut account, sender) = (Account::default(), ([127, 0, 0, 1], 20_000).into());
/// assert!(account.is_foreign(sender, b"hello"));
/// account.leave_out();
/// assert_eq!((account.report().packets, account.report().foreign), (0, 1));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Account {
    start: SenderStart,
    numbers: Numbers,
    /// All statistics except the numbers of the packets.
    report: Report,
}

impl Account {
    /// Returns true if a datagram is not from the tracer. The sender of the first packet is the
    /// tracer.
    pub fn is_foreign(&self, from: SocketAddr, datagram: &[u8]) -> bool {
        self.report.sender.is_some_and(|sender| sender != from)
            // Empty datagrams do not identify the program that sent them. The tracer also sends
            // them.
            || !datagram.is_empty()
                && DatagramHeader::read(datagram) == Err(DatagramError::NotATracer)
    }

    /// Counts a foreign datagram, which is not stored.
    pub fn leave_out(&mut self) {
        self.report.foreign += 1;
    }

    /// Counts a datagram that is stored. Returns true if the datagram is a packet with a new
    /// number.
    pub fn take(&mut self, from: SocketAddr, datagram: &[u8]) -> bool {
        match DatagramHeader::read(datagram) {
            _ if datagram.is_empty() => self.report.empty += 1,
            Ok((header, _)) => return self.packet(from, header, datagram),
            Err(_) => self.report.damaged += 1,
        }
        false
    }

    fn packet(&mut self, from: SocketAddr, header: DatagramHeader, datagram: &[u8]) -> bool {
        if self.start.restarts(&header, datagram) {
            // The totals continue across restarts; only the numbers and gaps start again.
            self.report = Report { restarts: self.report.restarts + 1, ..self.report() };
            // Limit the list of gaps: a target that resets repeatedly must not fill the memory.
            self.report.missing.truncate(MAX_LISTED);
            self.numbers = Numbers::default();
        }
        let report = &mut self.report;
        report.sender = Some(from);
        match self.numbers.arrive(header.number) {
            Arrival::Again => {
                // The records were counted when the packet first arrived.
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

    /// Returns the statistics so far.
    pub fn report(&self) -> Report {
        let mut report = self.report.clone();
        report.numbers = self.numbers.bounds();
        report.missing.extend(self.numbers.missing());
        report.missing_packets += self.numbers.missing_packets();
        report
    }
}
