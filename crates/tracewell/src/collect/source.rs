//! What bytes can come from.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;

use super::datagrams::Report;
use super::intake::Intake;
#[cfg(unix)]
use super::serial::Serial;
use super::udp::{Datagrams, Udp};
use super::{file, tcp};
use crate::text::shown_path;

/// What bytes can come from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// A serial line.
    #[cfg(unix)]
    Serial(Serial),
    /// A target that listens at this address, a name or number and a port.
    Tcp(String),
    /// Targets that connect to this address of ours.
    TcpListen(String),
    /// Targets that send datagrams to this address of ours.
    Udp(String, Datagrams),
    /// Standard input.
    Stdin,
    /// A file that grows.
    File(PathBuf),
}

impl Source {
    /// A name for messages and files: letters, digits, `.`, `-` and `_`.
    pub fn name(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let file_name = |path: &std::path::Path| {
            // `.` and `..` have none; what is told of them needs one.
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        };
        let name = match self {
            #[cfg(unix)]
            Self::Serial(serial) => file_name(&serial.device),
            Self::Tcp(address) => format!("tcp-{address}"),
            Self::TcpListen(address) => format!("tcp-listen-{address}"),
            Self::Udp(address, _) => format!("udp-{address}"),
            Self::Stdin => "stdin".to_owned(),
            Self::File(path) => file_name(path),
        };
        name.replace(|c| !plain(c), "-")
    }

    /// Opens what is waited at: a listening address. Everything else is opened while collecting.
    ///
    /// # Errors
    /// Where the address cannot be had.
    pub fn open(&self) -> io::Result<Reader> {
        let name = self.name();
        let inner = match self {
            #[cfg(unix)]
            Self::Serial(serial) => Inner::Serial(serial.clone()),
            Self::Tcp(address) => Inner::Tcp(address.clone()),
            Self::TcpListen(address) => {
                let listener = TcpListener::bind(address)?;
                listener.set_nonblocking(true)?;
                Inner::TcpListen(listener)
            }
            Self::Udp(address, datagrams) => {
                let socket = UdpSocket::bind(address)?;
                Inner::Udp(Box::new(Udp::new(socket, *datagrams)?))
            }
            Self::Stdin => Inner::Stdin,
            Self::File(path) => Inner::File(path.clone()),
        };
        Ok(Reader { name, inner })
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            #[cfg(unix)]
            Self::Serial(serial) => serial.fmt(f),
            Self::Tcp(address) | Self::TcpListen(address) | Self::Udp(address, _) => {
                f.write_str(address)
            }
            Self::Stdin => f.write_str("standard input"),
            Self::File(path) => shown_path(path).fmt(f),
        }
    }
}

/// A source that is ready to be read.
#[derive(Debug)]
pub struct Reader {
    name: String,
    inner: Inner,
}

#[derive(Debug)]
enum Inner {
    #[cfg(unix)]
    Serial(Serial),
    Tcp(String),
    TcpListen(TcpListener),
    Udp(Box<Udp>),
    Stdin,
    File(PathBuf),
}

impl Reader {
    /// The name of the source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Gives it another name.
    #[must_use]
    pub fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// Where a target is waited for.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match &self.inner {
            Inner::TcpListen(listener) => listener.local_addr().ok(),
            Inner::Udp(udp) => udp.local_addr(),
            _ => None,
        }
    }

    /// Reads until it is over; what became of packets with numbers.
    pub(super) fn collect(self, intake: &mut Intake<'_>) -> io::Result<Option<Report>> {
        match self.inner {
            #[cfg(unix)]
            Inner::Serial(serial) => serial.collect(intake)?,
            Inner::Tcp(address) => tcp::from_server(&address, intake)?,
            Inner::TcpListen(listener) => tcp::from_clients(&listener, intake)?,
            Inner::Udp(udp) => return udp.collect(intake),
            Inner::Stdin => file::from_stdin(intake)?,
            Inner::File(path) => file::follow(&path, intake)?,
        }
        Ok(None)
    }
}
