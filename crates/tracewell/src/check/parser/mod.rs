//! Parses a rules file, and recovers after errors.
//!
//! |statement | module |
//! |---|---|
//! |`strict`, `complete`, `ignore`, `only`, `rule`, `...` | this one |
//! | steps | `steps` |
//! | limits of figures | `thresholds` |
//! | `never`, `count`, `eventually`, `whenever`, `each` | `invariants` |
//! | patterns of events in any statement | `pattern` |

mod invariants;
mod pattern;
mod steps;
mod thresholds;

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::syntax::{Item, ItemKind, Rule, Rules, Shape};
use crate::select::expression::lexer::TokenKind;
use crate::select::expression::tokens::{Result, Tokens};
use crate::source::{Finding, Source, Span};

/// Maximum nesting depth of blocks.
const MAX_DEPTH: usize = 64;

/// Parsed rules, with errors and warnings.
#[derive(Debug)]
pub struct Parsed {
    /// The rules; `None` if there is an error.
    pub rules: Option<Rules>,
    /// Errors and warnings, in the order in which they occur in the text.
    pub findings: Vec<Finding>,
}

impl Rules {
    /// Parses the text of a rules file. A file without requirements is an error.
    pub fn parse(source: &Source) -> Parsed {
        let mut parser = Parser {
            tokens: Tokens::new(source, "a rule"),
            rules: Self::default(),
            shapes: HashMap::new(),
            scope: Scope::default(),
            depth: 0,
            periods: HashMap::default(),
        };
        parser.file();
        let Parser { rules, tokens, .. } = parser;
        let findings = tokens.into_findings();
        let wrong = findings.iter().any(|finding| finding.is_error);
        Parsed { rules: (!wrong).then_some(rules), findings }
    }
}

/// The names that are valid in a rule or a statement.
#[derive(Debug, Default)]
struct Scope {
    variables: Vec<String>,
    marks: Vec<String>,
    strict: bool,
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    rules: Rules,
    shapes: HashMap<Shape, u32>,
    scope: Scope,
    depth: usize,
    /// For each task, the period in the first threshold for its jitter, in nanoseconds.
    periods: HashMap<String, u64, RandomState>,
}

impl Parser<'_> {
    fn file(&mut self) {
        let all = Span { start: 0, end: self.tokens.text_len() };
        let own = self.rule(None, all);
        self.rules.rules.insert(0, own);
        // Report an empty file as an error, because otherwise a check in a script would succeed
        // without rules. Report this only if the file has no other error, because such an error may
        // be the cause.
        let is_right = !self.tokens.has_findings();
        if is_right && self.rules.rules.iter().all(Rule::is_empty) {
            self.tokens.error(Span::default(), "expected at least one rule, found none");
        }
        // The map assigns a number to each shape. The rules need a list in the order of these
        // numbers.
        self.rules.shapes = vec![Shape::default(); self.shapes.len()];
        for (shape, index) in std::mem::take(&mut self.shapes) {
            if let Some(place) = self.rules.shapes.get_mut(index as usize) {
                *place = shape;
            }
        }
    }

    /// Parses the statements of a rule up to `}` or the end of the file.
    fn rule(&mut self, name: Option<String>, span: Span) -> Rule {
        let outer = std::mem::take(&mut self.scope);
        let empty = Item::new(ItemKind::Sequence(Vec::new()), span);
        let mut rule = Rule {
            name,
            steps: empty,
            invariants: Vec::new(),
            thresholds: Vec::new(),
            ignored: Vec::new(),
            only: Vec::new(),
            complete: None,
            ends: false,
            slots: 0,
            marks: 0,
        };
        let mut body = Body::default();
        while self.statement(&mut body, Some(&mut rule)) {}
        // `...` at the end allows any events after the last step.
        rule.ends = self.scope.strict && !body.dots;
        let steps = span_of(&body.items).unwrap_or(span);
        rule.steps = Item::new(ItemKind::Sequence(body.items), steps);
        let scope = std::mem::replace(&mut self.scope, outer);
        (rule.slots, rule.marks) = (scope.variables.len(), scope.marks.len());
        rule
    }

    /// Parses one statement of a block. Returns false after the last statement. `rule` is present
    /// if the block is the body of a rule.
    fn statement(&mut self, body: &mut Body, rule: Option<&mut Rule>) -> bool {
        self.tokens.skip_newlines();
        if *self.tokens.peek() == TokenKind::End
            || (self.tokens.is_sign("}") && (rule.is_none() || self.depth > 0))
        {
            return false;
        }
        let read = match rule {
            Some(rule) => self.statement_of_rule(body, rule),
            None => self.step(body),
        };
        let ended = read.and_then(|()| self.statement_end());
        // Continue with the next statement, so that one run reports all errors.
        if ended.is_err() {
            self.skip_statement();
        }
        true
    }

    fn statement_end(&mut self) -> Result<()> {
        match self.tokens.peek() {
            TokenKind::Newline | TokenKind::End => Ok(()),
            TokenKind::Sign("}") if self.depth > 0 => Ok(()),
            _ => Err(self.tokens.expected("the end of the line")),
        }
    }

    /// Skips the rest of the line, including all blocks that begin in it.
    fn skip_statement(&mut self) {
        let mut blocks = 0_usize;
        loop {
            match self.tokens.peek() {
                TokenKind::End => return,
                TokenKind::Newline if blocks == 0 => return,
                TokenKind::Sign("{") => blocks += 1,
                // Keep the brace: it ends both the statement and the rule.
                TokenKind::Sign("}") if blocks == 0 && self.depth > 0 => return,
                TokenKind::Sign("}") => blocks = blocks.saturating_sub(1),
                _ => {}
            }
            self.tokens.advance();
        }
    }

    fn statement_of_rule(&mut self, body: &mut Body, rule: &mut Rule) -> Result<()> {
        let span = self.tokens.span();
        // Only words can begin a statement. Everything else must be a step.
        let TokenKind::Word(word) = self.tokens.peek().clone() else { return self.step(body) };
        match word.as_str() {
            "strict" => {
                self.tokens.advance();
                if !body.items.is_empty() {
                    return Err(self
                        .tokens
                        .error(span, "'strict' must come before the first step"));
                }
                self.scope.strict = true;
                Ok(())
            }
            "complete" => {
                self.tokens.advance();
                rule.complete = Some(span);
                Ok(())
            }
            "ignore" | "only" => {
                self.tokens.advance();
                let pattern = self.plain_pattern()?;
                let list = if word == "only" { &mut rule.only } else { &mut rule.ignored };
                list.push(pattern);
                Ok(())
            }
            "rule" => self.named_rule(span),
            "never" | "count" | "eventually" | "whenever" | "each" => {
                self.tokens.advance();
                rule.invariants.push(self.invariant(&word, span)?);
                Ok(())
            }
            _ => match self.threshold(&word)? {
                Some(threshold) => {
                    rule.thresholds.push(threshold);
                    Ok(())
                }
                None => self.step(body),
            },
        }
    }

    fn named_rule(&mut self, span: Span) -> Result<()> {
        self.tokens.advance();
        if self.depth > 0 {
            return Err(self.tokens.error(span, "a rule cannot contain another rule"));
        }
        let (TokenKind::Quoted(name) | TokenKind::Word(name)) = self.tokens.peek().clone() else {
            return Err(self.tokens.expected("the name of the rule"));
        };
        self.tokens.advance();
        self.tokens.expect_sign("{")?;
        // `rule` handles the errors in its statements, so the depth is always restored.
        self.depth += 1;
        let rule = self.rule(Some(name), span);
        self.depth -= 1;
        self.rules.rules.push(rule);
        self.tokens.expect_sign("}")
    }

    /// Parses a pattern without variables, because `ignore` and `only` apply to the whole trace.
    fn plain_pattern(&mut self) -> Result<super::syntax::Pattern> {
        let known = self.scope.variables.len();
        let pattern = self.pattern()?;
        if self.scope.variables.len() > known {
            // Remove the variable, because otherwise a later pattern could refer to a value that is
            // never set.
            self.scope.variables.truncate(known);
            return Err(self.tokens.error(pattern.span, "variables are not allowed here"));
        }
        Ok(pattern)
    }
}

