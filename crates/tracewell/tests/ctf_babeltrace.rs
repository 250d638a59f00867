//! Compares the text of CTF traces with the text that Babeltrace 2.0.4 prints, line by line.
//! Babeltrace's texts are in the fixtures, and in the shared data if it is present.

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use support::{fixture, shared};
use tracewell::format::ctf::babeltrace::{Message, print};
use tracewell::input::{Input, Settings};

/// Collects each folder at or below `folder` that contains a trace and Babeltrace's text.
fn answered(folder: &Path, found: &mut Vec<PathBuf>) {
    let is_answered = |name: &str| folder.join(name).is_file();
    if folder.join("trace").is_dir() && (is_answered("text.txt") || is_answered("text.txt.gz")) {
        found.push(folder.to_owned());
    }
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let folders = entries.iter().filter(|path| path.is_dir() && !path.ends_with("trace"));
    folders.for_each(|folder| answered(folder, found));
}

fn answer(folder: &Path, name: &str) -> Option<String> {
    let bytes = match fs::read(folder.join(name)) {
        Ok(bytes) => bytes,
        Err(_) => {
            let packed = fs::File::open(folder.join(format!("{name}.gz"))).ok()?;
            let mut bytes = Vec::new();
            flate2::read::GzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
            bytes
        }
    };
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// Wrong parts of Babeltrace's texts: the folder, the wrong part, and the correct text. For an
/// empty file name, Babeltrace shows the content of the previous event.
const WRONG_ANSWERS: [(&str, &str, &str); 3] = [
    (
        "bug446190",
        "filename = \"/usr/local/lib/v7l/neon/vfp/libc.so.6\", flags = 524288, mode = 1 ",
        "filename = \"\", flags = 524288, mode = 1 ",
    ),
    (
        "bug446190",
        "filename = \"/usr/local/lib/neon/liblttng-ctl.so.0\", flags = 524288, mode = 1 ",
        "filename = \"\", flags = 524288, mode = 1 ",
    ),
    (
        "bug446190",
        "filename = \"/lib/vfp\", statbuf = 0xBEA29AF0",
        "filename = \"\", statbuf = 0xBEA29AF0",
    ),
];

/// Returns the text and the messages of a trace, as Babeltrace prints them when `folder` is the
/// working directory.
fn printed(folder: &Path, trace: &Path) -> Result<(String, Vec<Message>), String> {
    let settings = Settings { format: Some("ctf".to_owned()), ..Settings::default() };
    let input = Input::open(trace, settings).map_err(|error| error.to_string())?;
    let (mut text, mut messages) = (Vec::new(), Vec::new());
    let result = print(input.files(), trace, &mut text, |message| messages.push(message));
    result.map_err(|error| format!("{error:?}"))?;
    let prefix = format!("{}/", folder.display());
    for message in &mut messages {
        message.text = message.text.replace(&prefix, "");
    }
    Ok((without_addresses(&String::from_utf8_lossy(&text)), messages))
}

/// Replaces the decimal digits after a `0x` by a single 0 if there are at least nine digits. In
/// Babeltrace's texts, addresses in messages were replaced in the same way, so that they do not
/// depend on the run.
fn without_addresses(text: &str) -> String {
    let mut parts = text.split("0x");
    let mut replaced = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.bytes().take_while(u8::is_ascii_digit).count();
        replaced.push_str("0x");
        replaced.push_str(if digits >= 9 { "0" } else { &part[..digits] });
        replaced.push_str(&part[digits..]);
    }
    replaced
}

/// Sorts lines of equal time, because their order is not defined. Removes the time differences,
/// because they depend on the order of these lines.
fn sorted(text: &str) -> Vec<String> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        let time = line.split(']').next().unwrap_or(line).to_owned();
        let time = if line.starts_with('[') { time } else { String::new() };
        let line = match line.split_once(" (+") {
            Some((before, after)) if line.starts_with('[') => {
                format!("{before} {}", after.split_once(") ").map_or(after, |(_, rest)| rest))
            }
            _ => line.to_owned(),
        };
        match groups.last_mut() {
            Some((known, lines)) if *known == time => lines.push(line),
            _ => groups.push((time, vec![line])),
        }
    }
    groups.iter_mut().for_each(|(_, lines)| lines.sort());
    groups.into_iter().flat_map(|(_, lines)| lines).collect()
}

