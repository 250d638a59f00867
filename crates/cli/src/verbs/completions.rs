//! `tracewell completions`: a script that completes arguments in a shell.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::outcome::{Failure, Outcome};
use crate::output;

/// Print a script that completes arguments in a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:
  tracewell completions bash > ~/.local/share/bash-completion/completions/tracewell")]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, mut command: Command) -> Outcome {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "tracewell", &mut script);
        match std::io::Write::write_all(&mut output::stdout(), &script) {
            Ok(()) => Outcome::Done,
            Err(error) => Failure::io(output::stdout_path(), &error).tell(),
        }
    }
}
