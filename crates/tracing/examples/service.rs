//! A program that uses Tracewell only in its first lines. All other code uses only `tracing`.
//!
//! ```text
//! cargo build -p tracewell-tracing --example service
//! tracewell record -o service.twl -- target/debug/examples/service
//! tracewell report service.twl
//! ```

use std::thread;

use tracing::{Span, debug, error, info, info_span, warn};
use tracing_subscriber::layer::SubscriberExt;

fn main() -> std::io::Result<()> {
    let layer = tracewell_tracing::StreamLayer::from_environment()?;
    let subscriber = tracing_subscriber::registry().with(layer);
    tracing::subscriber::set_global_default(subscriber).map_err(std::io::Error::other)?;

    let workers = (0..2).map(|worker| thread::spawn(move || work(worker)));
    for worker in workers.collect::<Vec<_>>() {
        worker.join().map_err(|_| std::io::Error::other("a worker panicked"))?;
    }
    info!(workers = 2, "done");
    Ok(())
}

fn work(worker: u64) {
    for number in 0..3_u64 {
        let span = info_span!("request", worker, number, answer = tracing::field::Empty);
        let _entered = span.enter();
        debug!(length = 100 * number, path = "/status", "received");
        if number == 2 {
            warn!(name: "slow", share = 0.75, waited = true);
        }
        answer(number, &span);
    }
}

fn answer(number: u64, span: &Span) {
    match 6_u64.checked_div(number) {
        Some(answer) => {
            span.record("answer", answer);
        }
        None => error!(cause = ?std::num::IntErrorKind::Zero, "no answer"),
    }
}
