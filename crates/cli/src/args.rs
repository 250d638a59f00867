//! Arguments that several verbs share, and what they mean.

use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use tracewell::format::threadx::custom_events;
use tracewell::input::{ARRIVALS, Input, Settings};
use tracewell::model::schema::Schema;
use tracewell::select::{Bound, Selection};
use tracewell::text::shown_path;

use crate::inputs::Inputs;
use crate::outcome::{Failure, Outcome, tell};
use crate::small_file;

/// What can be said about an input.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct InputArgs {
    /// Take the input for this format instead of recognising it
    #[arg(long, value_name = "NAME")]
    pub(crate) format_in: Option<String>,

    /// Say what the input's bytes do not tell, such as rate=100MHz; see `tracewell formats`
    #[arg(short = 'O', value_name = "KEY=VALUE")]
    pub(crate) options: Vec<String>,

    /// Names of user events, in TraceX's custom event format (.trxc)
    #[arg(long, value_name = "FILE")]
    pub(crate) custom_events: Vec<PathBuf>,

    /// Names, a number and a name a line, where the trace has numbers only: of tasks by pid (shark), of system calls (aix)
    #[arg(long, value_name = "FILE")]
    pub(crate) names: Option<PathBuf>,

    /// Read the files as parts of one run, in this order
    #[arg(long)]
    pub(crate) join: bool,

    /// Show notes about the input, too, not only warnings and damage
    #[arg(short, long)]
    pub(crate) verbose: bool,
}

impl InputArgs {
    /// All files that are read of these traces: the files themselves, what is known to stand beside them, and what
    /// these arguments name.
    pub(crate) fn inputs(&self, traces: &[PathBuf]) -> Inputs {
        let mut inputs = Inputs::of(traces);
        let mut beside = |path: &PathBuf| {
            let mut arrivals = path.clone().into_os_string();
            arrivals.push(ARRIVALS);
            inputs.add([PathBuf::from(arrivals)]);
        };
        traces.iter().for_each(&mut beside);
        inputs.add(&self.custom_events);
        inputs.add(&self.names);
        inputs
    }

    /// Tells which of these arguments cannot have an effect on an input of so many files, and why.
    pub(crate) fn tell_ineffective(&self, input: &mut Input, files: usize) {
        let format = input.format().name;
        let path = input.path().display();
        if self.join && files < 2 {
            tell!("tracewell: {path}: --join has no effect: there is one file only");
        }
        if !self.custom_events.is_empty() && format != "threadx" {
            tell!(
                "tracewell: {path}: --custom-events has no effect: they name events of ThreadX, and \
                 this is a trace of {format}"
            );
            input.forget_schema();
        }
    }

    /// The settings that these arguments make, and what became of the files that they name.
    pub(crate) fn settings(&self) -> Result<(Settings, Outcome), Failure> {
        let mut settings = Settings { format: self.format_in.clone(), ..Settings::default() };
        for option in &self.options {
            settings.options.add(option).map_err(Failure::usage)?;
        }
        if let Some(path) = &self.names {
            let names = small_file::read(path)?;
            // A name that is no UTF-8 is shown as well as it can be.
            settings.options.set_by("--names", "names", String::from_utf8_lossy(&names) + "\n");
        }
        let (schema, outcome) = self.schema()?;
        settings.schema = schema;
        Ok((settings, outcome))
    }

    fn schema(&self) -> Result<(Option<Arc<Schema>>, Outcome), Failure> {
        if self.custom_events.is_empty() {
            return Ok((None, Outcome::Done));
        }
        let mut outcome = Outcome::Done;
        let mut schema = Schema::clone(&Schema::threadx());
        for path in &self.custom_events {
            let text = small_file::read(path)?;
            let (events, errors) = custom_events::parse(&text);
            for error in errors {
                tell!("tracewell: {}: {error}", shown_path(path));
                // What could be read of the file is used.
                outcome = Outcome::Damaged;
            }
            for event in custom_events::define(&mut schema, events) {
                let (path, id) = (shown_path(path), event.id);
                tell!("tracewell: {path}: event {id} has a name already, ignored");
            }
        }
        Ok((Some(Arc::new(schema)), outcome))
    }
}

/// Which events to show.
#[derive(Debug, Args)]
pub(crate) struct SelectionArgs {
    /// Only events of this context: a name (`*` for any text) or a key; may be repeated
    #[arg(long, value_name = "NAME")]
    context: Vec<String>,

    /// Only events of this name, label or id; may be repeated
    #[arg(long, value_name = "NAME")]
    event: Vec<String>,

    /// Only events with an argument that refers to this object: a name or an address
    #[arg(long, value_name = "NAME")]
    object: Vec<String>,

    /// Not before this time: ticks since the first event, or 1.5s, 20ms, 7us, 300ns
    #[arg(long, value_name = "TIME")]
    from: Option<Bound>,

    /// Not after this time
    #[arg(long, value_name = "TIME")]
    to: Option<Bound>,

    /// At most the first N of the selected events
    #[arg(long, value_name = "N")]
    head: Option<u64>,

    /// At most the last N of the selected events
    #[arg(long, value_name = "N")]
    tail: Option<usize>,
}

impl SelectionArgs {
    /// Whether a time is given before which nothing is shown.
    pub(crate) fn starts(&self) -> bool {
        self.from.is_some()
    }

    /// Whether a time is given after which nothing is shown.
    pub(crate) fn ends(&self) -> bool {
        self.to.is_some()
    }

    /// Whether anything is asked for.
    pub(crate) fn is_any(&self) -> bool {
        let lists = [&self.context, &self.event, &self.object];
        let bounds = self.starts() || self.ends();
        bounds || self.head.is_some() || self.tail.is_some() || lists.iter().any(|l| !l.is_empty())
    }

    /// The selection that these arguments make.
    pub(crate) fn selection(&self) -> Selection {
        Selection {
            contexts: self.context.clone(),
            events: self.event.clone(),
            objects: self.object.clone(),
            from: self.from,
            to: self.to,
            head: self.head,
            tail: self.tail,
            ..Selection::default()
        }
    }
}

/// Tells of each of these options that was given that it has no effect, and why.
pub(crate) fn tell_ineffective(options: &[(bool, &str, &str)]) {
    for (_, option, why) in options.iter().filter(|(is_given, ..)| *is_given) {
        tell!("tracewell: {option} has no effect: {why}");
    }
}

/// When to colour.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

impl Color {
    /// Whether to colour what goes to standard output.
    pub(crate) fn on(self) -> bool {
        use std::io::IsTerminal;
        match self {
            Self::Always => true,
            Self::Never => false,
            Self::Auto => {
                let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
                !refused && std::io::stdout().is_terminal()
            }
        }
    }
}
