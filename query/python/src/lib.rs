//! The Python module `tracewell`: traces as streams of Arrow columns.
//!
//! | file | content |
//! |---|---|
//! | `trace` | the class `Trace`: facts, figures, and a method for each table |
//! | `table` | the class `Table`, which passes its rows to other libraries |
//! | `progress` | reports of the progress |
//! | `error` | the exception `tracewell.Error` |
//!
//! `tracewell.pyi` contains the types for editors and type checkers. A test compares it with this
//! module.
#![forbid(unsafe_code)]

mod error;
mod progress;
mod table;
mod trace;

use pyo3::prelude::*;
use pyo3::types::PyDict;

use error::Error;
use progress::Reporter;
use table::PyTable;
use trace::PyTrace;

/// Reads event traces of real-time and embedded software.
#[pymodule]
fn tracewell(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("Error", module.py().get_type::<Error>())?;
    module.add_class::<PyTrace>()?;
    module.add_class::<PyTable>()?;
    module.add_function(wrap_pyfunction!(open, module)?)
}

/// Open a trace: a file, or the folder of a CTF trace.
///
/// `format` is the name of the trace's format; without it, the format is recognised. `labels` are
/// names and values for the column `labels` of `traces`. If `progress` is True, tqdm shows a
/// progress bar. If `progress` is a function, it is called with the number of bytes read so far and
/// the total number of bytes. Later readings of the trace report their progress, too. All other
/// keywords are options of the format, such as rate="100MHz"; `tracewell formats` lists them.
///
/// Raises OSError if the trace cannot be opened, and tracewell.Error if it is not a trace or an
/// option is wrong. Damage is not an error: see Trace.diagnostics.
#[pyfunction]
#[pyo3(signature = (path, *, format=None, labels=None, progress=None, **options))]
fn open(
    py: Python<'_>,
    path: std::path::PathBuf,
    format: Option<String>,
    labels: Option<Vec<(String, String)>>,
    progress: Option<&Bound<'_, PyAny>>,
    options: Option<&Bound<'_, PyDict>>,
) -> PyResult<PyTrace> {
    let mut texts = Vec::new();
    for (name, value) in options.into_iter().flatten() {
        texts.push(format!("{}={}", name.extract::<String>()?, value.str()?.to_cow()?));
    }
    let reporter = Reporter::new(progress, &path)?;
    let labels = labels.unwrap_or_default();
    py.detach(|| PyTrace::open(path, (format, &texts), labels, reporter))
}
