//! UDP: a stream in datagrams, or the datagrams of S.Ha.R.K.'s new tracer.
//!
//! The first datagram decides where nobody said which. Of a stream the contents are put together in the order of
//! arrival; what is lost on the way its dialect finds out. The tracer's datagrams are numbered, and are kept
//! as a capture ([`tracewell_wire::shark::Frame`]).

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::time::Instant;

use tracewell_wire::shark::{DatagramHeader, Frame};

use super::connection::SILENCE;
use super::datagrams::{Account, Report};
use super::intake::{Intake, PIECE, is_pause};
use super::pace::{Pace, READING, TICK};
use super::unreceived;

/// What is in datagrams.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Datagrams {
    /// The first one tells.
    Any,
    /// Pieces of a stream.
    Stream,
    /// Packets of S.Ha.R.K.'s new tracer.
    Shark,
}

/// A socket and what came over it.
#[derive(Debug)]
pub(super) struct Udp {
    socket: UdpSocket,
    datagrams: Datagrams,
    account: Account,
    /// Whose stream is taken, and when it sent last.
    sender: Option<(SocketAddr, Instant)>,
}

impl Udp {
    pub(super) fn new(socket: UdpSocket, datagrams: Datagrams) -> io::Result<Self> {
        // Room for what comes while this program does not run; the system gives as much as it may.
        #[cfg(unix)]
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&socket, 4 << 20);
        socket.set_read_timeout(Some(TICK))?;
        Ok(Self { socket, datagrams, account: Account::default(), sender: None })
    }

    /// Where datagrams are waited for.
    pub(super) fn local_addr(&self) -> Option<SocketAddr> {
        self.socket.local_addr().ok()
    }

    /// Collects until it is over; the account of the tracer's packets, unless it was a stream.
    pub(super) fn collect(mut self, intake: &mut Intake<'_>) -> io::Result<Option<Report>> {
        // Behind the room for the prefix of a capture.
        let mut room = vec![0; Frame::PREFIX + PIECE];
        let mut pace = Pace::new(READING);
        while !intake.is_over() {
            if self.receive(&mut room, intake)? {
                // All that are there already.
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

    /// Takes a datagram; false where none came.
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

    /// Takes a datagram, before which the four bytes of its length stand.
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
        // What finds no room counts as missing, as it is in the capture.
        if intake.bytes(framed) && self.account.take(from, datagram) {
            intake.control.packet();
        }
    }

    /// Takes a piece of the stream of one sender. Another one takes its place where it was silent: most likely
    /// the target has started again and sends from another port.
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
        if !bytes.is_empty() {
            intake.bytes(bytes);
        }
    }
}