/// Returns the first difference between two texts, or `None` if they are equal.
fn difference(ours: &str, theirs: &str) -> Option<String> {
    if ours == theirs {
        return None;
    }
    let (ours, theirs) = (sorted(ours), sorted(theirs));
    let lines = ours.len().max(theirs.len());
    let at = (0..lines).find(|line| ours.get(*line) != theirs.get(*line))?;
    Some(format!(
        "line {} of {} and {}\n  ours:   {:?}\n  theirs: {:?}",
        at + 1,
        ours.len(),
        theirs.len(),
        ours.get(at),
        theirs.get(at)
    ))
}

fn losses(lines: impl Iterator<Item = String>) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    lines.filter(|line| line.starts_with("WARNING: ")).for_each(|line| {
        *counts.entry(line).or_default() += 1;
    });
    counts
}

#[test]
fn the_text_of_fixtures_is_that_of_babeltrace() {
    let fixtures = fixture("ctf");
    for name in ["classes", "odd", "zephyr"] {
        let (ours, _) = printed(&fixtures, &fixtures.join(name)).unwrap();
        let theirs = answer(&fixtures, &format!("{name}.txt")).unwrap();
        // Babeltrace stops in the zeros after the last event of `zephyr`.
        let is_prefix = name == "zephyr" && ours.starts_with(&theirs);
        assert!(ours == theirs || is_prefix, "{name}: {:?}", difference(&ours, &theirs));
    }
    let lttng = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/lttng");
    let (ours, _) = printed(&fixtures, &lttng).unwrap();
    let theirs = without_addresses(&answer(&fixtures, "lttng.txt").unwrap());
    assert_eq!(difference(&ours, &theirs), None);
}

#[test]
fn the_text_of_shared_traces_is_that_of_babeltrace() {
    let Some(shared) = shared() else { return };
    let mut folders = Vec::new();
    answered(&shared.join("data/ctf"), &mut folders);
    let mut wrong = Vec::new();
    for folder in &folders {
        let mut theirs = answer(folder, "text.txt").unwrap();
        for (_, wrong, right) in WRONG_ANSWERS.iter().filter(|(name, ..)| folder.ends_with(name)) {
            assert!(theirs.contains(wrong), "{wrong}");
            theirs = theirs.replace(wrong, right);
        }
        let failed = answer(folder, "exit.txt").is_some_and(|status| status.trim() != "0");
        let name = folder.strip_prefix(&shared).unwrap().display();
        match printed(folder, &folder.join("trace")) {
            Err(error) if failed => println!("{name}: refused: {error}"),
            Err(error) => wrong.push(format!("{name}: {error}")),
            Ok((ours, messages)) => {
                // Babeltrace stops at the first damage.
                let is_prefix = failed && ours.starts_with(&theirs);
                if let Some(difference) = difference(&ours, &theirs).filter(|_| !is_prefix) {
                    wrong.push(format!("{name}: {difference}"));
                }
                let theirs = answer(folder, "stderr.txt");
                let is_answered = theirs.is_some() && !failed;
                let theirs = losses(theirs.unwrap_or_default().lines().map(str::to_owned));
                let ours = losses(messages.iter().map(|message| message.text.clone()));
                if ours != theirs && is_answered {
                    wrong.push(format!("{name}:\n  ours:   {ours:#?}\n  theirs: {theirs:#?}"));
                }
                let damage: Vec<_> = messages.iter().filter(|message| message.is_damage).collect();
                if !failed && !damage.is_empty() {
                    wrong.push(format!("{name}: {damage:?}"));
                }
            }
        }
    }
    assert!(folders.len() > 50, "{}", folders.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), folders.len(), wrong.join("\n"));
}