/// The parsed steps of a block.
#[derive(Debug, Default)]
struct Body {
    items: Vec<Item>,
    /// True if `...` follows the last step.
    dots: bool,
}

fn span_of(items: &[Item]) -> Option<Span> {
    Some(items.first()?.span.to(items.last()?.span))
}

/// Words that begin or continue a statement or a step.
const KEYWORDS: [&str; 23] = [
    "after",
    "any",
    "as",
    "complete",
    "count",
    "each",
    "either",
    "eventually",
    "from",
    "ignore",
    "never",
    "next",
    "of",
    "only",
    "optional",
    "or",
    "repeat",
    "rule",
    "strict",
    "then",
    "until",
    "whenever",
    "within",
];

/// Returns true if a word must be quoted to be used as a name.
pub(in crate::check) fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::figures::{Measure, Statistic};
    use crate::select::expression::syntax::Property;
    use crate::source::editor_words::assert_words;

    #[test]
    fn the_brace_after_a_wrong_statement_ends_the_rule() {
        for text in ["rule one { a b }\nrule two { c }\n", "rule one { a { b } }\nrule two { c }\n"]
        {
            let findings = Rules::parse(&Source::new("rules", text)).findings;
            let errors: Vec<_> = findings.iter().filter(|finding| finding.is_error).collect();
            assert_eq!(errors.len(), 1, "{text}: {errors:?}");
        }
    }

    #[test]
    fn blocks_can_be_nested_64_levels_deep() {
        let errors = |blocks: usize| {
            let text = format!("{}A{}", "{ ".repeat(blocks), " }".repeat(blocks));
            let findings = Rules::parse(&Source::new("rules", text)).findings;
            findings.into_iter().map(|finding| finding.message).collect::<Vec<_>>()
        };
        // The event in the blocks is the last level.
        assert_eq!(errors(MAX_DEPTH - 1), [""; 0]);
        assert_eq!(errors(MAX_DEPTH), ["blocks are nested more than 64 levels deep"]);
    }

    #[test]
    fn the_editor_grammar_knows_all_words() {
        let keywords = KEYWORDS.map(|word| ("keyword", word.to_owned()));
        let properties = Property::ALL.map(|(name, _)| ("property", format!("@{name}")));
        let units = pattern::UNITS.map(|unit| ("unit", unit.to_owned()));
        let measures = Measure::ALL.map(|measure| ("measure", measure.word().to_owned()));
        let levels = [Statistic::Most, Statistic::Least];
        let statistics = Statistic::OF_TIMES.into_iter().chain(levels);
        let statistics: Vec<_> =
            statistics.map(|statistic| ("statistic", statistic.word().to_owned())).collect();
        let words = [&keywords[..], &properties, &units, &measures, &statistics];
        assert_words("rules.tsv", &words.concat());
    }
}
