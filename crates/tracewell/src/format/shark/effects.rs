//! What each code does to who runs and to which tasks there are, as tables for the hot loop.

use tracewell_wire::shark::ids;

/// What a code does to who runs and which tasks there are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Effect {
    None,
    /// Names a task that does something.
    Mention,
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
            code if ids::names_context(code) => Effect::Mention,
            _ => Effect::None,
        };
        code += 1;
    }
    effects
};

/// An interrupt begins.
pub(super) const ENTERS: u8 = 0x01;
/// An interrupt ends.
pub(super) const EXITS: u8 = 0x02;
/// The scheduler chose.
pub(super) const CHOOSES: u8 = 0x04;
/// The first parameter names a task: one that was met before, or the record is looked at closely.
pub(super) const NAMES: u8 = 0x08;
/// The same for both parameters being the same.
pub(super) const TWICE: u8 = 0x10;
/// The same for the task that is named being the one that runs.
pub(super) const RUNS: u8 = 0x20;
/// The record is looked at closely.
pub(super) const CLOSELY: u8 = 0x40;

/// How a code's records are followed, as a set of the bits above.
pub(super) const PLANS: [u8; 256] = {
    let mut plans = [0; 256];
    let mut code = 0;
    while code < 256 {
        plans[code] = match EFFECTS[code] {
            Effect::None => 0,
            Effect::Mention => NAMES,
            Effect::Load => NAMES | RUNS,
            Effect::Schedule => CHOOSES | NAMES | TWICE,
            Effect::Enter => ENTERS,
            Effect::Exit => EXITS,
            Effect::ExitTo => EXITS | NAMES,
            Effect::Inherit => NAMES | TWICE,
            Effect::Named | Effect::Ended | Effect::Start => CLOSELY,
        };
        code += 1;
    }
    plans
};
