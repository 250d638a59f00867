//! Sinks, which receive the events of a trace, and the reasons why they stop.

use std::error::Error;
use std::fmt;
use std::io;
use std::ops::ControlFlow;

use super::{Batch, Loss, Slices, Trace};

/// The result of a sink: continue, or break with a reason. After `Break`, an
/// [`Input`](crate::input::Input) passes no further events or losses to the sink.
pub type Flow<T = ()> = ControlFlow<Stop, T>;

/// The reason why a sink stops the reader.
#[derive(Debug)]
pub enum Stop {
    /// The sink has all it needs, for example the first ten events.
    Complete,
    /// The sink failed and cannot continue; the error is the reason.
    Failed(Box<SinkError>),
}

/// Error for a sink that cannot continue.
#[derive(Debug)]
pub enum SinkError {
    /// The output cannot be written.
    Write(io::Error),
    /// The trace lacks requested data, for example times in a trace without a clock rate.
    NotPossible(Box<dyn Error + Send + Sync>),
}

/// Receives the events of a trace in order, and the gaps between them.
///
/// At each call, the trace describes only the part of the source that was already read. In some
/// dialects, contexts and objects appear while events arrive.
///
/// ```
/// use tracewell::input::{Input, Settings};
/// use tracewell::model::{Batch, Flow, Sink, Stop, Trace};
///
/// /// Finds the first event with this name.
/// struct Find {
///     name: &'static str,
///     found: Option<u64>,
/// }
///
/// impl Sink for Find {
///     fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
///         let mut events = batch.events();
///         self.found =
///             events.find(|e| trace.schema.event(e.id).name == self.name).map(|e| e.seq);
///         match self.found {
///             Some(_) => Flow::Break(Stop::Complete),
///             None => Flow::Continue(()),
///         }
///     }
/// }
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx").as_ref();
/// let mut find = Find { name: "TX_TRACE_QUEUE_CREATE", found: None };
/// Input::open(path, Settings::default())?.read(&mut find)?;
/// assert_eq!(find.found, Some(14));
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
pub trait Sink {
    /// Receives a batch: some thousands of events.
    fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow;

    /// Receives a gap, before the events that follow it. Sinks ignore gaps by default.
    fn loss(&mut self, _trace: &Trace, _loss: &Loss) -> Flow {
        Flow::Continue(())
    }

    /// Returns true if this sink receives the next events with [`Sink::slices`], provided that the
    /// decoder can deliver slices. The decoder calls this function only after the sink has received
    /// at least one batch. By default, sinks receive batches.
    fn takes_slices(&self, _trace: &Trace) -> bool {
        false
    }

    /// Receives events that any thread can decode. These events are not passed to [`Sink::events`].
    /// The decoder calls this only if [`Sink::takes_slices`] returned true. The trace's number of
    /// events does not include these events yet.
    fn slices(&mut self, _trace: &Trace, _slices: &dyn Slices) -> Flow {
        Flow::Continue(())
    }

    /// Writes buffered output, so that the user sees every event so far.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn flush(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    /// Ends the output after the last event. `trace` is complete, unless the sink stopped early.
    /// The caller calls this once, and not after a failure of the sink or the decoder.
    ///
    /// # Errors
    /// Returns an error if writing fails, or if the trace lacks requested data.
    fn finish(&mut self, _trace: &Trace) -> Result<(), SinkError> {
        Ok(())
    }
}

/// Implements `Sink` for a pointer to a sink. The pointer passes every call to this sink.
macro_rules! sink_behind_pointer {
    ($pointer:ty) => {
        impl<S: Sink + ?Sized> Sink for $pointer {
            fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
                (**self).events(trace, batch)
            }

            fn loss(&mut self, trace: &Trace, loss: &Loss) -> Flow {
                (**self).loss(trace, loss)
            }

            fn takes_slices(&self, trace: &Trace) -> bool {
                (**self).takes_slices(trace)
            }

            fn slices(&mut self, trace: &Trace, slices: &dyn Slices) -> Flow {
                (**self).slices(trace, slices)
            }

            fn flush(&mut self) -> Result<(), SinkError> {
                (**self).flush()
            }

            fn finish(&mut self, trace: &Trace) -> Result<(), SinkError> {
                (**self).finish(trace)
            }
        }
    };
}

sink_behind_pointer!(&mut S);
sink_behind_pointer!(Box<S>);

/// The result of a closure that is called for each event: `()`, a [`Flow`], or a `Result`.
///
/// ```
/// use std::io::Write;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut names = Vec::new();
/// tracewell::open(path)?.for_each(|event| writeln!(names, "{}", event.name()))?;
/// assert!(names.starts_with(b"TX_TRACE"));
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
pub trait IntoFlow {
    /// Converts the result: continue, or break with a reason.
    fn into_flow(self) -> Flow;
}

impl IntoFlow for () {
    fn into_flow(self) -> Flow {
        Flow::Continue(())
    }
}

impl IntoFlow for Flow {
    fn into_flow(self) -> Flow {
        self
    }
}

impl<E: Into<SinkError>> IntoFlow for Result<(), E> {
    fn into_flow(self) -> Flow {
        Stop::on_error(self)
    }
}

impl SinkError {
    /// Returns the error for a trace that lacks requested data.
    pub fn not_possible(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::NotPossible(error.into())
    }
}

impl fmt::Display for SinkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Write(error) => error.fmt(f),
            Self::NotPossible(error) => error.fmt(f),
        }
    }
}

impl Error for SinkError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Write(error) => error.source(),
            Self::NotPossible(error) => error.source(),
        }
    }
}

impl From<io::Error> for SinkError {
    fn from(error: io::Error) -> Self {
        Self::Write(error)
    }
}

impl<E: Into<SinkError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(Box::new(error.into()))
    }
}

impl Stop {
    /// Converts the result of a step into a [`Flow`], so that a sink can use `?` on it.
    pub fn on_error<T, E: Into<SinkError>>(result: Result<T, E>) -> Flow<T> {
        match result {
            Ok(value) => Flow::Continue(value),
            Err(error) => Flow::Break(error.into().into()),
        }
    }
}
