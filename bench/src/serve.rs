//! Measures the server of the timeline: starts `tracewell serve`, and sends it requests.

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running server of one trace.
#[derive(Debug)]
pub struct Server {
    child: Child,
    host: String,
    path: String,
}

impl Server {
    /// Starts a server for `file`, and waits until it prints its address. The server stores
    /// summaries in `cache`.
    ///
    /// # Errors
    /// Returns an error if the program does not print an address.
    pub fn start(program: &Path, file: &Path, cache: &Path) -> io::Result<Self> {
        let mut child = Command::new(program)
            .arg("serve")
            .arg(file)
            .env("XDG_CACHE_HOME", cache)
            .stdout(Stdio::piped())
            .spawn()?;
        let output = child.stdout.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        let address = address.trim_end().strip_prefix("http://");
        let (host, path) = address.and_then(|address| address.split_once('/')).unwrap_or_default();
        Ok(Self { child, host: host.to_owned(), path: path.to_owned() })
    }

    /// Sends a request. Returns the body of the answer, and the time to its last byte.
    ///
    /// # Errors
    /// Returns an error if the connection fails, or the status is not 200.
    pub fn get(&self, address: &str) -> io::Result<(Vec<u8>, Duration)> {
        let start = Instant::now();
        let mut stream = TcpStream::connect(&self.host)?;
        let Self { host, path, .. } = self;
        write!(stream, "GET /{path}{address} HTTP/1.1\r\nHost: {host}\r\n\r\n")?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let spent = start.elapsed();
        let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
        let head = answer.get(..end.unwrap_or(0)).unwrap_or_default();
        if !head.starts_with(b"HTTP/1.1 200 ") {
            let shown = String::from_utf8_lossy(&answer).into_owned();
            return Err(io::Error::other(format!("{address}: {shown}")));
        }
        Ok((answer.split_off(head.len() + 4), spent))
    }

    /// Returns true until the server has read the whole trace.
    ///
    /// # Errors
    /// Returns the errors of [`Self::get`].
    pub fn is_reading(&self) -> io::Result<bool> {
        let (progress, _) = self.get("api/v1/trace")?;
        Ok(String::from_utf8_lossy(&progress).contains("\"reading\":true"))
    }

    /// Returns the processor time of the server, including the time of threads that have ended.
    ///
    /// # Errors
    /// Returns an error on systems other than Linux.
    pub fn processor_time(&self) -> io::Result<Duration> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.child.id()))?;
        // The fields after the name of the program: fields 12 and 13 are in ticks of 10 ms.
        let fields = stat.rsplit(") ").next().unwrap_or_default().split(' ');
        let ticks = fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<u64>().ok());
        Ok(Duration::from_millis(10 * ticks.sum::<u64>()))
    }

    /// Returns the anonymous memory of the server in KiB. The mapped trace is not included.
    ///
    /// # Errors
    /// Returns an error on systems other than Linux.
    pub fn anonymous_memory(&self) -> io::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
        kib.ok_or_else(|| io::ErrorKind::InvalidData.into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The server may have ended.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
