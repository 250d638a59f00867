//! Answers SQL questions over traces.
