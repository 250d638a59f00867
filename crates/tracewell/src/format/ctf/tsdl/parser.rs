//! Parses metadata of CTF 1.8: declarations and blocks. `parse_types` parses types.
//!
//! If a recording is still running or has crashed, its metadata can end inside a declaration. If a
//! trace block precedes this declaration, the parser drops the declaration with a warning.

use super::lexer::{Kind, Lexer, Token};
use super::tree::{
    Attribute, Block, BlockKind, Declaration, Declarator, Entry, KEYWORDS, Part, TYPE_WORDS,
    TypeTree, Value,
};
use crate::format::ctf::declared::fault::{Fault, Log, fault};
use crate::format::ctf::declared::limits::{MAX_DEPTH, MAX_FIELDS};

/// Parses a text.
///
/// # Errors
/// Returns the position of the first error, what was expected and what was found.
pub(super) fn parse<'a>(text: &'a [u8], log: &mut Log) -> Result<Vec<Part<'a>>, Fault> {
    let mut parser = Parser::new(text)?;
    let mut parts = Vec::new();
    let mut has_trace = false;
    loop {
        let mut start = None;
        let part = parser.finish(parts.last()).and_then(|()| {
            start = Some(parser.token.at);
            parser.part()
        });
        match part {
            Ok(Some(part)) => {
                has_trace |= matches!(&part, Part::Block(block) if block.kind == BlockKind::Trace);
                parts.push(part);
            }
            Ok(None) => return Ok(parts),
            Err(error) if has_trace && (error.is_end || parser.is_at_end()) => {
                log.warn(start.unwrap_or(error.at), || {
                    "unfinished declaration at the end of the metadata, ignored".to_owned()
                });
                return Ok(parts);
            }
            Err(error) => return Err(error),
        }
    }
}

/// A parser with one token of lookahead.
pub(super) struct Parser<'a> {
    lexer: Lexer<'a>,
    /// The next token, which is not yet consumed.
    pub token: Token<'a>,
    /// Number of nested types and parentheses.
    depth: u32,
    /// Number of parts of the syntax tree so far.
    parts: u64,
}

impl<'a> Parser<'a> {
    fn new(text: &'a [u8]) -> Result<Self, Fault> {
        let mut lexer = Lexer::new(text);
        let token = lexer.next()?;
        Ok(Self { lexer, token, depth: 0, parts: 0 })
    }

    /// Returns true if the text ends with the next token, which can then be unfinished.
    fn is_at_end(&self) -> bool {
        self.lexer.ends_in(&self.token)
    }

    /// Consumes the last mark of the part before, if there is one, and further semicolons.
    fn finish(&mut self, before: Option<&Part<'_>>) -> Result<(), Fault> {
        if matches!(before, Some(Part::Block(_))) {
            self.expect("}")?;
        }
        while self.eat(";")? {}
        Ok(())
    }

