//! Parses shares that users type.

use std::str::FromStr;

use super::bound::scaled;

/// A share that a user typed, such as `5 %` or `0.5%`.
///
/// ```
/// use tracewell::select::Share;
///
/// assert_eq!("0.5%".parse(), Ok(Share { millionths: 5000 }));
/// assert_eq!("250 %".parse(), Ok(Share { millionths: 2_500_000 }));
/// assert!("5".parse::<Share>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Share {
    /// Millionths of the whole.
    pub millionths: u64,
}

/// Error for text that is not a valid share.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected a share such as 5% or 0.5%, found '{found}'")]
pub struct ShareError {
    found: String,
}

impl FromStr for Share {
    type Err = ShareError;

    fn from_str(text: &str) -> Result<Self, ShareError> {
        let number = text.strip_suffix('%').map(str::trim_end);
        // One percent is 10^4 millionths.
        let millionths = number.and_then(|number| scaled(number, 4));
        let error = || ShareError { found: text.to_owned() };
        millionths.map(|millionths| Self { millionths }).ok_or_else(error)
    }
}
