//! Parses thresholds: `response("control").p99 < 2 ms`.

use super::{Parser, is_keyword};
use crate::check::figures::{
    Figure, IN_WINDOWS, LOAD_WINDOWS, Measure, Name, Quantity, Statistic, Unit,
};
use crate::check::thresholds::Threshold;
use crate::select::expression::lexer::TokenKind;
use crate::select::expression::syntax::Text;
use crate::select::expression::tokens::Result;
use crate::select::{Bound, Share, did_you_mean, nearest};
use crate::source::Span;
use crate::text::spoken_time;

/// Returns the message about a word that is not a measure.
fn unknown_figure(word: &str) -> String {
    let words = Measure::ALL.map(Measure::word);
    if let Some(named) = with_name(word) {
        return format!("no figure '{word}'; did you mean '{named}'?");
    }
    let hint = match nearest(word, words) {
        None => format!("; the figures are {}", words.join(", ")),
        meant => did_you_mean(meant),
    };
    format!("no figure '{}'{hint}", word.escape_debug())
}

/// If only the name in parentheses is missing, as in `response.max`, returns the figure with a
/// name.
fn with_name(word: &str) -> Option<String> {
    let (measure, statistic) = word.split_at(word.find('.')?);
    let known = Measure::ALL.into_iter().find(|known| known.word() == measure)?;
    let has_statistic = known.statistics().iter().any(|known| known.word() == statistic);
    (has_statistic && known.names().0 > 0).then(|| format!("{measure}(\"name\"){statistic}"))
}

