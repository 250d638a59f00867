//! Builds the static page: a folder of files for any web server. The page reads traces that the
//! user drops or chooses. Its reader is a WebAssembly module.
//!
//! | file | content |
//! |---|---|
//! | `index.html` | the document of `crates/tracewell/page/page.html`, which loads the other files |
//! | `*.js`, `*.css` | the modules and styles in `crates/tracewell/page`, unchanged |
//! | `tracewell.wasm` | the crate `tracewell-web` |
//! | `scheduling.trx` | the sample |
//!
//! `html.rs` in `export/page` makes the other pages. Each of them is a single file that also
//! contains the script and the style.

use std::fs;
use std::path::{Path, PathBuf};

use crate::build::Options;
use crate::steps::{copy, fault, files, write};

const TARGET: &str = "wasm32-unknown-unknown";

/// The folder with the sources of all pages.
const SOURCES: &str = "crates/tracewell/page";

/// The module that starts all other pages. In the static page, `drop.js` takes its place.
const OTHER_START: &str = "main.js";

/// The content security policy: the page loads only its own files. The policy does not need to
/// permit WebAssembly, because the reader runs in the worker, which has its own policy.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; \
                      connect-src 'self'; worker-src 'self'; base-uri 'none'; \
                      form-action 'none'";

/// Parts of the document, and their replacements.
const PARTS: [(&str, &str); 5] = [
    ("{{policy}}", POLICY),
    ("{{title}}", "Tracewell"),
    (
        "<style>{{style}}</style>",
        "<link rel=\"stylesheet\" href=\"page.css\">\n<link rel=\"stylesheet\" href=\"drop.css\">",
    ),
    ("<script type=\"application/octet-stream\" id=\"payload\">{{payload}}</script>\n", ""),
    (
        "<script type=\"module\">{{script}}</script>",
        "<script type=\"module\" src=\"drop.js\"></script>",
    ),
];

/// Builds the page, and prints the path of its HTML document.
pub(crate) fn make(root: &Path, options: &Options) -> Result<(), String> {
    let module = options.build(root, "tracewell-web", TARGET, &root.join("target/page"))?;
    let output = &options.output;
    copy(&module.join("tracewell_web.wasm"), &output.join("tracewell.wasm"), 0o644)?;
    copy(&root.join("examples/scheduling.trx"), &output.join("scheduling.trx"), 0o644)?;
    let sources = root.join(SOURCES);
    let is_part = |path: &&PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str());
        let is_other = path.file_name().is_some_and(|name| name == OTHER_START);
        matches!(extension, Some("js" | "css")) && !is_other
    };
    for file in files(&sources)?.iter().filter(is_part) {
        copy(file, &output.join(file.file_name().unwrap_or_default()), 0o644)?;
    }
    let document = sources.join("page.html");
    let text = fs::read_to_string(&document).map_err(|error| fault(&document, &error))?;
    let index = output.join("index.html");
    write(&index, replaced(&text)?.as_bytes())?;
    println!("{}", index.display());
    Ok(())
}

/// Returns the document with all [`PARTS`] replaced.
///
/// # Errors
/// Returns an error if the document does not contain each part exactly once.
fn replaced(document: &str) -> Result<String, String> {
    let mut text = document.to_owned();
    for (part, replacement) in PARTS {
        let found = text.matches(part).count();
        if found != 1 {
            return Err(format!("{SOURCES}/page.html: expected one {part}, found {found}"));
        }
        text = text.replace(part, replacement);
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_loads_its_script_and_style() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let document = fs::read_to_string(root.join(SOURCES).join("page.html")).unwrap();
        let text = replaced(&document).unwrap();
        assert!(text.contains("src=\"drop.js\"") && text.contains("href=\"page.css\""));
        assert!(!text.contains("{{") && !text.contains("unsafe-eval"));
        assert!(replaced(&text).is_err());
    }
}
