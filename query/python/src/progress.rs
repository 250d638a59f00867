//! Reports the progress of each reading to a Python function or to a progress bar, and ends the
//! reading after Ctrl-C.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyImportError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use tracewell_tables::Progress;

/// Minimum time between two reports. Only the report at the end of a reading may come sooner.
pub(crate) const INTERVAL: Duration = Duration::from_millis(100);

/// The receiver of reports.
enum Receiver {
    /// A function of the user: `function(done, total)`.
    Function(Py<PyAny>),
    /// Progress bars of tqdm, one for each reading.
    Bar {
        class: Py<PyAny>,
        name: String,
        /// The bar of the current reading.
        bar: Mutex<Option<Py<PyAny>>>,
    },
}

/// Reports the progress of a trace's readings.
pub(crate) struct Reporter {
    receiver: Option<Receiver>,
    state: Mutex<State>,
}

struct State {
    /// Time of the last report.
    reported: Instant,
    /// The exception that ended a reading.
    exception: Option<PyErr>,
}

impl Reporter {
    /// Creates a reporter for the keyword `progress`. A function receives the reports itself. Any
    /// other true value selects a progress bar.
    ///
    /// # Errors
    /// Returns an exception if a bar is wanted but tqdm is not installed.
    pub(crate) fn new(progress: Option<&Bound<'_, PyAny>>, path: &Path) -> PyResult<Arc<Self>> {
        let receiver = match progress {
            Some(progress) if progress.is_callable() => {
                Some(Receiver::Function(progress.clone().unbind()))
            }
            Some(progress) if progress.is_truthy()? => {
                let tqdm = progress.py().import("tqdm.auto").map_err(|_| {
                    let message = "progress=True needs tqdm: install it, or pass a function";
                    PyImportError::new_err(message)
                })?;
                let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
                let class = tqdm.getattr("tqdm")?.unbind();
                Some(Receiver::Bar { class, name, bar: Mutex::new(None) })
            }
            _ => None,
        };
        let state = Mutex::new(State { reported: Instant::now(), exception: None });
        Ok(Arc::new(Self { receiver, state }))
    }

    /// Returns true if a function or a bar receives reports.
    pub(crate) const fn has_receiver(&self) -> bool {
        self.receiver.is_some()
    }

    /// Reports the progress if enough time passed since the last report, or at the end. Call this
    /// without the interpreter's lock. Returns a break if the reading must end, because the
    /// function raised an exception or the user pressed Ctrl-C.
    pub(crate) fn report(&self, progress: Progress) -> ControlFlow<()> {
        let is_end = progress.total == Some(progress.bytes);
        {
            let mut state = self.state();
            if !is_end && state.reported.elapsed() < INTERVAL {
                return ControlFlow::Continue(());
            }
            state.reported = Instant::now();
        }
        let reported = Python::attach(|py| {
            py.check_signals()?;
            self.receiver.as_ref().map_or(Ok(()), |receiver| receiver.show(py, progress))
        });
        match reported {
            Ok(()) => ControlFlow::Continue(()),
            Err(exception) => {
                self.state().exception = Some(exception);
                ControlFlow::Break(())
            }
        }
    }

    /// Returns the exception that ended a reading.
    pub(crate) fn take_exception(&self) -> Option<PyErr> {
        self.state().exception.take()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Receiver {
    fn show(&self, py: Python<'_>, progress: Progress) -> PyResult<()> {
        let Progress { bytes, total } = progress;
        match self {
            Self::Function(function) => function.call1(py, (bytes, total)).map(|_| ()),
            Self::Bar { class, name, bar } => {
                // Another thread may read the same trace and report its progress at the same time.
                // This thread has the interpreter's lock, so it must not wait for the lock of the
                // bar.
                let Ok(mut shown) = bar.try_lock() else { return Ok(()) };
                let bar = match shown.take() {
                    Some(bar) => bar.into_bound(py),
                    None => {
                        let options = PyDict::new(py);
                        options.set_item("desc", name)?;
                        options.set_item("unit", "B")?;
                        options.set_item("unit_scale", true)?;
                        class.bind(py).call((), Some(&options))?
                    }
                };
                bar.setattr("total", total)?;
                bar.setattr("n", bytes)?;
                bar.call_method0("refresh")?;
                match total == Some(bytes) {
                    true => {
                        bar.call_method0("close")?;
                    }
                    false => *shown = Some(bar.unbind()),
                }
                Ok(())
            }
        }
    }
}
