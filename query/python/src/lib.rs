//! Traces in Python, as Arrow streams.
