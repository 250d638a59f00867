//! Puts the page together: the text of the document, style, script, and the payload in base64.

use std::io::{self, Write};
use std::sync::OnceLock;

use super::sha256::sha256;
use crate::export::escaped;

/// The document with a placeholder `{{NAME}}` for each part.
const DOCUMENT: &str = include_str!("../../../page/page.html");
const STYLE: &str = include_str!("../../../page/page.css");

/// The modules of the page; a module imports only from earlier modules.
const MODULES: [&str; 71] = [
    include_str!("../../../page/source.js"),
    include_str!("../../../page/bounds.js"),
    include_str!("../../../page/time.js"),
    include_str!("../../../page/words.js"),
    include_str!("../../../page/live.js"),
    include_str!("../../../page/detail.js"),
    include_str!("../../../page/asks.js"),
    include_str!("../../../page/exact.js"),
    include_str!("../../../page/identity.js"),
    include_str!("../../../page/intervals.js"),
    include_str!("../../../page/eventdata.js"),
    include_str!("../../../page/model.js"),
    include_str!("../../../page/loads.js"),
    include_str!("../../../page/theme.js"),
    include_str!("../../../page/scale.js"),
    include_str!("../../../page/marks.js"),
    include_str!("../../../page/view.js"),
    include_str!("../../../page/elements.js"),
    include_str!("../../../page/svg.js"),
    include_str!("../../../page/paint.js"),
    include_str!("../../../page/paints.js"),
    include_str!("../../../page/servers.js"),
    include_str!("../../../page/rows.js"),
    include_str!("../../../page/loadrows.js"),
    include_str!("../../../page/rectangles.js"),
    include_str!("../../../page/pixels.js"),
    include_str!("../../../page/dense.js"),
    include_str!("../../../page/objects.js"),
    include_str!("../../../page/causes.js"),
    include_str!("../../../page/contexts.js"),
    include_str!("../../../page/spans.js"),
    include_str!("../../../page/pills.js"),
    include_str!("../../../page/overlays.js"),
    include_str!("../../../page/describe.js"),
    include_str!("../../../page/names.js"),
    include_str!("../../../page/pointer.js"),
    include_str!("../../../page/timeline.js"),
    include_str!("../../../page/overview.js"),
    include_str!("../../../page/places.js"),
    include_str!("../../../page/locks.js"),
    include_str!("../../../page/matching.js"),
    include_str!("../../../page/waits.js"),
    include_str!("../../../page/shares.js"),
    include_str!("../../../page/filter.js"),
    include_str!("../../../page/whole.js"),
    include_str!("../../../page/details.js"),
    include_str!("../../../page/several.js"),
    include_str!("../../../page/offsets.js"),
    include_str!("../../../page/saving.js"),
    include_str!("../../../page/marking.js"),
    include_str!("../../../page/events.js"),
    include_str!("../../../page/seeker.js"),
    include_str!("../../../page/search.js"),
    include_str!("../../../page/headings.js"),
    include_str!("../../../page/destinations.js"),
    include_str!("../../../page/figures.js"),
    include_str!("../../../page/large.js"),
    include_str!("../../../page/tables.js"),
    include_str!("../../../page/durations.js"),
    include_str!("../../../page/distributions.js"),
    include_str!("../../../page/measured.js"),
    include_str!("../../../page/histogram.js"),
    include_str!("../../../page/tabs.js"),
    include_str!("../../../page/notice.js"),
    include_str!("../../../page/legend.js"),
    include_str!("../../../page/roving.js"),
    include_str!("../../../page/keys.js"),
    include_str!("../../../page/splitters.js"),
    include_str!("../../../page/pace.js"),
    include_str!("../../../page/page.js"),
    include_str!("../../../page/main.js"),
];

/// Number of base64 characters in a line. The page decodes one line at a time.
const LINE: usize = 1 << 16;

/// Returns the page and its content security policy. The page loads its payload from `api/v1/page`,
/// relative to its own address. The policy allows only the script and the style of the page, and
/// requests to the server of the page.
///
/// ```
/// use tracewell::export::page::served;
///
/// let (html, policy) = served();
/// assert!(html.starts_with(b"<!doctype html>"));
/// assert!(policy.contains("connect-src 'self'"));
/// ```
pub fn served() -> (&'static [u8], &'static str) {
    static PAGE: OnceLock<(Vec<u8>, String)> = OnceLock::new();
    let (html, policy) = PAGE.get_or_init(|| {
        let script = joined(&MODULES);
        let policy = policy(&script) + "; connect-src 'self'";
        let mut html = Vec::new();
        // Writing to a vector cannot fail. The page gets its title from the payload.
        let _ = put("Tracewell", &script, &policy, &[], &mut html);
        (html, policy)
    });
    (html, policy)
}

