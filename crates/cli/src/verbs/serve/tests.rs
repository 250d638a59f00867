//! Tests of the server's limits, with shorter time limits than the default. With the default
//! limits, each test would take a long time.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use super::guard::Guard;
use super::http::{Limits, Request, Response};
use super::server::{Answer, Server};

/// A test fails if it waits for the server longer than this.
const LONG: Duration = Duration::from_secs(120);

/// A server that answers each request with this number of bytes.
struct Bytes(usize);

impl Answer for Bytes {
    fn answer(&self, _: &str, _: &Request, stream: &TcpStream, limits: &Limits) -> io::Result<()> {
        Response::new("text/plain", vec![b'x'; self.0]).write(stream, limits)
    }
}

/// Starts a server with these limits. Returns its address, and the head of a request that the
/// server accepts.
fn start(limits: Limits, bytes: usize) -> (SocketAddr, String) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let guard = Guard::new().unwrap();
    let head = format!("GET /{}/ HTTP/1.1\r\nHost: {address}\r\n\r\n", guard.token());
    let server = Arc::new(Server::new(guard, limits, Bytes(bytes)));
    thread::spawn(move || server.run(&listener));
    (address, head)
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(LONG)).unwrap();
    stream
}

/// Returns everything that the server sends until it ends the connection.
fn answer(mut stream: &TcpStream) -> String {
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8(answer).unwrap()
}

#[test]
fn a_client_that_sends_its_head_slowly_is_refused() {
    let head_time = Duration::from_millis(300);
    let (address, head) = start(Limits { head_time, ..Limits::default() }, 1);
    let silent = connect(address);
    let mut slow = connect(address);
    let start = Instant::now();
    // Each byte arrives soon after the previous byte, but the whole head takes too long.
    for byte in head.bytes().cycle().filter(|byte| *byte != b'\n') {
        if slow.write_all(&[byte]).is_err() || start.elapsed() > LONG {
            break;
        }
        thread::sleep(Duration::from_millis(1));
        if start.elapsed() > 2 * head_time {
            break;
        }
    }
    assert!(answer(&slow).starts_with("HTTP/1.1 408 "));
    assert!(answer(&silent).starts_with("HTTP/1.1 408 "));
    let mut quick = connect(address);
    quick.write_all(head.as_bytes()).unwrap();
    assert!(answer(&quick).starts_with("HTTP/1.1 200 "));
}

#[test]
fn a_client_that_does_not_read_loses_its_connection() {
    let part_time = Duration::from_millis(200);
    // This response is larger than the buffers of the system, so the write must wait.
    let length = 64 << 20;
    let limits = Limits { part_time, connections: 1, ..Limits::default() };
    let (address, head) = start(limits, length);
    let mut idle = connect(address);
    idle.write_all(head.as_bytes()).unwrap();
    // The limit is one connection, so the server answers a second one only after it has closed the
    // first.
    let begin = Instant::now();
    while begin.elapsed() < LONG {
        let mut next = connect(address);
        next.write_all(head.as_bytes()).unwrap();
        let mut status = [0; 12];
        match next.read_exact(&mut status) {
            Ok(()) if &status == b"HTTP/1.1 200" => return,
            // The connection is refused with 503, or closed before the request was read.
            _ => thread::sleep(Duration::from_millis(20)),
        }
    }
    panic!("the server still waits for the client after {LONG:?}");
}

#[test]
fn connections_beyond_the_limit_are_refused_and_the_others_continue() {
    let limits = Limits { connections: 3, ..Limits::default() };
    let (address, head) = start(limits, 1);
    let mut open: Vec<_> = (0..3).map(|_| connect(address)).collect();
    // The system accepts connections in the order in which they arrive, so this is the fourth.
    assert!(answer(&connect(address)).starts_with("HTTP/1.1 503 "));
    for stream in &mut open {
        stream.write_all(head.as_bytes()).unwrap();
        assert!(answer(stream).starts_with("HTTP/1.1 200 "));
    }
}

#[test]
fn a_refused_client_can_send_its_whole_request_and_gets_the_answer() {
    let limits = Limits { connections: 0, ..Limits::default() };
    let (address, head) = start(limits, 1);
    let long = head.replace("\r\n\r\n", &format!("\r\nX: {}\r\n\r\n", "x".repeat(512 << 10)));
    for _ in 0..20 {
        let mut stream = connect(address);
        stream.write_all(long.as_bytes()).unwrap();
        let answer = answer(&stream);
        assert!(answer.ends_with("too many connections\n"), "{answer}");
    }
}
