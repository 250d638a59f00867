//! A table: for each code, its effect on the running task and on the set of tasks.

use tracewell_wire::shark::ids;

/// The effect of a code.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    None,
    /// The record names an active task.
    Mention,
    /// Like [`Effect::Mention`], but for a code that only the user manual defines.
    Manual,
    /// The record contains the pid of an existing or new task.
    Named,
    Ended,
    Start,
    Schedule,
    Inherit,
    Load,
    Enter,
    /// A device interrupt ends.
    Exit,
    /// A timer interrupt ends and names the context that continues.
    ExitTo,
}

pub(super) const EFFECTS: [Effect; 256] = {
    let mut effects = [Effect::None; 256];
    let mut code = 0;
    while code < 256 {
        effects[code] = match code as u8 {
            ids::TRACE_START => Effect::Start,
            ids::ID | ids::TASK_CREATE => Effect::Named,
            ids::TASK_END => Effect::Ended,
            ids::TASK_SCHEDULE => Effect::Schedule,
            ids::INHERITANCE => Effect::Inherit,
            ids::CONTEXT_SWITCH => Effect::Load,
            ids::INTERRUPT_START | ids::TIMER_WAKEUP_START => Effect::Enter,
            ids::INTERRUPT_END => Effect::Exit,
            ids::TIMER_WAKEUP_END => Effect::ExitTo,
            ids::MANUAL_UNLOCK => Effect::Manual,
            code if ids::names_context(code) => Effect::Mention,
            _ => Effect::None,
        };
        code += 1;
    }
    effects
};
