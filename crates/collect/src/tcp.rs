//! TCP. Connects to a listening target and reconnects after each disconnection, or accepts
//! connections from targets, one at a time.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::thread;

use crate::connection::{self, End, SILENCE};
use crate::intake::{Intake, is_pause};
use crate::pace::TICK;

/// Collects from a target that listens at `address`, a host name or IP address with a port.
pub(crate) fn from_server(address: &str, intake: &mut Intake<'_>) -> io::Result<()> {
    connection::keep_reading(intake, || {
        let stream = connect(address)?;
        let peer = stream.peer_addr()?.to_string();
        Ok((stream, peer))
    })
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        // A name can have several addresses, for example IPv6 and IPv4, and the target may listen
        // on only one of them.
        match TcpStream::connect_timeout(&address, 2 * SILENCE) {
            Ok(stream) => return prepare(&stream).map(|()| stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Collects from targets that connect, one at a time.
pub(crate) fn from_clients(listener: &TcpListener, intake: &mut Intake<'_>) -> io::Result<()> {
    let again = !intake.control.until.disconnected;
    let mut next = None;
    while !intake.is_over() {
        // `next` contains a target that connected while the previous connection was silent.
        let Some((mut stream, peer)) = next.take().or(accept(listener)?) else {
            intake.nothing();
            // The listener does not block, so that this loop can detect the end of the collection.
            thread::sleep(TICK / 4);
            continue;
        };
        intake.opened(&peer.to_string());
        let end = connection::read(&mut stream, intake, || {
            // Ignore errors of the listener here: they occur again after this connection.
            next = if again { accept(listener).ok().flatten() } else { None };
            next.is_some()
        });
        match end {
            End::Over => break,
            End::GaveWay => intake.closed(None, true),
            End::Ended(error) => {
                intake.closed(error.as_ref(), again);
                if !again {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// Accepts a target, if one is waiting.
fn accept(listener: &TcpListener) -> io::Result<Option<(TcpStream, SocketAddr)>> {
    match listener.accept() {
        Ok((stream, peer)) => {
            // On some systems, connections inherit the listener's mode.
            stream.set_nonblocking(false)?;
            prepare(&stream)?;
            Ok(Some((stream, peer)))
        }
        // If a target disconnected before it was accepted, it does not count.
        Err(error) if is_pause(&error) || error.kind() == io::ErrorKind::ConnectionAborted => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Limits the time that a read blocks, and enables keep-alive probes, which detect an unreachable
/// target.
fn prepare(stream: &TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(TICK))?;
    keep_alive(stream)
}

#[cfg(target_os = "linux")]
fn keep_alive(stream: &TcpStream) -> io::Result<()> {
    use rustix::net::sockopt;
    sockopt::set_socket_keepalive(stream, true)?;
    sockopt::set_tcp_keepidle(stream, 10 * SILENCE)?;
    sockopt::set_tcp_keepintvl(stream, 5 * SILENCE)?;
    Ok(sockopt::set_tcp_keepcnt(stream, 3)?)
}

#[cfg(not(target_os = "linux"))]
fn keep_alive(_: &TcpStream) -> io::Result<()> {
    Ok(())
}
