//! Serial lines: `DEVICE[@BAUD[,8N1][,rtscts|xonxoff]]`.
//!
//! The line is in raw mode, in which the system neither changes nor interprets bytes. Any baud rate
//! is accepted; the driver chooses the nearest supported rate.

use std::fmt;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::str::FromStr;

use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use rustix::termios::{
    ControlModes, InputModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios,
    ioctl_tiocexcl, tcflush, tcgetattr, tcsetattr,
};

use crate::connection;
use crate::intake::Intake;
use crate::poll::Polled;
use tracewell::text::shown_path;

/// A serial line and its settings.
///
/// ```
/// use tracewell_collect::{Flow, Serial};
///
/// let serial: Serial = "/dev/ttyUSB0@921600,rtscts".parse()?;
/// assert_eq!((serial.baud, serial.data_bits, serial.flow), (921_600, 8, Flow::Hardware));
/// assert_eq!(serial.to_string(), "/dev/ttyUSB0@921600,8N1,rtscts");
/// # Ok::<(), tracewell_collect::SerialError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Serial {
    /// The device, such as `/dev/ttyUSB0`.
    pub device: PathBuf,
    /// Speed in bits per second.
    pub baud: u32,
    /// Data bits per character: 5 to 8.
    pub data_bits: u8,
    /// The parity bit after the data bits.
    pub parity: Parity,
    /// True for two stop bits, false for one.
    pub two_stop_bits: bool,
    /// The method by which the receiver can pause the sender.
    pub flow: Flow,
}

/// The parity bit, which detects single wrong bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parity {
    /// Characters have no parity bit.
    None,
    /// The number of 1 bits is even.
    Even,
    /// The number of 1 bits is odd.
    Odd,
}

/// Flow control of a serial line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// The sender never pauses.
    None,
    /// Hardware flow control with the lines RTS and CTS.
    Hardware,
    /// Software flow control with the characters XON and XOFF, which the data must not contain.
    Software,
}

/// Error for text that does not describe a serial line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected DEVICE[@BAUD[,8N1][,rtscts|xonxoff]], found '{0}'")]
pub struct SerialError(String);

impl FromStr for Serial {
    type Err = SerialError;

    fn from_str(text: &str) -> Result<Self, SerialError> {
        let error = || SerialError(text.to_owned());
        // The path of a device can contain `@`, so split the text at the last `@`.
        let (device, settings) = text.rsplit_once('@').unwrap_or((text, "115200"));
        let mut settings = settings.split(',');
        let baud = settings.next().and_then(|baud| baud.parse().ok()).filter(|baud| *baud > 0);
        let mut serial = Self {
            device: device.into(),
            baud: baud.ok_or_else(error)?,
            data_bits: 8,
            parity: Parity::None,
            two_stop_bits: false,
            flow: Flow::None,
        };
        for setting in settings {
            serial.set(setting).ok_or_else(error)?;
        }
        if device.is_empty() { Err(error()) } else { Ok(serial) }
    }
}

impl Serial {
    fn set(&mut self, setting: &str) -> Option<()> {
        match setting {
            "rtscts" => self.flow = Flow::Hardware,
            "xonxoff" => self.flow = Flow::Software,
            "none" => self.flow = Flow::None,
            _ => {
                let [data @ b'5'..=b'8', parity, stop @ b'1'..=b'2'] = *setting.as_bytes() else {
                    return None;
                };
                self.data_bits = data - b'0';
                self.two_stop_bits = stop == b'2';
                self.parity = match parity.to_ascii_uppercase() {
                    b'N' => Parity::None,
                    b'E' => Parity::Even,
                    b'O' => Parity::Odd,
                    _ => return None,
                };
            }
        }
        Some(())
    }

    /// Collects from the line. If the device is unplugged, waits until it returns.
    pub(crate) fn collect(&self, intake: &mut Intake<'_>) -> io::Result<()> {
        connection::keep_reading(intake, || Ok((Polled(self.open()?), self.to_string())))
    }