    /// Parses a declaration or a block; `None` at the end of the text. Does not consume the last
    /// mark, a semicolon or a brace, because the token after it can be unfinished.
    fn part(&mut self) -> Result<Option<Part<'a>>, Fault> {
        let kind = match self.token.kind {
            Kind::End => return Ok(None),
            Kind::Word("trace") => BlockKind::Trace,
            Kind::Word("env") => BlockKind::Environment,
            Kind::Word("clock") => BlockKind::Clock,
            Kind::Word("stream") => BlockKind::Stream,
            Kind::Word("event") => BlockKind::Event,
            Kind::Word("callsite") => BlockKind::CallSite,
            _ => {
                let declaration = self.declaration()?;
                if !matches!(self.token.kind, Kind::Mark(";")) {
                    return Err(self.unexpected("';'"));
                }
                return Ok(Some(Part::Declaration(declaration)));
            }
        };
        let at = self.advance()?.at;
        self.expect("{")?;
        let mut entries = Vec::new();
        while !matches!(self.token.kind, Kind::Mark("}")) {
            if self.eat(";")? {
                continue;
            }
            entries.push(self.entry(kind)?);
            self.expect(";")?;
        }
        Ok(Some(Part::Block(Block { at, kind, entries })))
    }

    /// Parses an entry of a block, without the semicolon.
    fn entry(&mut self, block: BlockKind) -> Result<Entry<'a>, Fault> {
        self.count()?;
        let has_types = matches!(block, BlockKind::Trace | BlockKind::Stream | BlockKind::Event);
        if has_types && self.begins_declaration() {
            return Ok(Entry::Declaration(self.declaration()?));
        }
        // The words are a path, or the name of a type before `typedef`.
        let at = self.token.at;
        let words = self.path()?;
        if let ([word], Kind::Word("typedef")) = (&words[..], &self.token.kind) {
            let class = self.named_type(at, vec![word]);
            return Ok(Entry::Declaration(self.typedef_of(class)?));
        }
        let name = words.join(".");
        if self.eat(":=")? {
            let class = self.type_tree()?;
            if !matches!(self.token.kind, Kind::Mark(";")) {
                self.declarator(false)?;
            }
            return Ok(Entry::Scope { at, path: name, class });
        }
        if !self.eat("=")? {
            return Err(self.unexpected("'=' or ':='"));
        }
        Ok(Entry::Attribute(self.attribute_value(at, name)?))
    }

    /// Returns true if the next token begins a declaration of types, false if it begins an
    /// attribute.
    fn begins_declaration(&self) -> bool {
        match self.token.kind {
            Kind::Word(word) => {
                matches!(word, "typedef" | "typealias" | "struct" | "variant" | "enum" | "const")
                    || matches!(word, "integer" | "floating_point" | "string")
                    || TYPE_WORDS.contains(&word)
            }
            _ => false,
        }
    }

    /// Parses the value of an attribute after the equals sign.
    fn attribute_value(&mut self, at: u32, name: String) -> Result<Attribute<'a>, Fault> {
        let value_at = self.token.at;
        let value = self.value()?;
        Ok(Attribute { at, name, value_at, value })
    }

    /// Parses attributes after the opening brace, up to the closing brace.
    pub(crate) fn attributes(&mut self) -> Result<Vec<Attribute<'a>>, Fault> {
        let mut attributes = Vec::new();
        while !self.eat("}")? {
            if self.eat(";")? {
                continue;
            }
            self.count()?;
            let at = self.token.at;
            let name = self.path()?.join(".");
            self.expect("=")?;
            attributes.push(self.attribute_value(at, name)?);
            self.expect(";")?;
        }
        Ok(attributes)
    }

    /// Parses a value: a number, a string or a path.
    fn value(&mut self) -> Result<Value<'a>, Fault> {
        Ok(match self.token.kind {
            Kind::Number(_) | Kind::Mark("-" | "+") => Value::Number(self.number()?),
            Kind::Text(_) => match self.advance()?.kind {
                Kind::Text(text) => Value::Text(text),
                _ => Value::Text(String::new()),
            },
            Kind::Word(_) => Value::Path(self.path()?),
            _ => return Err(self.unexpected("a value")),
        })
    }

    /// Parses a number with an optional sign.
    pub(crate) fn number(&mut self) -> Result<i128, Fault> {
        let at = self.token.at;
        let is_negative = self.eat("-")?;
        if !is_negative {
            self.eat("+")?;
        }
        let Kind::Number(number) = self.token.kind else {
            return Err(self.unexpected("a number"));
        };
        self.advance()?;
        match is_negative {
            true if number > 1 << 63 => {
                Err(fault(at, format!("expected a number from -2^63, found -{number}")))
            }
            true => Ok(-i128::from(number)),
            false => Ok(i128::from(number)),
        }
    }

    /// Parses words separated by dots.
    pub(crate) fn path(&mut self) -> Result<Vec<&'a str>, Fault> {
        let mut words = vec![self.word("a name")?];
        while self.eat(".")? {
            self.count()?;
            words.push(self.word("a name after '.'")?);
        }
        Ok(words)
    }

    /// Parses a declaration of types, without the semicolon.
    pub(crate) fn declaration(&mut self) -> Result<Declaration<'a>, Fault> {
        if self.eat_word("typedef")? {
            let class = self.type_tree()?;
            return self.typedef_names(class);
        }
        if self.eat_word("typealias")? {
            let class = self.type_tree()?;
            let declarator = self.declarator(false)?;
            self.expect(":=")?;
            let at = self.token.at;
            let name = self.alias_name()?;
            return Ok(Declaration::Alias { at, class, declarator, name });
        }
        let class = self.type_tree()?;
        match self.token.kind {
            Kind::Word("typedef") => self.typedef_of(class),
            _ => Ok(Declaration::Type(class)),
        }
    }

    /// Parses the rest of `type typedef name, name`.
    pub(crate) fn typedef_of(&mut self, class: TypeTree<'a>) -> Result<Declaration<'a>, Fault> {
        self.advance()?;
        self.typedef_names(class)
    }

    /// Parses the names that a typedef declares.
    fn typedef_names(&mut self, class: TypeTree<'a>) -> Result<Declaration<'a>, Fault> {
        Ok(Declaration::Typedef(class, self.declarators()?))
    }

    /// Parses declarators separated by commas.
    pub(crate) fn declarators(&mut self) -> Result<Vec<Declarator<'a>>, Fault> {
        let mut declarators = vec![self.declarator(true)?];
        while self.eat(",")? {
            declarators.push(self.declarator(true)?);
        }
        Ok(declarators)
    }

    /// Parses the new name of an alias: an identifier, type words of C or a named structure,
    /// followed by stars.
    fn alias_name(&mut self) -> Result<Vec<&'a str>, Fault> {
        let at = self.token.at;
        let mut name = Vec::new();
        let mut has_identifier = false;
        let mut has_stars = false;
        loop {
            let word = match self.token.kind {
                Kind::Word(word) if has_identifier || has_stars => {
                    return Err(fault(at, format!("expected ';' after the name, found '{word}'")));
                }
                Kind::Word(word @ ("struct" | "variant" | "enum")) if name.is_empty() => word,
                Kind::Word(word) if word == "const" || TYPE_WORDS.contains(&word) => word,
                Kind::Word(word) if !KEYWORDS.contains(&word) => {
                    has_identifier = true;
                    word
                }
                Kind::Word(word) => {
                    let message = format!("expected a name of a type, found the keyword '{word}'");
                    return Err(fault(at, message));
                }
                Kind::Mark("*") if !name.is_empty() => {
                    has_stars = true;
                    "*"
                }
                _ => break,
            };
            self.count()?;
            name.push(word);
            self.advance()?;
        }
        match name.first() {
            None => Err(self.unexpected("a name of a type")),
            Some(&word @ ("struct" | "variant" | "enum")) if !(has_identifier && has_stars) => {
                Err(fault(at, format!("expected a name of a type, found the keyword '{word}'")))
            }
            Some(_) => Ok(name),
        }
    }

    /// Consumes the next token and returns it.
    pub(crate) fn advance(&mut self) -> Result<Token<'a>, Fault> {
        let next = self.lexer.next()?;
        Ok(std::mem::replace(&mut self.token, next))
    }

    /// Consumes a mark if it is next.
    pub(crate) fn eat(&mut self, mark: &str) -> Result<bool, Fault> {
        let is_next = matches!(self.token.kind, Kind::Mark(next) if next == mark);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    /// Consumes a keyword if it is next.
    pub(crate) fn eat_word(&mut self, word: &str) -> Result<bool, Fault> {
        let is_next = matches!(self.token.kind, Kind::Word(next) if next == word);
        if is_next {
            self.advance()?;
        }
        Ok(is_next)
    }

    /// Consumes a mark, or returns an error if it is not next.
    pub(crate) fn expect(&mut self, mark: &str) -> Result<(), Fault> {
        match self.eat(mark)? {
            true => Ok(()),
            false => Err(self.unexpected(&format!("'{mark}'"))),
        }
    }

    /// Consumes a word and returns it, or returns an error if no word is next.
    pub(crate) fn word(&mut self, expected: &str) -> Result<&'a str, Fault> {
        let Kind::Word(word) = self.token.kind else { return Err(self.unexpected(expected)) };
        self.advance()?;
        Ok(word)
    }

    /// Returns the error for the next token.
    pub(crate) fn unexpected(&self, expected: &str) -> Fault {
        let found = self.token.kind.described();
        fault(self.token.at, format!("expected {expected}, found {found}"))
    }

    /// Counts a part of the syntax tree.
    pub(crate) fn count(&mut self) -> Result<(), Fault> {
        self.parts += 1;
        match self.parts > MAX_FIELDS {
            true => {
                Err(fault(self.token.at, format!("expected at most {MAX_FIELDS} declarations")))
            }
            false => Ok(()),
        }
    }

    /// Runs a parser at the next level of nesting.
    pub(crate) fn nested<T>(
        &mut self,
        step: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.depth == MAX_DEPTH {
            let message = format!("expected at most {MAX_DEPTH} nested types, found more");
            return Err(fault(self.token.at, message));
        }
        self.depth += 1;
        let result = step(self);
        self.depth -= 1;
        result
    }
}
