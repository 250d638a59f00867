//! Generates S.Ha.R.K. files of any size. They contain periodic tasks with jobs, a mutex, and
//! interrupts of a timer and a device.
//!
//! A fixed pseudo-random sequence determines the records, so files of the same size are equal.

use std::io::{self, Write};

use tracewell_wire::shark::{Record, ids};

const TASKS: u16 = 10;
const MUTEX: u32 = 0x0190_2C00;

/// Returns the number of records in a file of `bytes` bytes. Returns 32 if the number would be
/// lower.
pub fn records_in(bytes: u64) -> u64 {
    (bytes / Record::SIZE as u64).max(32)
}

/// Writes a file of `records` records.
///
/// # Errors
/// Returns any error of the writer.
pub fn write(out: &mut dyn Write, records: u64) -> io::Result<()> {
    let mut scene =
        Scene { random: 0x9E37_79B9_7F4A_7C15, tsc: 1 << 33, running: 1, left: Vec::new() };
    scene.begin();
    for _ in 0..records {
        while scene.left.is_empty() {
            scene.next();
        }
        let (code, par1, par2) = scene.left.remove(0);
        scene.tsc += 150 + scene.draw(400);
        let record = Record { code_word: u16::from(code), par1, tsc: scene.tsc, par2 };
        out.write_all(&record.to_bytes())?;
    }
    Ok(())
}

struct Scene {
    random: u64,
    tsc: u64,
    running: u16,
    /// Codes and parameters of the next records.
    left: Vec<(u8, u16, u32)>,
}

fn context(task: u16) -> u16 {
    ids::context::FIRST + 8 * task
}

impl Scene {
    /// Returns a number below `n`.
    fn draw(&mut self, n: u64) -> u64 {
        crate::trace::draw(&mut self.random, n)
    }

    fn begin(&mut self) {
        self.left.push((ids::TRACE_START, context(0), 866_500));
        self.left.extend((0..TASKS).map(|task| (ids::ID, context(task), u32::from(task))));
        self.switch_to(1);
    }

    fn switch_to(&mut self, task: u16) {
        let to = context(task);
        self.left.push((ids::TASK_SCHEDULE, to, u32::from(to)));
        self.left.push((ids::CONTEXT_SWITCH, to, 0));
        self.running = task;
    }

    /// Adds the next records of the running task or of an interrupt.
    fn next(&mut self) {
        let other = self.draw(u64::from(TASKS)) as u16;
        let here = context(self.running);
        match self.draw(4) {
            0 => {
                let chosen = context(other);
                self.left.push((ids::TIMER_WAKEUP_START, 0, 0));
                self.left.push((ids::TIMER_POST, 0, 0));
                self.left.push((ids::TASK_TIMER, chosen, 1));
                self.left.push((ids::TASK_SCHEDULE, chosen, u32::from(chosen)));
                self.left.push((ids::TIMER_WAKEUP_END, chosen, 0));
                self.running = other;
            }
            1 => {
                self.left.push((ids::SET_MUTEX_LOCK, here, MUTEX));
                self.left.push((ids::SET_MUTEX_UNLOCK, here, MUTEX));
                self.switch_to(self.running);
            }
            2 => {
                self.left.push((ids::INTERRUPT_START, 5, 0));
                self.left.push((ids::INTERRUPT_END, 5, 0));
                self.left.push((ids::TASK_ACTIVATE, context(other), 0));
            }
            _ => {
                self.left.push((ids::TIMER_DELETE, 0, 0));
                self.left.push((ids::TASK_END_CYCLE, here, 1));
                self.switch_to(other);
            }
        }
    }
}
