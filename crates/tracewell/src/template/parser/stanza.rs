//! Parses the heading of a stanza: key, version, column, label.

use super::lexer::{Token, TokenKind};
use super::{Parsed, Parser};
use crate::template::syntax::{Key, Level, Stanza, Text, Version};

impl Parser<'_> {
    /// Parses all tokens as a stanza.
    pub(super) fn stanza(&mut self) -> Stanza {
        let key_span = self.peek().span;
        let mut stanza = Stanza {
            comments: Vec::new(),
            key: Key::Id(0),
            key_text: self.slice(self.peek()).to_owned(),
            key_span,
            version: Version::default(),
            level: None,
            label: None,
            body: Vec::new(),
            span: key_span,
            valid: false,
        };
        // An error in the heading makes the stanza unusable, but the body is checked anyway.
        if self.head(&mut stanza).is_err() {
            self.skip_to_description();
        }
        stanza.body = self.description(None);
        stanza.span = key_span.to(self.before());
        stanza
    }

    fn head(&mut self, stanza: &mut Stanza) -> Parsed<()> {
        stanza.key = self.key()?;
        stanza.version = self.version()?;
        if self.is_level() {
            stanza.level = Some(self.level()?);
        }
        stanza.label = self.label()?;
        Ok(())
    }

    fn key(&mut self) -> Parsed<Key> {
        let token = self.peek();
        let word = match &token.kind {
            TokenKind::Text(_) => {
                self.next();
                return Ok(Key::Name(self.text(token).unwrap_or_default()));
            }
            TokenKind::Word => self.slice(token),
            _ => return self.expected("a hook id of 3 or 4 hexadecimal digits"),
        };
        if let Some(id) = Key::from_digits(word) {
            self.next();
            return Ok(Key::Id(id));
        }
        // A name never begins with a digit, so this is a misspelt id.
        if word.starts_with(|c: char| c.is_ascii_digit()) {
            return self
                .expected("a hook id of 3 or 4 hexadecimal digits, or the name of an event");
        }
        self.next();
        self.check_whole(token)?;
        Ok(Key::Name(word.to_owned()))
    }

    fn version(&mut self) -> Parsed<Version> {
        let what = "VERSION.RELEASE such as 1.0 after the hook id";
        let token = self.peek();
        if token.kind != TokenKind::Word {
            return self.expected(what);
        }
        let number = |text: &str| {
            let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
            digits.then(|| text.parse().ok())?
        };
        let parts = self.slice(token).split_once('.');
        let version = parts.and_then(|(version, release)| {
            Some(Version { version: number(version)?, release: number(release)? })
        });
        match version {
            Some(version) => {
                self.next();
                Ok(version)
            }
            None => self.expected(what),
        }
    }

    /// Returns true if `L=` is next.
    pub(super) fn is_level(&self) -> bool {
        let token = self.peek();
        token.kind == TokenKind::Word
            && self.slice(token) == "L"
            && self.ahead(1).kind == TokenKind::Sign('=')
    }

    /// Parses `L=` and the name of a column.
    pub(super) fn level(&mut self) -> Parsed<Level> {
        self.at += 2;
        let token = self.peek();
        match Level::from_name(self.slice(token)) {
            Some(level) => {
                self.next();
                Ok(level)
            }
            None => self.expected("APPL, SVC, KERN or INT after L="),
        }
    }

    fn label(&mut self) -> Parsed<Option<Text>> {
        let token = self.peek();
        let value = match &token.kind {
            TokenKind::Text(_) => self.text(token).unwrap_or_default(),
            TokenKind::Word if !self.is_item_word() => self.slice(token).to_owned(),
            _ => return Ok(None),
        };
        self.next();
        if token.kind == TokenKind::Word {
            self.check_whole(token)?;
        }
        Ok(Some(Text { value, span: token.span }))
    }

    /// Reports an error if a sign directly follows a word without quotes, as in `net/sent`. The
    /// word must be the last token that was read.
    fn check_whole(&mut self, word: &Token) -> Parsed<()> {
        let mut whole = word.span;
        let continues = |next: &Token, end: u32| {
            let is_part = match next.kind {
                // A block may follow directly.
                TokenKind::Sign(sign) => sign != '{',
                TokenKind::Word => true,
                _ => false,
            };
            is_part && next.span.start == end
        };
        while continues(self.peek(), whole.end) {
            whole = whole.to(self.next().span);
        }
        if whole == word.span {
            return Ok(());
        }
        let text = self.source.slice(whole);
        self.mistake(whole, format!("expected quotes around a name with signs: \"{text}\""))
    }

    /// Skips the rest of a heading that could not be parsed.
    fn skip_to_description(&mut self) {
        loop {
            match &self.peek().kind {
                TokenKind::Word if !self.is_item_word() => self.at += 1,
                TokenKind::Sign('=') => self.at += 1,
                _ => return,
            }
        }
    }
}
