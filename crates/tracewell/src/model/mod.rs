//! The model that every reader produces and every sink consumes.
//!
//! Events are delivered in columnar [`Batch`]es. The [`Trace`] describes the events (clock,
//! contexts, objects, schema, losses), and grows while the events arrive. The model is independent
//! of dialects, opens no files and prints nothing.

mod arguments;
mod batch;
mod clock;
mod context;
mod diagnostic;
mod emitter;
mod event;
mod event_ids;
mod lifetime;
mod lines;
mod loss;
mod meaning;
mod number_rows;
mod numbered;
mod object;
mod one_or_many;
mod per_id;
mod position;
mod program_spans;
mod running;
pub mod schema;
mod sink;
mod slices;
mod spelling;
mod symbols;
mod trace;
pub mod values;

pub(crate) use arguments::Arguments;
pub use batch::{Batch, Columns, EventRef, Events, Priority, Records, Span};
pub(crate) use clock::greatest_common_divisor;
pub use clock::{Clock, Counter, Direction, Rate, RateChange, RateError, WallClock};
pub use context::{Context, ContextId, ContextKind, Contexts, SeenContexts};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use emitter::{Emitter, EventBuffer, NewEvent, Window};
pub use event::{Args, ArgumentValue, Event, Label, Time};
pub use event_ids::EventIds;
pub use lifetime::{KeyBinding, Lifetimes, births_and_deaths};
pub use lines::{Lines, Place};
pub use loss::{Loss, LossCause, LossCount, Losses};
pub use meaning::Meaning;
pub(crate) use number_rows::{MAX_NUMBERS, NumberRow, NumberRows};
pub use object::{Lifetime, NamedAt, Object, ObjectId, Objects};
pub(crate) use per_id::{OfSchema, PerId};
pub use position::Position;
pub use program_spans::{ProgramSpan, ProgramSpans};
pub use running::{Choice, MaybeContext, OnBehalf, Running};
pub use sink::{Flow, IntoFlow, Sink, SinkError, Stop};
pub use slices::{Before, Slices};
pub use spelling::{did_you_mean, nearest};
pub(crate) use spelling::{folded, some_of, unique};
pub use symbols::{Program, Symbol, SymbolAt, SymbolTable};
pub use trace::{
    ContextDetail, CoreEnd, Fact, FactForm, Field, NoDates, PayloadLayout, Processor,
    RecordedArguments, RecordedDetails, Trace,
};
