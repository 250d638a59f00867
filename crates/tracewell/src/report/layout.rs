//! The layout of text for people: its width and its colours.

/// The layout of text. The default is for files and pipes: lines of any length, no colours, numbers
/// without groups of digits.
///
/// ```
/// use tracewell::report::Layout;
/// use tracewell::report::info::Census;
/// use tracewell::text::calendar::Zone;
///
/// # let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/threadx/tiny.trx");
/// let mut census = Census::default();
/// let trace = tracewell::open(path)?.read(&mut census)?;
/// let text = census.text(&trace, Layout { width: Some(60), color: false }, &Zone::utc());
/// assert!(text.lines().all(|line| line.len() <= 60));
/// # Ok::<(), tracewell::input::InputError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Layout {
    /// Width of the screen in cells. Lines are folded to this width, columns are narrow, empty
    /// columns are left out, and numbers have groups of digits. `None`: lines have any length.
    pub width: Option<usize>,
    /// True if text has colours, as ANSI escapes.
    pub color: bool,
}

impl Layout {
    /// Returns a count. On a screen, its digits are grouped.
    pub(super) fn count(&self, count: u64) -> String {
        if self.width.is_some() { crate::text::grouped(count) } else { count.to_string() }
    }

    /// Returns a line, folded to the width of the screen. Continuation lines begin with `indent`
    /// blanks.
    pub(super) fn fold<'a>(&self, line: &'a str, indent: usize) -> std::borrow::Cow<'a, str> {
        match self.width {
            Some(width) => crate::text::fold(line, width, indent),
            None => line.into(),
        }
    }
}
