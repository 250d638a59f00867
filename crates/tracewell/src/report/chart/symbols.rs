//! The characters of a chart, and the legend that explains the characters in use.

/// The activity that a cell of the chart shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Activity {
    /// A context is running, or a core is serving tasks.
    Running,
    /// An interrupt is being served.
    Interrupted,
    /// A context is ready but is not running.
    Ready,
    /// The row's context waits. In the row of a lock: a context waits for the lock.
    Blocked,
    /// A context sleeps for a time.
    Sleeping,
    /// A job is done.
    Done,
    /// A context does not have the processor, and the trace does not record the reason.
    Off,
    /// A core has no ready task.
    Idle,
    /// The trace does not show the state.
    Unknown,
    /// A context was deleted.
    Deleted,
    /// Events are missing.
    Lost,
    /// A deadline passed.
    Missed,
}

/// Number of activities.
pub(super) const ACTIVITIES: usize = 12;

impl Activity {
    const ALL: [Self; ACTIVITIES] = [
        Self::Running,
        Self::Interrupted,
        Self::Ready,
        Self::Blocked,
        Self::Sleeping,
        Self::Done,
        Self::Off,
        Self::Idle,
        Self::Unknown,
        Self::Deleted,
        Self::Lost,
        Self::Missed,
    ];

    /// Returns the activity with this index.
    pub(super) const fn of(index: usize) -> Self {
        Self::ALL[index]
    }

    /// Returns the words of the legend.
    const fn meaning(self) -> &'static str {
        match self {
            Self::Running => "running (share of the column)",
            Self::Interrupted => "interrupt",
            Self::Ready => "ready",
            Self::Blocked => "waiting",
            Self::Sleeping => "sleeping",
            Self::Done => "job done",
            Self::Off => "not running, reason not recorded",
            Self::Idle => "idle",
            Self::Unknown => "unknown",
            Self::Deleted => "deleted",
            Self::Lost => "events missing",
            Self::Missed => "deadline missed",
        }
    }
}

/// The characters of a chart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Symbols {
    /// Characters for shares of a column, from the smallest share to the whole column.
    shares: &'static [char],
    ascii: bool,
}

impl Symbols {
    pub(super) const fn new(ascii: bool) -> Self {
        let shares: &[char] = if ascii {
            &['+', '#']
        } else {
            &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█']
        };
        Self { shares, ascii }
    }

    /// Returns the character for a cell that is filled to the fraction `part / whole`, which is not
    /// 0.
    pub(super) fn share(&self, part: u64, whole: u64) -> char {
        let steps = self.shares.len() as u128;
        let step = (u128::from(part) * steps).div_ceil(u128::from(whole.max(1)));
        self.shares[usize::try_from(step.clamp(1, steps) - 1).unwrap_or(0)]
    }

    /// Returns the character for a column in which a lock is free.
    pub(super) const fn free(&self) -> char {
        if self.ascii { '.' } else { '·' }
    }

    /// Returns the character for a column in which an activity takes most of the time.
    pub(super) const fn most(&self, activity: Activity) -> char {
        let (plain, drawn) = match activity {
            Activity::Running => ('#', '█'),
            Activity::Interrupted => ('|', '│'),
            Activity::Ready => ('=', '░'),
            Activity::Blocked => ('-', '─'),
            Activity::Sleeping => ('z', '·'),
            Activity::Done => ('_', '_'),
            Activity::Off => (',', '‥'),
            Activity::Idle => (' ', ' '),
            Activity::Unknown => ('?', '?'),
            Activity::Deleted => (' ', ' '),
            Activity::Lost => ('!', '╳'),
            Activity::Missed => ('X', '✗'),
        };
        if self.ascii { plain } else { drawn }
    }
}

/// Returns the letter of the context with this index, or `*` if the index is at least 52.
pub(super) fn letter(index: usize) -> char {
    let letters = ('a'..='z').chain('A'..='Z');
    letters.into_iter().nth(index).unwrap_or('*')
}

/// Returns the digit or letter of the state or span with this index, or `*` if the index is at
/// least 61.
pub(super) fn digit(index: usize) -> char {
    let digits = ('1'..='9').chain('a'..='z').chain('A'..='Z');
    digits.into_iter().nth(index).unwrap_or('*')
}

/// The symbols that a chart uses.
#[derive(Debug, Default)]
pub(super) struct Legend {
    used: [bool; ACTIVITIES],
    holders: bool,
    machines: bool,
    spans: bool,
    levels: bool,
    budgets: bool,
    /// The number of events in the column with the most events.
    events: Option<u64>,
}

impl Legend {
    /// Adds an activity to the legend, because a cell of the chart shows it.
    pub(super) fn uses(&mut self, activity: Activity) {
        self.used[activity as usize] = true;
    }

    /// Adds the holders of locks to the legend, because rows of the chart show them.
    pub(super) fn holders(&mut self) {
        self.holders = true;
    }

    /// Adds the states of machines to the legend.
    pub(super) fn machines(&mut self) {
        self.machines = true;
    }

    /// Adds spans to the legend.
    pub(super) fn spans(&mut self) {
        self.spans = true;
    }

    /// Adds the characters for levels to the legend.
    pub(super) fn levels(&mut self) {
        self.levels = true;
    }

    /// Adds the characters for budgets of servers to the legend.
    pub(super) fn budgets(&mut self) {
        self.budgets = true;
    }

    /// Adds the characters for numbers of events to the legend. `most` is the maximum number of
    /// events in a column.
    pub(super) fn events(&mut self, most: u64) {
        self.events = Some(most);
    }

    /// Returns a blank line and the legend in lines of at most `width` characters.
    pub(super) fn lines(&self, symbols: &Symbols, width: usize) -> Vec<String> {
        let shares = format!("{}-{}", symbols.shares[0], symbols.shares[symbols.shares.len() - 1]);
        let used = (0..ACTIVITIES).filter(|index| self.used[*index]).map(Activity::of);
        let mut entries: Vec<_> = used
            // A blank needs no explanation.
            .filter(|activity| symbols.most(*activity) != ' ')
            .map(|activity| match activity {
                Activity::Running => format!("{shares} {}", activity.meaning()),
                _ => format!("{} {}", symbols.most(activity), activity.meaning()),
            })
            .collect();
        if self.holders {
            entries.push("letter: the context that holds the lock".to_owned());
        }
        if self.machines {
            entries.push("digit or letter of a state: see below".to_owned());
        }
        if self.spans {
            entries.push("digit or letter of a span: see below".to_owned());
        }
        if self.levels {
            entries.push(format!("{} empty, {shares} highest level", symbols.free()));
        }
        if self.budgets {
            entries.push(format!("{} budget exhausted, {shares} budget left", symbols.free()));
        }
        if let Some(most) = self.events {
            entries.push(format!("{shares} events, at most {most} in a column"));
        }
        let mut lines = vec![String::new()];
        lines.extend(wrapped(entries, width));
        lines
    }
}

/// Joins the entries into lines. Each line contains as many entries as fit. An entry that is wider
/// than a line is truncated.
pub(super) fn wrapped(entries: Vec<String>, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for entry in entries {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 3 + entry.chars().count() <= width => {
                line.push_str("   ");
                line.push_str(&entry);
            }
            _ => lines.push(truncated(&entry, width)),
        }
    }
    lines
}

/// Shortens a text to at most `width` characters. A truncated text ends with `~`.
pub(super) fn truncated(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width - 1).chain(['~']).collect()
}