    fn open(&self) -> io::Result<OwnedFd> {
        if self.device.is_dir() {
            let message = "expected a serial line, found a folder";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        // NOCTTY: a break on the line must not interrupt this program. NONBLOCK: the open call must
        // not wait for a carrier.
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let line = rustix::fs::open(&self.device, flags, Mode::empty()).map_err(refused)?;
        let mut termios = tcgetattr(&line).map_err(|error| match error {
            Errno::NOTTY => {
                io::Error::new(io::ErrorKind::InvalidInput, "the device is not a serial line")
            }
            error => error.into(),
        })?;
        // A second reader would take some of the bytes. The exclusive mode prevents other programs
        // from opening the line, unless they run as root. The lock also stops programs that run as
        // root, if they check the lock.
        flock(&line, FlockOperation::NonBlockingLockExclusive).map_err(refused)?;
        ioctl_tiocexcl(&line)?;
        self.apply(&mut termios)?;
        tcsetattr(&line, OptionalActions::Now, &termios)?;
        // Discard bytes that were received with different settings.
        tcflush(&line, QueueSelector::IFlush)?;
        Ok(line)
    }

    fn apply(&self, termios: &mut Termios) -> io::Result<()> {
        termios.make_raw();
        termios.set_speed(self.baud)?;
        let size = match self.data_bits {
            5 => ControlModes::CS5,
            6 => ControlModes::CS6,
            7 => ControlModes::CS7,
            _ => ControlModes::CS8,
        };
        let control = &mut termios.control_modes;
        control.remove(ControlModes::CSIZE);
        // CLOCAL: ignore the modem lines, because cables with three wires do not have them.
        control.insert(size | ControlModes::CREAD | ControlModes::CLOCAL);
        // PARODD has no effect without PARENB.
        control.set(ControlModes::PARENB, self.parity != Parity::None);
        control.set(ControlModes::PARODD, self.parity == Parity::Odd);
        control.set(ControlModes::CSTOPB, self.two_stop_bits);
        control.set(ControlModes::CRTSCTS, self.flow == Flow::Hardware);
        let software = self.flow == Flow::Software;
        termios.input_modes.set(InputModes::IXON | InputModes::IXOFF, software);
        // A read returns as soon as one byte is available; `poll` limits the wait.
        termios.special_codes[SpecialCodeIndex::VMIN] = 1;
        termios.special_codes[SpecialCodeIndex::VTIME] = 0;
        Ok(())
    }
}

/// Returns an error that explains why a line cannot be opened.
fn refused(error: Errno) -> io::Error {
    let message = match error {
        Errno::ACCESS | Errno::PERM => {
            "permission denied; serial lines are open to root and to members of a group, often 'dialout': \
             see 'ls -l' of the device, then 'sudo usermod -aG dialout $USER' and a new login"
        }
        Errno::BUSY | Errno::WOULDBLOCK => "the line is in use by another program",
        error => return error.into(),
    };
    io::Error::new(io::Error::from(error).kind(), message)
}

impl fmt::Display for Serial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parity = match self.parity {
            Parity::None => 'N',
            Parity::Even => 'E',
            Parity::Odd => 'O',
        };
        let stop = if self.two_stop_bits { 2 } else { 1 };
        let (device, baud) = (shown_path(&self.device), self.baud);
        write!(f, "{device}@{baud},{}{parity}{stop}", self.data_bits)?;
        f.write_str(match self.flow {
            Flow::None => "",
            Flow::Hardware => ",rtscts",
            Flow::Software => ",xonxoff",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_permission_names_the_group() {
        let error = refused(Errno::ACCESS);
        assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
        assert!(error.to_string().contains("'dialout'"), "{error}");
        assert_eq!(refused(Errno::NOENT).raw_os_error(), Some(Errno::NOENT.raw_os_error()));
    }

    #[test]
    fn settings_are_read_as_they_are_shown() {
        for (text, shown) in [
            ("/dev/ttyUSB0", "/dev/ttyUSB0@115200,8N1"),
            ("/dev/ttyS1@250000", "/dev/ttyS1@250000,8N1"),
            ("/dev/a@b@9600,7e2,rtscts", "/dev/a@b@9600,7E2,rtscts"),
            ("x@300,5O1,xonxoff", "x@300,5O1,xonxoff"),
            ("x@300,xonxoff,none", "x@300,8N1"),
        ] {
            let serial: Serial = text.parse().unwrap();
            assert_eq!(serial.to_string(), shown);
            assert_eq!(shown.parse(), Ok(serial));
        }
        for text in ["", "@9600", "x@", "x@0", "x@-1", "x@9600,9N1", "x@9600,8N3", "x@9600,8X1"] {
            assert_eq!(text.parse::<Serial>(), Err(SerialError(text.to_owned())));
        }
    }
}
