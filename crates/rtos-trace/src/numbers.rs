//! Gives tasks small numbers. Kernels identify a task by its address, which needs 5 bytes in each
//! event. A number below 128 needs 1 byte.

/// Maximum number of tasks with small numbers. Events of further tasks contain their addresses.
const TASKS: usize = 32;

/// The ids of the tasks. The task with number n is at index n - 1. An id of 0 marks an unused
/// entry.
#[derive(Debug, Default)]
pub(crate) struct Numbers([u32; TASKS]);

impl Numbers {
    /// Returns the number of a task. A task without a number gets the next unused number. If there
    /// is none, returns the task's id.
    pub(crate) fn of(&mut self, id: u32) -> u32 {
        let index = self.0.iter().position(|other| *other == id || *other == 0);
        let Some(index) = index else { return id };
        self.0[index] = id;
        index as u32 + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_keeps_its_number_and_the_33rd_has_its_address() {
        let mut numbers = Numbers::default();
        let address = |task: u32| 0x2000_0000 + 64 * task;
        for _ in 0..2 {
            let found: [u32; 34] = core::array::from_fn(|task| numbers.of(address(task as u32)));
            assert_eq!((found[0], found[31], found[32]), (1, 32, address(32)));
        }
    }
}
