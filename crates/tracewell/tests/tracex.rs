//! Compares TraceX analyses and dump text with the results of TraceX's own reader library, for
//! every dump that has such results: all columns, all rows, no tolerance.

#[path = "support/dump.rs"]
mod dump;
mod support;

use std::collections::HashMap;
use std::path::Path;

use dump::{Dump, USUAL, thread};
use proptest::prelude::*;
use support::{dumps, number, settings, table};
use tracewell::export::tracex::{Facts, Trace, is_tie, load};
use tracewell::export::{ExportNames, by_name};
use tracewell::format::Options;
use tracewell::input::{Input, Settings};
use tracewell_wire::threadx::Event;

/// Runs a check on every dump that has this result file.
fn each(answer: &str, check: impl Fn(&str, &Trace, &Path)) {
    let mut checked = 0;
    for (dump, answers) in dumps() {
        let path = answers.join(answer);
        if path.exists() {
            let mut input = Input::open(&dump, settings(&[])).unwrap();
            let (_, trace) = load(&mut input).unwrap();
            check(&dump.display().to_string(), &trace, &path);
            checked += 1;
        }
    }
    assert!(checked > 0, "{answer}");
}

const UNKNOWN: u64 = 0xFFFF_FFFF;

#[test]
fn events_agree() {
    each("events.tsv", |dump, trace, answers| {
        let rows = table(answers);
        assert_eq!(trace.events.len(), rows.len(), "{dump}");
        for (event, row) in trace.events.iter().zip(&rows) {
            let place = format!("{dump} event {}", row["index"]);
            let is = |column: &str, value: u64| {
                assert_eq!(value, number(&row[column]), "{place} {column}");
            };
            is("context", event.context.into());
            is("id", event.id().into());
            is("priority", event.priority.into());
            is("time_stamp", event.stamp.into());
            is("relative_ticks", event.ticks);
            for (index, column) in ["info1", "info2", "info3", "info4"].into_iter().enumerate() {
                is(column, event.info[index].into());
            }
            is("next_context", event.next.into());
            is("thread_index", event.thread as u64);
            is("priority_inversion_end", event.inversion_end as u64);
            is("bad_priority_inversion_end", event.bad_inversion_end as u64);
            is("inserted", event.inserted.into());
            let threshold = event.threshold.map_or("-".to_owned(), |t| t.to_string());
            assert_eq!(threshold, row["threshold"], "{place}");
            if event.inserted {
                assert_eq!((row["raw_id"].as_str(), row["raw_priority"].as_str()), ("-", "-"));
            } else {
                is("raw_id", event.id_word.into());
                is("raw_priority", event.priority_word.into());
            }
        }
    });
}

#[test]
fn a_tie_of_the_directions_is_a_clock_that_counts_down() {
    let facts = Facts { timer_valid_mask: u32::MAX, ..Facts::default() };
    let tie = |stamps: &[u32]| is_tie(facts, stamps.iter().copied());
    // The first two slots are not compared.
    assert!(tie(&[100, 320]) && tie(&[1, 2, 3, 2, 3, 2]) && tie(&[]));
    assert!(!tie(&[1, 2, 3]) && !tie(&[3, 2, 1]));
    // A full ring with its oldest event in slot 2. In file order, the timestamps are 30, 40, 10 and
    // 20. None of them is compared.
    let facts = Facts { buffer_end: 128, buffer_current: 64, ..facts };
    assert!(is_tie(facts, [10, 20, 30, 40].into_iter()));
}

#[test]
fn objects_agree() {
    each("objects.tsv", |dump, trace, answers| {
        let rows = table(answers);
        assert_eq!(trace.objects.len(), rows.len(), "{dump}");
        let mut summaries = trace.thread_summaries().into_iter();
        for (object, row) in trace.objects.iter().zip(&rows) {
            let place = format!("{dump} object {}", row["index"]);
            let is = |column: &str, value: u64| {
                assert_eq!(value, number(&row[column]), "{place} {column}");
            };
            is("type", object.kind.into());
            is("address", object.address.into());
            is("param1", object.parameter1.into());
            is("param2", object.parameter2.into());
            is("reserved1", object.reserved1.into());
            is("reserved2", object.reserved2.into());
            assert_eq!(String::from_utf8_lossy(&object.name), row["name"], "{place}");
            if !object.is_thread() {
                assert_eq!(row["total_events"], "-", "{place}");
                continue;
            }
            let summary = summaries.next().unwrap();
            let low = |range: Option<(u32, u32)>| range.map_or(UNKNOWN, |(low, _)| low.into());
            let high = |range: Option<(u32, u32)>| range.map_or(UNKNOWN, |(_, high)| high.into());
            is("lowest_priority", low(summary.priority));
            is("highest_priority", high(summary.priority));
            is("lowest_threshold", low(summary.threshold));
            is("highest_threshold", high(summary.threshold));
        }
    });
}

