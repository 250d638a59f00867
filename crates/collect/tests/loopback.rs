//! Tests collecting datagrams over the loopback interface, and the collector's report about lost,
//! late and duplicate datagrams.

use std::io::{self, Write};
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Loss, LossCause, Sink};
use tracewell_collect::{
    Account, Collected, Datagrams, Options, Raw, Reader, Report, Source, Stream, Until, collect,
};
use tracewell_record::shark::{Areas, Packets, Trace, UdpSender};
use tracewell_wire::shark::ids::flag;
use tracewell_wire::shark::{DatagramHeader, Record};

/// Returns the datagrams of a chunk with this number of records. The first parameter of a record is
/// its number.
fn datagrams(records: u16) -> Vec<Vec<u8>> {
    let mut datagrams = Vec::new();
    let mut trace = chunk(records);
    let dump = trace.begin_send(0).unwrap();
    let sent = Packets::default().send(&dump, |datagram| {
        datagrams.push(datagram.to_vec());
        Ok::<(), ()>(())
    });
    sent.unwrap();
    trace.end_send(dump, None).unwrap();
    datagrams
}

fn chunk(records: u16) -> Trace<'static, impl FnMut() -> u64, 1> {
    let mut ticks = 0;
    let mut trace = Trace::new(move || {
        ticks += 10;
        ticks
    });
    let areas = Areas { normal: 16 * u32::from(records) + 32, ..Areas::default() };
    let memory = vec![0; 16 * usize::from(records) + 80].leak();
    trace.chunk_create(memory, areas, flag::FREE | flag::STOP).unwrap();
    trace.chunk_select(0).unwrap();
    trace.enable().unwrap();
    (0..records).for_each(|number| _ = trace.log(0x09, number, 0));
    trace
}

const SOON: Duration = Duration::from_millis(150);

/// Collects from an open socket. Returns the report and the capture.
fn collected(reader: Reader, until: Until) -> (Collected, Vec<u8>) {
    let mut capture = Vec::new();
    let raw = Raw { bytes: Box::new(&mut capture), arrivals: None };
    let streams = vec![Stream { reader, raw: Some(raw), view: None }];
    let options = Options { until, ..Options::default() };
    let collected = collect(streams, options, &AtomicBool::new(false), &|_, _| {}).remove(0);
    (collected, capture)
}

fn listening(datagrams: Datagrams) -> Reader {
    Source::Udp("127.0.0.1:0".to_owned(), datagrams).open().unwrap()
}

/// Sends datagrams in this order from one socket and collects them at another.
fn over_loopback(datagrams: &[&[u8]]) -> (Report, Vec<u8>) {
    let reader = listening(Datagrams::Shark);
    let target = reader.local_addr().unwrap();
    let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
    // The datagrams fit into the system's buffer.
    datagrams.iter().for_each(|datagram| _ = sender.send_to(datagram, target).unwrap());
    let (collected, capture) = collected(reader, Until { idle: Some(SOON), ..Until::default() });
    assert_eq!(collected.report.received, capture.len() as u64);
    (collected.report.packets.unwrap(), capture)
}

/// A decoded capture.
#[derive(Default)]
struct Decoded {
    /// The first parameter of each record.
    numbers: Vec<u16>,
    losses: Vec<Loss>,
}

impl Sink for Decoded {
    fn events(&mut self, _: &tracewell::model::Trace, batch: &Batch<'_>) -> Flow {
        self.numbers.extend(batch.events().map(|e| Record::read(e.record).unwrap().par1));
        Flow::Continue(())
    }

    fn loss(&mut self, _: &tracewell::model::Trace, loss: &Loss) -> Flow {
        self.losses.push(*loss);
        Flow::Continue(())
    }
}

fn read(capture: Vec<u8>) -> Decoded {
    let mut decoded = Decoded::default();
    let mut input = Input::from_bytes("capture", capture, Settings::default()).unwrap();
    input.read(&mut decoded).unwrap();
    decoded
}

