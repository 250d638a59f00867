//! Compares the C recorder of small targets with the Rust recorder. This file calls the C recorder,
//! which the build script compiles. Other crates include the source of the library but not the C
//! recorder, so this file is not part of the library.

use std::sync::{Mutex, PoisonError};

use super::target_script::{Script, assert_same};

/// Runs a script of calls on a C recorder. The head comment of `harness.c` describes the form of a
/// script.
type Run = unsafe extern "C" fn(*const u8, u32, *mut u8, u32) -> u32;

unsafe extern "C" {
    fn harness_run_0(script: *const u8, length: u32, to: *mut u8, size: u32) -> u32;
    fn harness_run_1(script: *const u8, length: u32, to: *mut u8, size: u32) -> u32;
    fn harness_run_2(script: *const u8, length: u32, to: *mut u8, size: u32) -> u32;
}

/// The C recorders, one for each geometry.
const RECORDERS: [Run; super::target_geometry::GEOMETRIES.len()] =
    [harness_run_0, harness_run_1, harness_run_2];

/// Calls both recorders. Checks that they write the same bytes and return the same values.
pub(crate) fn target_twin(data: &[u8]) {
    let script = Script::new(data);
    let expected = script.record();
    let calls = script.encode();
    // The buffer is longer than the expected output, so that the comparison detects a longer
    // output.
    let mut found = vec![0; 2 * expected.len()];
    // The C recorder has a single state, so only one thread at a time can use it.
    static STATE: Mutex<()> = Mutex::new(());
    let state = STATE.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the function reads `calls`, writes at most as many bytes as `found` has, and keeps no
    // pointer. No other thread runs it. `encode` wrote `calls` in the form that the function reads.
    let length = unsafe {
        RECORDERS[script.geometry](
            calls.as_ptr(),
            calls.len() as u32,
            found.as_mut_ptr(),
            found.len() as u32,
        )
    };
    drop(state);
    found.truncate(length as usize);
    assert_same(&found, &expected);
}