#[test]
fn both_languages_of_metadata_lead_to_the_same_text() {
    let Some(shared) = shared() else { return };
    let data = shared.join("data/ctf");
    let mut folders = Vec::new();
    answered(&data, &mut folders);
    let mut compared = 0;
    for folder in folders {
        let described = ["ctf2", "final"].map(|name| folder.join(name).join("metadata"));
        let Some(metadata) = described.into_iter().find(|path| path.is_file()) else { continue };
        // Put copies of the streams in a folder with the metadata in the other language.
        let copy = tempfile::tempdir().unwrap();
        let original = copied(&folder.join("trace"), copy.path());
        fs::write(original.join("metadata"), fs::read(&metadata).unwrap()).unwrap();
        let (ours, _) = printed(copy.path(), copy.path()).unwrap();
        let theirs = answer(&folder, "text.txt").unwrap();
        assert_eq!(difference(&ours, &theirs), None, "{}", metadata.display());
        compared += 1;
    }
    assert!(compared >= 8, "{compared}");
}

/// Copies the streams of the only trace at or below a folder. Returns the folder with the copies.
fn copied(from: &Path, to: &Path) -> PathBuf {
    let entries: Vec<_> = fs::read_dir(from).unwrap().map(|entry| entry.unwrap().path()).collect();
    if !from.join("metadata").is_file() {
        let [below] = entries.as_slice() else { panic!("{}: {entries:?}", from.display()) };
        return copied(below, to);
    }
    for file in entries.iter().filter(|path| path.is_file()) {
        fs::write(to.join(file.file_name().unwrap()), fs::read(file).unwrap()).unwrap();
    }
    to.to_owned()
}

/// Metadata of packets with 6 bytes before their events: the class of the stream, the size in bits,
/// the sequence number, the count of discarded events, and the times of the beginning and the end.
const PACKETS: &str = "/* CTF 1.8 */
    typealias integer { size = 8; } := u8;
    trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u8 stream_id; }; };
    clock { name = c; };
    typealias integer { size = 8; map = clock.c.value; } := stamp;
    struct packet { u8 packet_size; u8 packet_seq_num; u8 events_discarded;
        stamp timestamp_begin; stamp timestamp_end; };
    stream { id = 0; packet.context := struct packet;
        event.header := struct { stamp timestamp; }; };
    stream { id = 1; packet.context := struct packet;
        event.header := struct { stamp timestamp; }; };
    event { name = e; stream_id = 0; };
    event { name = f; stream_id = 1; };
";

/// Writes a trace with streams of [`PACKETS`]. The four numbers of a packet are its class, its
/// sequence number, its count of discarded events and its beginning. A packet lasts 10 ns and
/// contains an event in its middle.
fn write(folder: &Path, metadata: &str, streams: &[(&str, &[[u8; 4]])]) {
    fs::create_dir_all(folder).unwrap();
    fs::write(folder.join("metadata"), metadata).unwrap();
    for (name, packets) in streams {
        let packets = packets.iter().flat_map(|[class, number, discarded, begin]| {
            [*class, 56, *number, *discarded, *begin, begin + 10, begin + 5]
        });
        fs::write(folder.join(name), packets.collect::<Vec<_>>()).unwrap();
    }
}

/// Returns the text of a trace and the messages.
fn texts(folder: &Path) -> (String, Vec<String>) {
    let input = Input::open(folder, Settings::default()).unwrap();
    let (mut text, mut messages) = (Vec::new(), Vec::new());
    print(input.files(), folder, &mut text, |message| messages.push(message.text)).unwrap();
    (String::from_utf8(text).unwrap(), messages)
}

