//! For tests of parsers: compares the words that a parser knows with a list of words for the editor
//! grammars. The tests of the grammars in `editors/vscode` check that the grammars highlight each
//! word.

use std::path::Path;

/// Asserts that a list for the editor grammars contains exactly these words. A line of the list is
/// a kind, a tab and a word. `BLESS=1` writes the list. Does nothing in a published package, which
/// does not contain the lists.
pub(crate) fn assert_words(list: &str, words: &[(&str, String)]) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folder = root.join("editors/vscode/test/words");
    // The workspace contains the folder; a published package of this crate does not.
    if !root.join("ARCHITECTURE.md").exists() {
        return;
    }
    let expected: String = words.iter().map(|(kind, word)| format!("{kind}\t{word}\n")).collect();
    let path = folder.join(list);
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        std::fs::write(&path, &expected).expect("the folder exists");
    }
    let found = std::fs::read_to_string(&path).expect("the list exists");
    assert_eq!(found, expected, "{}: BLESS=1 renews it", path.display());
}
