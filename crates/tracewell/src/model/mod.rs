//! The model in the middle: what every reader produces and every sink consumes.
//!
//! Events travel as columnar [`Batch`]es; what describes them (clock, contexts, objects, schema,
//! losses) is the [`Trace`], which grows while the events arrive. Nothing here knows a dialect,
//! opens a file or prints.

mod batch;
mod clock;
mod context;
mod diagnostic;
mod lifetime;
mod loss;
mod meaning;
mod object;
mod running;
pub mod schema;
mod sink;
mod trace;
pub mod values;

pub use batch::{Batch, Columns, EventRef, Events, NO_PRIORITY, Records, Span};
pub(crate) use clock::greatest_common_divisor;
pub use clock::{Clock, Counter, Direction, Rate, RateChange, RateError};
pub use context::{Context, ContextId, ContextKind, Contexts, SeenContexts};
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use lifetime::{LifeTurn, Lifetimes, births_and_deaths};
pub use loss::{Loss, LossCause, LossCount, Losses};
pub use meaning::Meaning;
pub use object::{Lifetime, NamedAt, Object, ObjectId, Objects};
pub use running::{Choice, MaybeContext, OnBehalf, Running};
pub use sink::{Flow, Sink};
pub use trace::{
    ContextDetails, Fact, FactForm, Field, PayloadLayout, Processor, RecordedArguments,
    RecordedDetails, Trace,
};
