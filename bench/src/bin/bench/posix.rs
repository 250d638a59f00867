//! Compares the cost of the POSIX trace functions with that of an event in a stream.

use tracewell_bench::{median, posix, stream};

use super::plan::{Plan, Result, row};

pub(crate) fn record(plan: &Plan) -> Result<()> {
    let own = stream::stream()?;
    let unnamed = tracewell_wire::posix::UNNAMED;
    let mut without: Vec<f64> = (0..plan.rounds * 20).map(|_| posix::events(unnamed)).collect();
    let (recording, id) = posix::stream()?;
    let mut found: [Vec<f64>; 5] = Default::default();
    for _ in 0..plan.rounds * 20 {
        let round = [
            stream::events(&own),
            posix::events(id),
            posix::filtered(&recording, id),
            posix::suspended(&recording, id),
            stream::counter_reads(),
        ];
        found.iter_mut().zip(round).for_each(|(all, one)| all.push(one));
    }
    let [event, posix_event, filtered, suspended, read] = found.map(|mut all| median(&mut all));
    row("POSIX: an event with 8 bytes", "an event of two fields (Tracewell)", posix_event, event);
    let counter = "read the counter (Rust)";
    row("POSIX: an event that is filtered out", counter, filtered, read);
    row("POSIX: an event while suspended", counter, suspended, read);
    row("POSIX: an event without a stream", counter, median(&mut without), read);
    let mut speeds =
        (0..plan.rounds).map(|_| posix::read_back()).collect::<std::result::Result<Vec<_>, _>>()?;
    let each = 1e9 / median(&mut speeds);
    row("POSIX: take an event out of a stream", "10 million a second", each, 100.0);
    Ok(())
}
