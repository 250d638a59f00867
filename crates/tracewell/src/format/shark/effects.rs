//! What each code does to who runs and to which tasks there are, as a table.

use tracewell_wire::shark::ids;

/// What a code does to who runs and which tasks there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    None,
    /// Names a task that does something.
    Mention,
    /// The same by a code that only the user manual has.
    Manual,
    /// Names a task that exists, or starts to.
    Named,
    Ended,
    Start,
    Schedule,
    Inherit,
    Load,
    Enter,
    /// A device interrupt ends.
    Exit,
    /// A timer interrupt ends and names who continues.
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
