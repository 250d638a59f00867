//! The part of HTTP/1.1 that the page needs: the head of a GET or PUT request, the body of a PUT
//! request, and a response.
//!
//! Each connection serves one request. `routes` contains the addresses, and `guard` refuses
//! requests.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Limits of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Maximum length of the head of a request, in bytes.
    pub(super) head_bytes: usize,
    /// Time within which the whole head must arrive.
    pub(super) head_time: Duration,
    /// Time within which a client must read each [`PART`] of a response.
    pub(super) part_time: Duration,
    /// Maximum number of simultaneous connections.
    pub(super) connections: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            head_bytes: 16 << 10,
            head_time: Duration::from_secs(10),
            part_time: Duration::from_secs(30),
            connections: 256,
        }
    }
}

/// Maximum length of a part of a response, in bytes. Each part has its own time limit.
const PART: usize = 1 << 20;

/// Maximum number of header lines in a request.
const MAX_HEADERS: usize = 64;

/// The length in bytes of a PUT request's body, and the part of it that arrived with the head.
#[derive(Debug)]
pub(super) struct Body {
    length: u64,
    start: Vec<u8>,
}

/// The head of a request.
#[derive(Debug)]
pub(super) struct Request {
    /// The body of a PUT request. GET requests have none.
    pub(super) body: Option<Body>,
    /// The path, as the client sent it.
    pub(super) path: String,
    /// The text after `?`, as the client sent it.
    pub(super) query: String,
    /// The value of `Host`.
    pub(super) host: String,
    /// The value of `Origin`, if the request has one.
    pub(super) origin: Option<String>,
}

/// Status of a response, and its text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Status(pub(super) u16, pub(super) &'static str);

pub(super) const OK: Status = Status(200, "OK");
pub(super) const BAD: Status = Status(400, "Bad Request");
pub(super) const FORBIDDEN: Status = Status(403, "Forbidden");
pub(super) const NOT_FOUND: Status = Status(404, "Not Found");
pub(super) const METHOD: Status = Status(405, "Method Not Allowed");
pub(super) const CONFLICT: Status = Status(409, "Conflict");
pub(super) const LARGE: Status = Status(413, "Content Too Large");
pub(super) const SLOW: Status = Status(408, "Request Timeout");
pub(super) const TOO_LARGE: Status = Status(431, "Request Header Fields Too Large");
pub(super) const FAILED: Status = Status(500, "Internal Server Error");
pub(super) const BUSY: Status = Status(503, "Service Unavailable");

/// A response with its whole body.
#[derive(Clone, Debug)]
pub(super) struct Response {
    status: Status,
    kind: &'static str,
    policy: &'static str,
    edition: Option<u64>,
    /// Addresses that the page requests when its script runs. The browser requests them as soon as
    /// it has the head of the response.
    early: Vec<String>,
    body: Arc<Vec<u8>>,
}

/// The content security policy of all responses except the page: the browser must load and execute
/// nothing.
const NOTHING: &str = "default-src 'none'";

impl Response {
    /// Returns a response of this media type.
    pub(super) fn new(kind: &'static str, body: impl Into<Arc<Vec<u8>>>) -> Self {
        Self {
            status: OK,
            kind,
            policy: NOTHING,
            edition: None,
            early: Vec::new(),
            body: body.into(),
        }
    }

    /// Returns a response with an HTML document and its content security policy. The script of the
    /// document requests the addresses `early`.
    pub(super) fn page(html: Vec<u8>, policy: &'static str, early: Vec<String>) -> Self {
        Self { policy, early, ..Self::new("text/html; charset=utf-8", html) }
    }

    /// Returns a response with a JSON document.
    pub(super) fn json(body: impl Into<Arc<Vec<u8>>>) -> Self {
        Self::new("application/json", body)
    }

    /// Returns the same response with the edition of the content as its `ETag`.
    pub(super) fn of_edition(self, edition: u64) -> Self {
        Self { edition: Some(edition), ..self }
    }

    /// Returns a response that refuses a request or reports an error. The message is plain text.
    pub(super) fn error(status: Status, message: impl AsRef<str>) -> Self {
        let body = format!("{}\n", message.as_ref()).into_bytes();
        Self { status, ..Self::new("text/plain; charset=utf-8", body) }
    }

