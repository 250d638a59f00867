//! Accepts connections, and answers each of them in a separate thread.

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::guard::Guard;
use super::http::{self, BUSY, Limits, Request, Response};

/// Answers admitted requests.
pub(super) trait Answer: Send + Sync + 'static {
    /// Writes the answer to a request whose path after the secret is `path`.
    ///
    /// # Errors
    /// Returns an error if the answer cannot be written.
    fn answer(
        &self,
        path: &str,
        request: &Request,
        stream: &TcpStream,
        limits: &Limits,
    ) -> io::Result<()>;
}

/// Maximum number of simultaneous refusals. Beyond this number, the server closes connections
/// without a response.
const MAX_REFUSALS: usize = 16;

/// A server of one page.
pub(super) struct Server<A> {
    guard: Guard,
    limits: Limits,
    answers: A,
    connections: AtomicUsize,
    refusals: AtomicUsize,
}

/// Counts a connection as open until it ends, even if its thread panics.
struct Counted<A> {
    server: Arc<Server<A>>,
    counter: fn(&Server<A>) -> &AtomicUsize,
}

impl<A> Counted<A> {
    /// Counts a connection. Returns `None` if the counter has reached its maximum.
    fn new(
        server: &Arc<Server<A>>,
        counter: fn(&Server<A>) -> &AtomicUsize,
        max: usize,
    ) -> Option<Self> {
        let before = counter(server).fetch_add(1, Ordering::Relaxed);
        let counted = Self { server: Arc::clone(server), counter };
        (before < max).then_some(counted)
    }
}

impl<A> Drop for Counted<A> {
    fn drop(&mut self) {
        (self.counter)(&self.server).fetch_sub(1, Ordering::Relaxed);
    }
}

impl<A: Answer> Server<A> {
    pub(super) fn new(guard: Guard, limits: Limits, answers: A) -> Self {
        let (connections, refusals) = Default::default();
        Self { guard, limits, answers, connections, refusals }
    }

    /// Accepts connections until the process ends.
    pub(super) fn run(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            match stream {
                Ok(stream) => self.connect(stream),
                // The process may have too many open files. Give the other threads time to close
                // some of them.
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    /// Answers or refuses a connection in a thread. If the system cannot start a thread, closes the
    /// connection, so that the client can try again.
    fn connect(self: &Arc<Self>, stream: TcpStream) {
        let builder = thread::Builder::new().name("request".to_owned());
        let max = self.limits.connections;
        if let Some(counted) = Counted::new(self, |server| &server.connections, max) {
            // If a client closes its connection early, this is not an error of the server.
            let _ = builder.spawn(move || drop(counted.server.serve(&stream)));
        } else if let Some(counted) = Counted::new(self, |server| &server.refusals, MAX_REFUSALS) {
            let _ = builder.spawn(move || {
                let busy = Response::error(BUSY, "too many connections");
                let _ = busy.write(&stream, &counted.server.limits);
                http::close(&stream);
            });
        }
    }

    fn serve(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let local = stream.local_addr()?;
        let written = match http::read(stream, &self.limits) {
            Ok(None) => return Ok(()),
            Ok(Some(request)) => match self.guard.admit(&request, local) {
                Ok(path) => self.answers.answer(path, &request, stream, &self.limits),
                Err(refusal) => refusal.write(stream, &self.limits),
            },
            Err(refusal) => refusal.write(stream, &self.limits),
        };
        http::close(stream);
        written
    }
}
