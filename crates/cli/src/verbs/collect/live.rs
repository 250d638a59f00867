//! The progress lines of a collection: one for each source, or one for all.

use std::sync::Arc;
use std::time::Duration;

use tracewell::text::{display_width, grouped, padded, plural};
use tracewell_collect::{Gauge, Link, Progress};

use crate::progress::{Rate, data};

/// Maximum number of lines. If there are more sources, they share one line.
const MAX_LINES: usize = 4;

/// The progress of all sources.
pub(super) struct Lines {
    names: Vec<String>,
    gauges: Vec<Arc<Gauge>>,
    /// For each line, the rates of bytes and of events.
    rates: Vec<(Rate, Rate)>,
}

impl Lines {
    /// Returns the progress of sources with these names.
    pub(super) fn new(names: &[String], gauges: Vec<Arc<Gauge>>) -> Self {
        let rates = gauges.iter().map(|_| Default::default()).collect();
        Self { names: names.to_vec(), gauges, rates }
    }

    /// Returns the lines to show; `time` is the time since the start.
    pub(super) fn at(&mut self, time: Duration) -> Vec<String> {
        let sources: Vec<_> = self.gauges.iter().map(|gauge| gauge.progress()).collect();
        lines(&self.names, &sources, &mut self.rates, time)
    }
}

/// Returns the lines to show for the sources; `time` is the time since the start.
fn lines(
    names: &[String],
    sources: &[Progress],
    rates: &mut [(Rate, Rate)],
    time: Duration,
) -> Vec<String> {
    let (heads, counts): (Vec<_>, _) = if sources.len() > MAX_LINES {
        let is_connected = |source: &&Progress| source.link == Link::Connected;
        let connected = sources.iter().filter(is_connected).count();
        let head = format!("{} sources, {connected} connected", sources.len());
        (vec![head], vec![sum(sources)])
    } else {
        let width = names.iter().map(|name| display_width(name)).max().unwrap_or(0);
        let head = |(name, source): (&String, &Progress)| {
            // The column is as wide as the longest state, so that the counts are aligned.
            format!("{}  {:9}", padded(name, width), state(source.link))
        };
        (names.iter().zip(sources).map(head).collect(), sources.to_vec())
    };
    let rows = heads.into_iter().zip(counts).zip(rates);
    rows.map(|((head, counts), rates)| format!("{head}  {}", figures(counts, rates, time)))
        .collect()
}

fn state(link: Link) -> &'static str {
    match link {
        Link::Waiting => "waiting",
        Link::Connected => "connected",
        Link::Ended => "ended",
    }
}

/// Returns the counts of all sources together.
fn sum(sources: &[Progress]) -> Progress {
    let events = sources.iter().filter_map(|source| source.events);
    Progress {
        received: sources.iter().map(|source| source.received).sum(),
        dropped: sources.iter().map(|source| source.dropped).sum(),
        events: events.reduce(|sum, events| sum + events),
        link: Link::default(),
    }
}

/// Returns the counts and rates as text.
fn figures(counts: Progress, (bytes, events): &mut (Rate, Rate), time: Duration) -> String {
    let rate = data(bytes.at(time, counts.received));
    let mut line = format!("{}, {rate}/s", data(counts.received));
    if let Some(count) = counts.events {
        line += &format!(
            ", {} {}, {}/s",
            grouped(count),
            plural(count, "event"),
            grouped(events.at(time, count))
        );
    }
    line + &format!(", {} dropped", data(counts.dropped))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rates(sources: usize) -> Vec<(Rate, Rate)> {
        (0..sources).map(|_| Default::default()).collect()
    }

    #[test]
    fn each_of_a_few_sources_has_a_line() {
        let serial =
            Progress { link: Link::Connected, received: 6400, dropped: 0, events: Some(1234) };
        let board = Progress { dropped: 1500, ..Progress::default() };
        let names = ["ttyUSB0", "tcp-board-6602"].map(str::to_owned);
        let at = Duration::from_secs(2);
        let expected = [
            "ttyUSB0         connected  6.4 kB, 3.2 kB/s, 1,234 events, 617/s, 0 B dropped",
            "tcp-board-6602  waiting    0 B, 0 B/s, 1.5 kB dropped",
        ];
        assert_eq!(lines(&names, &[serial, board], &mut rates(2), at), expected);
    }

    #[test]
    fn many_sources_share_a_line() {
        let mut sources = vec![Progress { received: 1000, ..Progress::default() }; 5];
        sources[0] = Progress { link: Link::Connected, dropped: 7, events: Some(9), ..sources[0] };
        sources[1].link = Link::Ended;
        let names = vec![String::new(); 5];
        let expected = "5 sources, 1 connected  5.0 kB, 5.0 kB/s, 9 events, 9/s, 7 B dropped";
        let made = lines(&names, &sources, &mut rates(5), Duration::from_secs(1));
        assert_eq!(made, [expected]);
    }
}
