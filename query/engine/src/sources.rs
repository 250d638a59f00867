//! Opens traces as sources of tables, and keeps some of them open, because each opening reads the
//! whole trace.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use tracewell::input::InputError;
use tracewell_tables::{Emit, Error, Request, Settings, Source};

use crate::failure::{Failure, Outcome};
use crate::files::TraceFile;
use crate::findings::Findings;

/// Maximum number of sources that are kept open. The facts about a trace occupy some kilobytes to
/// some megabytes.
pub(crate) const MAX_OPEN: usize = 64;

/// Opens sources.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    open: Mutex<VecDeque<(Arc<TraceFile>, Source)>>,
    /// Findings about the traces that were opened.
    pub(crate) findings: Findings,
}

impl Sources {
    /// Returns the source of a trace, or `None` if it cannot be opened. In that case, `findings`
    /// contains the failure.
    ///
    /// # Errors
    ///
    /// Fails if the format, an option or the value of an option in `file` is not valid, or if the
    /// trace is a stream.
    pub(crate) fn open(&self, file: &Arc<TraceFile>) -> Result<Option<Source>, Failure> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, source)) = open.iter().find(|(known, _)| known == file) {
            return Ok(Some(source.clone()));
        }
        // Other threads can open traces while this thread reads the trace.
        drop(open);
        self.keep(
            file,
            settings(file).and_then(|settings| {
                Source::open(&file.path, settings, file.labels.clone()).map_err(Failure::from)
            }),
        )
    }

    /// Opens a trace, and reads rows of `events` at the same time. Returns false if this cannot be
    /// done, because the trace is already open.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Sources::open`].
    pub(crate) fn open_and_read<'a>(
        &self,
        file: &Arc<TraceFile>,
        request: &'a Request,
        emit: &'a mut Emit<'a>,
    ) -> Result<bool, Failure> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.iter().any(|(known, _)| known == file) {
            return Ok(false);
        }
        drop(open);
        let opened = settings(file).and_then(|settings| {
            let labels = file.labels.clone();
            let opened = Source::open_and_read(&file.path, settings, labels, request, emit);
            opened.map_err(Failure::from)
        });
        self.keep(file, opened).map(|_| true)
    }

    /// Keeps a source that was opened, and its findings.
    fn keep(
        &self,
        file: &Arc<TraceFile>,
        opened: Result<Source, Failure>,
    ) -> Result<Option<Source>, Failure> {
        let source = match opened {
            Ok(source) => source,
            Err(failure) if failure.outcome() == Outcome::Usage => return Err(failure),
            Err(failure) => {
                self.findings.fail(&file.path, &failure);
                return Ok(None);
            }
        };
        self.findings.note(&file.path, source.trace());
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() == MAX_OPEN {
            open.pop_front();
        }
        open.push_back((Arc::clone(file), source.clone()));
        Ok(Some(source))
    }
}

/// The option that sets the format. All other options belong to formats.
const FORMAT: &str = "format=";

/// Returns the settings for reading a trace.
fn settings(file: &TraceFile) -> Result<Settings, Failure> {
    let mut settings = Settings::default();
    for option in &file.options {
        match option.strip_prefix(FORMAT) {
            Some(format) => settings.format = Some(format.to_owned()),
            None => settings.options.add(option).map_err(Failure::usage)?,
        }
    }
    Ok(settings)
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Input(InputError::Io { path, source }) => Self::io(&path, &source),
            Error::Io { path, source } => Self::io(&path, &source),
            Error::Input(InputError::NoSuchFormat(_) | InputError::Option(_)) => Self::usage(error),
            Error::Stream(_) => Self::usage(error),
            error => Self::damaged(error),
        }
    }
}
