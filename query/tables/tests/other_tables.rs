//! Tests that the tables other than `events` agree with the analyses, and that docs/tables.md
//! describes all columns.

mod common;

use common::{fixture, open, rows};
use tracewell::analysis::scheduling::{Scheduling, Wanted};
use tracewell_tables::{Request, Settings, Source, Table};

#[test]
fn jobs_and_waits_are_those_of_the_analysis() {
    let mut scheduling = Scheduling::new(Wanted { jobs: true, waits: true, ..Wanted::default() });
    let path = fixture("shark/a_linear.dat");
    let trace = tracewell::open(path).unwrap().read(&mut scheduling).unwrap();
    let figures = scheduling.figures(&trace);
    let source = open("shark/a_linear.dat", &[]);
    let jobs = rows(&source, Table::Jobs, &Request::default());
    assert!(!jobs.is_empty());
    assert_eq!(jobs.len(), figures.jobs.len());
    for (row, job) in jobs.iter().zip(&figures.jobs) {
        assert_eq!(row["ticks"], job.release);
        assert_eq!(row["duration_ticks"], job.response());
        assert_eq!(row["context_name"], *trace.contexts.get(job.context).unwrap().name);
    }
    assert_eq!(rows(&source, Table::Waits, &Request::default()).len(), figures.waits.len());
}

#[test]
fn spans_of_a_context_add_up_to_its_execution() {
    let path = fixture("shark/a_linear.dat");
    let mut scheduling = Scheduling::new(Wanted::default());
    let trace = tracewell::open(path).unwrap().read(&mut scheduling).unwrap();
    let figures = scheduling.figures(&trace);
    let spans = rows(&open("shark/a_linear.dat", &[]), Table::Spans, &Request::default());
    for task in &figures.tasks {
        let context = trace.contexts.get(task.context).unwrap();
        let key = context.key;
        // Tasks reuse keys.
        let of_task = spans.iter().filter(|row| {
            row["track"] == "context"
                && row["state"] == "running"
                && row["key"] == key
                && row["subject"] == *context.name
        });
        let sum: u64 = of_task.map(|row| row["duration_ticks"].as_u64().unwrap()).sum();
        assert_eq!(sum, task.execution.as_ref().unwrap().ticks, "context {key:#x}");
    }
}

#[test]
fn figures_have_the_names_of_rules() {
    let figures = rows(&open("shark/a_linear.dat", &[]), Table::Figures, &Request::default());
    let has = |measure: &str, statistic: &str| {
        figures.iter().any(|row| row["measure"] == measure && row["statistic"] == statistic)
    };
    assert!(has("response", "p99") && has("response", "max") && has("load", "mean"));
}

#[test]
fn a_trace_is_known_by_the_hash_of_its_bytes() {
    let labels = vec![("firmware".to_owned(), "1.2".to_owned())];
    let path = fixture("threadx/tiny.trx");
    let source = Source::open(&path, Settings::default(), labels).unwrap();
    let traces = rows(&source, Table::Traces, &Request::default());
    assert_eq!(traces.len(), 1);
    // sha256sum threadx/tiny.trx
    assert_eq!(traces[0]["trace"], TINY);
    assert_eq!(traces[0]["labels"], r#"{"firmware":"1.2"}"#);
    assert_eq!(traces[0]["events"], 197);
    assert_eq!(traces[0]["bytes"], std::fs::metadata(&path).unwrap().len());
}

const TINY: &str = "a087981a94546dec3f9f6a9a33ea1574cac6bb71aeb367657c12a78508827ce3";

#[test]
fn losses_contexts_and_objects_are_those_of_the_trace() {
    let source = open("systemview/damaged.bin", &[]);
    let losses = rows(&source, Table::Losses, &Request::default());
    let gaps: u64 = source.trace().losses.iter().map(|(_, count)| count.gaps).sum();
    assert!(gaps > 0);
    assert_eq!(losses.len() as u64, gaps);
    let source = open("threadx/tiny.trx", &[]);
    let contexts = rows(&source, Table::Contexts, &Request::default());
    assert_eq!(contexts.len(), source.trace().contexts.len());
    let objects = rows(&source, Table::Objects, &Request::default());
    let mutex = objects.iter().find(|row| row["object_name"] == "plain mutex").unwrap();
    assert_eq!(mutex["kind"], "mutex");
}

#[test]
fn every_table_of_every_format_can_be_read() {
    for name in ["threadx/tiny.trx", "rkh/ahsm-a.bin", "systemview/long.bin", "ctf/zephyr"] {
        let source = open(name, &[]);
        for table in Table::ALL {
            let request = Request { limit: Some(3), ..Request::default() };
            assert!(rows(&source, table, &request).len() <= 3, "{name}: {table}");
        }
    }
    let source = open("rkh/ahsm-a.bin", &[]);
    for table in [Table::Spans, Table::Arrows, Table::Figures] {
        assert!(!rows(&source, table, &Request::default()).is_empty(), "{table}");
    }
}

/// `BLESS=1` writes the lists of columns again.
#[test]
fn the_documentation_has_all_columns() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tables.md");
    let page = std::fs::read_to_string(path).unwrap();
    let mut expected = page.clone();
    for table in Table::ALL {
        let heading = format!("\n### `{table}`\n");
        let (_, section) = page.split_once(&heading).expect(&heading);
        let section = section.split("\n#").next().unwrap();
        let list = section.find("| column |").map_or("", |start| &section[start..]);
        let rows = table.columns().iter().map(|column| {
            let (name, kind) = (column.name, column.kind.name());
            format!("| `{name}` | {kind} | {} | {} |\n", column.unit, column.meaning)
        });
        let rows: String = rows.collect();
        let head = "| column | type | unit | meaning |\n|---|---|---|---|\n";
        let text = format!("{heading}{}", section.replace(list, &format!("{head}{rows}")));
        expected = expected.replace(&format!("{heading}{section}"), &text);
    }
    if std::env::var_os("BLESS").is_some() {
        return std::fs::write(path, expected).unwrap();
    }
    assert!(page == expected, "docs/tables.md differs; BLESS=1 writes its lists again");
}
