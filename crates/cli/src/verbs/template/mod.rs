//! `tracewell template`: works with template files. One file per subcommand.

pub(super) mod check;
mod fmt;
pub(super) mod list;
mod run;
pub(crate) mod update;

use clap::{Args, Subcommand};

use crate::outcome::{Failure, Outcome};

/// Check, list, format, try and update template files
///
/// Templates control how a report prints events. They are written in AIX's trace format
/// language; see docs/templates.md.
#[derive(Debug, Args)]
pub(crate) struct Template {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Check),
    List(list::List),
    Fmt(fmt::Fmt),
    Run(run::Run),
    Update(update::Update),
}

impl Template {
    /// Returns the command `template update`.
    pub(crate) fn updating(update: update::Update) -> Self {
        Self { verb: Verb::Update(update) }
    }

    pub(crate) fn run(&self) -> Result<Outcome, Failure> {
        match &self.verb {
            Verb::Check(verb) => verb.run(),
            Verb::List(verb) => verb.run(),
            Verb::Fmt(verb) => verb.run(),
            Verb::Run(verb) => verb.run(),
            Verb::Update(verb) => verb.run(),
        }
    }
}