#[test]
fn profiles_agree() {
    each("profile.tsv", |dump, trace, answers| {
        let profile = trace.profile();
        let rows = table(answers);
        assert_eq!(rows.len(), profile.threads.len() + 2, "{dump}");
        let max = trace.max_ticks().max(1);
        for row in rows {
            let ticks = match row["kind"].as_str() {
                "idle" => profile.idle,
                "interrupt" => profile.interrupt,
                _ => profile.threads[number(&row["thread_index"]) as usize],
            };
            assert_eq!(ticks, number(&row["ticks"]), "{dump} {row:?}");
            assert_eq!(ticks * 100 / max, number(&row["percent_integer"]), "{dump} {row:?}");
        }
    });
}

#[test]
fn statistics_agree() {
    each("stats.tsv", |dump, trace, answers| {
        let (s, f, n) = (trace.statistics(), trace.filex(), trace.netx());
        let inserted = trace.events.iter().filter(|event| event.inserted).count();
        let known: Vec<(&str, u64)> = vec![
            ("raw_events", (trace.events.len() - inserted) as u64),
            ("inserted_running_events", inserted as u64),
            ("events", trace.events.len() as u64),
            ("threads", trace.threads.len() as u64),
            ("objects", trace.objects.len() as u64),
            ("max_relative_ticks", trace.max_ticks().max(1)),
            ("context_switches", s.context_switches),
            ("thread_preemptions", s.preemptions),
            ("time_slices", s.time_slices),
            ("thread_suspensions", s.suspensions),
            ("thread_resumptions", s.resumptions),
            ("interrupts", s.interrupts),
            ("nested_interrupts", s.nested_interrupts),
            ("deterministic_priority_inversions", trace.inversions.0.into()),
            ("nondeterministic_priority_inversions", trace.inversions.1.into()),
            ("media_opens", f.media_opens.into()),
            ("media_closes", f.media_closes.into()),
            ("media_aborts", f.media_aborts.into()),
            ("media_flushes", f.media_flushes.into()),
            ("directory_reads", f.directory_reads.into()),
            ("directory_writes", f.directory_writes.into()),
            ("directory_cache_misses", f.directory_cache_misses.into()),
            ("file_opens", f.file_opens.into()),
            ("file_closes", f.file_closes.into()),
            ("file_bytes_read", f.file_bytes_read.into()),
            ("file_bytes_written", f.file_bytes_written.into()),
            ("logical_sector_reads", f.logical_sector_reads.into()),
            ("logical_sector_writes", f.logical_sector_writes.into()),
            ("logical_sector_cache_misses", f.logical_sector_cache_misses.into()),
            ("arp_requests_sent", n.arp_requests_sent.into()),
            ("arp_responses_sent", n.arp_responses_sent.into()),
            ("arp_requests_received", n.arp_requests_received.into()),
            ("arp_responses_received", n.arp_responses_received.into()),
            ("packet_allocations", n.packet_allocations.into()),
            ("packet_releases", n.packet_releases.into()),
            ("empty_allocations", n.empty_allocations.into()),
            ("invalid_releases", n.invalid_releases.into()),
            ("ip_packets_sent", n.ip_packets_sent.into()),
            ("ip_bytes_sent", n.ip_bytes_sent.into()),
            ("ip_packets_received", n.ip_packets_received.into()),
            ("ip_bytes_received", n.ip_bytes_received.into()),
            ("pings_sent", n.pings_sent.into()),
            ("ping_responses", n.ping_responses.into()),
            ("tcp_client_connections", n.tcp_client_connections.into()),
            ("tcp_server_connections", n.tcp_server_connections.into()),
            ("tcp_packets_sent", n.tcp_packets_sent.into()),
            ("tcp_bytes_sent", n.tcp_bytes_sent.into()),
            ("tcp_packets_received", n.tcp_packets_received.into()),
            ("tcp_bytes_received", n.tcp_bytes_received.into()),
            ("udp_packets_sent", n.udp_packets_sent.into()),
            ("udp_bytes_sent", n.udp_bytes_sent.into()),
            ("udp_packets_received", n.udp_packets_received.into()),
            ("udp_bytes_received", n.udp_bytes_received.into()),
        ];
        let rows = table(answers);
        assert_eq!(rows.len(), known.len(), "{dump}");
        for row in rows {
            let value =
                known.iter().find(|(name, _)| *name == row["name"]).map(|(_, value)| *value);
            assert_eq!(value, Some(number(&row["value"])), "{dump} {row:?}");
        }
    });
}

