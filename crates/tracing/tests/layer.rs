//! Records events with `tracing`, and reads the events and their types back from the stream.
#![cfg(target_os = "linux")]

use std::io;
use std::sync::Arc;

use tracewell::export::events::{EventFormat, EventWriter};
use tracewell::input::{Input, Settings};
use tracewell_record::stream::{Stream, StreamOptions};
use tracewell_tracing::{FIRST_FAMILY, StreamLayer};
use tracewell_wire::native::image::State;
use tracing::{Level, debug, event, info, info_span, warn};
use tracing_subscriber::layer::SubscriberExt;

fn started() -> Arc<Stream> {
    let stream = Arc::new(Stream::anonymous(&StreamOptions::default()).unwrap());
    stream.start();
    stream
}

fn with_layer(stream: &Arc<Stream>, work: impl FnOnce()) {
    let layer = StreamLayer::new(Arc::clone(stream));
    tracing::subscriber::with_default(tracing_subscriber::registry().with(layer), work);
}

/// Name and arguments of each event.
fn events(stream: &Stream) -> Vec<String> {
    let bytes = stream.save(Vec::new()).unwrap();
    let mut writer = EventWriter::new(Vec::new(), EventFormat::Tsv, Default::default());
    let mut input = Input::from_bytes("log", bytes, Settings::default()).unwrap();
    input.read(&mut writer).unwrap();
    let text = String::from_utf8(writer.into_inner().unwrap()).unwrap();
    let last_two = |line: &str| line.split('\t').skip(8).collect::<Vec<_>>().join(" ");
    text.lines().skip(1).map(last_two).collect()
}

#[test]
fn events_have_typed_fields_and_texts_after_them() {
    let stream = started();
    with_layer(&stream, || {
        info!(name: "sent", target: "net", length = 1500_u64, share = 0.5, urgent = true);
        warn!(name: "lost", target: "net", path = "/tmp", cause = ?Some(3), count = 7_u64, "too late");
        info!(name: "many (of them)\n", target: "net", "é");
    });
    let expected = [
        "net:sent span=0 length=1500 share=0.5 urgent=true",
        "net:lost span=0 count=7 message=too late path=/tmp cause=Some(3)",
        "net:many _of them)_ span=0 message=é",
    ];
    assert_eq!(events(&stream), expected);
}

#[test]
fn spans_nest_and_events_name_theirs() {
    let stream = started();
    with_layer(&stream, || {
        let outer =
            info_span!(target: "app", "outer", number = 1_u64, later = tracing::field::Empty);
        let _entered = outer.enter();
        info_span!(target: "app", "inner").in_scope(|| info!(name: "inside", target: "app", ""));
        outer.record("later", 9_u64);
        info!(name: "apart", target: "app", parent: None, "");
    });
    let events = events(&stream);
    let id = |line: &str| {
        let (_, rest) = line.split_once("span=").unwrap();
        rest.split(' ').next().unwrap().to_owned()
    };
    let (outer, inner) = (id(&events[0]), id(&events[2]));
    assert_ne!(outer, inner);
    let expected = [
        format!("app:outer span={outer} parent=0 number=1"),
        format!("enter span={outer}"),
        format!("app:inner span={inner} parent={outer}"),
        format!("enter span={inner}"),
        format!("app:inside span={inner} message="),
        format!("exit span={inner}"),
        format!("close span={inner}"),
        format!("record span={outer} later=9"),
        "app:apart span=0 message=".to_owned(),
        format!("exit span={outer}"),
        format!("close span={outer}"),
    ];
    assert_eq!(events, expected);
}

#[test]
fn one_call_site_may_have_different_fields() {
    let stream = started();
    with_layer(&stream, || {
        for (a, b) in
            [(Some(1_u64), None), (None, Some(2_u64)), (Some(3), Some(4)), (Some(5), None)]
        {
            info!(name: "either", target: "app", a, b);
        }
    });
    let expected =
        ["a=1", "b=2", "a=3 b=4", "a=5"].map(|fields| format!("app:either span=0 {fields}"));
    assert_eq!(events(&stream), expected);
}

#[test]
fn fields_beyond_the_words_and_text_beyond_its_room_do_no_harm() {
    let stream = started();
    with_layer(&stream, || {
        info!(
            name: "wide", target: "app", f1 = 1, f2 = 2, f3 = 3, f4 = 4, f5 = 5, f6 = 6, f7 = 7, f8 = 8,
            f9 = 9, f10 = 10, f11 = 11, f12 = 12, f13 = 13, f14 = 14, f15 = 15, f16 = 16, f17 = 17,
        );
        info!(name: "long", target: "app", "{}", "é".repeat(1000));
    });
    let events = events(&stream);
    assert!(events[0].ends_with("f15=15 f16=16 f17=17"), "{}", events[0]);
    assert_eq!(events[1], format!("app:long span=0 message={}", "é".repeat(512)));
}

#[test]
fn levels_are_families_that_can_be_switched_off() {
    let stream = started();
    with_layer(&stream, || {
        stream.image().set_family_filter(1 << (FIRST_FAMILY + 4));
        debug!(name: "no", target: "app", value = 1);
        event!(name: "yes", target: "app", Level::INFO, {});
        stream.stop();
        event!(name: "stopped", target: "app", Level::INFO, {});
    });
    assert_eq!(events(&stream), ["app:yes span=0"]);
    let status = stream.image().status();
    assert_eq!(status.lost + status.lost_unplaced, 0);
}

#[test]
fn a_guard_stops_the_stream_at_the_end_but_not_during_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("service");
    let options = StreamOptions::default();
    let run = |work: fn()| {
        let layer = StreamLayer::create_or_rotate(&path, &options, 0).unwrap();
        let guard = layer.guard();
        // A global subscriber never drops its layer, so forget the layer here.
        std::mem::forget(layer);
        let worked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let _guard = guard;
            work();
        }));
        let state = Stream::open(&path).unwrap().image().state();
        // The forgotten layer still holds the stream.
        std::fs::remove_file(&path).unwrap();
        (worked.is_ok(), state)
    };
    assert_eq!(run(|| ()), (true, State::Suspended));
    assert_eq!(run(|| panic!("expected by the test")), (false, State::Running));
}

#[test]
fn without_a_stream_in_the_environment_there_is_no_layer() -> io::Result<()> {
    assert!(StreamLayer::from_environment()?.is_none());
    Ok(())
}
