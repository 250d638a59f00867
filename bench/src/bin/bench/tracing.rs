//! Compares the cost of events of the crate `tracing` with that of an event in a stream.

use tracewell_bench::{median, stream, tracing};

use super::plan::{Plan, Result, row};

pub(crate) fn record(plan: &Plan) -> Result<()> {
    let own = stream::stream()?;
    let (recording, silent) = (tracing::recording()?, tracing::silent());
    let mut found: [Vec<f64>; 6] = Default::default();
    for _ in 0..plan.rounds * 20 {
        let round = [
            stream::events(&own),
            tracing::events(&silent),
            tracing::events(&recording),
            tracing::texts(&recording),
            tracing::stream_events_of_four(&own),
            tracing::events_of_four(&recording),
        ];
        found.iter_mut().zip(round).for_each(|(all, one)| all.push(one));
    }
    let [event, nothing, recorded, text, event_four, recorded_four] =
        found.map(|mut all| median(&mut all));
    let baseline = "an event of a stream";
    row("tracing: a layer that does nothing", baseline, nothing, event);
    row("tracing: an event of two numbers", baseline, recorded, event);
    row("tracing: an event of a number and a text", baseline, text, event);
    let of_four = "an event of a stream by four threads";
    row("tracing: two numbers, four threads at once", of_four, recorded_four, event_four);
    Ok(())
}
