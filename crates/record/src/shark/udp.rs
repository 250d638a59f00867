//! Sending chunks as UDP datagrams, as the kernel does.

use std::io;
use std::net::{ToSocketAddrs, UdpSocket};
use std::thread;
use std::time::Duration;

use super::{Dump, Packets, Sender};

/// Sends chunks to a receiver, such as `tracewell collect`.
///
/// Nothing acknowledges a datagram: a success says that the system took it.
#[derive(Debug)]
pub struct UdpSender {
    socket: UdpSocket,
    packets: Packets,
    pause: Duration,
}

impl UdpSender {
    /// The kernel's pause behind each datagram: at most 12,000 records a second.
    pub const PAUSE: Duration = Duration::from_millis(5);

    /// Sends from the address `local` to `target`; both have [`PORT`](tracewell_wire::shark::PORT) in the
    /// kernel's own use.
    ///
    /// # Errors
    /// Where an address is none, or `local` cannot be taken.
    pub fn connect(local: impl ToSocketAddrs, target: impl ToSocketAddrs) -> io::Result<Self> {
        let socket = UdpSocket::bind(local)?;
        socket.connect(target)?;
        Ok(Self { socket, packets: Packets::default(), pause: Self::PAUSE })
    }

    /// The same with another pause behind each datagram.
    #[must_use]
    pub fn with_pause(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// The number of the last datagram.
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
