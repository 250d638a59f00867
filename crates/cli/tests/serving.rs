//! Tests `tracewell serve` over real connections: its answers and its refusals.

mod program;

use std::fs;
use std::io::{BufRead, BufReader, Lines, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use program::{program, root, run, status, stderr};

const TRACE: &str = "examples/scheduling.trx";

/// The longest time that a test waits for an answer. After this time, the test fails.
const LIMIT: Duration = Duration::from_secs(120);

/// A running server. It ends when the value is dropped.
struct Server {
    child: Child,
    /// `127.0.0.1` and the port.
    authority: String,
    /// The path of the page, which begins and ends with a slash.
    secret: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An answer of the server.
#[derive(Debug)]
struct Answer {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|end| end == b"\r\n\r\n").expect("a head") + 4;
        let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head, body: bytes[end..].to_vec() }
    }

    fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap()
    }
}

impl Server {
    fn start(arguments: &[&str]) -> Self {
        let mut command = program(&root());
        command.arg("serve").args(arguments).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        let rest = address.trim_end().strip_prefix("http://").expect("an address");
        let (authority, secret) = rest.split_once('/').unwrap();
        Self { child, authority: authority.to_owned(), secret: format!("/{secret}") }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.authority).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream
    }

    /// Sends bytes to the server, and returns the answer.
    fn send(&self, bytes: &[u8]) -> Answer {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        Answer::parse(&answer)
    }

    /// Requests a path with these headers in addition to `Host`.
    fn request(&self, method: &str, path: &str, headers: &str) -> Answer {
        let host = &self.authority;
        self.send(format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n").as_bytes())
    }

    /// Requests an address whose path begins with the secret.
    fn get(&self, path: &str) -> Answer {
        self.request("GET", &format!("{}{path}", self.secret), "")
    }
}

/// The progress that a server reports.
struct Live(Lines<BufReader<TcpStream>>);

