//! Traces as tables of Arrow columns.
