//! UDP: a stream split into datagrams, or the packets of S.Ha.R.K.'s new tracer.
//!
//! If the caller does not choose one of these kinds, the first datagram determines the kind. The
//! datagrams of a stream are concatenated in order of arrival; the decoder of the stream detects
//! losses. The tracer's packets are numbered, and are stored as a capture
//! ([`tracewell_wire::shark::Frame`]).

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

use tracewell_wire::shark::{DatagramHeader, Frame};

use crate::connection::SILENCE;
use crate::datagrams::{Account, Report};
use crate::intake::{CHUNK_LEN, Intake, is_pause};
use crate::pace::{Pace, READING, TICK};
use crate::unreceived;

/// The content of datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Datagrams {
    /// The first datagram decides.
    Any,
    /// Pieces of a stream.
    Stream,
    /// Packets of S.Ha.R.K.'s new tracer.
    Shark,
}

/// A socket and the state of its sender.
#[derive(Debug)]
pub(crate) struct Udp {
    socket: UdpSocket,
    datagrams: Datagrams,
    account: Account,
    /// The sender of the stream, and the time of its last datagram.
    sender: Option<(SocketAddr, Instant)>,
}

impl Udp {
    pub(crate) fn new(socket: UdpSocket, datagrams: Datagrams) -> io::Result<Self> {
        // Size of the socket buffer, which holds datagrams while this process is not scheduled. The
        // system may grant less.
        #[cfg(unix)]
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&socket, 4 << 20);
        socket.set_read_timeout(Some(TICK))?;
        Ok(Self { socket, datagrams, account: Account::default(), sender: None })
    }

    /// Returns the local address.
    pub(crate) fn local_addr(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// Collects until the end. Returns the packet report, unless the datagrams are a stream.
    pub(crate) fn collect(mut self, intake: &mut Intake<'_>) -> io::Result<Option<Report>> {
        // The datagram follows the length prefix of the capture.
        let mut room = vec![0; Frame::PREFIX + CHUNK_LEN];
        let mut pace = Pace::new(READING);
        while !intake.is_over() {
            if self.receive(&mut room, intake)? {
                // Receive all datagrams that are already waiting.
                self.socket.set_nonblocking(true)?;
                while !intake.is_over() && self.receive(&mut room, intake)? {}
                self.socket.set_nonblocking(false)?;
                pace.rest();
            }
        }
        intake.counts.unreceived = unreceived::of(&self.socket).unwrap_or(0);
        let is_stream = self.datagrams == Datagrams::Stream;
        Ok((!is_stream).then(|| self.account.report()))
    }

    /// Receives a datagram. Returns false if no datagram is waiting.
    fn receive(&mut self, room: &mut [u8], intake: &mut Intake<'_>) -> io::Result<bool> {
        let (prefix, datagram) = room.split_at_mut(Frame::PREFIX);
        match self.socket.recv_from(datagram) {
            Ok((length, from)) => {
                // A datagram has less than 64 KiB.
                prefix.copy_from_slice(&Frame::prefix(length as u32));
                self.datagram(from, room.get(..Frame::PREFIX + length).unwrap_or_default(), intake);
                Ok(true)
            }
            Err(error) if is_pause(&error) => {
                intake.nothing();
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Handles a datagram, with its length in the four bytes before it.
    fn datagram(&mut self, from: SocketAddr, framed: &[u8], intake: &mut Intake<'_>) {
        let datagram = framed.get(Frame::PREFIX..).unwrap_or_default();
        if self.datagrams == Datagrams::Any && !datagram.is_empty() {
            let is_shark = datagram.starts_with(&DatagramHeader::ID);
            self.datagrams = if is_shark { Datagrams::Shark } else { Datagrams::Stream };
        }
        match self.datagrams {
            Datagrams::Stream => self.piece(from, datagram, intake),
            _ => self.packet(from, framed, intake),
        }
    }

    fn packet(&mut self, from: SocketAddr, framed: &[u8], intake: &mut Intake<'_>) {
        let datagram = framed.get(Frame::PREFIX..).unwrap_or_default();
        if self.account.is_foreign(from, datagram) {
            return self.account.leave_out();
        }
        // If a packet does not fit, it counts as missing, because the capture does not contain it.
        if intake.bytes(framed) && self.account.take(from, datagram) {
            intake.control.packet();
        }
    }

    /// Handles a datagram of a stream. A new sender replaces a silent sender, because the target
    /// has probably restarted and now sends from another port.
    fn piece(&mut self, from: SocketAddr, bytes: &[u8], intake: &mut Intake<'_>) {
        let now = Instant::now();
        match self.sender {
            Some((sender, _)) if sender == from => {}
            Some((_, last)) if last + SILENCE > now => {
                intake.counts.foreign += 1;
                return;
            }
            Some(_) => {
                intake.closed(None, true);
                intake.opened(&from.to_string());
            }
            None => intake.opened(&from.to_string()),
        }
        self.sender = Some((from, now));
        // An empty datagram only shows that the sender is alive.
        if !bytes.is_empty() {
            intake.bytes(bytes);
        }
    }
}
