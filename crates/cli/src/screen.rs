//! The screen: its options, its width and its colours. `pager` shows output page by page, and
//! `progress` shows the progress lines.

use std::io::{self, IsTerminal};
use std::sync::OnceLock;

use anstream::{AutoStream, ColorChoice};
use clap::{Args, ValueEnum};
use tracewell::report::Layout;

/// The screen options, which all verbs share.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Screen")]
pub(crate) struct ScreenArgs {
    /// Use colours always, never, or only on a terminal that supports them (auto)
    #[arg(long, value_enum, value_name = "WHEN", default_value_t = Color::Auto, global = true)]
    color: Color,

    /// Fold text to N columns, at least 20, for `view` 40 [COLUMNS, or the width of the terminal;
    /// files and pipes: no folding]
    #[arg(long, value_name = "N", global = true, hide_short_help = true, value_parser = clap::value_parser!(u16).range(MIN_WIDTH..))]
    width: Option<u16>,

    /// Do not use a pager (TRACEWELL_PAGER, PAGER, or less) for output to a terminal
    #[arg(long, global = true, hide_short_help = true)]
    no_pager: bool,

    /// Do not show the progress of long work
    #[arg(long, global = true, hide_short_help = true)]
    no_progress: bool,
}

/// Minimum width of a screen in columns. A timestamp does not fit on a narrower screen.
const MIN_WIDTH: i64 = 20;

/// When to use colours.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

/// The options of this command, once they are parsed.
static ARGS: OnceLock<ScreenArgs> = OnceLock::new();

/// Sets the options of this command.
pub(crate) fn set(args: &ScreenArgs) {
    match args.color {
        Color::Auto => ColorChoice::Auto,
        Color::Always => ColorChoice::Always,
        Color::Never => ColorChoice::Never,
    }
    .write_global();
    // A process runs one command, so its options are set only once.
    let _ = ARGS.set(args.clone());
}

fn args() -> &'static ScreenArgs {
    ARGS.get_or_init(ScreenArgs::default)
}

/// Returns true if no option forbids a pager.
pub(crate) fn allows_pager() -> bool {
    !args().no_pager
}

/// Returns true if no option forbids progress lines.
pub(crate) fn allows_progress() -> bool {
    !args().no_progress
}

/// Returns true if the user requests colours even without a terminal.
pub(crate) fn demands_color() -> bool {
    args().color == Color::Always
}

/// Returns true if text on standard output has colours.
///
/// `--color` overrides the environment variables. Of these, NO_COLOR has the highest priority,
/// followed by CLICOLOR_FORCE, CLICOLOR and TERM.
pub(crate) fn has_color() -> bool {
    AutoStream::choice(&io::stdout()) != ColorChoice::Never
}

/// Returns true if messages on standard error have colours. The rules of [`has_color`] apply.
pub(crate) fn has_color_in_messages() -> bool {
    AutoStream::choice(&io::stderr()) != ColorChoice::Never
}

/// Returns the layout of text on standard output.
pub(crate) fn layout() -> Layout {
    Layout { width: width(), color: has_color() }
}

/// Returns the width that `--width` sets.
pub(crate) fn chosen_width() -> Option<usize> {
    args().width.map(usize::from)
}

/// Returns the number of columns of text on standard output; `None` if lines are not folded.
pub(crate) fn width() -> Option<usize> {
    chosen_width().or_else(columns).or_else(|| of_terminal(&io::stdout()))
}

/// Returns the number of columns of messages on standard error; `None` if lines are not folded.
pub(crate) fn width_of_messages() -> Option<usize> {
    of_terminal(&io::stderr()).and_then(|width| chosen_width().or_else(columns).or(Some(width)))
}

/// Returns the width in the variable COLUMNS. Shells set this variable without exporting it, so it
/// is present only if the user has exported it.
fn columns() -> Option<usize> {
    let columns = std::env::var("COLUMNS").ok()?.parse().ok()?;
    (columns >= MIN_WIDTH as usize).then_some(columns)
}

/// Returns the width of the terminal; `None` if the stream is not a terminal or the width is
/// unknown.
#[cfg(unix)]
fn of_terminal(stream: &(impl IsTerminal + std::os::fd::AsFd)) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size_of(stream).filter(|_| stream.is_terminal())?;
    (i64::from(width.0) >= MIN_WIDTH).then_some(usize::from(width.0))
}

#[cfg(not(unix))]
fn of_terminal(stream: &impl IsTerminal) -> Option<usize> {
    let (width, _) = terminal_size::terminal_size().filter(|_| stream.is_terminal())?;
    (i64::from(width.0) >= MIN_WIDTH).then_some(usize::from(width.0))
}
