//! Compares the lists of columns in docs/tables.md with those of the code. `BLESS=1` renews them.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use tracewell_tables::{SCHEMA, Table};

/// Returns the columns of a table as Markdown.
fn listed(table: Table) -> String {
    let mut text = "| column | type | unit | meaning |\n|---|---|---|---|\n".to_owned();
    for column in table.columns() {
        let (name, kind) = (column.name, column.kind.name());
        writeln!(text, "| `{name}` | {kind} | {} | {} |", column.unit, column.meaning).unwrap();
    }
    text
}

/// Returns the page with the lists that the code generates.
fn renewed(page: &str) -> String {
    let mut sections = page.split_inclusive("\n### `");
    let mut text = sections.next().unwrap().to_owned();
    for section in sections {
        let (name, _) = section.split_once('`').unwrap();
        let table: Table = name.parse().unwrap();
        let (before, after) = section.split_once("\n| column").unwrap();
        let rest = after.find("\n\n").map_or("", |end| &after[end + 1..]);
        write!(text, "{before}\n{}{rest}", listed(table)).unwrap();
    }
    text
}

#[test]
fn the_page_has_the_columns_of_all_tables() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/tables.md");
    let page = fs::read_to_string(&path).unwrap();
    let expected = renewed(&page);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &expected).unwrap();
    } else {
        assert_eq!(page, expected, "run this test with BLESS=1");
    }
    for table in Table::ALL {
        assert!(page.contains(&format!("\n### `{table}`\n")), "{table}");
    }
    assert!(page.contains(&format!("This page describes version {SCHEMA} of the tables")));
}