    /// Writes the response.
    ///
    /// # Errors
    /// Returns an error if the client closes the connection, or reads the response too slowly.
    pub(super) fn write(&self, stream: &TcpStream, limits: &Limits) -> io::Result<()> {
        let edition =
            self.edition.map_or(String::new(), |edition| format!("ETag: \"{edition}\"\r\n"));
        let length = format!("Content-Length: {}\r\n", self.body.len());
        let link = |address| format!("Link: <{address}>; rel=preload; as=fetch; crossorigin\r\n");
        let early = self.early.iter().map(link).collect::<String>();
        let head = head(self.status, self.kind, self.policy, &(length + &edition + &early));
        write_within(stream, head.as_bytes(), limits)?;
        self.body.chunks(PART).try_for_each(|part| write_within(stream, part, limits))
    }
}

/// Returns the head of a stream of server-sent events, which lasts until the connection ends.
pub(super) fn stream_head() -> String {
    head(OK, "text/event-stream", NOTHING, "")
}

/// Returns the head of a response. Its headers forbid browsers to show the response in a frame, to
/// send its address to other sites, and to store it. There is no `Cross-Origin-Opener-Policy`:
/// with it, Chromium needs a new process for the page, and the first picture appears 26 to 38 ms
/// later. It would protect the page only from a site that knows its secret address.
fn head(status: Status, kind: &str, policy: &str, more: &str) -> String {
    let Status(code, text) = status;
    let allow = if status == METHOD { "Allow: GET\r\n" } else { "" };
    format!(
        "HTTP/1.1 {code} {text}\r\n\
         Content-Type: {kind}\r\n\
         {more}{allow}\
         Connection: close\r\n\
         Cache-Control: no-store\r\n\
         Content-Security-Policy: {policy}; frame-ancestors 'none'\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Referrer-Policy: no-referrer\r\n\
         X-Content-Type-Options: nosniff\r\n\
         \r\n"
    )
}

