//! The simulated targets, which generate the bytes that they send.

use tracewell_wire::rkh;
use tracewell_wire::shark::{Record, ids};

/// The format of a target's bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Content {
    /// An RKH stream. Its frames have sequence numbers, so decoding continues after a gap.
    Rkh,
    /// Records of S.Ha.R.K.
    Shark,
    /// No format.
    Noise,
}

impl Content {
    pub(super) fn of(bits: u8) -> Self {
        match bits {
            0 | 1 => Self::Rkh,
            2 => Self::Shark,
            _ => Self::Noise,
        }
    }

    /// Returns the name of the format in which the bytes are decoded.
    pub(super) fn format(self) -> &'static str {
        match self {
            Self::Rkh | Self::Noise => "rkh",
            Self::Shark => "shark",
        }
    }
}

/// A target that sends endlessly.
pub(super) struct Target {
    content: Content,
    /// Bytes that have not been sent yet.
    rest: Vec<u8>,
    /// Number of the last generated frame or record.
    number: u32,
}

impl Target {
    pub(super) fn new(content: Content, number: usize) -> Self {
        Self { content, rest: Vec::new(), number: number as u32 }
    }

    /// Fills a piece with the next bytes.
    pub(super) fn send(&mut self, piece: &mut [u8]) {
        while self.rest.len() < piece.len() {
            self.number = self.number.wrapping_add(1);
            self.add();
        }
        piece.copy_from_slice(&self.rest[..piece.len()]);
        self.rest.drain(..piece.len());
    }

    /// Discards the bytes that have not been sent, and numbers the next frames or records from 1.
    pub(super) fn restart(&mut self) {
        self.rest.clear();
        self.number = 0;
    }

    fn add(&mut self) {
        let number = self.number;
        match self.content {
            Content::Rkh => {
                // `RKH_TE_SMA_GET`: an object and two counts.
                let mut frame = vec![0x22, number as u8];
                frame.extend((10 * number).to_le_bytes());
                frame.extend([0, 0x10, 0, 0x20, 1, 2]);
                let mut room = [0; 64];
                let length = rkh::encode(&frame, true, &mut room).expect("a frame is short");
                self.rest.extend_from_slice(&room[..length]);
            }
            Content::Shark => {
                let tsc = 1000 * u64::from(number);
                let (code, task) = (ids::TASK_SCHEDULE, ids::context::FIRST + 8);
                let (code_word, par2) = (u16::from(code), u32::from(task));
                self.rest.extend(Record { code_word, par1: task, tsc, par2 }.to_bytes());
            }
            Content::Noise => self.rest.extend(number.wrapping_mul(0x9E37_79B1).to_le_bytes()),
        }
    }
}
