//! What a user says about an input that its bytes do not tell: `-O key=value`.

use std::fmt::Display;
use std::str::FromStr;

/// An option of a format, for help texts.
#[derive(Clone, Copy, Debug)]
pub struct OptionHelp {
    /// The key.
    pub key: &'static str,
    /// What the value looks like.
    pub value: &'static str,
    /// What it says, in a line.
    pub help: &'static str,
}

/// An option that a format does not have, or whose value it cannot use.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {message}", self.typed())]
pub struct OptionError {
    key: String,
    message: String,
    is_unknown: bool,
    /// What the user typed, where that is not the key.
    flag: Option<&'static str>,
}

impl OptionError {
    /// An error about the option `key`; the message says what was expected and found.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        Self { key: key.into(), message: message.into(), is_unknown: false, flag: None }
    }

    /// The key of the option.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// What was expected and found.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns true if the format has no such option.
    pub const fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    fn typed(&self) -> String {
        match self.flag {
            Some(flag) => flag.to_owned(),
            None => format!("option '{}'", self.key),
        }
    }
}

/// Options as typed, in order; a later one of the same key wins.
#[derive(Clone, Debug, Default)]
pub struct Options {
    list: Vec<Given>,
}

/// One option.
#[derive(Clone, Debug)]
struct Given {
    key: String,
    value: String,
    /// The flag of the command line that stands for it.
    flag: Option<&'static str>,
}

impl Options {
    /// Adds `key=value`.
    ///
    /// # Errors
    /// Where there is no `=`.
    pub fn add(&mut self, text: &str) -> Result<(), OptionError> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(OptionError::new(text, "expected key=value"));
        };
        self.set(key.trim(), value.trim());
        Ok(())
    }

    /// Adds a key with a value that is taken as it is.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        self.list.push(Given { key: key.to_owned(), value: value.into(), flag: None });
    }

    /// Adds what a flag of the command line says; an error about it names the flag.
    pub fn set_by(&mut self, flag: &'static str, key: &str, value: impl Into<String>) {
        self.list.push(Given { key: key.to_owned(), value: value.into(), flag: Some(flag) });
    }

    /// An error about one of these options, in the words that the user typed.
    pub(crate) fn as_typed(&self, error: OptionError) -> OptionError {
        let given = self.list.iter().rev().find(|given| given.key == error.key);
        OptionError { flag: given.and_then(|given| given.flag), ..error }
    }

    /// Fails on the first key that is not among `known`.
    pub fn check(&self, known: &[OptionHelp]) -> Result<(), OptionError> {
        let unknown = |key: &str| known.iter().all(|option| option.key != key);
        match self.list.iter().find(|given| unknown(&given.key)) {
            None => Ok(()),
            Some(Given { key, flag: Some(_), .. }) => {
                let message = "traces of this format cannot be read with it";
                Err(self.as_typed(OptionError::new(key, message)))
            }
            Some(Given { key, .. }) => {
                let keys: Vec<_> = known.iter().map(|option| option.key).collect();
                let message = if keys.is_empty() {
                    "this format has no options".to_owned()
                } else {
                    format!("no such option here; there are {}", keys.join(", "))
                };
                Err(OptionError { is_unknown: true, ..OptionError::new(key, message) })
            }
        }
    }

    /// The value of `key` as typed.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.list.iter().rev().find(|given| given.key == key).map(|given| given.value.as_str())
    }

    /// The value of `key`, parsed.
    ///
    /// # Errors
    /// Where the value does not parse; the message is that of its type.
    pub fn parse<T: FromStr<Err: Display>>(&self, key: &str) -> Result<Option<T>, OptionError> {
        let value = self.get(key).map(str::parse).transpose();
        value.map_err(|error: T::Err| OptionError::new(key, error.to_string()))
    }

    /// The value of `key` as a number: decimal, or hexadecimal with `0x`.
    ///
    /// # Errors
    /// Where the value is no number of 64 bits.
    pub fn number(&self, key: &str) -> Result<Option<u64>, OptionError> {
        let Some(text) = self.get(key) else { return Ok(None) };
        let digits = text.replace('_', "");
        let number = match digits.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16),
            None => digits.parse(),
        };
        let message = || format!("expected a number, decimal or with 0x, found '{text}'");
        number.map(Some).map_err(|_| OptionError::new(key, message()))
    }
}

/// Where the further files of a run begin in the input, in order: the option `parts`, which is made by
/// [`crate::input::Input::open_run`].
///
/// # Errors
/// Where the value is no list of positions in order.
pub(super) fn parts_of(options: &Options) -> Result<Vec<usize>, OptionError> {
    let Some(text) = options.get("parts") else { return Ok(Vec::new()) };
    let message = || format!("expected byte positions in order such as 4000,8000, found '{text}'");
    let error = || OptionError::new("parts", message());
    let parts: Result<Vec<usize>, _> = text.split(',').map(|part| part.trim().parse()).collect();
    let parts = parts.map_err(|_| error())?;
    if parts.is_sorted() { Ok(parts) } else { Err(error()) }
}