/// Writes bytes within the time limit for a part.
pub(super) fn write_within(
    mut stream: &TcpStream,
    mut bytes: &[u8],
    limits: &Limits,
) -> io::Result<()> {
    let end = Instant::now() + limits.part_time;
    while !bytes.is_empty() {
        stream.set_write_timeout(Some(left(end)?))?;
        match stream.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(written) => bytes = &bytes[written..],
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the time until `end`.
///
/// # Errors
/// Returns an error if `end` has passed.
fn left(end: Instant) -> io::Result<Duration> {
    let left = end.saturating_duration_since(Instant::now());
    if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
}

/// Reads the head of a request. Returns `None` if the connection ends before the head is complete.
/// For an invalid or slow request, returns the response that refuses it.
pub(super) fn read(stream: &TcpStream, limits: &Limits) -> Result<Option<Request>, Response> {
    let head = match read_head(stream, limits) {
        Ok(Some(head)) => head,
        Ok(None) => return Ok(None),
        Err(error) if is_timeout(&error) => {
            return Err(Response::error(SLOW, "the request did not arrive in time"));
        }
        Err(_) => return Ok(None),
    };
    let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
    let mut request = httparse::Request::new(&mut headers);
    let end = match request.parse(&head) {
        Ok(httparse::Status::Complete(end)) => end,
        Err(error) if error != httparse::Error::TooManyHeaders => {
            return Err(Response::error(BAD, format!("not a request of HTTP/1.1: {error}")));
        }
        Ok(httparse::Status::Partial) if head.len() < limits.head_bytes => {
            return Err(Response::error(BAD, "not a request of HTTP/1.1: an empty line"));
        }
        // The reader stopped at the maximum length of the head, or the head has too many lines.
        Ok(httparse::Status::Partial) | Err(_) => {
            let message = format!(
                "the head of a request has at most {} bytes and {MAX_HEADERS} lines",
                limits.head_bytes
            );
            return Err(Response::error(TOO_LARGE, message));
        }
    };
    let is_put = request.method == Some("PUT");
    if !is_put && request.method != Some("GET") {
        return Err(wrong_method());
    }
    let header = |name: &str| {
        let mut found = request.headers.iter().filter(|one| one.name.eq_ignore_ascii_case(name));
        let first = found.next().map(|one| String::from_utf8_lossy(one.value).into_owned());
        // With two values, two programs could interpret the same request differently.
        match found.next() {
            Some(_) => Err(Response::error(BAD, format!("the header {name} is repeated"))),
            None => Ok(first),
        }
    };
    let host = header("Host")?.ok_or_else(|| Response::error(BAD, "expected a header Host"))?;
    let origin = header("Origin")?;
    let body = if is_put {
        let length = header("Content-Length")?.and_then(|length| length.parse().ok());
        if header("Transfer-Encoding")?.is_some() {
            return Err(Response::error(BAD, "expected a body without a transfer encoding"));
        }
        let length =
            length.ok_or_else(|| Response::error(BAD, "expected a header Content-Length"))?;
        Some(Body { length, start: head[end..].to_vec() })
    } else {
        None
    };
    let target = request.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Ok(Some(Request { path: path.to_owned(), query: query.to_owned(), host, origin, body }))
}

/// Returns the response to a request with a method that the requested address does not support.
pub(super) fn wrong_method() -> Response {
    Response::error(METHOD, "expected the method GET; only api/v1/marks also accepts PUT")
}

/// Reads the body of a request. Returns the response that refuses the request if the body has more
/// than `max` bytes, ends early, or arrives too slowly.
pub(super) fn read_body(
    mut stream: &TcpStream,
    body: &Body,
    max: usize,
    limits: &Limits,
) -> Result<Vec<u8>, Response> {
    let length = usize::try_from(body.length).ok().filter(|length| *length <= max);
    let Some(length) = length else {
        return Err(Response::error(LARGE, format!("a body has at most {max} bytes")));
    };
    let end = Instant::now() + limits.part_time;
    let mut bytes = body.start.clone();
    let mut part = [0; 4096];
    while bytes.len() < length {
        let room = part.len().min(length - bytes.len());
        let time = left(end).and_then(|left| stream.set_read_timeout(Some(left)));
        match time.and_then(|()| stream.read(&mut part[..room])) {
            Ok(0) => return Err(Response::error(BAD, "the body ended early")),
            Ok(read) => bytes.extend_from_slice(&part[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return Err(Response::error(SLOW, "the body did not arrive in time")),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

fn is_timeout(error: &io::Error) -> bool {
    // An expired time limit causes one of these errors; the operating system determines which.
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut)
}

/// Reads up to the end of the head, or up to the limit. Returns `None` if the connection ends
/// before that.
fn read_head(mut stream: &TcpStream, limits: &Limits) -> io::Result<Option<Vec<u8>>> {
    let end = Instant::now() + limits.head_time;
    let mut head = Vec::new();
    let mut part = [0; 1024];
    while head.len() < limits.head_bytes {
        stream.set_read_timeout(Some(left(end)?))?;
        let room = part.len().min(limits.head_bytes - head.len());
        let read = match stream.read(&mut part[..room]) {
            Ok(0) => return Ok(None),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        // The empty line that ends the head may have begun in the previous part.
        let searched = head.len().saturating_sub(3);
        head.extend_from_slice(&part[..read]);
        if head[searched..].windows(4).any(|bytes| bytes == b"\r\n\r\n") {
            break;
        }
    }
    Ok(Some(head))
}

/// Returns true if the client has closed its side of the connection. It then needs no answer.
pub(super) fn is_closed(stream: &TcpStream) -> bool {
    if stream.set_nonblocking(true).is_err() {
        return false;
    }
    let closed = match stream.peek(&mut [0]) {
        Ok(read) => read == 0,
        Err(error) => !matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted),
    };
    stream.set_nonblocking(false).is_err() || closed
}

/// Ends a connection after a response. If bytes from the client remained unread, the system could
/// discard the response. So this function reads them: for at most a second, and at most [`PART`]
/// bytes.
pub(super) fn close(mut stream: &TcpStream) {
    let _ = stream.shutdown(Shutdown::Write);
    let end = Instant::now() + Duration::from_secs(1);
    let mut rest = [0; 4096];
    let mut total = 0;
    while let Ok(left) = left(end)
        && stream.set_read_timeout(Some(left)).is_ok()
        && let Ok(read @ 1..) = stream.read(&mut rest)
        && total < PART
    {
        total += read;
    }
}
