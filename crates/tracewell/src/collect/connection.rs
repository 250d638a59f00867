//! Reading a connection until it ends: what serial lines, TCP and standard input have in common.

use std::io::{self, Read};
use std::time::{Duration, Instant};

use super::intake::{Intake, PIECE, is_pause};
use super::pace::{Pace, READING};

/// A connection that was silent for so long gives way to a new one: a target that started again without
/// having closed it.
pub(super) const SILENCE: Duration = Duration::from_secs(1);

/// Why a connection is not read any more.
#[derive(Debug)]
pub(super) enum End {
    /// Collecting is over.
    Over,
    /// Another one takes its place.
    GaveWay,
    /// It ended, or failed.
    Ended(Option<io::Error>),
}

/// Reads a connection to its end. Its reads must not block for longer than a tick.
///
/// `gives_way` is asked when nothing came for [`SILENCE`].
pub(super) fn read(
    connection: &mut impl Read,
    intake: &mut Intake<'_>,
    mut gives_way: impl FnMut() -> bool,
) -> End {
    let mut piece = vec![0; PIECE];
    let mut pace = Pace::new(READING);
    let mut last = Instant::now();
    while !intake.is_over() {
        match connection.read(&mut piece) {
            Ok(0) => return End::Ended(None),
            Ok(length) => {
                intake.bytes(piece.get(..length).unwrap_or_default());
                // A full piece means that more is waiting.
                if length < PIECE {
                    pace.rest_after_read(length);
                }
                last = Instant::now();
            }
            Err(error) if is_pause(&error) => {
                intake.nothing();
                if last.elapsed() >= SILENCE && gives_way() {
                    return End::GaveWay;
                }
            }
            Err(error) => return End::Ended(Some(error)),
        }
    }
    End::Over
}

/// Opens a connection again and again, and reads each to its end.
///
/// # Errors
/// Where opening fails for a reason that will not pass.
pub(super) fn keep_reading<C: Read>(
    intake: &mut Intake<'_>,
    mut open: impl FnMut() -> io::Result<(C, String)>,
) -> io::Result<()> {
    let again = !intake.control.until.disconnected;
    while !intake.is_over() {
        let (mut connection, peer) = match open() {
            Ok(opened) => opened,
            Err(error) if will_not_pass(&error, intake.counts.connections) => return Err(error),
            Err(error) => {
                intake.back_off(Some(&error));
                continue;
            }
        };
        intake.opened(&peer);
        let End::Ended(error) = read(&mut connection, intake, || false) else { break };
        drop(connection);
        intake.closed(error.as_ref(), again);
        if !again {
            break;
        }
        intake.back_off(None);
    }
    Ok(())
}

/// True if it is of no use to try again: what was asked for cannot be had. A device that was plugged in again
/// may be refused until the system has set its owner.
fn will_not_pass(error: &io::Error, connections: u64) -> bool {
    use io::ErrorKind::{InvalidInput, PermissionDenied, ResourceBusy, Unsupported, WouldBlock};
    match error.kind() {
        InvalidInput | Unsupported => true,
        PermissionDenied | ResourceBusy | WouldBlock => connections == 0,
        _ => false,
    }
}
