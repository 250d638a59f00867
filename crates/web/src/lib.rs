//! The reader of Tracewell as WebAssembly. It reads a trace in memory, and answers the requests of
//! the static page (`cargo xtask page`). Tests run the same code natively.
//!
//! | file | purpose |
//! |---|---|
//! | `reader` | the requests and their answers |
//! | `abi` | the functions that the page's worker calls; compiled only for WebAssembly |
//!
//! The worker is `crates/tracewell/page/worker.js`.

#[cfg(target_arch = "wasm32")]
mod abi;
mod reader;

pub use reader::{MAX_BYTES, Reader};
