//! `tracewell completions`: prints a completion script for a shell.

use clap::{Args, Command};
use clap_complete::Shell;

use crate::outcome::{Failure, Outcome};
use crate::{output, shipped};

/// Print a completion script for a shell
#[derive(Debug, Args)]
#[command(after_help = "Example:
  tracewell completions bash > ~/.local/share/bash-completion/completions/tracewell")]
pub(crate) struct Completions {
    /// The shell that runs the script
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(&self, mut command: Command) -> Result<Outcome, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "tracewell", &mut script);
        let script = with_files(String::from_utf8_lossy(&script).into_owned(), self.shell);
        Ok(output::print_exactly(script))
    }
}

/// Changes the script so that options that accept the name of a shipped template also complete file
/// names. `clap_complete` completes either the values that an option suggests, or files.
fn with_files(script: String, shell: Shell) -> String {
    let names = shipped::NAMES.join(" ");
    match shell {
        Shell::Bash => script
            .replace(&format!("compgen -W \"{names}\""), &format!("compgen -f -W \"{names}\"")),
        Shell::Zsh => {
            script.replace(&format!("({names})"), &format!("{{_files; compadd -- {names}}}"))
        }
        Shell::Fish => script.replace("-r -f -a \"@", "-r -F -a \"@"),
        // The scripts for other shells do not complete values.
        _ => script,
    }
}