/// Writes the page with its payload.
pub(super) fn write(title: &str, payload: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let script = joined(&MODULES);
    put(title, &script, &policy(&script), payload, out)
}

/// Returns the content security policy of a page with this script.
fn policy(script: &str) -> String {
    format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; \
         form-action 'none'",
        hash(script),
        hash(STYLE),
    )
}

fn put(
    title: &str,
    script: &str,
    policy: &str,
    payload: &[u8],
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut rest = DOCUMENT;
    while let Some((before, after)) = rest.split_once("{{") {
        out.write_all(before.as_bytes())?;
        let (name, after) = after.split_once("}}").unwrap_or((after, ""));
        match name {
            "title" => out.write_all(escaped(title).as_bytes())?,
            "policy" => out.write_all(policy.as_bytes())?,
            "style" => out.write_all(STYLE.as_bytes())?,
            "script" => out.write_all(script.as_bytes())?,
            _ => put_base64(payload, out)?,
        }
        rest = after;
    }
    out.write_all(rest.as_bytes())
}

/// Joins modules into one script. Removes their imports, and the word `export` before declarations.
/// Also removes the lines of comments, which are a quarter of all bytes: browsers need time for
/// them before the first picture.
fn joined(modules: &[&str]) -> String {
    let mut script = String::new();
    for module in modules {
        let (mut in_import, mut in_comment) = (false, false);
        for line in module.lines() {
            let text = line.trim_start();
            in_comment |=
                text.starts_with("/*") && text.find("*/").is_none_or(|at| at + 2 == text.len());
            if in_comment {
                in_comment = !text.ends_with("*/");
                continue;
            }
            if text.is_empty() || text.starts_with("//") {
                continue;
            }
            // An import may occupy several lines, up to the semicolon.
            in_import |= line.starts_with("import ");
            if in_import {
                in_import = !line.ends_with(';');
                continue;
            }
            script.push_str(line.strip_prefix("export ").unwrap_or(line));
            script.push('\n');
        }
    }
    script
}

/// Returns a source expression for a content security policy. It permits the inline script or style
/// that has this text.
fn hash(text: &str) -> String {
    let mut base64 = Vec::new();
    // Writing to a vector cannot fail.
    let _ = put_base64(&sha256(text.as_bytes()), &mut base64);
    format!("'sha256-{}'", String::from_utf8_lossy(&base64))
}

/// Writes bytes in base64 (RFC 4648), in lines of at most [`LINE`] characters.
fn put_base64(bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut line = Vec::with_capacity(LINE + 1);
    for (index, part) in bytes.chunks(LINE / 4 * 3).enumerate() {
        line.clear();
        if index > 0 {
            line.push(b'\n');
        }
        for group in part.chunks(3) {
            let byte = |index: usize| u32::from(group.get(index).copied().unwrap_or(0));
            let word = byte(0) << 16 | byte(1) << 8 | byte(2);
            for digit in 0..4 {
                let value = word >> (18 - 6 * digit) & 0x3F;
                // A group of n bytes has n + 1 digits. The rest are `=`.
                line.push(if digit > group.len() { b'=' } else { DIGITS[value as usize] });
            }
        }
        out.write_all(&line)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let encoded = |text: &str| {
            let mut out = Vec::new();
            put_base64(text.as_bytes(), &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let expected = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"];
        for (length, expected) in expected.into_iter().enumerate() {
            assert_eq!(encoded(&"foobar"[..length]), expected);
        }
        let lines = encoded(&"x".repeat(LINE));
        assert_eq!(lines.lines().map(str::len).collect::<Vec<_>>(), [LINE, LINE / 3 + 3]);
    }

    #[test]
    fn joined_modules_have_neither_imports_nor_exports() {
        let modules = ["export const a = 1;\n", "import {\n    a,\n} from \"./a.js\";\nuse(a);\n"];
        assert_eq!(joined(&modules), "const a = 1;\nuse(a);\n");
    }

    #[test]
    fn joined_modules_have_no_lines_of_comments() {
        let comments = "// head\n\n/** one line */\n    /**\n     * several\n     */\n";
        let code = "    const a = /** @type {any} */ (b); // end\n/** cast */ (b).run();\n";
        assert_eq!(joined(&[&[comments, code].concat()]), code);
    }

    /// If the script contained an end tag or `<!--`, or if the style contained an end tag, the
    /// browser would end the element at the wrong place.
    #[test]
    fn script_and_style_contain_nothing_that_ends_them() {
        let script = joined(&MODULES).to_lowercase();
        assert!(!script.contains("</script") && !script.contains("<!--"));
        assert!(!script.contains("\nimport ") && !script.contains("\nexport "));
        assert!(!STYLE.to_lowercase().contains("</style"));
    }
}
