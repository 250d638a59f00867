//! The hooks that an executor calls, for each type that records them.

/// Implements [`rtos_trace::RtosTrace`] for a type. The module that uses this macro must have a
/// function `with`, which calls a closure with the [`State`](crate::state::State), and the type
/// must have a function `define`. The closures `start` and `stop` start and stop the recording.
macro_rules! hooks {
    (
        $type:ident,
        start: |$started:ident| $start:expr,
        stop: |$stopped:ident| $stop:expr
    ) => {
        impl rtos_trace::RtosTrace for $type {
            fn start() {
                with(|$started| $start);
            }

            fn stop() {
                with(|state| state.event(tracewell_wire::target::ids::STOP, [0; 2]));
                with(|$stopped| $stop);
            }

            fn task_new(id: u32) {
                with(|state| state.create(id, 0));
            }

            fn task_send_info(id: u32, info: rtos_trace::TaskInfo) {
                with(|state| state.describe(id, info.name, info.priority, info.stack_size));
            }

            fn task_new_stackless(id: u32, name: &'static str, priority: u32) {
                with(|state| {
                    state.create(id, priority);
                    state.describe(id, name, 0, 0);
                });
            }

            fn task_terminate(id: u32) {
                with(|state| state.terminate(id));
            }

            fn task_exec_begin(id: u32) {
                with(|state| state.run(id));
            }

            fn task_exec_end() {
                with(crate::state::State::end_run);
            }

            fn task_ready_begin(id: u32) {
                with(|state| state.ready(id));
            }

            fn task_ready_end(id: u32) {
                with(|state| state.suspend(id));
            }

            fn system_idle() {
                with(crate::state::State::idle);
            }

            fn isr_enter() {
                with(crate::state::State::enter_interrupt);
            }

            fn isr_exit() {
                with(|state| state.event(tracewell_wire::target::ids::INTERRUPT_EXIT, [0; 2]));
            }

            fn isr_exit_to_scheduler() {
                with(|state| {
                    state.event(tracewell_wire::target::ids::INTERRUPT_EXIT_TO_SCHEDULER, [0; 2])
                });
            }

            fn name_marker(id: u32, name: &'static str) {
                Self::define(tracewell_wire::target::DefinitionKind::Channel, id, name);
            }

            fn marker(id: u32) {
                with(|state| state.event(tracewell_wire::target::ids::MARK, [id, 0]));
            }

            fn marker_begin(id: u32) {
                with(|state| state.event(tracewell_wire::target::ids::SECTION_BEGIN, [id, 0]));
            }

            fn marker_end(id: u32) {
                with(|state| state.event(tracewell_wire::target::ids::SECTION_END, [id, 0]));
            }
        }
    };
}

pub(crate) use hooks;
