//! Measures the collector: sends 100 Mbit/s over the loopback interface, and reads the processor
//! time of the collecting program.

use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes per second of the target: 100 Mbit/s.
pub const RATE: f64 = 12.5e6;

/// Time between two writes of the target. The interval is similar to that of a driver that combines
/// interrupts. A network that delivers single frames has shorter intervals.
const INTERVAL: Duration = Duration::from_millis(1);

/// The cost of one run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Processor time of all threads divided by the elapsed time; 1.0 is one full core.
    pub share: f64,
    /// Bytes per second that were sent.
    pub rate: f64,
    /// Bytes that the program did not save.
    pub dropped: u64,
}

/// Runs `program collect -o file` with additional arguments, and sends it `stream` repeatedly for
/// `time`.
///
/// # Errors
/// Returns an error if the program or the connection fails.
pub fn cost(
    program: &Path,
    arguments: &[&str],
    file: &Path,
    stream: &[u8],
    time: Duration,
) -> io::Result<Cost> {
    let mut child = Command::new(program)
        .args(["collect", "--tcp-listen", "127.0.0.1:0", "--once", "-o"])
        .arg(file)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()?;
    let mut target = TcpStream::connect(address(&mut child)?)?;
    target.set_nodelay(true)?;
    let before = processor_time(&child)?;
    let start = Instant::now();
    let sent = send(&mut target, stream, start, time)?;
    let spent = start.elapsed();
    // After this time, every byte is in the file or was dropped.
    thread::sleep(Duration::from_millis(300));
    let processor = processor_time(&child)?.saturating_sub(before);
    drop(target);
    child.wait()?;
    let kept = fs::metadata(file)?.len();
    Ok(Cost {
        share: processor.as_secs_f64() / spent.as_secs_f64(),
        rate: sent as f64 / spent.as_secs_f64(),
        dropped: sent - kept,
    })
}

/// Returns the address in the program's first message. Later messages are not read; they are too
/// few to fill the pipe.
fn address(child: &mut Child) -> io::Result<String> {
    let errors = child.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
    let mut errors = BufReader::new(errors);
    let mut line = String::new();
    errors.read_line(&mut line)?;
    child.stderr = Some(errors.into_inner());
    Ok(line.trim_end().rsplit(' ').next().unwrap_or_default().to_owned())
}

/// Sends the stream repeatedly at [`RATE`]. Returns the number of bytes sent.
fn send(target: &mut TcpStream, stream: &[u8], start: Instant, time: Duration) -> io::Result<u64> {
    let (mut sent, mut rest) = (0, stream);
    while start.elapsed() < time {
        thread::sleep(INTERVAL);
        // Send at most what the rate allows, even if this thread did not run for a while.
        let passed = start.elapsed().min(time);
        let mut due = (RATE * passed.as_secs_f64()) as u64 - sent;
        while due > 0 {
            if rest.is_empty() {
                rest = stream;
            }
            let (now, later) = rest.split_at(rest.len().min(due as usize));
            target.write_all(now)?;
            (sent, due, rest) = (sent + now.len() as u64, due - now.len() as u64, later);
        }
    }
    Ok(sent)
}

/// Returns the processor time of all threads of a running program, from the kernel's statistics.
fn processor_time(child: &Child) -> io::Result<Duration> {
    let mut nanoseconds = 0;
    for task in fs::read_dir(format!("/proc/{}/task", child.id()))? {
        // The thread may have ended in the meantime.
        let text = fs::read_to_string(task?.path().join("schedstat")).unwrap_or_default();
        nanoseconds += text.split(' ').next().and_then(|ns| ns.parse::<u64>().ok()).unwrap_or(0);
    }
    Ok(Duration::from_nanos(nanoseconds))
}
