//! The results of recording calls.

/// The result of recording.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The record is in the buffer.
    Recorded,
    /// A filter suppressed the record. It used no sequence number, so decoders do not report a gap.
    Filtered,
    /// The record is not compiled in.
    NotCompiled,
    /// The buffer dropped and counted the record. Decoders find a gap in the sequence numbers.
    Dropped,
    /// The record is invalid.
    Refused(Refusal),
}

/// The reason why a record was refused. Nothing was written unless stated otherwise below.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// The dialect has no such event or no record of this kind.
    NotInDialect,
    /// The number or the types of the arguments do not match the event. A record that was being
    /// written in steps is aborted. With a [`StreamBuffer`](super::StreamBuffer), decoders see and
    /// count the aborted frame.
    Arguments,
    /// A string contains a NUL byte, or a memory argument has more than 255 bytes. A record that
    /// was being written in steps is aborted, as with [`Refusal::Arguments`].
    Text,
}