#[test]
fn threads_agree() {
    each("threads.tsv", |dump, trace, answers| {
        let (summaries, stacks) = (trace.thread_summaries(), trace.stack_usage());
        let rows = table(answers);
        assert_eq!(rows.len(), summaries.len(), "{dump}");
        for ((row, summary), stack) in rows.iter().zip(summaries).zip(stacks) {
            let is = |column: &str, value: u64| {
                assert_eq!(value, number(&row[column]), "{dump} {row:?} {column}");
            };
            is("total_events", summary.events);
            is("stack_size", stack.size.into());
            is("minimum_available", stack.minimum_available.into());
            is("stack_event", stack.event as u64);
        }
    });
}

#[test]
fn popular_services_agree() {
    each("popular.tsv", |dump, trace, answers| {
        let found: Vec<_> = trace.popular_services();
        let rows = table(answers);
        let rows = rows.iter().filter(|row| row["scope"] == "system");
        let pair = |row: &HashMap<String, String>| {
            (number(&row["event_id"]) as u16, number(&row["count"]))
        };
        assert_eq!(found, rows.map(pair).collect::<Vec<_>>(), "{dump}");
    });
}

#[test]
fn dump_texts_are_the_same_to_the_byte() {
    let mut compared = 0;
    for (dump, answers) in dumps() {
        let Ok(expected) = std::fs::read(answers.join("dump.txt")) else { continue };
        let names = ExportNames {
            input: dump.file_name().unwrap().to_string_lossy().into_owned(),
            output: "dump.txt".to_owned(),
        };
        let mut input = Input::open(&dump, Settings::default()).unwrap();
        let mut found = Vec::new();
        let export = by_name("tracex-dump").unwrap();
        export.write(&mut input, &Options::default(), &names, &mut found).unwrap();
        let different = found.split(|b| *b == b'\n').zip(expected.split(|b| *b == b'\n'));
        let different = different.enumerate().find(|(_, (found, expected))| found != expected);
        let shown = different.map(|(line, (found, expected))| {
            (line + 1, String::from_utf8_lossy(found), String::from_utf8_lossy(expected))
        });
        assert_eq!(shown, None, "{}", dump.display());
        assert!(found == expected, "{}", dump.display());
        compared += 1;
    }
    assert!(compared > 0);
}

#[test]
fn a_trace_with_words_of_64_bits_is_refused() {
    let wide = support::fixture("threadx/wide.trx");
    let mut input = Input::open(&wide, Settings::default()).unwrap();
    let message = load(&mut input).unwrap_err().to_string();
    assert!(message.contains("TraceX cannot read a trace whose ULONG has 64 bits"), "{message}");
}

/// Dumps any bytes. Only panics count as failures.
fn survives(bytes: Vec<u8>) {
    let Ok(mut input) = Input::from_bytes("dump", bytes, Settings::default()) else { return };
    let export = by_name("tracex-dump").unwrap();
    let names = ExportNames::default();
    let _ = export.write(&mut input, &Options::default(), &names, &mut std::io::sink());
}

#[test]
fn changed_bytes_are_survived() {
    for dump in [Dump::small(USUAL), Dump::wrapped(USUAL)] {
        let bytes = dump.bytes();
        for at in 0..bytes.len() {
            for value in [0, 0x7F, 0xFF] {
                let mut changed = bytes.clone();
                changed[at] = value;
                survives(changed);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// There are few contexts, and only ids with special rules, so the rules interact.
    #[test]
    fn any_order_of_kernel_events_is_survived(
        words in proptest::collection::vec(
            (0..6_usize, 0..10_usize, any::<[u8; 4]>(), any::<u8>()), 0..200,
        ),
    ) {
        let contexts = [0xFFFF_FFFF, 0xF0F0_F0F0, 0x2100_0000, 0x2100_0100, 0x2200_0000, 1];
        let ids = [1, 2, 3, 4, 5, 6, 52, 57, 100, 109];
        let word = |byte: u8| [0, 1, 0x2100_0000, 0x2100_0100, 0x2200_0000][usize::from(byte) % 5];
        let events = words.iter().map(|(context, id, info, stamp)| Event {
            context: contexts[*context],
            priority_word: word(info[0]) | u64::from(*stamp),
            id_word: ids[*id],
            stamp: u64::from(*stamp),
            info: info.map(word),
        });
        let events: Vec<_> = events.collect();
        if !events.is_empty() {
            let registry = vec![thread(0x2100_0000, "alpha"), thread(0x2100_0100, "beta")];
            survives(Dump::new(USUAL, registry, events, 0).bytes());
        }
    }
}
