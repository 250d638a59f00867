//! `tracewell template`: work with template files, a file for each verb of it.

pub(super) mod check;
mod fmt;
pub(super) mod list;
mod run;
pub(crate) mod update;

use clap::{Args, Subcommand};

use crate::outcome::Outcome;

/// Check, list, format, try and update template files
///
/// Template files say how the events of a trace become lines of a report. The language is that of AIX's
/// trace format files; see docs/templates.md.
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
    /// `template update`, by itself.
    pub(crate) fn updating(update: update::Update) -> Self {
        Self { verb: Verb::Update(update) }
    }

    pub(crate) fn run(&self) -> Outcome {
        match &self.verb {
            Verb::Check(verb) => verb.run(),
            Verb::List(verb) => verb.run(),
            Verb::Fmt(verb) => verb.run(),
            Verb::Run(verb) => verb.run(),
            Verb::Update(verb) => verb.run(),
        }
    }
}
