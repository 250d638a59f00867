//! The command line of `tracewell-ingest`.

use clap::Parser;
use tracewell_tables::Table;

/// Adds traces to a lake of Parquet files, in a folder or in object storage.
#[derive(Debug, Parser)]
#[command(name = "tracewell-ingest", version)]
#[command(after_help = "Examples:
  tracewell ingest runs/ -o lake -O rate=100MHz
  tracewell ingest --labels '{firmware}/{device}.trx' --partition firmware runs/ -o lake
  tracewell ingest --label firmware=1.2 dump.trx -o s3://traces/lake
  tracewell query \"SELECT firmware, count(*) FROM traces GROUP BY firmware\" lake

A trace whose bytes the lake already contains is not added again. Each commit adds up to 64 traces;
a stopped run keeps its commits, and the next run adds the rest.

Exit status: 0 success, 2 wrong usage, 3 a trace is unreadable or damaged (its readable part
was added), 4 other input or output error.")]
pub struct IngestArgs {
    /// Traces, folders of traces, and patterns
    #[arg(value_name = "FILE", required_unless_present_any = ["compact", "merge"])]
    pub files: Vec<String>,

    /// Add to this lake: a folder, which is made if it does not exist, or s3://BUCKET/PREFIX with
    /// the keys in environment variables such as AWS_ACCESS_KEY_ID, AWS_REGION and AWS_ENDPOINT_URL
    #[arg(short, long, value_name = "LAKE")]
    pub output: String,

    /// Read traces as this format instead of recognising it
    #[arg(long, value_name = "NAME")]
    pub format_in: Option<String>,

    /// Set a fact that the traces do not contain, for example rate=100MHz; see `tracewell formats`
    #[arg(short = 'O', value_name = "KEY=VALUE")]
    pub options: Vec<String>,

    /// Make labels from the ends of paths, such as {firmware}/{device}.trx; folders named key=value
    /// always become labels
    #[arg(long, value_name = "PATTERN")]
    pub labels: Option<String>,

    /// Give all traces a label
    #[arg(long = "label", value_name = "KEY=VALUE")]
    pub given: Vec<String>,

    /// Put traces with different values of these labels into different folders
    #[arg(long, value_name = "LABEL", value_delimiter = ',')]
    pub partition: Vec<String>,

    /// Write only these tables; the default is all tables
    #[arg(long, value_name = "TABLE", value_delimiter = ',')]
    pub tables: Vec<Table>,

    /// Keep the column `text` of `events`, which repeats the arguments and needs much space
    #[arg(long)]
    pub text: bool,

    /// Keep the traces themselves in the lake, too
    #[arg(long)]
    pub keep_raw: bool,

    /// Merge the log of the lake into one file, even if the log is short
    #[arg(long)]
    pub compact: bool,

    /// Merge small Parquet files of the lake into large ones, and its log into one file
    #[arg(long)]
    pub merge: bool,

    /// Delete merged files only after this time: queries that began before the merge read them
    #[arg(long, value_name = "HOURS", default_value_t = 24, requires = "merge")]
    #[arg(value_parser = clap::value_parser!(u64).range(..=MAX_HOURS))]
    pub keep_merged: u64,
}

/// Maximum of `--keep-merged`: a hundred years.
const MAX_HOURS: u64 = 876_000;
