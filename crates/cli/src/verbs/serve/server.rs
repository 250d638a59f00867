//! Accepts connections, and answers each in a thread of its own.

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

/// A server of one page.
pub(super) struct Server<A> {
    guard: Guard,
    limits: Limits,
    answers: A,
    connections: AtomicUsize,
}

/// Counts a connection until it ends, even if its thread panics.
struct Connection<A>(Arc<Server<A>>);

impl<A> Drop for Connection<A> {
    fn drop(&mut self) {
        self.0.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl<A: Answer> Server<A> {
    pub(super) fn new(guard: Guard, limits: Limits, answers: A) -> Self {
        Self { guard, limits, answers, connections: AtomicUsize::new(0) }
    }

    /// Accepts connections until the process ends.
    pub(super) fn run(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            match stream {
                Ok(stream) => self.connect(stream),
                // The process may have too many open files. Give the other threads time to close
                // some.
                Err(_) => thread::sleep(Duration::from_millis(20)),
            }
        }
    }

    fn connect(self: &Arc<Self>, stream: TcpStream) {
        let before = self.connections.fetch_add(1, Ordering::Relaxed);
        let connection = Connection(Arc::clone(self));
        if before >= self.limits.connections {
            let busy = Response::error(BUSY, "too many connections");
            // A new connection has room for this response, so the write does not wait.
            let _ = busy.write(&stream, &self.limits);
            return;
        }
        let serve = move || {
            // A client that closes its connection early is not an error of the server.
            let _ = connection.0.serve(&stream);
        };
        // If the system cannot start a thread, the connection ends. The client can try again.
        let _ = thread::Builder::new().name("request".to_owned()).spawn(serve);
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
