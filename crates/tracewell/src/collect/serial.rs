//! Serial lines: `DEVICE[@BAUD[,8N1][,rtscts|xonxoff]]`.
//!
//! The line is made raw: no byte is changed, none has a meaning. Any baud rate can be asked for; the driver
//! takes the nearest it can make.

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

use super::connection;
use super::intake::Intake;
use super::poll::Polled;
use crate::text::shown_path;

/// A serial line and how it is set.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Serial {
    /// The device, such as `/dev/ttyUSB0`.
    pub device: PathBuf,
    /// Bits per second.
    pub baud: u32,
    /// Bits of a character: 5 to 8.
    pub data_bits: u8,
    /// The bit behind them.
    pub parity: Parity,
    /// Whether two stop bits follow instead of one.
    pub two_stop_bits: bool,
    /// How the two ends hold each other up.
    pub flow: Flow,
}

/// The bit that tells whether a character came whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Parity {
    /// There is none.
    None,
    /// The number of ones is even.
    Even,
    /// The number of ones is odd.
    Odd,
}

/// How the two ends of a line hold each other up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Not at all.
    None,
    /// By the lines RTS and CTS.
    Hardware,
    /// By the characters XON and XOFF, which are no data then.
    Software,
}

/// What a serial line looks like on a command line was not met.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected DEVICE[@BAUD[,8N1][,rtscts|xonxoff]], found '{0}'")]
pub struct SerialError(String);

impl FromStr for Serial {
    type Err = SerialError;

    fn from_str(text: &str) -> Result<Self, SerialError> {
        let error = || SerialError(text.to_owned());
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

    /// Collects from the line. A device that is unplugged is waited for.
    pub(super) fn collect(&self, intake: &mut Intake<'_>) -> io::Result<()> {
        connection::keep_reading(intake, || Ok((Polled(self.open()?), self.to_string())))
    }

    fn open(&self) -> io::Result<OwnedFd> {
        if self.device.is_dir() {
            let message = "expected a serial line, found a folder";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
        }
        let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let line = rustix::fs::open(&self.device, flags, Mode::empty()).map_err(refused)?;
        let mut termios = tcgetattr(&line).map_err(|error| match error {
            Errno::NOTTY => {
                io::Error::new(io::ErrorKind::InvalidInput, "the device is no serial line")
            }
            error => error.into(),
        })?;
        // Another reader would take half of the bytes. The first lock keeps out every program but root's, the second
        // those of root that ask for it, too.
        flock(&line, FlockOperation::NonBlockingLockExclusive).map_err(refused)?;
        ioctl_tiocexcl(&line)?;
        self.apply(&mut termios)?;
        tcsetattr(&line, OptionalActions::Now, &termios)?;
        // What came before under other settings means nothing.
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
        control.insert(size | ControlModes::CREAD | ControlModes::CLOCAL);
        control.set(ControlModes::PARENB, self.parity != Parity::None);
        control.set(ControlModes::PARODD, self.parity == Parity::Odd);
        control.set(ControlModes::CSTOPB, self.two_stop_bits);
        control.set(ControlModes::CRTSCTS, self.flow == Flow::Hardware);
        let software = self.flow == Flow::Software;
        termios.input_modes.set(InputModes::IXON | InputModes::IXOFF, software);
        termios.special_codes[SpecialCodeIndex::VMIN] = 1;
        termios.special_codes[SpecialCodeIndex::VTIME] = 0;
        Ok(())
    }
}

/// What a line that cannot be had means to people.
fn refused(error: Errno) -> io::Error {
    let message = match error {
        Errno::ACCESS | Errno::PERM => {
            "permission denied; serial lines are for root and the members of a group, often 'dialout': \
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
