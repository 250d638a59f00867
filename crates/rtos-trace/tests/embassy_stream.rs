//! Records the real executor of embassy into a native stream, together with events of the program.
#![cfg(all(feature = "std", target_os = "linux"))]

mod executor;

use std::sync::Arc;

use tracewell::format::Settings;
use tracewell::input::Input;
use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};
use tracewell_rtos_trace::StreamTrace;
use tracewell_wire::native::ClockKind;

rtos_trace::global_trace! {StreamTrace}

const PROGRAM: Family = Family::new(1, "program");
static STEP: EventType<(u32,)> = EventType::new(PROGRAM, "step", &["number"]);

#[test]
fn executions_in_a_stream_agree_with_the_log_of_the_tasks() {
    let options = StreamOptions { clock: Some(ClockKind::Monotonic), ..StreamOptions::default() };
    let stream = Arc::new(Stream::anonymous(&options).unwrap());
    stream.start();
    StreamTrace::init(stream.clone(), "embassy").unwrap();
    stream.record(&STEP, (1,));
    let own = executor::run();
    stream.record(&STEP, (2,));
    stream.stop();
    let log = stream.save(Vec::new()).unwrap();
    executor::compare(&log, &own, 1000);

    // The program's own events are in the context of their thread. So are the events that the
    // timer's thread records when it wakes tasks.
    let (mut steps, mut wakers) = (Vec::new(), Vec::new());
    let mut input = Input::from_bytes("log", log, Settings::default()).unwrap();
    let trace = input
        .for_each(|event| match event.kind().label.as_str() {
            "step" => steps.push((event.row.context, event.argument(0).unwrap())),
            "ready" => wakers.push(event.row.context),
            _ => {}
        })
        .unwrap();
    let kind = |context| trace.contexts.get(context).unwrap().name.clone();
    assert_eq!(steps.iter().map(|step| step.1).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(kind(steps[0].0), kind(steps[1].0));
    assert!(wakers.iter().any(|context| !["sensor", "control"].contains(&kind(*context).as_str())));
    assert!(wakers.iter().any(|context| kind(*context) == "sensor"));
}
