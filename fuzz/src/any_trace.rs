//! Opens any bytes as a trace of any dialect, for targets that test analyses, reports and exports.

use tracewell::input::{Input, Settings};

/// Dialects with their options. With these options, even short inputs decode to many events.
const CHOICES: [(&str, &[&str]); 10] = [
    ("threadx", &[]),
    ("threadx", &["rate=100MHz"]),
    ("rkh", &["dialect=3.4", "checksum=off", "seq=off", "ts=1", "rate=1000", "sender=on"]),
    ("rkh", &["dialect=2.4.4", "checksum=off", "seq=off", "ts=1"]),
    ("shark", &["kind=records"]),
    ("aix", &[]),
    ("native", &[]),
    ("posix", &[]),
    ("arrivals", &[]),
    ("systemview", &["kernel=freertos"]),
];

/// Opens a trace. The first byte selects the dialect, and the others are the trace.
pub(crate) fn input(data: &[u8]) -> Option<Input> {
    let (first, bytes) = data.split_first()?;
    let (format, options) = CHOICES[usize::from(*first) % CHOICES.len()];
    opened(format, options.iter().map(|option| (*option).to_owned()), bytes)
}

/// Opens bytes as a trace of this dialect. Returns `None` if an option is invalid.
pub(crate) fn opened(
    format: &str,
    options: impl Iterator<Item = String>,
    bytes: &[u8],
) -> Option<Input> {
    let mut settings = Settings { format: Some(format.to_owned()), ..Settings::default() };
    for option in options {
        settings.options.add(&option).ok()?;
    }
    Input::from_bytes("fuzz", bytes.to_vec(), settings).ok()
}

/// Asserts that a string is safe for a terminal: it contains no control characters except line ends
/// and tabs, and no characters that change the direction of other text.
pub(crate) fn assert_harmless(text: &str) {
    let controls = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
    let turns = |c: char| matches!(c, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    if let Some(at) = text.find(|c| controls(c) || turns(c)) {
        let line = text[..at].lines().count();
        panic!("line {line}: {:?}", text[at..].chars().next());
    }
}
