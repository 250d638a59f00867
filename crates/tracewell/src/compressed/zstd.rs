//! Decompresses the frames of a zstd file (RFC 8878) with `ruzstd`.

use std::io::{BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::gzip::skip;
use super::source::{Broken, Source};

/// Maximum window of a frame in bytes. `zstd --ultra -22` uses a window of this size. The decoder
/// stores the whole window in memory.
const MAX_WINDOW: u64 = 128 << 20;

/// The bytes of an empty last block, and a checksum.
const END: [u8; 7] = [1, 0, 0, 0, 0, 0, 0];

/// Decompresses one frame after another.
pub(super) struct Frames {
    decoder: FrameDecoder,
    /// The reason why the current frame ends early.
    broken: Option<Broken>,
}

impl Frames {
    pub(super) fn new() -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(MAX_WINDOW);
        Self { decoder, broken: None }
    }

    /// Reads the header of the next frame. Returns false if there is none. Skippable frames have no
    /// data.
    pub(super) fn begin(&mut self, source: &mut Source<impl BufRead>) -> Result<bool, Broken> {
        loop {
            if source.fill_buf()?.is_empty() {
                return Ok(false);
            }
            match self.decoder.reset(&mut *source) {
                Ok(()) => return Ok(true),
                Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                    length,
                    ..
                })) => skip(source, u64::from(length))?,
                Err(error) => return Err(broken(source, &error)),
            }
        }
    }

    /// Decompresses into `into`, which must not be empty. Returns the number of bytes, or 0 at the
    /// end of the frame.
    pub(super) fn read(
        &mut self,
        source: &mut Source<impl BufRead>,
        into: &mut [u8],
    ) -> Result<usize, Broken> {
        while self.decoder.can_collect() == 0 && !self.decoder.is_finished() {
            let block = BlockDecodingStrategy::UptoBlocks(1);
            if let Err(error) = self.decoder.decode_blocks(&mut *source, block) {
                self.broken = Some(broken(source, &error));
                // The decoder delivers its last window only when the frame ends. An empty last
                // block ends the frame.
                let ended = self.decoder.decode_blocks(END.as_slice(), BlockDecodingStrategy::All);
                if ended.is_err() {
                    break;
                }
            }
        }
        let read = self.decoder.read(into)?;
        if read > 0 {
            return Ok(read);
        }
        if let Some(broken) = self.broken.take() {
            return Err(broken);
        }
        let stored = self.decoder.get_checksum_from_data();
        let is_same = stored.is_none() || stored == self.decoder.get_calculated_checksum();
        if is_same { Ok(0) } else { Err(Broken::Checksum) }
    }
}

/// Returns the reason why a frame ends early.
fn broken<R>(source: &mut Source<R>, error: &FrameDecoderError) -> Broken {
    use FrameDecoderError as Error;
    // If the source failed or ended, the decompressor's error is only a consequence.
    if let Some(error) = source.failed.take() {
        return Broken::Io(error);
    }
    if source.ended {
        return Broken::Truncated;
    }
    Broken::Damaged(match error {
        Error::WindowSizeTooBig { requested, max } => {
            format!("expected a window of at most {max} bytes, found {requested}")
        }
        Error::DictNotProvided { dict_id } => {
            format!("expected a frame without dictionary, found dictionary {dict_id}")
        }
        Error::ReadFrameHeaderError(_) | Error::FrameHeaderError(_) => {
            "expected a frame (28 B5 2F FD)".to_owned()
        }
        _ => "expected a block of a frame".to_owned(),
    })
}
