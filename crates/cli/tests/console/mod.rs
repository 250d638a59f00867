//! Runs the console blocks of a page and compares their output.
//!
//! In a block `console`, a line that begins with `$ ` is a command. The shell runs it in a folder.
//! The lines up to the next command are the standard output and standard error of this command. A
//! line `...` matches any lines, and `[..]` matches any text within a line. A block `text`, `yaml`
//! or `sql` with a second word in its info string is a file. The second word is the name of the
//! file, and later commands can read it.

use std::fs;
use std::path::Path;
use std::process::Command;

use snapbox::Assert;

/// Runs the commands of a page in a folder, whose subfolder `bin` contains the programs. Returns
/// the number of commands.
pub(crate) fn run_page(page: &Path, folder: &Path) -> usize {
    let text = fs::read_to_string(page).unwrap();
    let mut count = 0;
    for block in blocks(&text) {
        match block.words[..] {
            ["console"] => {
                for (command, printed) in commands(&block) {
                    let found = run(&command, folder);
                    let place = page.file_name().unwrap().display();
                    // Put the command before both outputs, so that a failure shows the command.
                    let with_command = |text: &str| format!("{place}: $ {command}\n{text}");
                    // A backslash in this output is not a path separator.
                    let assert = Assert::new().normalize_paths(false);
                    assert.eq(with_command(&found), with_command(&printed));
                    count += 1;
                }
            }
            ["text" | "yaml" | "sql", name] => {
                fs::write(folder.join(name), block.lines.join("\n") + "\n").unwrap();
            }
            _ => {}
        }
    }
    count
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
