//! Reader of ThreadX event trace images (`.trx`).

pub mod locate;
