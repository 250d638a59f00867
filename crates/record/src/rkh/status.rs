//! What recording calls say.

/// What became of a record.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// It is in the buffer.
    Recorded,
    /// A filter held it back. It has no number, and nothing tells the reader.
    Filtered,
    /// It is not compiled in.
    NotCompiled,
    /// The buffer left it out; the buffer counts, and the reader finds a gap in the numbers.
    Dropped,
    /// It cannot be recorded.
    Refused(Refusal),
}

/// Why a record cannot be recorded. Nothing was written unless the text says so.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The dialect has no such event, or no record of this kind.
    NotInDialect,
    /// There are more or fewer arguments than the event has, or of other kinds. A record that was
    /// written in steps was given up: readers of a [`StreamBuffer`](super::StreamBuffer) count it
    /// as aborted.
    Arguments,
    /// A text with a zero in it, or memory of more than 255 bytes; as [`Refusal::Arguments`].
    Text,
}
