//! TCP: a target that listens is connected to, again and again; targets that connect are taken, one at a time.

use std::io;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs};
use std::thread;

use super::connection::{self, End, SILENCE};
use super::intake::{Intake, is_pause};
use super::pace::TICK;

/// Collects from a target that listens at `address`, a name or number and a port.
pub(super) fn from_server(address: &str, intake: &mut Intake<'_>) -> io::Result<()> {
    connection::keep_reading(intake, || {
        let stream = connect(address)?;
        let peer = stream.peer_addr()?.to_string();
        Ok((stream, peer))
    })
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let mut failure = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, 2 * SILENCE) {
            Ok(stream) => return prepare(&stream).map(|()| stream),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// Collects from targets that connect, one at a time.
pub(super) fn from_clients(listener: &TcpListener, intake: &mut Intake<'_>) -> io::Result<()> {
    let again = !intake.control.until.disconnected;
    let mut next = None;
    while !intake.is_over() {
        let Some((mut stream, peer)) = next.take().or(accept(listener)?) else {
            intake.nothing();
            thread::sleep(TICK / 4);
            continue;
        };
        intake.opened(&peer.to_string());
        let end = connection::read(&mut stream, intake, || {
            // An error of the listener is found again when this connection has ended.
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

/// A target that has connected, if there is one.
fn accept(listener: &TcpListener) -> io::Result<Option<(TcpStream, SocketAddr)>> {
    match listener.accept() {
        Ok((stream, peer)) => {
            stream.set_nonblocking(false)?;
            prepare(&stream)?;
            Ok(Some((stream, peer)))
        }
        // A target that went away before it was taken is none.
        Err(error) if is_pause(&error) || error.kind() == io::ErrorKind::ConnectionAborted => {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Reads shall not block for long, and a target that vanished shall be found out.
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
