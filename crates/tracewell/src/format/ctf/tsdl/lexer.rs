//! Splits metadata of CTF 1.8 into words, numbers, strings and marks.

use crate::format::ctf::declared::fault::{Fault, fault};

/// A token and its position.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Token<'a> {
    /// Offset of the first byte in the text.
    pub at: u32,
    /// The kind of token and its value.
    pub kind: Kind<'a>,
}

/// The content of a token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Kind<'a> {
    /// An identifier or a keyword.
    Word(&'a str),
    /// A number without sign.
    Number(u64),
    /// A string, without its quotes and with its escapes decoded.
    Text(String),
    /// Punctuation, as [`mark`] returns it.
    Mark(&'static str),
    /// The end of the text.
    End,
}

/// Returns the mark at the beginning of a text: the longest one that matches.
fn mark(text: &[u8]) -> Option<&'static str> {
    Some(match text {
        [b'.', b'.', b'.', ..] => "...",
        [b':', b'=', ..] => ":=",
        // A text that ends inside "..." or inside the mark that begins a comment ends with these.
        [b'.', b'.'] => "..",
        [b'/'] => "/",
        [b'{', ..] => "{",
        [b'}', ..] => "}",
        [b'(', ..] => "(",
        [b')', ..] => ")",
        [b'[', ..] => "[",
        [b']', ..] => "]",
        [b'<', ..] => "<",
        [b'>', ..] => ">",
        [b';', ..] => ";",
        [b',', ..] => ",",
        [b':', ..] => ":",
        [b'=', ..] => "=",
        [b'.', ..] => ".",
        [b'-', ..] => "-",
        [b'+', ..] => "+",
        [b'*', ..] => "*",
        _ => return None,
    })
}

impl Kind<'_> {
    /// Returns true if this token could be longer, or could be another one, if the text that ends
    /// after the token continued.
    fn can_continue(&self) -> bool {
        match self {
            Self::Word(_) | Self::Number(_) | Self::End => true,
            Self::Text(_) => false,
            Self::Mark(mark) => matches!(*mark, ":" | "." | ".." | "/"),
        }
    }

    /// Returns the token in the form that messages show.
    pub(crate) fn described(&self) -> String {
        match self {
            Self::Word(word) => format!("'{word}'"),
            Self::Number(number) => number.to_string(),
            Self::Text(_) => "a string".to_owned(),
            Self::Mark(mark) => format!("'{mark}'"),
            Self::End => "the end of the metadata".to_owned(),
        }
    }
}

