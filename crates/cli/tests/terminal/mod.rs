//! Runs a command on its own terminal, and returns the output that appears there.

use std::fs::File;
use std::io::Read;
use std::process::{Child, Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// Returns a command that runs the program with `TERM=xterm`. Removes the variables that would
/// change its output.
pub(crate) fn tracewell(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tracewell"));
    command.args(arguments);
    let variables = ["COLUMNS", "PAGER", "TRACEWELL_PAGER", "LESS"];
    let colors = ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CI", "COLORTERM"];
    for variable in variables.into_iter().chain(colors) {
        command.env_remove(variable);
    }
    command.env("TERM", "xterm");
    command
}

/// A terminal with a number of columns.
pub(crate) struct Terminal {
    screen: File,
    /// The side of the terminal to which the standard streams of programs are connected.
    line: File,
}

impl Terminal {
    pub(crate) fn new(columns: u16) -> Self {
        let screen = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&screen).unwrap();
        unlockpt(&screen).unwrap();
        let name = ptsname(&screen, Vec::new()).unwrap();
        let options = File::options().read(true).write(true).open(name.to_str().unwrap());
        let line = options.unwrap();
        let size = Winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&line, size).unwrap();
        Self { screen: screen.into(), line }
    }

    /// Runs a command to its end. Returns its output and its exit status.
    pub(crate) fn run(self, command: Command) -> (String, Option<i32>) {
        self.run_with(command, Stdio::null())
    }

    /// Runs a command with an input that is not the terminal.
    pub(crate) fn run_with(self, command: Command, input: Stdio) -> (String, Option<i32>) {
        self.start(command, input).end()
    }

    /// Starts a command with an input that is not the terminal.
    pub(crate) fn start(self, mut command: Command, input: Stdio) -> Session {
        let stream = || Stdio::from(self.line.try_clone().unwrap());
        let child = command.stdin(input).stdout(stream()).stderr(stream()).spawn().unwrap();
        // Now only the command has copies of `line`. When it closes them, reading ends with an
        // error.
        Session { child, screen: self.screen, printed: Vec::new() }
    }
}

/// A running command on a terminal.
pub(crate) struct Session {
    pub(crate) child: Child,
    screen: File,
    printed: Vec<u8>,
}

impl Session {
    /// Reads the next output of the command. Returns false at its end.
    fn read(&mut self) -> bool {
        let mut block = [0; 4096];
        let read = self.screen.read(&mut block).unwrap_or(0);
        self.printed.extend_from_slice(&block[..read]);
        read > 0
    }

    /// Returns everything that the command printed until `text` appeared.
    pub(crate) fn until(&mut self, text: &str) -> String {
        loop {
            let printed = String::from_utf8_lossy(&self.printed).into_owned();
            if printed.contains(text) {
                return printed;
            }
            assert!(self.read(), "expected {text:?}, found {printed:?}");
        }
    }

    /// Waits for the end. Returns everything that the command printed, and its exit status.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        while self.read() {}
        (String::from_utf8(self.printed).unwrap(), self.child.wait().unwrap().code())
    }
}
