//! Reads a connection until it ends, and reopens it. Serial lines and TCP use this module.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use crate::intake::{CHUNK_LEN, Intake, is_pause};
use crate::pace::{Pace, READING};

/// After this silence, a new connection replaces the old one, because the target has probably
/// restarted without closing it.
pub(crate) const SILENCE: Duration = Duration::from_secs(1);

/// The reason why the reading of a connection ended.
#[derive(Debug)]
pub(crate) enum End {
    /// The collection of all sources has ended.
    Over,
    /// A new connection replaces this connection.
    GaveWay,
    /// The peer closed the connection, or the connection failed.
    Ended(Option<io::Error>),
}

/// Reads a connection to its end. A read must not block for longer than
/// [`TICK`](crate::pace::TICK).
///
/// Calls `gives_way` when the connection has been silent for [`SILENCE`].
pub(crate) fn read(
    connection: &mut impl Read,
    intake: &mut Intake<'_>,
    mut gives_way: impl FnMut() -> bool,
) -> End {
    let mut piece = vec![0; CHUNK_LEN];
    let mut pace = Pace::new(READING);
    let mut last = Instant::now();
    while !intake.is_over() {
        match connection.read(&mut piece) {
            Ok(0) => return End::Ended(None),
            Ok(length) => {
                intake.bytes(piece.get(..length).unwrap_or_default());
                // A full read means that more data is waiting.
                if length < CHUNK_LEN && intake.pauses {
                    pace.rest_after_read(length);
                }
                last = Instant::now();
            }
            Err(error) if is_pause(&error) => {
                // Because of `--idle`, this silence may end the collection.
                intake.nothing();
                // If a target loses power, it does not close its connection. If the target connects
                // again, the old connection is dead.
                if last.elapsed() >= SILENCE && gives_way() {
                    return End::GaveWay;
                }
            }
            Err(error) => return End::Ended(Some(error)),
        }
    }
    End::Over
}

/// Opens a connection, reads it to its end, and repeats.
///
/// # Errors
/// Returns an error if opening fails for a permanent reason.
pub(crate) fn keep_reading<C: Read>(
    intake: &mut Intake<'_>,
    mut open: impl FnMut() -> io::Result<(C, String)>,
) -> io::Result<()> {
    let again = !intake.control.until.disconnected;
    while !intake.is_over() {
        let (mut connection, peer) = match open() {
            Ok(opened) => opened,
            Err(error) if is_permanent(&error, intake.counts.connections) => return Err(error),
            Err(error) => {
                intake.back_off(Some(&error));
                continue;
            }
        };
        intake.opened(&peer);
        let End::Ended(error) = read(&mut connection, intake, || false) else { break };
        // Close the device before waiting: if an unplugged device is still open, it could return
        // under another name.
        drop(connection);
        intake.closed(error.as_ref(), again);
        if !again {
            break;
        }
        // If a peer accepts connections and closes them immediately, this must not cause a busy
        // loop.
        intake.back_off(None);
    }
    Ok(())
}

/// Returns true if trying again is useless. After the first connection, a permission error is
/// temporary: after a device is plugged in again, the system denies access until it has set the
/// device's owner.
fn is_permanent(error: &io::Error, connections: u64) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, ResourceBusy, Unsupported, WouldBlock};
    match error.kind() {
        InvalidInput | Unsupported => true,
        PermissionDenied | ResourceBusy | WouldBlock => connections == 0,
        _ => false,
    }
}