impl Parser<'_> {
    /// Parses the threshold that begins with the next token, the word `word`. Returns `None` if the
    /// word is the name of an event. Fails if it begins a figure but is not a measure.
    pub(super) fn threshold(&mut self, word: &str) -> Result<Option<Threshold>> {
        let start = self.tokens.span();
        let Some(measure) = Measure::ALL.into_iter().find(|measure| measure.word() == word) else {
            return if self.begins_unknown_figure(word) {
                Err(self.tokens.error(start, unknown_figure(word)))
            } else {
                Ok(None)
            };
        };
        // An event can have the word of a measure as its name. The tokens after the word show which
        // of the two it is.
        let before = self.tokens.position();
        self.tokens.advance();
        if !self.is_figure() {
            self.tokens.go_back(before);
            return Ok(None);
        }
        let (names, mut time) = self.names(measure)?;
        // The period is an option of the analysis, so a task can have only one.
        if let (Measure::Jitter, [task], Some(period)) = (measure, &names[..], time) {
            let span = start.to(self.tokens.span_before());
            self.same_period(task, period, span)?;
        }
        let statistic = self.statistic(measure)?;
        // Only loads are measured in windows.
        if measure == Measure::Load && self.tokens.take_word("in") {
            time = Some(self.window(&names)?);
        }
        let figure = Figure { measure, names, statistic, time };
        let comparison = self.tokens.comparison()?;
        let limit = self.quantity(figure.unit())?;
        let span = start.to(self.tokens.span_before());
        Ok(Some(Threshold { figure, comparison, limit, span }))
    }

    /// Returns true if the next token is a word that is not the name of an event, and the tokens
    /// after it belong to a figure.
    fn begins_unknown_figure(&mut self, word: &str) -> bool {
        if is_keyword(word) {
            return false;
        }
        let before = self.tokens.position();
        self.tokens.advance();
        // A word after an event continues a step, even if it begins with a point.
        let is_word = matches!(self.tokens.peek(), TokenKind::Word(_));
        let is_figure = !is_word && self.is_figure();
        self.tokens.go_back(before);
        is_figure
    }

    /// Parses the length of a window. Fails if the load of `names` is never known in such windows.
    fn window(&mut self, names: &[Name]) -> Result<u64> {
        let start = self.tokens.span();
        let length = self.nanoseconds()?;
        let span = start.to(self.tokens.span_before());
        let [shorter @ .., longest] = LOAD_WINDOWS.map(spoken_time);
        let message = if !LOAD_WINDOWS.contains(&length) {
            let found = spoken_time(length);
            format!("expected a window of {} or {longest}, found {found}", shorter.join(", "))
        } else if !names.iter().any(|name| name.matches(IN_WINDOWS)) {
            format!("expected load({IN_WINDOWS}): only this load is known in windows")
        } else {
            return Ok(length);
        };
        Err(self.tokens.error(span, message))
    }

    /// Returns true if the tokens after the word of a measure belong to a figure. In parentheses,
    /// the conditions of an event always contain a comparison, and the names of a figure never do.
    fn is_figure(&mut self) -> bool {
        if !self.tokens.is_sign("(") {
            return match self.tokens.peek() {
                TokenKind::Sign("<" | "<=" | ">" | ">=" | "=" | "==" | "!=") => true,
                TokenKind::Word(word) => word.starts_with('.'),
                _ => false,
            };
        }
        let before = self.tokens.position();
        self.tokens.advance();
        let is_name = matches!(self.tokens.peek(), TokenKind::Word(_) | TokenKind::Quoted(_));
        if is_name {
            self.tokens.advance();
        }
        let is_figure = is_name && (self.tokens.is_sign(")") || self.tokens.is_sign(","));
        self.tokens.go_back(before);
        is_figure
    }

    /// Parses the names of a figure: `(NAME, NAME)`; for jitter, `(NAME, TIME)`.
    fn names(&mut self, measure: Measure) -> Result<(Vec<Name>, Option<u64>)> {
        let (least, most) = measure.names();
        let (mut names, mut period) = (Vec::new(), None);
        if most > 0 && self.tokens.take_sign("(") {
            while names.len() < most {
                if !names.is_empty() && !self.tokens.take_sign(",") {
                    break;
                }
                // The analysis must know these names before it reads events, so wildcards are not
                // possible.
                names.push(match measure {
                    Measure::Jitter | Measure::Between => self.exact_name()?,
                    _ => self.name()?,
                });
            }
            if measure == Measure::Jitter {
                if !self.tokens.take_sign(",") {
                    return Err(self.tokens.expected("',' and the period, such as 10 ms"));
                }
                let start = self.tokens.span();
                period = Some(self.nanoseconds()?);
                if period == Some(0) {
                    let span = start.to(self.tokens.span_before());
                    return Err(self.tokens.error(span, "expected a period longer than 0"));
                }
            }
            // If names are missing, the example below is more useful than an error about `)`.
            if names.len() >= least {
                self.tokens.expect_sign(")")?;
            }
        }
        if names.len() < least {
            let example = match measure {
                Measure::Between => "(\"first mark\", \"second mark\")",
                Measure::Jitter => "(\"task\", 10 ms)",
                _ => "(\"name\")",
            };
            return Err(self.tokens.expected(example));
        }
        Ok((names, period))
    }

    /// Parses a time that is not in ticks: `10 ms`.
    fn nanoseconds(&mut self) -> Result<u64> {
        let start = self.tokens.span();
        match self.time()? {
            Bound::Nanoseconds(ns) => Ok(ns),
            _ => {
                let span = start.to(self.tokens.span_before());
                let message = "expected a time such as 10 ms, not a number of ticks";
                Err(self.tokens.error(span, message))
            }
        }
    }

    fn name(&mut self) -> Result<Name> {
        let name = match self.tokens.peek().clone() {
            TokenKind::Word(word) => Text::Like(word),
            TokenKind::Quoted(text) => Text::Exactly(text),
            _ => return Err(self.tokens.expected("a name")),
        };
        self.tokens.advance();
        Ok(Name(name))
    }

    /// Parses a name without wildcards, for figures that are derived only for this name.
    fn exact_name(&mut self) -> Result<Name> {
        let span = self.tokens.span();
        let name = self.name()?;
        match &name.0 {
            Text::Like(pattern) if pattern.contains(['*', '?']) => {
                let message = format!(
                    "expected an exact name, found '{}'; if this is the name, put it in quotation \
                     marks",
                    pattern.escape_debug()
                );
                Err(self.tokens.error(span, message))
            }
            _ => Ok(name),
        }
    }

    /// Checks that all thresholds for the jitter of a task have the same period: the task's
    /// releases are compared with only one period.
    fn same_period(&mut self, task: &Name, period: u64, span: Span) -> Result<()> {
        let known = *self.periods.entry(task.as_str().to_owned()).or_insert(period);
        if known == period {
            return Ok(());
        }
        let message = format!(
            "expected {} as in the first threshold for the jitter of '{}', found {}",
            spoken_time(known),
            task.as_str().escape_debug(),
            spoken_time(period)
        );
        Err(self.tokens.error(span, message))
    }

    fn statistic(&mut self, measure: Measure) -> Result<Option<Statistic>> {
        let known = measure.statistics();
        let found = match self.tokens.peek() {
            TokenKind::Word(word) => known.iter().find(|statistic| statistic.word() == word),
            _ => None,
        };
        if found.is_some() {
            self.tokens.advance();
        } else if !known.is_empty() {
            let words: Vec<_> = known.iter().map(|statistic| statistic.word()).collect();
            return Err(self.tokens.expected(&format!("one of {}", words.join(", "))));
        }
        Ok(found.copied())
    }

    /// Parses a limit: `2 ms`, `500 ticks`, `30 %`, `8`.
    fn quantity(&mut self, unit: Unit) -> Result<Quantity> {
        match unit {
            Unit::Time => Ok(match self.time()? {
                Bound::Ticks(ticks) => Quantity::Ticks(ticks),
                Bound::Nanoseconds(ns) | Bound::WallClock(ns) => Quantity::Nanoseconds(ns),
            }),
            Unit::Share => self.share(),
            Unit::Count => {
                let count = match self.tokens.peek() {
                    TokenKind::Word(word) => word.parse().ok(),
                    _ => None,
                };
                let Some(count) = count else {
                    return Err(self.tokens.expected("a whole number such as 8"));
                };
                self.tokens.advance();
                Ok(Quantity::Count(count))
            }
        }
    }

    fn share(&mut self) -> Result<Quantity> {
        let start = self.tokens.span();
        self.tokens.advance();
        // `30 %` is two tokens, and `30%` is one.
        self.tokens.take_word("%");
        let span = start.to(self.tokens.span_before());
        let found = self.tokens.slice(span);
        match found.parse::<Share>() {
            Ok(share) => Ok(Quantity::Share(share.millionths)),
            Err(error) => Err(self.tokens.error(span, error.to_string())),
        }
    }
}
