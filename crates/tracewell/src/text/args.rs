//! Implements `Display` for events and their arguments.

use std::fmt;

use super::TextBuffer;
use super::describe::put_uncached;
use crate::model::{Args, Event};

/// Writes the arguments as reports do. Code that prints millions of events should use a
/// [`super::Describer`], which caches names.
impl fmt::Display for Args<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = TextBuffer::default();
        put_uncached(&mut text, self.event);
        f.pad(&text.as_text())
    }
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (time, context, label) = (self.time(), self.context_name(), self.label());
        write!(f, "{time:>12}  {context:<12} {label:<20} {}", self.args())
    }
}
