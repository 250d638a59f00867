//! Colours of text on a terminal. All coloured output takes its style from this module.

use anstyle::{AnsiColor, Style};

/// The style of lost events and of failures.
pub const LOSS: Style = AnsiColor::Red.on_default();
/// The style of the word before an error, such as `error:`.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();
/// The style of the word before a warning.
pub const WARNING: Style = AnsiColor::Yellow.on_default().bold();
/// The style of success.
pub const SUCCESS: Style = AnsiColor::Green.on_default();
/// The style of headings of tables.
pub const HEADING: Style = Style::new().bold();

/// The colours of contexts: all are readable on black and on white, and none is the red of losses.
const OF_CONTEXTS: [AnsiColor; 8] = [
    AnsiColor::Green,
    AnsiColor::Yellow,
    AnsiColor::Blue,
    AnsiColor::Magenta,
    AnsiColor::Cyan,
    AnsiColor::BrightGreen,
    AnsiColor::BrightBlue,
    AnsiColor::BrightMagenta,
];

/// Returns the style of a context. The style depends only on the name, so a context has the same
/// colour in every trace and report.
pub fn of_context(name: &str) -> Style {
    // FNV-1a distributes short names evenly, and its result is the same on every machine.
    let hash = name
        .bytes()
        .fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    // The remainder is less than the length.
    let color = OF_CONTEXTS.get(hash as usize % OF_CONTEXTS.len());
    color.map_or(Style::new(), |color| color.on_default())
}

/// Returns a string in a style, or unchanged if `color` is false.
///
/// ```
/// use tracewell::text::style::{LOSS, styled};
///
/// assert_eq!(styled("lost", LOSS, true), "\x1b[31mlost\x1b[0m");
/// assert_eq!(styled("lost", LOSS, false), "lost");
/// ```
pub fn styled(text: &str, style: Style, color: bool) -> String {
    if color { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_context_keeps_its_colour_and_contexts_differ() {
        assert_eq!(of_context("control"), of_context("control"));
        let names = ["control", "sensor", "telemetry", "logger", "Interrupt", "Idle"];
        let mut colors: Vec<_> = names.map(|name| of_context(name).render().to_string()).into();
        colors.sort();
        colors.dedup();
        assert!(colors.len() >= 4, "{colors:?}");
    }
}
