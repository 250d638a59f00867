//! A lake in object storage, with the server moto, which speaks the protocol of S3. Without moto,
//! the test reports that it is skipped; in CI, it fails.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server on a free port. It ends when this value is dropped.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts the server and makes a bucket. Returns `None` if the server is not installed.
    fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("moto_server");
        command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let mut server = Self { child, port };
        let mut stream = loop {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                break stream;
            }
            assert!(server.child.try_wait().unwrap().is_none(), "moto_server ended");
            std::thread::yield_now();
        };
        let request = "PUT /traces HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\
                       Connection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        Some(server)
    }

    /// Returns a program that finds the server.
    fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        let endpoint = format!("http://127.0.0.1:{}", self.port);
        let variables = [
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ENDPOINT_URL", &endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("NO_PROXY", "127.0.0.1"),
        ];
        command.envs(variables).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn printed(&self, program: &str, arguments: &[&str]) -> String {
        let output = self.command(program, arguments).output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), messages), (Some(0), String::new()));
        String::from_utf8(output.stdout).unwrap()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const QUERY: &str = env!("CARGO_BIN_EXE_tracewell-query");
const INGEST: &str = env!("CARGO_BIN_EXE_tracewell-ingest");

#[test]
fn a_lake_can_be_in_object_storage() {
    let Some(server) = Server::start() else {
        assert!(std::env::var_os("CI").is_none(), "moto_server is missing");
        eprintln!("skipped: no moto_server (PyPI: moto[server])");
        return;
    };
    let files = "crates/tracewell/tests/fixtures/shark/*.dat";
    let lake = "s3://traces/some/lake";
    // Several writers add the same traces.
    let arguments = [files, "-o", lake, "--keep-raw"];
    let writers: Vec<_> =
        (0..3).map(|_| server.command(INGEST, &arguments).spawn().unwrap()).collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        let status = output.status.code();
        // A damaged trace is among them.
        assert!(matches!(status, Some(0 | 3)), "{}", String::from_utf8_lossy(&output.stderr));
    }
    for query in ["worst-responses", "load-by-context", "longest-waits", "losses-by-trace"] {
        let run = ["--run", query, lake];
        let of_files = server.command(QUERY, &["--run", query, files]).output().unwrap();
        let of_files = String::from_utf8(of_files.stdout).unwrap();
        assert!(of_files.lines().count() > 1, "{query}");
        assert_eq!(server.printed(QUERY, &run), of_files, "{query}");
    }
    let sql = format!(
        "SELECT count(*) > 3 AS many FROM traces('{lake}') HAVING count(*) = \
                       count(DISTINCT trace)"
    );
    assert_eq!(server.printed(QUERY, &[&sql, "--format", "csv"]), "many\ntrue\n");
}
