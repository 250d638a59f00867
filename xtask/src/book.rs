//! Builds a book from `docs/` with mdbook: `docs/SUMMARY.md` lists the chapters, and
//! `docs/book.toml` contains the settings.
//!
//! Pages link to files outside `docs/`, such as examples. The book does not contain these files, so
//! each link is replaced with the path of the file in the repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::links::{links, resolve};
use crate::steps::{fault, run, write};

/// The list of chapters.
const SUMMARY: &str = "docs/SUMMARY.md";

/// Builds the book in `target/book/html` and prints the path of its first page.
pub(crate) fn make(root: &Path) -> Result<(), String> {
    let (docs, source) = (root.join("docs"), root.join("target/book"));
    if source.exists() {
        fs::remove_dir_all(&source).map_err(|error| fault(&source, &error))?;
    }
    for page in pages(&docs)? {
        let name = page.file_name().unwrap_or_default().display().to_string();
        let text = fs::read_to_string(&page).map_err(|error| fault(&page, &error))?;
        write(&source.join("pages").join(&name), inside(&name, &text).as_bytes())?;
    }
    let settings = docs.join("book.toml");
    let text = fs::read(&settings).map_err(|error| fault(&settings, &error))?;
    write(&source.join("book.toml"), &text)?;
    run(Command::new("mdbook").arg("build").arg(&source))?;
    println!("{}", source.join("html/index.html").display());
    Ok(())
}

/// Returns a fault for each page that is not a chapter. `files` contains the names and texts of all
/// files.
pub(crate) fn check(files: &[(String, String)]) -> Vec<String> {
    let summary = files.iter().find(|(name, _)| name == SUMMARY);
    let Some((_, chapters)) = summary else { return vec![format!("{SUMMARY}: no such file")] };
    let is_missing =
        |page: &&str| *page != "SUMMARY.md" && !chapters.contains(&format!("]({page})"));
    let pages = files.iter().filter_map(|(name, _)| name.strip_prefix("docs/"));
    pages
        .filter(|page| page.ends_with(".md") && !page.contains('/'))
        .filter(is_missing)
        .map(|page| format!("{SUMMARY}: no chapter for {page}"))
        .collect()
}

fn pages(docs: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(docs).map_err(|error| fault(docs, &error))?;
    let mut pages: Vec<_> = entries.filter_map(|entry| entry.ok().map(|e| e.path())).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    Ok(pages)
}

/// Replaces a page's links to files outside `docs/` with the paths of these files.
fn inside(name: &str, text: &str) -> String {
    let mut text = text.to_owned();
    for link in links(&text.clone()).iter().filter(|link| link.target.starts_with("../")) {
        let path = resolve(&format!("docs/{name}"), link.target);
        let end = format!("]({})", link.target);
        let Some(at) = text.find(&end) else { continue };
        let Some(start) = text[..at].rfind('[') else { continue };
        let shown = text[start + 1..at].to_owned();
        let plain = if shown.trim_matches('`').ends_with(&path) {
            shown
        } else {
            format!("{shown} (`{path}`)")
        };
        text.replace_range(start..at + end.len(), &plain);
    }
    text
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_page_that_is_no_chapter_is_a_fault() {
        let file = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        let mut files = vec![file("docs/a.md", ""), file("docs/b.md", ""), file("b/c.md", "")];
        assert_eq!(super::check(&files), ["docs/SUMMARY.md: no such file"]);
        files.push(file("docs/SUMMARY.md", "- [A](a.md)\n"));
        assert_eq!(super::check(&files), ["docs/SUMMARY.md: no chapter for b.md"]);
    }

    #[test]
    fn links_to_files_outside_the_book_become_paths() {
        let page = "See [a\ntemplate](../examples/a.fmt), [`examples/c/b.c`](../examples/c/b.c), [d](d.md).\n";
        let expected = "See a\ntemplate (`examples/a.fmt`), `examples/c/b.c`, [d](d.md).\n";
        assert_eq!(super::inside("x.md", page), expected);
    }
}