/// Splits a text into tokens.
#[derive(Clone)]
pub(super) struct Lexer<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Lexer<'a> {
    /// Creates a lexer for text shorter than 2^32 bytes.
    pub(crate) fn new(text: &'a [u8]) -> Self {
        Self { text, at: 0 }
    }

    /// Returns the next token; at the end of the text, always [`Kind::End`].
    ///
    /// # Errors
    /// Returns an error for a byte that begins no token, and for an unfinished or invalid token.
    pub(crate) fn next(&mut self) -> Result<Token<'a>, Fault> {
        // An invalid token that extends to the end of the text can be the beginning of a valid one.
        self.token().map_err(|fault| Fault { is_end: self.at == self.text.len(), ..fault })
    }

    /// Returns true if the text ends inside or after `token`, which is the token that
    /// [`next`](Self::next) returned last, so that the token can be unfinished.
    pub(crate) fn ends_in(&self, token: &Token<'_>) -> bool {
        self.at == self.text.len() && token.kind.can_continue()
    }

    fn token(&mut self) -> Result<Token<'a>, Fault> {
        self.skip_space()?;
        let start = self.at;
        let at = start as u32;
        let rest = &self.text[start..];
        let kind = match rest.first() {
            None => Kind::End,
            // The lexer treats a character literal, as in C, like a string.
            Some(quote @ (b'"' | b'\'')) => {
                self.at += 1;
                Kind::Text(self.string(at, *quote)?)
            }
            Some(b'L') if matches!(rest.get(1), Some(b'"' | b'\'')) => {
                self.at += 2;
                Kind::Text(self.string(at, rest[1])?)
            }
            Some(byte) if byte.is_ascii_digit() => self.number()?,
            Some(byte) if byte.is_ascii_alphabetic() || *byte == b'_' => Kind::Word(self.word()),
            Some(byte) => {
                let mark = mark(rest).ok_or_else(|| {
                    let shown = char::from(*byte).escape_default().to_string();
                    let shown = if byte.is_ascii() { shown } else { format!("byte {byte:#04X}") };
                    fault(at, format!("expected a word, a number or a mark, found '{shown}'"))
                })?;
                self.at += mark.len();
                Kind::Mark(mark)
            }
        };
        Ok(Token { at, kind })
    }

    /// Skips white space and comments.
    fn skip_space(&mut self) -> Result<(), Fault> {
        loop {
            let rest = &self.text[self.at..];
            let space = rest.iter().take_while(|byte| is_space(**byte)).count();
            self.at += space;
            let rest = &rest[space..];
            if rest.starts_with(b"//") {
                self.at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            } else if rest.starts_with(b"/*") {
                let Some(length) = rest[2..].windows(2).position(|bytes| bytes == b"*/") else {
                    let at = std::mem::replace(&mut self.at, self.text.len()) as u32;
                    let message = "expected '*/' after this '/*', found the end of the metadata";
                    return Err(fault(at, message));
                };
                self.at += 2 + length + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// Consumes an identifier, or the letters and digits of a number.
    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
        let length = rest.iter().position(|byte| !is_part(byte)).unwrap_or(rest.len());
        self.at += length;
        // The bytes are ASCII.
        std::str::from_utf8(&rest[..length]).unwrap_or_default()
    }

    /// Consumes a number: decimal, octal after `0`, hexadecimal after `0x` or binary after `0b`,
    /// with suffixes of C.
    fn number(&mut self) -> Result<Kind<'a>, Fault> {
        let at = self.at as u32;
        let word = self.word();
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let (digits, base) = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
            [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
            [b'0', _, ..] => (&digits[1..], 8),
            _ => (digits, 10),
        };
        let is_suffix = word.len() - word.trim_end_matches(['u', 'U', 'l', 'L']).len() <= 3;
        let is_number = !digits.is_empty() && digits.chars().all(|digit| digit.is_digit(base));
        if !is_suffix || !is_number {
            return Err(fault(at, format!("expected a number, found '{word}'")));
        }
        let value = u64::from_str_radix(digits, base);
        value
            .map(Kind::Number)
            .map_err(|_| fault(at, format!("expected a number below 2^64, found {word}")))
    }

    /// Consumes the rest of a string that begins at `start`. Bytes that are not UTF-8 become
    /// U+FFFD.
    fn string(&mut self, start: u32, quote: u8) -> Result<String, Fault> {
        let mut bytes = Vec::new();
        loop {
            let Some(byte) = self.text.get(self.at) else {
                let message =
                    "expected a quote at the end of this string, found the end of the metadata";
                return Err(fault(start, message));
            };
            self.at += 1;
            match byte {
                byte if *byte == quote => return Ok(String::from_utf8_lossy(&bytes).into_owned()),
                b'\\' => self.escape(&mut bytes)?,
                0 => {
                    let message = "expected a character of a string, found byte 0x00";
                    return Err(fault(self.at as u32 - 1, message));
                }
                byte => bytes.push(*byte),
            }
        }
    }

    /// Decodes an escape sequence after its backslash. An unknown escape sequence stands for the
    /// letter after the backslash.
    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<(), Fault> {
        let at = self.at as u32 - 1;
        let Some(letter) = self.text.get(self.at) else { return Ok(()) };
        self.at += 1;
        let byte = match letter {
            b'a' => 0x07,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'v' => 0x0B,
            b'x' => self.code(16, 2, at)?,
            b'0'..=b'7' => {
                self.at -= 1;
                self.code(8, 3, at)?
            }
            letter => *letter,
        };
        bytes.push(byte);
        Ok(())
    }

    /// Decodes at most `most` digits of an escape sequence.
    fn code(&mut self, base: u32, most: usize, at: u32) -> Result<u8, Fault> {
        let rest = &self.text[self.at..];
        let digits = rest.iter().take(most).map_while(|byte| char::from(*byte).to_digit(base));
        let (mut count, mut code) = (0, 0);
        for digit in digits {
            count += 1;
            code = code * base + digit;
        }
        self.at += count;
        match u8::try_from(code) {
            Ok(code) if count > 0 => Ok(code),
            _ => Err(fault(at, "expected an escape sequence of one byte, found another")),
        }
    }
}

/// Returns true if C treats the byte as white space.
fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C)
}
