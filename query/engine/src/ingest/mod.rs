//! Adds traces to a lake: `args` is the command line, `batch` writes the traces of a commit,
//! `merge` replaces small files, and `parquet` writes a file.

mod args;
mod batch;
mod merge;
mod parquet;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use tracewell::text::counted;
use tracewell_tables::Table;

use crate::failure::{Failure, Outcome};
use crate::files::{self, TraceFile};
use crate::labels::{self, Labels};
use crate::lake::{Lake, Place, is_url};
use crate::run::{print_message, report};
use crate::sources::{MAX_OPEN, Sources};

pub use args::IngestArgs;
use batch::{Added, Batch};
use merge::{Merged, merge};

/// Maximum total size in bytes of the traces in a commit. A single trace may be larger.
const MAX_BATCH_BYTES: u64 = 256 << 20;

/// Runs a command line. Prints failures and findings on standard error.
pub fn ingest(args: &IngestArgs) -> Outcome {
    match add(args) {
        Ok(outcome) => outcome,
        Err(failure) => report(&failure),
    }
}

fn add(args: &IngestArgs) -> Result<Outcome, Failure> {
    let groups = groups(args, find(args)?)?;
    let is_folder = !is_url(&args.output);
    if is_folder {
        let made = fs::create_dir_all(&args.output);
        made.map_err(|error| Failure::io(Path::new(&args.output), &error))?;
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.map_err(|error| Failure::io(Path::new("threads"), &error))?;
    let sources = Arc::new(Sources::default());
    let tables = if args.tables.is_empty() { Table::ALL.to_vec() } else { args.tables.clone() };
    let mut total = Added::default();
    let mut merged = Merged::default();
    let result: Result<usize, Failure> = runtime.block_on(async {
        let mut lake = Lake::open_or_create(Place::find(&args.output)?).await?;
        for (folder, traces) in groups {
            for traces in batches(traces) {
                let (keep_raw, with_text) = (args.keep_raw, args.text);
                let batch = Batch { folder: &folder, tables: &tables, keep_raw, with_text };
                total += batch.add(traces, &mut lake, &sources).await?;
                lake.compact_if_long().await?;
            }
        }
        if args.merge {
            merged = merge(&mut lake, args.keep_merged * 3600).await?;
        }
        if args.compact || args.merge {
            lake.compact().await?;
        }
        Ok(lake.len())
    });
    sources.findings.take().iter().for_each(|message| print_message(message));
    let traces = result?;
    let (added, lake) = (counted(total.traces as u64, "trace"), counted(traces as u64, "trace"));
    let (rows, bytes) = (counted(total.rows, "row"), counted(total.bytes, "byte"));
    let known = match total.known {
        0 => String::new(),
        known => format!("; {} already there", counted(known as u64, "trace")),
    };
    let merged = match merged {
        Merged { from: 0, .. } => String::new(),
        Merged { from, to } => {
            format!("; merged {} into {to}", counted(from as u64, "file"))
        }
    };
    println!("added {added}, {rows}, {bytes}{known}{merged}; {} has {lake}", args.output);
    Ok(sources.findings.outcome())
}

/// Returns the traces with all their labels.
fn find(args: &IngestArgs) -> Result<Vec<TraceFile>, Failure> {
    let mut options = args.options.clone();
    options.extend(args.format_in.iter().map(|format| format!("format={format}")));
    let pattern = args.labels.as_deref().map(Labels::parse).transpose()?;
    let given: Vec<_> =
        args.given.iter().map(|text| labels::given(text)).collect::<Result<_, _>>()?;
    let mut traces = files::find(&args.files, &options, pattern.as_ref())?;
    traces.iter_mut().for_each(|trace| trace.labels.extend(given.clone()));
    for trace in &traces {
        labels::check(&trace.path, &trace.labels)?;
    }
    Ok(traces)
}

/// Returns the traces, grouped by the folder for their labels, such as `firmware=1.2/`.
fn groups(
    args: &IngestArgs,
    traces: Vec<TraceFile>,
) -> Result<BTreeMap<String, Vec<Arc<TraceFile>>>, Failure> {
    let mut groups: BTreeMap<String, Vec<_>> = BTreeMap::new();
    for trace in traces {
        let mut folder = String::new();
        for label in &args.partition {
            let value = trace.label(label).ok_or_else(|| {
                let path = tracewell::text::shown_path(&trace.path);
                Failure::usage(format!("--partition {label}: {path} has no such label"))
            })?;
            folder += &format!("{label}={}/", labels::as_folder(value));
        }
        groups.entry(folder).or_default().push(Arc::new(trace));
    }
    Ok(groups)
}

/// Returns the traces in batches, each with a limited number of traces and bytes.
fn batches(traces: Vec<Arc<TraceFile>>) -> Vec<Vec<Arc<TraceFile>>> {
    let mut batches: Vec<Vec<_>> = Vec::new();
    let mut bytes = 0;
    for trace in traces {
        // A trace that cannot be read is reported when it is opened.
        let size = fs::metadata(&trace.path).map_or(0, |data| data.len());
        match batches.last_mut() {
            Some(last) if last.len() < MAX_OPEN && bytes + size <= MAX_BATCH_BYTES => {
                bytes += size;
                last.push(trace);
            }
            _ => {
                bytes = size;
                batches.push(vec![trace]);
            }
        }
    }
    batches
}