#[test]
fn lost_late_and_duplicate_packets_are_reported_by_number() {
    let sent = datagrams(600);
    assert_eq!(sent.len(), 10);
    let arriving = [1, 2, 2, 5, 3, 8, 9, 3, 10].map(|number| sent[number - 1].as_slice());
    let (report, capture) = over_loopback(&arriving);
    assert_eq!((report.packets, report.records, report.numbers), (7, 420, Some((1, 10))));
    assert_eq!((report.missing.as_slice(), report.missing_packets), (&[(4, 4), (6, 7)][..], 3));
    assert_eq!((report.reordered.count, report.reordered.first.as_slice()), (1, &[3][..]));
    assert_eq!((report.duplicates.count, report.duplicates.first.as_slice()), (2, &[2, 3][..]));
    assert!(report.is_lossy());
    let text = report.to_string();
    assert!(
        text.contains(
            "\n3 packets are missing: 4, 6 to 7\n1 packet arrived late: 3\n2 packets arrived again: 2, 3"
        ),
        "{text}"
    );

    let decoded = read(capture);
    let there = |number: &u16| ![3, 5, 6].contains(&(number / 60));
    assert_eq!(decoded.numbers, (0..600).filter(there).collect::<Vec<_>>());
    let gaps: Vec<_> =
        decoded.losses.iter().map(|loss| (loss.before, loss.events, loss.cause)).collect();
    let missing = LossCause::Missing;
    assert_eq!(gaps, [(180, Some(60), missing), (240, Some(120), missing)]);
}

#[test]
fn datagrams_of_other_senders_are_left_out_and_damaged_ones_are_saved() {
    let sent = datagrams(70);
    let cut = &sent[1][..40 + 3];
    let (report, capture) = over_loopback(&[b"hello", &sent[0], b"", cut, b"TRACER?", &sent[1]]);
    assert_eq!((report.packets, report.empty, report.damaged, report.foreign), (2, 1, 1, 2));
    assert_eq!((report.missing_packets, report.is_lossy()), (0, true));
    assert_eq!(capture.len(), 4 * 4 + sent[0].len() + sent[1].len() + cut.len());
    assert_eq!(read(capture).numbers, (0..70).collect::<Vec<_>>());

    let mut account = Account::default();
    let from = |port| SocketAddr::from(([127, 0, 0, 1], port));
    assert!(!account.is_foreign(from(1), &sent[0]) && account.take(from(1), &sent[0]));
    assert!(account.is_foreign(from(2), &sent[1]) && !account.is_foreign(from(1), &sent[1]));
    assert_eq!((account.report().sender, account.report().packets), (Some(from(1)), 1));
}

#[test]
fn a_sender_and_a_collector_agree() {
    let reader = listening(Datagrams::Any);
    let target = reader.local_addr().unwrap();
    let sending = thread::spawn(move || {
        let sender = UdpSender::connect("127.0.0.1:0", target).unwrap();
        let mut sender = sender.with_pause(Duration::from_millis(1));
        for records in [130, 0, 5] {
            chunk(records).send_chunk(0, flag::FREE, &mut sender).unwrap();
        }
        sender.sent()
    });
    let until =
        Until { packets: Some(4), elapsed: Some(Duration::from_secs(900)), ..Until::default() };
    let (collected, capture) = collected(reader, until);
    let report = collected.report.packets.unwrap();
    assert_eq!((report.packets, report.records, report.empty), (4, 135, 1));
    assert_eq!((sending.join().unwrap(), report.is_lossy()), (4, false));
    assert_eq!(read(capture).numbers.len(), 135);
}

#[test]
fn collecting_ends_after_its_time_and_on_request() {
    let start = Instant::now();
    // No data has arrived, so the idle time does not count yet.
    let until = Until { elapsed: Some(SOON), idle: Some(Duration::ZERO), ..Until::default() };
    let (nothing, capture) = collected(listening(Datagrams::Any), until);
    assert!(start.elapsed() >= SOON && capture.is_empty());
    assert_eq!(nothing.report.packets, Some(Report::default()));
    let streams = vec![Stream { reader: listening(Datagrams::Any), raw: None, view: None }];
    let outcomes = collect(streams, Options::default(), &AtomicBool::new(true), &|_, _| {});
    assert_eq!((outcomes[0].report.received, outcomes[0].report.written), (0, None));
}

/// A file that accepts a limited number of bytes.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken > 0 { Ok(taken) } else { Err(io::ErrorKind::StorageFull.into()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_full_disk_is_an_error_and_all_bytes_are_counted() {
    let sent = datagrams(60);
    for room in [0, 4, 987] {
        let reader = listening(Datagrams::Any);
        let sender = UdpSocket::bind("127.0.0.1:0").unwrap();
        sender.send_to(&sent[0], reader.local_addr().unwrap()).unwrap();
        let raw = Raw { bytes: Box::new(Full(room)), arrivals: None };
        let streams = vec![Stream { reader, raw: Some(raw), view: None }];
        let collected = collect(streams, Options::default(), &AtomicBool::new(false), &|_, _| {});
        let Collected { report, unwritable, .. } = &collected[0];
        assert_eq!(unwritable.as_ref().unwrap().kind(), io::ErrorKind::StorageFull);
        assert_eq!((report.received, report.written), (988, Some(room as u64)));
        assert_eq!(report.dropped, 988 - room as u64);
    }
}

