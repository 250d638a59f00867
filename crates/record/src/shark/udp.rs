//! Sends chunks as UDP datagrams, as the kernel does.

use std::io;
use std::net::{ToSocketAddrs, UdpSocket};
use std::thread;
use std::time::Duration;

use super::{Dump, Packets, Sender};

/// Sends chunks to a receiver, such as `tracewell collect`.
///
/// Datagrams are not acknowledged: success means that the operating system accepted them.
#[derive(Debug)]
pub struct UdpSender {
    socket: UdpSocket,
    packets: Packets,
    pause: Duration,
}

impl UdpSender {
    /// The kernel's pause after each datagram, which limits the kernel to 12,000 records per
    /// second.
    pub const PAUSE: Duration = Duration::from_millis(5);

    /// Creates a sender from the address `local` to `target`. The kernel uses
    /// [`PORT`](tracewell_wire::shark::PORT) for both.
    ///
    /// # Errors
    /// Returns an error if an address is invalid, or if the socket cannot be bound to `local`.
    pub fn connect(local: impl ToSocketAddrs, target: impl ToSocketAddrs) -> io::Result<Self> {
        let socket = UdpSocket::bind(local)?;
        socket.connect(target)?;
        Ok(Self { socket, packets: Packets::default(), pause: Self::PAUSE })
    }

    /// Sets the pause after each datagram.
    #[must_use]
    pub fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Returns the sequence number of the last datagram, or 0 before the first.
    pub fn sent(&self) -> u32 {
        self.packets.sent()
    }
}

impl Sender for UdpSender {
    type Error = io::Error;

    fn send(&mut self, dump: &Dump<'_>) -> io::Result<()> {
        let Self { socket, packets, pause } = self;
        packets.send(dump, |datagram| {
            let sent = socket.send(datagram)?;
            if sent < datagram.len() {
                return Err(io::ErrorKind::WriteZero.into());
            }
            thread::sleep(*pause);
            Ok(())
        })
    }
}
