//! Records two tasks that share a bus. Uses the recorder for small targets, as a kernel written in
//! Rust would.

use tracewell_record::target::{Error, Options, Recorder};
use tracewell_wire::target::{DefinitionKind, ids};

const CONTROL: u32 = 1;
const AXIS: u32 = 2;
const BUS: u32 = 1;
const POSITION: u32 = 1;

/// Number of movements.
const MOVEMENTS: i32 = 60;

/// Records the movements of an axis in `memory`. Stores in `line` the packets that a target would
/// send over a serial line, and returns their length in bytes. Each reading of the clock is 40
/// ticks after the previous reading.
///
/// # Errors
/// Returns an error if the memory is too small.
pub(crate) fn record(memory: &mut [u8], line: &mut [u8]) -> Result<usize, Error> {
    let mut ticks = 0_u32;
    let clock = || {
        ticks = ticks.wrapping_add(40);
        ticks
    };
    let options = Options { rate: 1_000_000, kernel: "example", ..Options::default() };
    let mut recorder = Recorder::new(memory, &options, clock)?;
    recorder.define(DefinitionKind::Task, CONTROL, 1024, 1, "control");
    recorder.define(DefinitionKind::Task, AXIS, 1024, 2, "axis");
    recorder.define(DefinitionKind::Mutex, BUS, 0, 0, "bus");
    recorder.define(DefinitionKind::Channel, POSITION, 0, 0, "position");
    for movement in 0..MOVEMENTS {
        recorder.event(0, ids::RUNS, [AXIS, 0]);
        recorder.event(0, ids::MUTEX_LOCK, [BUS, 0]);
        recorder.value(0, POSITION, movement * movement - 900);
        recorder.event(0, ids::READY, [CONTROL, 0]);
        recorder.event(0, ids::RUNS, [CONTROL, 0]);
        recorder.event(0, ids::MUTEX_WAIT, [BUS, 0]);
        recorder.event(0, ids::RUNS, [AXIS, 0]);
        recorder.event(0, ids::MUTEX_UNLOCK, [BUS, 0]);
        recorder.event(0, ids::READY, [CONTROL, 0]);
        recorder.event(0, ids::DELAY, [1, 0]);
        recorder.event(0, ids::RUNS, [CONTROL, 0]);
        recorder.event(0, ids::MUTEX_LOCK, [BUS, 0]);
        recorder.event(0, ids::MUTEX_UNLOCK, [BUS, 0]);
        recorder.event(0, ids::DELAY, [2, 0]);
        recorder.event(0, ids::RUNS, [0, 0]);
    }
    recorder.flush();
    Ok(recorder.read(line))
}
