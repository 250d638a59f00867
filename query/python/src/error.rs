//! The exception of the module.

use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError};
use pyo3::prelude::*;
use tracewell::input::InputError;

create_exception!(
    tracewell,
    Error,
    PyException,
    "A trace cannot be read, or an option, a table or a column does not exist."
);

/// Returns the exception for an error of a trace.
pub(crate) fn exception(error: &tracewell_tables::Error) -> PyErr {
    use tracewell_tables::Error as E;
    match error {
        E::Input(InputError::Io { path, source }) | E::Io { path, source } => {
            let message = format!("{}: {source}", tracewell::text::shown_path(path));
            match source.raw_os_error() {
                // Python chooses the class of the exception, such as FileNotFoundError, by the
                // error number.
                Some(number) => PyOSError::new_err((number, message)),
                None => PyOSError::new_err(message),
            }
        }
        error => Error::new_err(error.to_string()),
    }
}
