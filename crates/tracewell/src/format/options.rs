//! Options in the form `-O key=value`. They specify facts that the bytes of an input do not
//! contain.

use std::fmt::Display;
use std::str::FromStr;

/// An option of a format, for help texts.
#[derive(Clone, Copy, Debug)]
pub struct OptionHelp {
    /// The key that the user types before `=`.
    pub key: &'static str,
    /// The form of the value, such as `up|down`.
    pub value: &'static str,
    /// The effect of the option, in at most one line.
    pub help: &'static str,
}

/// Error for an unknown option, or for an option with an invalid value.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{}: {message}", self.typed())]
pub struct OptionError {
    key: String,
    message: String,
    is_unknown: bool,
    /// The command-line flag before the key.
    flag: Flag,
    /// The place in a file that contains the option, if the option does not come from the command
    /// line.
    place: Option<String>,
}

/// The command-line flag with which the user typed an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Flag {
    /// `-O KEY=VALUE`, an option of an input.
    Input,
    /// `-T KEY=VALUE`, an option of an output.
    Output,
    /// Another flag that takes a value, such as `--names`.
    Named(&'static str),
}

impl OptionError {
    /// Returns an error about the option `key`. The message contains what was expected and what was
    /// found.
    pub fn new(key: impl Into<String>, message: impl Into<String>) -> Self {
        let (key, message) = (key.into(), message.into());
        Self { key, message, is_unknown: false, flag: Flag::Input, place: None }
    }

    /// Returns an error about the value of a command-line flag.
    pub fn of_flag(flag: &'static str, message: impl Into<String>) -> Self {
        Self { flag: Flag::Named(flag), ..Self::new(flag, message) }
    }

    /// Returns the same error, but about an option of an output.
    ///
    /// ```
    /// use tracewell::format::OptionError;
    ///
    /// let error = OptionError::new("order", "expected little or big, found 'middle'");
    /// assert!(error.to_string().starts_with("-O order: "));
    /// assert!(error.of_output().to_string().starts_with("-T order: "));
    /// ```
    pub fn of_output(self) -> Self {
        Self { flag: Flag::Output, ..self }
    }

    /// Returns the same error, but about an option that comes from this place in a file.
    pub(super) fn at(self, place: &str) -> Self {
        Self { place: Some(place.to_owned()), ..self }
    }

    /// Returns true if this is an error about the value of this flag.
    pub(super) fn is_of_flag(&self, flag: &str) -> bool {
        matches!(self.flag, Flag::Named(named) if named == flag)
    }

    /// Returns the key of the option.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Returns the message: what was expected, and what was found.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns true if the format has no such option.
    pub const fn is_unknown(&self) -> bool {
        self.is_unknown
    }

    fn typed(&self) -> String {
        if let Some(place) = &self.place {
            return format!("{place}: {}", self.key.trim_start_matches('-'));
        }
        match self.flag {
            Flag::Input => format!("-O {}", self.key),
            Flag::Output => format!("-T {}", self.key),
            Flag::Named(flag) => flag.to_owned(),
        }
    }
}

/// Options in the order and form in which the user typed them. If the user typed a key several
/// times, its last value applies.
///
/// ```
/// use tracewell::format::Options;
///
/// let mut options = Options::default();
/// options.add("oldest=0x10")?;
/// options.add("oldest=17")?;
/// assert_eq!(options.number("oldest")?, Some(17));
/// assert!(options.add("oldest").is_err());
/// # Ok::<(), tracewell::format::OptionError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    list: Vec<(String, String)>,
}

impl Options {
    /// Adds `key=value`.
    ///
    /// # Errors
    /// Returns an error if there is no `=`.
    pub fn add(&mut self, text: &str) -> Result<(), OptionError> {
        let Some((key, value)) = text.split_once('=') else {
            return Err(OptionError::new(text, "expected key=value"));
        };
        self.set(key.trim(), value.trim());
        Ok(())
    }

    /// Adds a key and its value; the value is stored unchanged.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        self.list.push((key.to_owned(), value.into()));
    }

    /// Returns the keys in the order in which they were added.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|(key, _)| key.as_str())
    }

    /// Checks that all keys are among `known`.
    ///
    /// # Errors
    /// Returns an error for the first unknown key.
    pub fn check(&self, known: &[OptionHelp]) -> Result<(), OptionError> {
        let unknown = |key: &str| known.iter().all(|option| option.key != key);
        let Some((key, _)) = self.list.iter().find(|(key, _)| unknown(key)) else {
            return Ok(());
        };
        let keys: Vec<_> = known.iter().map(|option| option.key).collect();
        let message = match keys.is_empty() {
            true => "this format has no options".to_owned(),
            false => format!("unknown option; this format has {}", keys.join(", ")),
        };
        Err(OptionError { is_unknown: true, ..OptionError::new(key, message) })
    }

    /// Returns the value of `key` as typed.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.list.iter().rev().find(|(known, _)| known == key).map(|(_, value)| value.as_str())
    }

    /// Returns the parsed value of `key`.
    ///
    /// # Errors
    /// Returns an error if the value cannot be parsed. The message is that of `T`'s parse error.
    pub fn parse<T: FromStr<Err: Display>>(&self, key: &str) -> Result<Option<T>, OptionError> {
        let value = self.get(key).map(str::parse).transpose();
        value.map_err(|error: T::Err| OptionError::new(key, error.to_string()))
    }

    /// Returns the value of `key` as a number: decimal, or hexadecimal with `0x`.
    ///
    /// # Errors
    /// Returns an error if the value is not a number of at most 64 bits.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_decimal_or_hexadecimal() {
        for (text, number) in [("0x1F_fF", 0x1FFF), ("1_0", 10), ("0x", 0), ("F", 0), ("-1", 0)] {
            let mut options = Options::default();
            options.add(&format!("key={text}")).unwrap();
            let expected = if number > 0 { Ok(Some(number)) } else { Err(()) };
            assert_eq!(options.number("key").map_err(|_| ()), expected, "{text}");
        }
        assert!(matches!(Options::default().number("key"), Ok(None)));
    }
}
