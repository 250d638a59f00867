//! `tracewell man`: manual pages.

use std::fs;
use std::path::PathBuf;

use clap::{Args, Command};

use crate::outcome::{Failure, Outcome};

/// Write manual pages, one a verb, into a folder
#[derive(Debug, Args)]
#[command(after_help = "Example:
  tracewell man ~/.local/share/man/man1")]
pub(crate) struct Man {
    /// The folder; made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

impl Man {
    pub(crate) fn run(&self, command: Command) -> Outcome {
        let written = fs::create_dir_all(&self.folder)
            .and_then(|()| clap_mangen::generate_to(command, &self.folder));
        match written {
            Ok(()) => Outcome::Done,
            Err(error) => Failure::io(&self.folder, &error).tell(),
        }
    }
}