impl Live {
    fn of(server: &Server) -> Self {
        let mut stream = server.connect();
        let Server { authority, secret, .. } = server;
        let request = format!("GET {secret}api/v1/live HTTP/1.1\r\nHost: {authority}\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        Self(BufReader::new(stream).lines())
    }

    /// Returns the first progress report that meets a condition.
    fn until(&mut self, condition: impl Fn(&Value) -> bool) -> Value {
        let mut messages = self.0.by_ref().filter_map(|line| {
            let line = line.unwrap();
            let data = line.strip_prefix("data: ")?;
            Some(serde_json::from_str::<Value>(data).unwrap())
        });
        messages.find(condition).expect("the server reports progress until the test ends")
    }
}

/// Returns the output of a command.
fn output_of(arguments: &[&str]) -> Vec<u8> {
    run(arguments).stdout
}

#[test]
fn the_page_allows_only_its_own_script_and_server() {
    let server = Server::start(&[TRACE]);
    let page = server.get("");
    assert_eq!(page.status, 200);
    assert!(page.text().starts_with("<!doctype html>"));
    for header in [
        "Content-Type: text/html; charset=utf-8\r\n",
        "X-Content-Type-Options: nosniff\r\n",
        "Referrer-Policy: no-referrer\r\n",
        "Cache-Control: no-store\r\n",
        "Content-Security-Policy: default-src 'none'; script-src 'sha256-",
        "connect-src 'self'; frame-ancestors 'none'\r\n",
    ] {
        assert!(page.head.contains(header), "{header}: {}", page.head);
    }
    assert!(!page.head.contains("unsafe-inline"));
    let data = server.get("api/v1/trace");
    assert!(data.head.contains("default-src 'none'; frame-ancestors 'none'\r\n"), "{}", data.head);
}

#[test]
fn the_head_of_the_page_names_the_first_requests_of_its_script() {
    let named = |files: &[&str]| {
        let server = Server::start(files);
        let head = server.get("").head;
        let links = head.lines().filter_map(|line| line.strip_prefix("Link: <"));
        let links = links.map(|link| link.strip_suffix(">; rel=preload; as=fetch; crossorigin"));
        let links: Vec<_> = links.map(|link| link.expect("a link to load").to_owned()).collect();
        links.iter().for_each(|link| assert_eq!(server.get(link).status, 200, "{link}"));
        assert!(!server.get("api/v1/trace").head.contains("Link:"));
        links
    };
    let first = ["api/v1/trace", "api/v1/page?first=1"];
    assert_eq!(named(&[TRACE]), first);
    assert_eq!(named(&[TRACE, TRACE]), [&first[..], &["api/v1/page?first=1&file=1"]].concat());
}

#[test]
fn programs_get_what_the_commands_print() {
    let server = Server::start(&["-O", "rate=100MHz", TRACE]);
    // The first request for the payload waits until the trace has been read.
    assert_eq!(server.get("api/v1/page").status, 200);
    let trace = server.get("api/v1/trace").json();
    let info = output_of(&["info", "--json", "-O", "rate=100MHz", TRACE]);
    assert_eq!(trace["info"], serde_json::from_slice::<Value>(&info).unwrap());
    assert_eq!(trace["reading"], false);

    let range = ["--from", "41ms", "--to", "42ms"];
    let analysis = ["analyze", "--json", "--waits", "-O", "rate=100MHz", TRACE];
    let expected = output_of(&[&analysis[..], &range[..]].concat());
    let answer = server.get("api/v1/analysis?from=41ms&to=42ms");
    assert_eq!(answer.json(), serde_json::from_slice::<Value>(&expected).unwrap());

    let events = ["events", "-O", "rate=100MHz", TRACE];
    let all = output_of(&events);
    let lines: Vec<_> = std::str::from_utf8(&all).unwrap().lines().collect();
    let answer = server.get("api/v1/events?after=9&limit=3");
    assert_eq!(answer.text().lines().collect::<Vec<_>>(), lines[10..13]);
    let filter = ["--where", "id == 103", "--head", "5"];
    let expected = output_of(&[&events[..], &range[..], &filter[..]].concat());
    let answer = server.get("api/v1/events?from=41ms&to=42ms&limit=5&where=id+%3D%3D+103");
    assert_eq!(answer.text().as_bytes(), expected, "{}", answer.text());

    let found = server.get("api/v1/search?q=MUTEX_get&after=21&limit=2").json();
    assert_eq!(found["events"][0]["seq"], 39);
    assert_eq!(found["events"][0]["ticks"], "167715");
    assert_eq!((found["events"].as_array().unwrap().len(), &found["more"]), (2, &true.into()));
    let first = |query: &str| {
        let found = server.get(&format!("api/v1/search?q={query}&limit=1")).json();
        found["events"][0]["seq"].clone()
    };
    // The number of the event, and the address of the mutex `log file`, which the events name.
    assert_eq!([first("0x34a"), first("842")], [842, 842]);
    assert_eq!(
        first("context:control+%26+object:0x20000640"),
        first("context:control+%26+log+file")
    );
    assert_eq!(first("context:missing"), Value::Null);
}

#[test]
fn a_search_finds_the_last_events_before_an_event_and_counts_all() {
    let server = Server::start(&["-O", "rate=100MHz", TRACE]);
    let seqs = |answer: &Value| -> Vec<u64> {
        let events = answer["events"].as_array().unwrap();
        events.iter().map(|event| event["seq"].as_u64().unwrap()).collect()
    };
    let all = server.get("api/v1/search?q=mutex_get&count=1").json();
    let found = seqs(&all);
    assert_eq!(all["count"], found.len());
    let last = found[found.len() - 2];
    let before = server.get(&format!("api/v1/search?q=mutex_get&before={last}&limit=3")).json();
    assert_eq!(seqs(&before), found[found.len() - 5..found.len() - 2]);
    assert_eq!(before["more"], true);
    let few = server.get("api/v1/search?q=mutex_get&count=1&limit=2").json();
    assert_eq!((seqs(&few), &few["count"]), (found[..2].to_vec(), &all["count"]));
}

#[test]
fn the_figures_can_be_limited_to_the_worst_waits() {
    let server = Server::start(&["-O", "rate=100MHz", TRACE]);
    let all = server.get("api/v1/analysis").json();
    let waits = all["traces"][0]["waits"].as_array().unwrap();
    let length =
        |wait: &Value| wait["until_ticks"].as_u64().unwrap() - wait["from_ticks"].as_u64().unwrap();
    let longest = waits.iter().map(length).max().unwrap();
    // The second answer is the one that the server has kept.
    for _ in 0..2 {
        let mut worst = server.get("api/v1/analysis?worst=1").json();
        let few = worst["traces"][0]["waits"].take();
        let few = few.as_array().unwrap();
        assert!(few.len() < waits.len() && few.iter().all(|wait| waits.contains(wait)));
        assert_eq!(few.iter().map(length).max(), Some(longest));
        let more = worst["traces"][0]["more_waits"].clone();
        assert_eq!(more.as_u64(), Some((waits.len() - few.len()) as u64));
        // All other figures are the same.
        let trace = worst["traces"][0].as_object_mut().unwrap();
        assert_eq!(trace.remove("misses").unwrap().as_array().map(Vec::len), Some(0));
        for times in trace["distributions"].as_array_mut().unwrap() {
            let bars = times.as_object_mut().unwrap().remove("bars").unwrap();
            let bars = bars.as_array().unwrap();
            let count = bars.iter().map(|bar| bar["count"].as_u64().unwrap()).sum::<u64>();
            assert_eq!(times["count"], count);
            assert_eq!(bars.last().unwrap()["longest"], times["worst"][0]);
        }
        let mut expected = all.clone();
        expected["traces"][0]["waits"] = Value::Null;
        expected["traces"][0]["more_waits"] = more;
        assert_eq!(worst, expected);
    }
    let part = server.get("api/v1/analysis?worst=1&from=41ms&to=42ms").json();
    assert_eq!(part["traces"][0]["range"]["from_ticks"], 4_100_000);
}

/// The file contains 8 losses, and no event meets the condition. So only the limit on losses
/// shortens the answer.
#[test]
fn the_limit_of_events_is_also_one_of_losses() {
    let server = Server::start(&["crates/tracewell/tests/fixtures/rkh/ahsm-overrun.bin"]);
    let lines = |limit: &str| {
        let answer = server.get(&format!("api/v1/events?where=id+%3D%3D+60000{limit}"));
        assert_eq!(answer.status, 200, "{}", answer.text());
        let lines = answer.text().lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect::<Vec<Value>>()
    };
    let all = lines("");
    assert_eq!(all.len(), 8);
    assert!(all.iter().all(|loss| loss["cause"].is_string()), "{all:?}");
    assert_eq!(lines("&limit=8"), all);
    let some = lines("&limit=3");
    assert_eq!(some[..3], all[..3]);
    assert_eq!(some[3..], [serde_json::json!({ "losses_left_out": 5 })]);
}

#[test]
fn wrong_parameters_are_errors_that_say_what_was_expected() {
    let server = Server::start(&[TRACE]);
    for (path, message) in [
        ("api/v1/events?form=2", "no parameter 'form': expected from, to, after, limit, where"),
        ("api/v1/events?limit=1&limit=2", "the parameter 'limit' is repeated"),
        ("api/v1/events?limit=100001", "limit=100001: expected a number up to 100000"),
        ("api/v1/events?from=now", "from=now: "),
        ("api/v1/events?where=id+%3D", "where:1:5: error: "),
        ("api/v1/events?from=1ms", "times need a clock of known rate"),
        ("api/v1/search", "expected a parameter q"),
        ("api/v1/trace?x=1", "no parameter 'x': expected no parameter"),
    ] {
        let answer = server.get(path);
        assert_eq!(answer.status, 400, "{path}");
        assert!(answer.text().starts_with(message), "{path}: {}", answer.text());
    }
}

#[test]
fn another_host_is_refused() {
    let server = Server::start(&[TRACE]);
    let Server { authority, secret, .. } = &server;
    let port = authority.split(':').next_back().unwrap();
    let ask = |host: &str| {
        server.send(format!("GET {secret} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes()).status
    };
    for own in [authority.clone(), format!("localhost:{port}"), format!("[::1]:{port}")] {
        assert_eq!(ask(&own), 200, "{own}");
    }
    for other in ["example.org", "192.0.2.1", "localhost.example.org", "127.0.0.1.example.org"] {
        assert_eq!(ask(&format!("{other}:{port}")), 403, "{other}");
    }
    let none = server.send(format!("GET {secret} HTTP/1.1\r\n\r\n").as_bytes());
    assert_eq!(none.status, 400);
    let hosts = format!("Host: {authority}\r\nHost: example.org\r\n");
    let two = server.send(format!("GET {secret} HTTP/1.1\r\n{hosts}\r\n").as_bytes());
    assert_eq!(two.status, 400);
}

#[test]
fn another_origin_is_refused() {
    let server = Server::start(&[TRACE]);
    let path = format!("{}api/v1/trace", server.secret);
    let ask = |origin: &str| server.request("GET", &path, &format!("Origin: {origin}\r\n")).status;
    assert_eq!(ask(&format!("http://{}", server.authority)), 200);
    for other in ["http://example.org", "null", "http://127.0.0.1", "https://127.0.0.1:80", ""] {
        assert_eq!(ask(other), 403, "{other}");
    }
    let answer = server.request("GET", &path, "Origin: http://example.org\r\n");
    assert!(!answer.head.to_lowercase().contains("access-control-allow"), "{}", answer.head);
}

#[test]
fn nothing_is_answered_without_the_secret() {
    let server = Server::start(&[TRACE]);
    let secret = server.secret.trim_matches('/');
    assert_eq!(secret.len(), 32);
    let almost = format!("{}0", &secret[..31]);
    let paths = ["/", "", "/api/v1/trace", "/index.html", &format!("/{almost}/"), "/%2e/"];
    let more = [format!("/{}/", &secret[1..]), format!("/{secret}0/"), format!("//{secret}/")];
    for path in paths.into_iter().chain(more.iter().map(String::as_str)) {
        let almost_is_it = almost == secret && path.contains(&almost);
        let status = server.request("GET", path, "").status;
        assert!(
            status == 403 || status == 400 && path.is_empty() || almost_is_it,
            "{path}: {status}"
        );
    }
    let other = Server::start(&[TRACE]);
    assert_ne!(other.secret, server.secret);
    assert_eq!(server.request("GET", &other.secret, "").status, 403);
}

#[test]
fn no_path_reaches_the_disk() {
    let server = Server::start(&[TRACE]);
    for path in [
        "../../etc/passwd",
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e/Cargo.toml",
        "/etc/passwd",
        "Cargo.toml",
        "examples/scheduling.trx",
        "api/v1/../../Cargo.toml",
        "api/v1/page/",
        "api/v1/page%00",
        "api//v1/trace",
    ] {
        assert_eq!(server.get(path).status, 404, "{path}");
    }
    let target = format!("http://{}{}", server.authority, server.secret);
    assert_eq!(server.request("GET", &target, "").status, 403, "a proxy's form of a request");
}

#[test]
fn only_the_method_get_is_answered() {
    let server = Server::start(&[TRACE]);
    for method in ["POST", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "get", "PATCH"] {
        let answer = server.request(method, &server.secret, "Content-Length: 0\r\n");
        assert_eq!(answer.status, 405, "{method}");
        assert!(answer.head.contains("Allow: GET\r\n"));
    }
    for wrong in ["\r\n\r\n\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "\0\r\n\r\n", "GET /\r\n\r\n"] {
        assert_eq!(server.send(wrong.as_bytes()).status, 400, "{wrong:?}");
    }
}

#[test]
fn marks_are_kept_in_their_file_and_nowhere_else() {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("a.trx");
    fs::copy(root().join(TRACE), &trace).unwrap();
    let server = Server::start(&[trace.to_str().unwrap()]);
    let version = |answer: &Answer| {
        let tag = answer.head.split("ETag: \"").nth(1).unwrap();
        tag.split('"').next().unwrap().to_owned()
    };
    let put = |query: &str, content: &str, headers: &str| {
        let host = &server.authority;
        let path = format!("{}api/v1/marks{query}", server.secret);
        let length = content.len();
        let head = format!("PUT {path} HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n");
        server.send(format!("{head}{headers}\r\n{content}").as_bytes())
    };
    let none = server.get("api/v1/marks");
    assert_eq!((none.status, none.text()), (200, ""));
    let marks = "# tracewell marks 1\n41 here\n";
    let was = format!("?was={}", version(&none));
    assert_eq!(put(&was, marks, "Origin: http://example.org\r\n").status, 403);
    assert_eq!(put("", marks, "").status, 400);
    assert_eq!(put(&was, "41 here\n", "").status, 400);
    assert_eq!(put(&was, marks, "Transfer-Encoding: chunked\r\n").status, 400);
    assert!(!folder.path().join("a.trx.marks.txt").exists());
    let kept = put(&was, marks, &format!("Origin: http://{}\r\n", server.authority));
    assert_eq!((kept.status, kept.text()), (200, marks));
    assert_eq!(fs::read_to_string(folder.path().join("a.trx.marks.txt")).unwrap(), marks);
    assert_eq!(put(&was, marks, "").status, 409);
    assert_eq!(server.get("api/v1/marks").text(), marks);
    let path = format!("{}api/v1/marks", server.secret);
    assert_eq!(server.request("PUT", &path, "Content-Length: 99999999\r\n").status, 413);
    assert_eq!(server.request("PUT", &path, "").status, 400);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_large_head_is_refused() {
    let server = Server::start(&[TRACE]);
    let long = format!("X: {}\r\n", "a".repeat(1 << 20));
    assert_eq!(server.request("GET", &server.secret, &long).status, 431);
    assert_eq!(server.request("GET", &server.secret, &"A: b\r\n".repeat(100)).status, 431);
    assert_eq!(
        server.request("GET", &server.secret, &format!("X: {}\r\n", "a".repeat(8000))).status,
        200
    );
}

#[test]
fn two_hundred_clients_are_served_at_the_same_time() {
    let server = Server::start(&[TRACE]);
    // All requests are open and incomplete before the first request is completed.
    let mut clients: Vec<_> = (0..200).map(|_| server.connect()).collect();
    let path = format!("{}api/v1/page", server.secret);
    for client in &mut clients {
        write!(client, "GET {path} HTTP/1.1\r\nHost: {}\r\n", server.authority).unwrap();
    }
    clients.iter_mut().for_each(|client| client.write_all(b"\r\n").unwrap());
    let answers = clients.iter_mut().map(|client| {
        let mut answer = Vec::new();
        client.read_to_end(&mut answer).unwrap();
        Answer::parse(&answer)
    });
    let answers: Vec<_> = answers.collect();
    assert!(answers.iter().all(|answer| answer.status == 200 && answer.body == answers[0].body));
}

#[test]
fn a_growing_file_is_read_again_and_reported() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("growing.bin");
    let whole = fs::read(root().join("crates/tracewell/tests/fixtures/rkh/ahsm-a.bin")).unwrap();
    fs::write(&file, &whole[..whole.len() / 2]).unwrap();
    let server = Server::start(&[file.to_str().unwrap()]);
    let events = |file: &Path| {
        let info = output_of(&["info", "--json", file.to_str().unwrap()]);
        let info: Value = serde_json::from_slice(&info).unwrap();
        info["traces"][0]["events"].clone()
    };
    let half = events(&file);
    let mut live = Live::of(&server);
    let mut edition = |number: u64| {
        live.until(|progress| progress["edition"] == number && progress["reading"] == false)
    };
    assert_eq!(edition(1)["events"], half);
    fs::write(&file, &whole).unwrap();
    assert_eq!(edition(2)["events"], events(&file));
    assert!(server.get("api/v1/page").head.contains("ETag: \"2\"\r\n"));
}

/// Recording changes the memory of a stream, but it does not change the modification time of the
/// file.
#[cfg(target_os = "linux")]
#[test]
fn a_stream_in_shared_memory_is_followed() {
    use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};

    const NET: Family = Family::new(3, "net");
    static SENT: EventType<(u32,)> = EventType::new(NET, "sent", &["length"]);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("app.twx");
    let stream = Stream::create(&file, &StreamOptions::default()).unwrap();
    stream.start();
    stream.record(&SENT, (1,));
    let server = Server::start(&[file.to_str().unwrap()]);
    let mut live = Live::of(&server);
    let events = |progress: &Value| progress["events"].as_u64().unwrap();
    let first = live.until(|progress| progress["edition"] == 1 && progress["reading"] == false);
    (0..10).for_each(|length| stream.record(&SENT, (length,)));
    // The server may also have read the stream when it contained only some of the events.
    live.until(|progress| events(progress) == events(&first) + 10);
}

#[test]
fn a_trace_that_cannot_be_shown_is_an_error_before_the_address_is_printed() {
    for (arguments, code, message) in [
        (&["serve", "no-such-file"][..], 4, "error: no-such-file: "),
        (&["serve", "Cargo.toml"], 3, "error: Cargo.toml: "),
        (&["serve", "-"], 2, "error: -: cannot be read again for each request"),
        #[cfg(unix)]
        (&["serve", "/dev/null"], 2, "error: /dev/null: cannot be read again for each request"),
        (&["serve", TRACE, "Cargo.toml"], 3, "error: Cargo.toml: "),
        (&["serve", "--listen", "localhost", TRACE], 2, "error: invalid value 'localhost'"),
    ] {
        let output = run(arguments);
        assert_eq!((status(&output), output.stdout.len()), (Some(code), 0), "{arguments:?}");
        assert!(stderr(&output).starts_with(message), "{}", stderr(&output));
    }
}

#[test]
fn several_files_have_their_own_answers_and_marks() {
    let folder = tempfile::tempdir().unwrap();
    let copy = |name: &str| {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::copy(root().join("crates/tracewell/tests/fixtures/threadx/tiny.trx"), &path).unwrap();
        path
    };
    let (first, second) = (root().join(TRACE), copy("second.trx"));
    let paths = [first.to_str().unwrap(), second.to_str().unwrap()];
    let server = Server::start(&paths);
    let trace = server.get("api/v1/trace?file=1").json();
    assert_eq!(trace["files"], serde_json::json!(["scheduling.trx", "second.trx"]));
    let progress = Live::of(&server).until(|progress| progress["reading"] == false);
    assert_eq!(progress["editions"], serde_json::json!([1, 1]));
    for (file, path) in paths.into_iter().enumerate() {
        let lines = server.get(&format!("api/v1/events?file={file}&limit=5"));
        let expected = output_of(&["events", "--head", "5", path]);
        assert_eq!(lines.text().lines().count(), 5);
        assert_eq!(lines.body, expected, "{path}");
    }
    assert_eq!(
        server.get("api/v1/events?limit=5").body,
        server.get("api/v1/events?file=0&limit=5").body
    );
    let refused = server.get("api/v1/page?file=2");
    assert_eq!((refused.status, refused.text()), (400, "file=2: expected a number up to 1\n"));
    // If files have the same name, their titles are their paths.
    let same = [copy("a/same.trx"), copy("b/same.trx")];
    let server = Server::start(&same.each_ref().map(|path| path.to_str().unwrap()));
    let titles = server.get("api/v1/trace").json()["files"].clone();
    assert_eq!(titles, serde_json::json!(same));
}

#[test]
fn a_client_that_leaves_does_not_end_the_server() {
    let server = Server::start(&[TRACE]);
    for _ in 0..20 {
        let mut stream = server.connect();
        write!(stream, "GET {}api/v1/page", server.secret).unwrap();
        stream.shutdown(Shutdown::Both).unwrap();
    }
    assert_eq!(server.get("").status, 200);
}

#[test]
fn a_client_that_closes_its_side_gets_the_whole_answer_or_an_error() {
    let server = Server::start(&[TRACE]);
    for path in ["api/v1/search?q=mutex_get", "api/v1/analysis"] {
        let whole = server.get(path);
        let mut stream = server.connect();
        let host = &server.authority;
        write!(stream, "GET {}{path} HTTP/1.1\r\nHost: {host}\r\n\r\n", server.secret).unwrap();
        stream.shutdown(Shutdown::Write).unwrap();
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        let answer = Answer::parse(&bytes);
        match answer.status {
            200 => assert_eq!(answer.body, whole.body),
            status => {
                assert_eq!(status, 400, "{}", answer.text());
                assert!(answer.text().contains("closed its side"), "{}", answer.text());
            }
        }
    }
}
