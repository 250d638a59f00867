//! The server moto, which speaks the protocol of S3, for tests of lakes in object storage.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A server on a free port. It ends when this value is dropped.
pub struct Server {
    child: Child,
    port: u16,
}

impl Server {
    /// Starts the server and makes a bucket. If the server is not installed, the test fails in CI.
    /// Elsewhere, this function returns `None` and reports that the test is skipped.
    pub fn start() -> Option<Self> {
        let server = Self::try_start();
        if server.is_none() {
            assert!(std::env::var_os("CI").is_none(), "moto_server is missing");
            eprintln!("skipped: no moto_server (PyPI: moto[server])");
        }
        server
    }

    fn try_start() -> Option<Self> {
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

    /// Returns the variables with which a program finds the server.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        let variables = [
            ("AWS_ACCESS_KEY_ID", "key"),
            ("AWS_SECRET_ACCESS_KEY", "secret"),
            ("AWS_REGION", "us-east-1"),
            ("AWS_ALLOW_HTTP", "true"),
            ("NO_PROXY", "127.0.0.1"),
        ];
        let endpoint = ("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port));
        let variables = variables.map(|(name, value)| (name, value.to_owned()));
        variables.into_iter().chain([endpoint]).collect()
    }

    /// Returns a command that runs a program in the root of the repository, with the variables that
    /// let it find the server.
    pub fn command(&self, program: &str, arguments: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(arguments).current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."));
        command.envs(self.variables());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs a program that must succeed, and returns what it prints.
    pub fn printed(&self, program: &str, arguments: &[&str]) -> String {
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
