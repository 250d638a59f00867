//! The command line of `tracewell-query`.

use std::path::PathBuf;

use clap::Parser;

use crate::output::Form;

/// Answers SQL questions over traces.
#[derive(Debug, Parser)]
#[command(name = "tracewell-query", version)]
#[command(after_help = "Examples:
  tracewell query \"SELECT name, count(*) FROM 'trace.trx' GROUP BY name\"
  tracewell query \"SELECT * FROM waits ORDER BY duration_ns DESC LIMIT 5\" runs/*.trx -O rate=100MHz
  tracewell query --list
  tracewell query --run worst-responses runs/
  tracewell query --run regressions --set label=firmware --set old=1.0 --set new=1.1 runs/
  tracewell query --run steps --set label=firmware --cluster scheduler:50050 s3://traces/lake
  tracewell query -f report.sql --format csv -o report.csv runs/

Exit status: 0 success, 2 wrong usage or SQL, 3 a trace is unreadable or damaged (the answer contains
its readable part), 4 other input or output error.")]
pub struct Args {
    /// SQL, followed by traces, folders of traces, and patterns; omit the SQL with -f or --run. The
    /// traces become the tables events, spans, marks, counters, arrows, jobs, waits, losses,
    /// contexts, objects, figures and traces. Without SQL, shows a prompt on a terminal
    #[arg(value_name = "SQL|FILE")]
    pub words: Vec<String>,

    /// Run the statements of a file; - is standard input
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["run", "list"])]
    pub file: Option<PathBuf>,

    /// Run a predefined query
    #[arg(long, value_name = "NAME", conflicts_with = "list")]
    pub run: Option<String>,

    /// List the predefined queries
    #[arg(long)]
    pub list: bool,

    /// Print the SQL of a predefined query instead of running it
    #[arg(long, requires = "run")]
    pub show: bool,

    /// Set a parameter of a predefined query
    #[arg(long, value_name = "NAME=VALUE", requires = "run")]
    pub set: Vec<String>,

    /// Read traces as this format instead of recognising it
    #[arg(long, value_name = "NAME")]
    pub format_in: Option<String>,

    /// Set a fact that the traces do not contain, for example rate=100MHz; see `tracewell formats`
    #[arg(short = 'O', value_name = "KEY=VALUE")]
    pub options: Vec<String>,

    /// Make columns from the ends of paths, such as {firmware}/{device}.trx; folders named
    /// key=value always become columns
    #[arg(long, value_name = "PATTERN")]
    pub labels: Option<String>,

    /// Set the form of the rows; the default is the form that the extension of -o selects,
    /// otherwise table
    #[arg(long, value_enum, value_name = "FORM")]
    pub format: Option<Form>,

    /// Write to this file; - is standard output
    #[arg(short, long, value_name = "OUT")]
    pub output: Option<PathBuf>,

    /// Replace the file of -o if it exists
    #[arg(long)]
    pub force: bool,

    /// Send the queries to the cluster whose scheduler has this address; see
    /// `tracewell-cluster --help`. The traces must be in lakes that all machines of the cluster can
    /// read
    #[arg(long, value_name = "HOST:PORT")]
    pub cluster: Option<String>,

    /// Limit the memory for sorting and grouping, in MiB; beyond it, temporary files are used
    #[arg(long, value_name = "MIB", default_value_t = 2048)]
    #[arg(value_parser = clap::value_parser!(u32).range(16..))]
    pub memory: u32,
}
