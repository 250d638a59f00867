//! Turns what lies in a file into the bytes that a format's reader wants.

pub mod image;
