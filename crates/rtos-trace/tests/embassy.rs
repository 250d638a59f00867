//! Records the real executor of embassy with the recorder for small targets.

mod executor;

use tracewell_rtos_trace::{Options, TargetTrace};

rtos_trace::global_trace! {TargetTrace}

#[test]
fn executions_and_their_times_agree_with_the_log_of_the_tasks() {
    let memory = vec![0; 1 << 16].leak();
    let options = Options { rate: 1_000_000, kernel: "embassy", ..Options::default() };
    TargetTrace::init(memory, &options, executor::clock).unwrap();
    let own = executor::run();
    let (mut line, mut packets) = (Vec::new(), [0; 512]);
    TargetTrace::flush();
    loop {
        match TargetTrace::read(&mut packets) {
            0 => break,
            length => line.extend_from_slice(&packets[..length]),
        }
    }
    executor::compare(&line, &own, 1);
}
