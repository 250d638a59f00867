//! Checks links between pages. Every relative link in a Markdown file must lead to a file of the
//! repository. If the link has an anchor, that file must have a heading with this anchor. Links to
//! other hosts are not checked.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// A link of a page.
pub(crate) struct Link<'a> {
    /// Number of the line, from 1.
    pub(crate) line: usize,
    /// The target, as written between the parentheses.
    pub(crate) target: &'a str,
}

/// Returns a fault for each link that leads nowhere. `files` has the names and texts of all files.
pub(crate) fn check(root: &Path, files: &[(String, String)]) -> Vec<String> {
    let pages: BTreeMap<&str, &str> = files
        .iter()
        .filter(|(name, _)| name.ends_with(".md"))
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let mut faults = Vec::new();
    for (name, text) in &pages {
        for link in links(text) {
            if link.target.contains("://") || link.target.starts_with("mailto:") {
                continue;
            }
            if let Some(fault) = fault(root, &pages, name, link.target) {
                faults.push(format!("{name}:{}: the link to {} {fault}", link.line, link.target));
            }
        }
    }
    faults
}

fn fault(
    root: &Path,
    pages: &BTreeMap<&str, &str>,
    page: &str,
    target: &str,
) -> Option<&'static str> {
    let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
    let file = if file.is_empty() { page.to_owned() } else { resolve(page, file) };
    if !root.join(&file).exists() {
        return Some("leads to no file");
    }
    if anchor.is_empty() {
        return None;
    }
    match pages.get(file.as_str()) {
        Some(text) if anchors(text).iter().any(|known| known == anchor) => None,
        Some(_) => Some("leads to no heading of that page"),
        None => Some("has an anchor, but leads to no page"),
    }
}

/// Returns the repository path of the file to which a link leads.
pub(crate) fn resolve(page: &str, file: &str) -> String {
    let mut path = PathBuf::from(page);
    path.pop();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => {
                path.pop();
            }
            Component::CurDir => {}
            part => path.push(part),
        }
    }
    path.display().to_string()
}

/// Returns the links of a page, outside code.
pub(crate) fn links(text: &str) -> Vec<Link<'_>> {
    let mut links = Vec::new();
    let mut in_block = false;
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        }
        if in_block || line.starts_with("    ") {
            continue;
        }
        for plain in line.split("](").skip(1) {
            if let Some((target, _)) = plain.split_once(')') {
                links.push(Link { line: at + 1, target });
            }
        }
    }
    links
}

/// Returns the anchors that usual renderers generate for a page's headings.
fn anchors(text: &str) -> Vec<String> {
    let mut in_block = false;
    let mut anchors: Vec<String> = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            in_block = !in_block;
        }
        let Some(title) = line.strip_prefix('#').filter(|_| !in_block) else { continue };
        let title = title.trim_start_matches('#').trim().to_lowercase();
        let is_kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let anchor = title.chars().filter(is_kept).collect::<String>().replace(' ', "-");
        let earlier = anchors.iter().filter(|known| **known == anchor).count();
        anchors.push(if earlier == 0 { anchor } else { format!("{anchor}-{earlier}") });
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_blocks_are_no_links_and_anchors_are_those_of_headings() {
        let page = "# The `first` page\n[a](b.md#c) and [d](#the-first-page)\n```\n[e](f)\n```\n";
        let targets: Vec<_> = links(page).iter().map(|link| (link.line, link.target)).collect();
        assert_eq!(targets, [(2, "b.md#c"), (2, "#the-first-page")]);
        assert_eq!(anchors(page), ["the-first-page"]);
        assert_eq!(resolve("docs/a.md", "../examples/./c/"), "examples/c");
    }

    #[test]
    fn a_link_to_nothing_is_a_fault_with_its_line() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let page = "[a](xtask/src)\n[b](xtask/absent) [c](#absent) [d](#here)\n# Here\n";
        let faults = check(&root, &[("README.md".to_owned(), page.to_owned())]);
        let expected = [
            "README.md:2: the link to xtask/absent leads to no file",
            "README.md:2: the link to #absent leads to no heading of that page",
        ];
        assert_eq!(faults, expected);
    }
}
