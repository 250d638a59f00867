//! `tracewell collect`: what a target sends, into a file.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use clap::Args;
use tracewell::collect::{Collector, Report, Until};

use crate::outcome::{Failure, Outcome};
use crate::output;

/// Receive a trace while a target sends it
///
/// Takes the UDP datagrams of S.Ha.R.K.'s new tracer and writes a capture that every other verb reads. Ends
/// with the first of --seconds, --packets and --idle, or by Ctrl-C; then says what came, and which
/// packets are missing, late or doubled. Packets of the first sender are taken, others left out.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  tracewell collect --udp 0.0.0.0:20000 -o run.udpcap
  tracewell collect --udp 192.168.1.1:20000 --idle 5 -o run.udpcap && tracewell report run.udpcap

Exit status: 3 if packets are missing or damaged.")]
pub(crate) struct Collect {
    /// Address to listen on; the port of the tracer is 20000, 0 takes any free one
    #[arg(long, value_name = "ADDRESS:PORT")]
    udp: String,

    /// Where to write, at once; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// End after so many seconds
    #[arg(long, value_name = "N", value_parser = seconds)]
    seconds: Option<Duration>,

    /// End when so many packets of different numbers came
    #[arg(long, value_name = "N")]
    packets: Option<u64>,

    /// End when nothing came for so many seconds after the first packet
    #[arg(long, value_name = "N", value_parser = seconds)]
    idle: Option<Duration>,

    /// For programs: the report as a JSON object
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "expected a number of seconds such as 10 or 0.5".to_owned())
}

impl Collect {
    pub(crate) fn run(&self) -> Outcome {
        self.collect().unwrap_or_else(Failure::tell)
    }

    fn collect(&self) -> Result<Outcome, Failure> {
        let on_socket = |error| Failure::io(Path::new(&self.udp), &error);
        let socket = UdpSocket::bind(&self.udp).map_err(on_socket)?;
        let stop = stop_signal().map_err(on_socket)?;
        let report = self.receive(&socket, &stop)?;
        self.tell(&report)?;
        Ok(if report.is_lossy() { Outcome::Damaged } else { Outcome::Done })
    }

    fn receive(&self, socket: &UdpSocket, stop: &AtomicBool) -> Result<Report, Failure> {
        let on_file = |error| Failure::io(self.path(), &error);
        let out: Box<dyn Write> = match self.is_stdout() {
            true => Box::new(output::stdout()),
            false => Box::new(File::create(&self.output).map_err(on_file)?),
        };
        let at = socket.local_addr().map_err(on_file)?;
        eprintln!("tracewell: listening on {at}");
        let mut collector = Collector::new(BufWriter::with_capacity(1 << 16, out));
        let until = Until { elapsed: self.seconds, packets: self.packets, idle: self.idle };
        let collected = collector.udp(socket, until, || stop.load(Ordering::Relaxed));
        collected.map_err(on_file)?;
        Ok(collector.report())
    }

    fn tell(&self, report: &Report) -> Result<(), Failure> {
        let text = match self.json {
            true => serde_json::to_string_pretty(report).map_err(Failure::usage)?,
            false => report.to_string(),
        };
        if self.is_stdout() {
            eprintln!("{text}");
            return Ok(());
        }
        let told = writeln!(output::stdout(), "{text}");
        told.map_err(|error| Failure::io(output::stdout_path(), &error))
    }

    fn is_stdout(&self) -> bool {
        self.output == Path::new("-")
    }

    fn path(&self) -> &Path {
        if self.is_stdout() { output::stdout_path() } else { &self.output }
    }
}

/// A flag that Ctrl-C and a request to terminate set; the second one of them ends the program at once.
fn stop_signal() -> io::Result<Arc<AtomicBool>> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
        signal_hook::flag::register_conditional_shutdown(signal, 4, Arc::clone(&stop))?;
        signal_hook::flag::register(signal, Arc::clone(&stop))?;
    }
    Ok(stop)
}
