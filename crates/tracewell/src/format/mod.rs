//! One folder per trace format.

pub mod threadx;
