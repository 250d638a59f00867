//! The template files that come with the program: `templates/` of the repository.

use crate::source::Source;

/// The template file for the traces of a format, where there is one.
pub fn shipped(format: &str) -> Option<Source> {
    let (name, text) = match format {
        "aix" => ("templates/aix.fmt", include_str!("../../../../templates/aix.fmt")),
        "threadx" => ("templates/threadx.fmt", include_str!("../../../../templates/threadx.fmt")),
        _ => return None,
    };
    Some(Source::new(name, text))
}
