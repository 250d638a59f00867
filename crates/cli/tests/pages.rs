//! Runs every console block of the README and of `docs/` and compares the output, so that pages
//! show what the program prints.
//!
//! In a block `console`, a line that begins with `$ ` is a command. The shell runs it in a folder
//! that has the repository's `examples`, and the shipped templates in `templates`. The lines up to
//! the next command are its output on both streams. A line `...` matches any lines, and `[..]`
//! matches any text within a line. A block whose info string has a second word is a file of that
//! name, for the commands after it.
#![cfg(unix)]

mod program;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use program::root;
use snapbox::Assert;

/// Minimum number of commands. If the test finds fewer commands, it does not find all of them.
const MIN_COMMANDS: usize = 30;

/// The README and all pages, in order of their names.
fn pages() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("docs")).unwrap();
    let mut pages: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|extension| extension == "md"));
    pages.push(root().join("README.md"));
    pages.sort();
    pages
}

/// A block of a page: the words of its info string, and its lines.
struct Block<'a> {
    words: Vec<&'a str>,
    lines: Vec<&'a str>,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        let Some(info) = line.strip_prefix("```") else { continue };
        let inside = lines.by_ref().take_while(|line| *line != "```").collect();
        blocks.push(Block { words: info.split_whitespace().collect(), lines: inside });
    }
    blocks
}

/// Returns the commands of a block, each with its expected output.
fn commands(block: &Block<'_>) -> Vec<(String, String)> {
    let mut commands: Vec<(String, String)> = Vec::new();
    for line in &block.lines {
        match (line.strip_prefix("$ "), commands.last_mut()) {
            (Some(command), _) => commands.push((command.to_owned(), String::new())),
            (None, Some((_, printed))) => *printed += &format!("{line}\n"),
            (None, None) => panic!("a console block begins with a command, found: {line}"),
        }
    }
    commands
}

/// A folder to run a page's commands in.
fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    symlink(root().join("examples"), folder.path().join("examples")).unwrap();
    symlink(root().join("crates/tracewell/templates"), folder.path().join("templates")).unwrap();
    fs::create_dir(folder.path().join("bin")).unwrap();
    for name in ["tracewell", "trcrpt", "trcupdate"] {
        symlink(env!("CARGO_BIN_EXE_tracewell"), folder.path().join("bin").join(name)).unwrap();
    }
    folder
}

fn run(command: &str, folder: &Path) -> String {
    let path = std::env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env_remove("COLUMNS")
        .env("PATH", format!("{}:{path}", folder.join("bin").display()))
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn commands_print_what_the_pages_show() {
    let mut count = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        let folder = folder();
        for block in blocks(&text) {
            match block.words[..] {
                ["console"] => {
                    for (command, printed) in commands(&block) {
                        let found = run(&command, folder.path());
                        let place = page.file_name().unwrap().display();
                        // Compare the command with its output, so that a failure shows the command.
                        let with_command = |text: &str| format!("{place}: $ {command}\n{text}");
                        // A backslash in this output is not part of a path.
                        let assert = Assert::new().normalize_paths(false);
                        assert.eq(with_command(&found), with_command(&printed));
                        count += 1;
                    }
                }
                ["text" | "yaml", name] => {
                    fs::write(folder.path().join(name), block.lines.join("\n") + "\n").unwrap();
                }
                _ => {}
            }
        }
    }
    assert!(count >= MIN_COMMANDS, "{count} commands");
}
