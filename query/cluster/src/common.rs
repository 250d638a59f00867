//! Settings, addresses and messages of the scheduler, the executors and the client.

use std::io::{self, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use ballista_core::extension::SessionConfigExt;
use datafusion::prelude::SessionConfig;
use log::{Level, LevelFilter, Log, Metadata, Record};
use tokio::net::TcpListener;
use tracewell::text::shown_lines;
use tracewell_query::Failure;

use crate::codec::Codec;

/// Maximum size in bytes of a message between machines. A plan lists the files that it reads, and
/// needs about 150 bytes for each file.
pub(crate) const MAX_MESSAGE: u32 = 256 << 20;

/// Adds the codec and the maximum size of messages to the settings of a session. All machines must
/// use the same values.
pub(crate) fn with_codec(config: SessionConfig) -> SessionConfig {
    config
        .upgrade_for_ballista()
        .with_ballista_logical_extension_codec(Arc::new(Codec::default()))
        .with_ballista_grpc_client_max_message_size(MAX_MESSAGE as usize)
}

/// Listens on an address. Port 0 stands for any free port.
pub(crate) async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let bound = async {
        let listener = TcpListener::bind(address).await?;
        let bound = listener.local_addr()?;
        Ok((listener, bound))
    };
    bound.await.map_err(|error| Failure::io(Path::new(&format!("--listen {address}")), &error))
}

/// Returns the host by which other machines reach an address.
pub(crate) fn advertised(address: IpAddr, given: Option<String>) -> Result<String, Failure> {
    match given {
        Some(host) => Ok(host),
        None if address.is_unspecified() => {
            let message = "other machines cannot reach this address: give --advertise HOST";
            Err(Failure::usage(format!("--listen {address}: {message}")))
        }
        None => Ok(address.to_string()),
    }
}

/// Prints the line with which a service reports that it is ready.
pub(crate) fn announce(line: &str) {
    let mut out = io::stdout();
    // Standard output may have no reader.
    let _ = writeln!(out, "{line}").and_then(|()| out.flush());
}

/// Installs a logger that prints the errors and warnings of Ballista on standard error.
pub(crate) fn print_warnings() {
    // This fails only if there is a logger already.
    if log::set_logger(&Warnings).is_ok() {
        log::set_max_level(LevelFilter::Warn);
    }
}

struct Warnings;

impl Log for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= Level::Warn
    }

    fn log(&self, record: &Record<'_>) {
        if self.enabled(record.metadata()) {
            let level = if record.level() == Level::Error { "error" } else { "warning" };
            let message = record.args().to_string();
            // A closed standard error is not an error.
            let _ = writeln!(io::stderr(), "{level}: {}", shown_lines(&message));
        }
    }

    fn flush(&self) {}
}