#[test]
fn a_restarted_sender_is_reported_and_loses_nothing() {
    let first = datagrams(300);
    let second: Vec<_> = {
        let mut datagrams = Vec::new();
        let mut trace = chunk(500);
        // These packets have the same numbers as before but different records: a restarted sender
        // does not repeat earlier records.
        let dump = trace.begin_send(0).unwrap();
        let mut packets = Packets::default();
        packets
            .send(&dump, |datagram| {
                datagrams.push(changed(datagram));
                Ok::<(), ()>(())
            })
            .unwrap();
        trace.end_send(dump, None).unwrap();
        datagrams
    };
    let arriving =
        [&first[..2], &first[3..5], &first[4..5], &second[1..2], &second[..1], &second[4..6]];
    let arriving: Vec<_> = arriving.concat();
    let arriving: Vec<_> = arriving.iter().map(Vec::as_slice).collect();
    let (report, capture) = over_loopback(&arriving);
    assert_eq!((report.packets, report.restarts, report.numbers), (8, 1, Some((1, 6))));
    assert_eq!((report.missing.as_slice(), report.missing_packets), (&[(3, 3), (3, 4)][..], 3));
    assert_eq!(
        (report.duplicates.first.as_slice(), report.reordered.first.as_slice()),
        (&[5][..], &[1][..])
    );
    assert!(report.to_string().contains("\nthe sender restarted once"), "{report}");
    let decoded = read(capture);
    assert_eq!(decoded.numbers.len(), 8 * 60);
    assert_eq!(decoded.losses.iter().map(|loss| loss.events.unwrap()).sum::<u64>(), 3 * 60);
}

/// Returns the datagram with all timestamps increased by 1,000,000 ticks.
fn changed(datagram: &[u8]) -> Vec<u8> {
    let mut changed = datagram.to_vec();
    for slot in changed[DatagramHeader::SIZE..].chunks_mut(Record::SIZE) {
        let record = Record::read(slot).unwrap();
        Record { tsc: record.tsc + 1_000_000, ..record }.write(slot).unwrap();
    }
    changed
}

#[test]
fn a_failed_send_continues_where_it_failed() {
    let mut trace = chunk(250);
    let mut packets = Packets::default();
    let mut account = Account::default();
    let from = SocketAddr::from(([127, 0, 0, 1], 9));
    let mut send = |account: &mut Account, until: u32| {
        let dump = trace.begin_send(0).unwrap();
        let sent = packets.send(&dump, |datagram| {
            let number = DatagramHeader::read(datagram).unwrap().0.number;
            if number > until {
                return Err(number);
            }
            account.take(from, datagram);
            Ok(())
        });
        trace.end_send(dump, None).unwrap();
        sent
    };
    assert_eq!(send(&mut account, 0), Err(1));
    assert_eq!(send(&mut account, 2), Err(3));
    assert_eq!(send(&mut account, 2), Err(3));
    assert_eq!(send(&mut account, 4), Err(5));
    assert_eq!(send(&mut account, 9), Ok(()));
    let report = account.report();
    assert_eq!((report.records, report.numbers, report.missing_packets), (250, Some((1, 5)), 0));
    assert_eq!((report.restarts, report.duplicates.count), (0, 0));
    // If the whole chunk is sent again, its datagrams are new packets.
    assert_eq!(send(&mut account, 99), Ok(()));
    assert_eq!(account.report().numbers, Some((1, 10)));
}

proptest! {
    #[test]
    fn the_account_is_that_of_a_list(arrivals in prop::collection::vec(1..40_u32, 1..80)) {
        let mut account = Account::default();
        let from = SocketAddr::from(([127, 0, 0, 1], 9));
        let mut seen = Vec::new();
        let (mut late, mut again) = (Vec::new(), Vec::new());
        for number in arrivals {
            let mut datagram = [0; 24];
            DatagramHeader::new(number, 0).write(&mut datagram).unwrap();
            prop_assert_eq!(account.take(from, &datagram), !seen.contains(&number));
            match () {
                () if seen.contains(&number) => again.push(number),
                () if seen.iter().any(|other| *other > number) => late.push(number),
                () => {}
            }
            seen.push(number);
        }
        let report = account.report();
        let (first, last) = report.numbers.unwrap();
        prop_assert_eq!((Some(&first), Some(&last)), (seen.iter().min(), seen.iter().max()));
        let missing: Vec<_> = (first..=last).filter(|number| !seen.contains(number)).collect();
        let reported: Vec<_> = report.missing.iter().flat_map(|&(a, b)| a..=b).collect();
        prop_assert_eq!(reported, missing.clone());
        prop_assert_eq!(report.missing_packets, missing.len() as u64);
        prop_assert_eq!((report.reordered.first, report.duplicates.first), (late, again));
    }
}
