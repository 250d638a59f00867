//! Comparison of outputs with golden files. With `BLESS=1`, writes the golden files instead.

use snapbox::assert::Action;
use snapbox::{Assert, IntoData};

/// Asserts that an output equals a golden file, or writes the file if `BLESS=1` is set.
#[track_caller]
pub(crate) fn assert_golden(actual: impl IntoData, golden: impl IntoData) {
    let is_set = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    Assert::new()
        .action(if is_set { Action::Overwrite } else { Action::Verify })
        .eq(actual, golden);
}
