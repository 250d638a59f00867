//! Collecting what a target sends while it runs, into a file that the reader takes afterwards.
//!
//! So far: datagrams of S.Ha.R.K.'s new tracer over UDP, as a capture ([`tracewell_wire::shark::Frame`]). Everything
//! of the sender is kept, in the order of arrival, also what came twice or is damaged: the reader sorts
//! by number and says the same about it as the [`Report`].
//!
//! Not here: signals and arguments (the program), decoding (`format/shark`).

mod numbers;

use std::fmt;
use std::io::{self, Write};
use std::net::{SocketAddr, UdpSocket};
use std::time::{Duration, Instant};

use serde::Serialize;
use tracewell_wire::shark::{DatagramError, DatagramHeader, Frame, SenderStart};

use numbers::MOST_LISTED;
pub use numbers::{Arrival, Numbers, PacketNumbers};

/// How often the end is looked for while nothing arrives, and what came is given to the file.
const TICK: Duration = Duration::from_millis(100);

/// When collecting ends by itself; the first that happens counts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Until {
    /// So long after the start.
    pub elapsed: Option<Duration>,
    /// So many packets of different numbers are there.
    pub packets: Option<u64>,
    /// Nothing came for so long after the first packet.
    pub idle: Option<Duration>,
}

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
        write!(f, "{} packets with {} records", self.packets, self.records)?;
        if let (Some((first, last)), Some(sender)) = (self.numbers, self.sender) {
            write!(f, " from {sender}, numbers {first} to {last}")?;
        }
        if self.restarts > 0 {
            write!(f, "\nthe sender began again {} times; numbers are those since", self.restarts)?;
        }
        if self.missing_packets > 0 {
            write!(f, "\n{} packets are missing: ", self.missing_packets)?;
            numbers::list(f, &self.missing)?;
        }
        for (numbers, what) in [(&self.reordered, "came late"), (&self.duplicates, "came again")] {
            if numbers.count > 0 {
                write!(f, "\n{} packets {what}: {numbers}", numbers.count)?;
            }
        }
        let counts = [
            (self.empty, "datagrams of chunks without records"),
            (self.damaged, "damaged datagrams"),
            (self.foreign, "datagrams of others, which were left out"),
        ];
        for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
            write!(f, "\n{count} {what}")?;
        }
        Ok(())
    }
}

/// Writes datagrams into a capture and keeps account of their numbers.
#[derive(Debug)]
pub struct Collector<W> {
    out: W,
    start: SenderStart,
    numbers: Numbers,
    /// Without what is in `numbers`.
    report: Report,
}

impl<W: Write> Collector<W> {
    /// A capture that begins at the position of `out`.
    pub fn new(out: W) -> Self {
        let (start, numbers) = (SenderStart::default(), Numbers::default());
        Self { out, start, numbers, report: Report::default() }
    }

    /// Packets of different numbers so far.
    pub fn packets(&self) -> u64 {
        self.report.packets
    }

    /// Takes a datagram; whether it was the sender's.
    ///
    /// # Errors
    /// Of the writer. What was taken before is in the capture, the last frame perhaps not whole.
    pub fn datagram(&mut self, from: SocketAddr, datagram: &[u8]) -> io::Result<bool> {
        if self.report.sender.is_some_and(|sender| sender != from) {
            self.report.foreign += 1;
            return Ok(false);
        }
        match DatagramHeader::read(datagram) {
            _ if datagram.is_empty() => self.report.empty += 1,
            Ok((header, _)) => self.packet(from, header, datagram),
            Err(DatagramError::NotATracer) => {
                self.report.foreign += 1;
                return Ok(false);
            }
            Err(_) => self.report.damaged += 1,
        }
        // A datagram has less than 64 kB.
        self.out.write_all(&Frame::prefix(datagram.len() as u32))?;
        self.out.write_all(datagram)?;
        Ok(true)
    }

    fn packet(&mut self, from: SocketAddr, header: DatagramHeader, datagram: &[u8]) {
        if self.start.begins_anew(&header, datagram) {
            self.report = Report { restarts: self.report.restarts + 1, ..self.report() };
            // Whoever begins again and again fills no memory.
            self.report.missing.truncate(MOST_LISTED);
            self.numbers = Numbers::default();
        }
        let report = &mut self.report;
        report.sender = Some(from);
        match self.numbers.arrive(header.number) {
            Arrival::Again => return report.duplicates.add(header.number),
            Arrival::Late => report.reordered.add(header.number),
            Arrival::Next => {}
        }
        report.packets += 1;
        report.records += u64::from(header.events);
    }

    /// Gives everything to the file.
    ///
    /// # Errors
    /// Of the writer.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// What was collected so far.
    pub fn report(&self) -> Report {
        let mut report = self.report.clone();
        report.numbers = self.numbers.bounds();
        report.missing.extend(self.numbers.missing());
        report.missing_packets += self.numbers.missing_packets();
        report
    }

    /// Takes datagrams from a socket until it is time, or `stopped` says so, and gives all to the file.
    ///
    /// `stopped` is asked after each datagram and ten times a second. Sets the socket's time limit for reading.
    ///
    /// # Errors
    /// Of the socket and of the writer.
    pub fn udp(
        &mut self,
        socket: &UdpSocket,
        until: Until,
        mut stopped: impl FnMut() -> bool,
    ) -> io::Result<()> {
        socket.set_read_timeout(Some(TICK))?;
        let start = Instant::now();
        let (mut last, mut flushed) = (start, start);
        // Longer than any datagram, so that none is cut.
        let mut buffer = vec![0; 1 << 16];
        while !stopped() && !self.is_time(until, start, last) {
            match socket.recv_from(&mut buffer) {
                Ok((length, from)) => {
                    if self.datagram(from, buffer.get(..length).unwrap_or_default())? {
                        last = Instant::now();
                    }
                }
                Err(error) if is_pause(&error) => {}
                Err(error) => {
                    self.flush()?;
                    return Err(error);
                }
            }
            if flushed.elapsed() >= TICK {
                self.flush()?;
                flushed = Instant::now();
            }
        }
        self.flush()
    }

    fn is_time(&self, until: Until, start: Instant, last: Instant) -> bool {
        let began = self.report.packets > 0;
        until.packets.is_some_and(|packets| self.report.packets >= packets)
            || until.elapsed.is_some_and(|limit| start.elapsed() >= limit)
            || until.idle.is_some_and(|limit| began && last.elapsed() >= limit)
    }
}

/// Whether an error says that nothing came yet.
fn is_pause(error: &io::Error) -> bool {
    use io::ErrorKind::{Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), Interrupted | TimedOut | WouldBlock)
}
