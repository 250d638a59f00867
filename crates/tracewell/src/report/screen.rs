//! Folds the lines of a report to the width of a screen.

use super::columns::Columns;
use crate::text::{TextBuffer, display_width, fold};

/// The width of a screen in cells, and the layout of folded lines.
#[derive(Clone, Copy, Debug)]
pub(super) struct Screen {
    width: usize,
    /// Number of cells before the event of a line.
    before_event: usize,
    /// True if the event is on a separate line, because the columns before it leave no room.
    is_below: bool,
}

/// Minimum number of cells for events and their arguments after the other columns.
const MIN_ROOM: usize = 24;
/// Indentation of an event below the other columns.
const BELOW: usize = 8;
/// Further indentation of arguments on the lines after the event.
const CONTINUED: usize = 2;

impl Screen {
    pub(super) fn new(width: usize, columns: &Columns) -> Self {
        let before_event = columns.before_event();
        Self { width, before_event, is_below: before_event + MIN_ROOM > width }
    }

    /// Folds the line that begins at byte `start` of the buffer. Its event begins at byte `event`.
    #[cold]
    pub(super) fn fold(&self, out: &mut TextBuffer, start: usize, event: usize) {
        let line = out.as_bytes().get(start..).unwrap_or_default();
        let line = String::from_utf8_lossy(line).into_owned();
        if display_width(&line) <= self.width {
            return;
        }
        out.truncate(start);
        let Some((columns, event)) = line.split_at_checked(event - start).filter(|_| self.is_below)
        else {
            out.text(fold(&line, self.width, self.before_event + CONTINUED).as_bytes());
            return;
        };
        out.text(fold(columns.trim_end(), self.width, BELOW).as_bytes());
        let event = format!("{:BELOW$}{}", "", event.trim_start());
        out.byte(b'\n');
        out.text(fold(&event, self.width, BELOW + CONTINUED).as_bytes());
    }
}
