//! Reads, explains and converts the event traces of real-time and embedded software.
#![deny(unsafe_code)]

pub mod analysis;
pub mod export;
pub mod format;
pub mod input;
pub mod model;
pub mod report;
pub mod select;
pub mod text;
