//! Draws the progress lines on the terminal, replaces them, and removes them before other messages.
//! `live` and the parent module choose the text.

use std::io::{self, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tracewell::text::shortened;

use crate::screen;

/// The progress lines on the terminal.
struct Shown {
    /// Number of lines.
    lines: usize,
    /// True if no more progress lines may appear.
    ended: bool,
}

static SHOWN: Mutex<Shown> = Mutex::new(Shown { lines: 0, ended: false });

/// A lock on the terminal. No progress lines appear until the lock is dropped.
#[must_use]
pub(crate) struct Cleared {
    _shown: MutexGuard<'static, Shown>,
}

fn lock() -> MutexGuard<'static, Shown> {
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the progress lines from the terminal, so that something else can be printed.
pub(crate) fn clear() -> Cleared {
    let mut shown = lock();
    let lines = std::mem::take(&mut shown.lines);
    if lines > 0 {
        // An error here must not stop the work.
        let _ = io::stderr().write_all(format!("{}\x1b[J", start_of(lines)).as_bytes());
    }
    Cleared { _shown: shown }
}

/// Removes the progress lines and shows no more of them, because output follows on the terminal.
pub(crate) fn end() {
    drop(clear());
    lock().ended = true;
}

/// Shows progress lines in place of the previous lines.
pub(super) fn show(lines: &[String]) {
    let mut shown = lock();
    if !shown.ended {
        let text = drawing(lines, screen::width_of_messages(), shown.lines);
        shown.lines = lines.len();
        let _ = io::stderr().write_all(text.as_bytes());
    }
}

/// Returns the control codes that move the cursor from the end of the last line up to the start of
/// the first. `lines` is the number of lines.
fn start_of(lines: usize) -> String {
    match lines {
        0 | 1 => "\r".to_owned(),
        _ => format!("\r\x1b[{}A", lines - 1),
    }
}

/// Returns the characters that make a terminal replace its last lines with `lines`. `before` is the
/// number of lines to replace. The terminal has `width` columns. No line reaches the last column,
/// where terminals wrap.
fn drawing(lines: &[String], width: Option<usize>, before: usize) -> String {
    let width = width.unwrap_or(usize::MAX).saturating_sub(1);
    let lines: Vec<_> =
        lines.iter().map(|line| format!("{}\x1b[K", shortened(line, width))).collect();
    start_of(before) + &lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_drawn_over_the_earlier_ones_and_never_wrap() {
        let one = ["1234567890".to_owned()];
        assert_eq!(drawing(&one, Some(11), 0), "\r1234567890\x1b[K");
        assert_eq!(drawing(&one, Some(10), 1), "\r12345678…\x1b[K");
        let three = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(drawing(&three, None, 3), "\r\x1b[2Aa\x1b[K\nb\x1b[K\nc\x1b[K");
    }
}