#[test]
fn gaps_have_the_messages_of_babeltrace() {
    let streams: [(&str, &[[u8; 4]]); 3] = [
        ("a", &[[0, 0, 0, 10], [0, 1, 1, 30], [0, 2, 3, 50], [0, 4, 3, 70], [0, 7, 2, 90]]),
        ("b", &[[0, 0, 2, 110]]),
        ("c", &[[1, 3, 5, 130]]),
    ];
    let expected = [
        ("a", "discarded 1 event", 20, 40, 0, 0),
        ("a", "discarded 2 events", 40, 60, 0, 0),
        ("a", "discarded 1 packet", 60, 70, 0, 0),
        ("a", "may have discarded events", 80, 100, 0, 0),
        ("a", "discarded 2 packets", 80, 90, 0, 0),
        ("b", "may have discarded events", 110, 120, 0, 1),
        ("c", "may have discarded events", 130, 140, 1, 0),
    ];
    let root = tempfile::tempdir().unwrap();
    for (place, more, name, uuid) in [
        ("one", "", "", "no UUID"),
        ("two", "env { hostname = \"board\"; };", "board/sub", "no UUID"),
        ("three", "env { hostname = 7; };", "7", "UUID: 00010203-0405-0607-0809-0a0b0c0d0e0f"),
    ] {
        let mut metadata = PACKETS.to_owned() + more;
        if uuid != "no UUID" {
            let uuid = "byte_order = le; uuid = \"00010203-0405-0607-0809-0a0b0c0d0e0f\";";
            metadata = metadata.replace("byte_order = le;", uuid);
        }
        let folder = root.path().join(place);
        let of_trace = if name.ends_with("sub") { folder.join("sub") } else { folder.clone() };
        write(&of_trace, &metadata, &streams);
        let (_, messages) = texts(&folder);
        let time = |ns: u64| format!("[1970-01-01 00:00:00.{ns:09}]");
        let expected = expected.map(|(file, what, from, to, class, stream)| {
            format!(
                "WARNING: Tracer {what} between {} and {} in trace \"{name}\" ({uuid}) within \
                 stream \"{}\" (stream class ID: {class}, stream ID: {stream}).",
                time(from),
                time(to),
                of_trace.join(file).display()
            )
        });
        assert_eq!(messages, expected, "{place}");
    }
    // The streams have no clock, so the times of gaps are not known.
    let folder = root.path().join("four");
    let metadata = PACKETS.replace("clock { name = c; };", "").replace("map = clock.c.value;", "");
    let metadata = metadata.replace("timestamp", "x");
    write(&folder, &metadata, &streams[..1]);
    let (_, messages) = texts(&folder);
    assert!(
        messages[0].contains("discarded 1 event (unknown time range) in trace"),
        "{messages:?}"
    );
}

#[test]
fn lines_have_times_and_names() {
    let folder = tempfile::tempdir().unwrap();
    let streams: [(&str, &[[u8; 4]]); 2] =
        [("a", &[[0, 0, 0, 10], [0, 1, 0, 30]]), ("b", &[[1, 0, 0, 20]])];
    for (offset, more, expected) in [
        (
            "-1",
            "",
            "[-0.999999985] (+?.?????????) e: [-0.999999975] (+0.000000010) f: \
             [-0.999999965] (+0.000000010) e: ",
        ),
        (
            "86399",
            "env { hostname = \"h\"; };",
            "[1970-01-01 23:59:59.000000015] (+?.?????????) h e: \
             [1970-01-01 23:59:59.000000025] (+0.000000010) h f: \
             [1970-01-01 23:59:59.000000035] (+0.000000010) h e: ",
        ),
        (
            "0",
            "env { hostname = \"h\"; procname = \"p\"; vpid = 5; };",
            "[1970-01-01 00:00:00.000000015] (+?.?????????) h:p:(5) e: \
             [1970-01-01 00:00:00.000000025] (+0.000000010) h:p:(5) f: \
             [1970-01-01 00:00:00.000000035] (+0.000000010) h:p:(5) e: ",
        ),
    ] {
        let clock = format!("clock {{ name = c; offset_s = {offset}; }};");
        let metadata = PACKETS.replace("clock { name = c; };", &clock) + more;
        write(folder.path(), &metadata, &streams);
        let (text, messages) = texts(folder.path());
        assert_eq!(text.replace('\n', ""), expected);
        assert_eq!(messages, [""; 0]);
    }
}
