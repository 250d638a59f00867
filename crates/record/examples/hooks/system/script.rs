//! The script: a shell starts a 32-bit program that reads records, and a 64-bit program that
//! sorts them with two threads on two CPUs.
//!
//! While the second worker spills, the trace daemon does not run for a while. Both buffers
//! of its CPU become full and entries are missed; a hook 006 counts them.

use tracewell_wire::aix::Env;

use super::machine::{System, Thread};

const INIT: Thread = Thread { tid: 259, pid: 1, env: Env::Bits64 };
const SHELL: Thread = Thread { tid: 70_001, pid: 4_194, env: Env::Bits32 };
const READER: Thread = Thread { tid: 81_001, pid: 5_120, env: Env::Bits32 };
const SORTER: Thread = Thread { tid: 81_003, pid: 5_122, env: Env::Bits64 };
const WORKER: Thread = Thread { tid: 81_005, ..SORTER };

/// System calls.
const READ: u64 = 1;
const WRITE: u64 = 2;
const WAIT: u64 = 3;
const OPEN: u64 = 4;

const FIRST_CPU: usize = 0;
const SECOND_CPU: usize = 1;

/// Number of spilled runs. Their entries do not all fit into the buffers of a CPU.
const SPILLED_RUNS: u64 = 60;

pub(super) fn run(system: &mut System<'_>) {
    shell_starts(system);
    programs_start(system);
    records_are_read_and_sorted(system);
    daemon_is_late(system);
    all_end(system);
}

fn shell_starts(system: &mut System<'_>) {
    system.work(10);
    system.dispatch(FIRST_CPU, INIT);
    system.work(5);
    system.idle(SECOND_CPU);
    system.work(20);
    system.fork(FIRST_CPU, SHELL);
    system.work(12);
    system.dispatch(FIRST_CPU, Thread { env: INIT.env, ..SHELL });
    system.work(30);
    system.exec(FIRST_CPU, "/usr/bin/ksh", SHELL.env);
    system.work(90);
    system.phase(FIRST_CPU, 1);
    system.daemon_runs();
}

fn programs_start(system: &mut System<'_>) {
    system.fork(FIRST_CPU, READER);
    system.work(15);
    system.dispatch(SECOND_CPU, READER);
    system.work(40);
    system.exec(SECOND_CPU, "/opt/example/bin/readrec", READER.env);
    system.work(25);
    system.fork(FIRST_CPU, SORTER);
    system.work(20);
    system.call(FIRST_CPU, WAIT);
    system.work(3);
    system.dispatch(FIRST_CPU, Thread { env: SHELL.env, ..SORTER });
    system.work(45);
    system.exec(FIRST_CPU, "/opt/example/bin/sortrec", SORTER.env);
    system.work(60);
    system.create_thread(FIRST_CPU, WORKER);
    system.work(8);
    system.note(FIRST_CPU, 1, "two workers");
    system.daemon_runs();
}

fn records_are_read_and_sorted(system: &mut System<'_>) {
    system.call(SECOND_CPU, OPEN);
    system.work(14);
    system.call_returns(SECOND_CPU, OPEN, 3);
    for round in 1..=3 {
        system.call(SECOND_CPU, READ);
        system.work(4);
        system.idle(SECOND_CPU);
        system.work(180);
        let range = [100 * (round - 1) + 1, 100 * round];
        system.batch_sorted(FIRST_CPU, 0, range, 150_000 + 1_000 * round);
        system.work(20);
        system.dispatch(SECOND_CPU, READER);
        system.work(6);
        system.call_returns(SECOND_CPU, READ, 4_096);
        system.work(11);
        system.records_read(SECOND_CPU, 100 * round);
        system.daemon_runs();
    }
    system.note(SECOND_CPU, 2, "end of file");
    system.work(2);
    system.phase(SECOND_CPU, 2);
    system.daemon_runs();
}

fn daemon_is_late(system: &mut System<'_>) {
    system.dispatch(SECOND_CPU, WORKER);
    for _ in 0..SPILLED_RUNS {
        system.work(7);
        system.spilled(SECOND_CPU, 1);
    }
    system.daemon_runs();
    system.work(7);
    system.batch_sorted(SECOND_CPU, 1, [1, 300], 431_000);
    system.daemon_runs();
}

fn all_end(system: &mut System<'_>) {
    system.call(FIRST_CPU, WRITE);
    system.work(33);
    system.call_returns(FIRST_CPU, WRITE, 12_288);
    system.work(5);
    system.note(FIRST_CPU, 3, "sorted 300 records");
    system.work(10);
    system.dispatch(FIRST_CPU, SHELL);
    system.work(6);
    system.call_returns(FIRST_CPU, WAIT, SORTER.pid);
    system.work(4);
    system.phase(FIRST_CPU, 3);
    system.work(9);
    system.idle(FIRST_CPU);
    system.work(2);
    system.idle(SECOND_CPU);
    system.work(50);
}
