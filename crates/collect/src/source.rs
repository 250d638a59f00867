//! Defines the kinds of sources and opens them.

use std::fmt;
use std::io;
use std::net::{SocketAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::sync::Arc;

use crate::datagrams::Report;
use crate::gauge::Gauge;
use crate::intake::Intake;
#[cfg(unix)]
use crate::serial::Serial;
use crate::udp::{Datagrams, Udp};
use crate::{file, tcp};
use tracewell::text::shown_path;

/// A source of bytes.
///
/// ```
/// use tracewell_collect::Source;
///
/// let source = Source::Tcp("board:6602".to_owned());
/// assert_eq!(source.name(), "tcp-board-6602");
/// assert_eq!(source.to_string(), "board:6602");
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Source {
    /// A target on a serial line.
    #[cfg(unix)]
    Serial(Serial),
    /// A target that listens at this address: a host name or IP address, and a port.
    Tcp(String),
    /// Targets that connect to this local address.
    TcpListen(String),
    /// Targets that send datagrams to this local address.
    Udp(String, Datagrams),
    /// Standard input, as a pipe or file.
    Stdin,
    /// A file that another program extends.
    File(PathBuf),
}

impl Source {
    /// Returns a name for messages and files. It consists of letters, digits, `.`, `-` and `_`.
    pub fn name(&self) -> String {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        let file_name = |path: &std::path::Path| {
            // The paths `.` and `..` have no file name, so messages use the whole path.
            path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
        };
        let name = match self {
            #[cfg(unix)]
            Self::Serial(serial) => {
                let device = file_name(&serial.device);
                // The file name of a pseudo-terminal such as /dev/pts/0 is only a number, which
                // does not identify the source.
                let folder = serial.device.parent().map(file_name);
                match folder.filter(|_| device.bytes().all(|byte| byte.is_ascii_digit())) {
                    Some(folder) => format!("{folder}-{device}"),
                    None => device,
                }
            }
            Self::Tcp(address) => format!("tcp-{address}"),
            Self::TcpListen(address) => format!("tcp-listen-{address}"),
            Self::Udp(address, _) => format!("udp-{address}"),
            Self::Stdin => "stdin".to_owned(),
            Self::File(path) => file_name(path),
        };
        name.replace(|c| !plain(c), "-")
    }

    /// Returns a reader for the source. If the source has a local address, binds it. Other sources
    /// are opened during the collection.
    ///
    /// # Errors
    /// Returns an error if the address cannot be bound.
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
        Ok(Reader { name, inner, gauge: Arc::default() })
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

/// A source that is ready for reading.
#[derive(Debug)]
pub struct Reader {
    name: String,
    inner: Inner,
    gauge: Arc<Gauge>,
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
    /// Returns the name of the source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the reader with another name.
    #[must_use]
    pub fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// Returns the counts of the source, which change while it is collected.
    pub fn gauge(&self) -> Arc<Gauge> {
        Arc::clone(&self.gauge)
    }

    /// Returns the local address at which the source waits for targets, if any.
    pub fn local_addr(&self) -> Option<SocketAddr> {
        match &self.inner {
            Inner::TcpListen(listener) => listener.local_addr().ok(),
            Inner::Udp(udp) => udp.local_addr(),
            _ => None,
        }
    }

    /// Reads until the collection ends. Returns the report about numbered packets, if any arrived.
    pub(crate) fn collect(self, intake: &mut Intake<'_>) -> io::Result<Option<Report>> {
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_device_whose_file_name_is_a_number_has_the_name_of_its_folder_too() {
        let name = |device: &str| Source::Serial(device.parse().unwrap()).name();
        assert_eq!(name("/dev/pts/0@115200"), "pts-0");
        assert_eq!(name("/dev/ttyUSB0"), "ttyUSB0");
    }
}
