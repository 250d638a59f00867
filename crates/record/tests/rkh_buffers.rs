//! Compares the buffers of the RKH recorder with simple models.

use std::collections::VecDeque;

use proptest::prelude::*;
use tracewell_record::rkh::{Buffer, FrameBuffer, StreamBuffer};
use tracewell_wire::rkh::{ESCAPE, FLAG};

#[derive(Clone, Debug)]
enum Step {
    /// A frame of these bytes. If the flag is false, the frame is aborted.
    Frame(Vec<u8>, bool),
    Get,
    Block(usize),
    Read(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let frame = (prop::collection::vec(any::<u8>(), 0..30), prop::bool::weighted(0.9));
    let step = prop_oneof![
        4 => frame.prop_map(|(bytes, ends)| Step::Frame(bytes, ends)),
        1 => Just(Step::Get),
        2 => (0..40_usize).prop_map(Step::Block),
        1 => (0..40_usize).prop_map(Step::Read),
    ];
    prop::collection::vec(step, 1..120)
}

/// A simple model of a buffer.
trait Model {
    fn frame(&mut self, bytes: &[u8], ends: bool);
    fn held(&mut self) -> &mut VecDeque<u8>;
}

/// The framework's ring. When it is full, each new byte replaces the oldest byte.
struct Bytes(VecDeque<u8>, usize);

impl Model for Bytes {
    fn frame(&mut self, bytes: &[u8], ends: bool) {
        let end: &[u8] = if ends { &[] } else { &[ESCAPE, FLAG] };
        for byte in bytes.iter().chain(end) {
            self.0.push_back(*byte);
            if self.0.len() > self.1 {
                self.0.pop_front();
            }
        }
    }

    fn held(&mut self) -> &mut VecDeque<u8> {
        &mut self.0
    }
}

/// Whole frames only.
struct Frames(VecDeque<u8>, usize);

impl Model for Frames {
    fn frame(&mut self, bytes: &[u8], ends: bool) {
        if ends && self.0.len() + bytes.len() <= self.1 {
            self.0.extend(bytes);
        }
    }

    fn held(&mut self) -> &mut VecDeque<u8> {
        &mut self.0
    }
}

/// Applies the same steps to a buffer and its model, and compares every removed byte.
fn compare(buffer: &mut impl Buffer, model: &mut impl Model, steps: &[Step]) {
    buffer.clear();
    for step in steps {
        match step {
            Step::Frame(bytes, ends) => {
                buffer.begin();
                bytes.iter().for_each(|byte| buffer.put(*byte));
                if *ends {
                    buffer.end();
                } else {
                    buffer.abort();
                }
                model.frame(bytes, *ends);
            }
            Step::Get => assert_eq!(buffer.get(), model.held().pop_front()),
            Step::Block(most) => {
                let block = buffer.block(*most).to_vec();
                assert!(block.len() <= *most);
                assert_eq!(block.is_empty(), *most == 0 || model.held().is_empty());
                let expected: Vec<_> = model.held().drain(..block.len()).collect();
                assert_eq!(block, expected);
            }
            Step::Read(most) => {
                let mut out = vec![0; *most];
                let count = buffer.read(&mut out);
                assert_eq!(count, model.held().len().min(*most));
                let expected: Vec<_> = model.held().drain(..count).collect();
                assert_eq!(out[..count], expected);
            }
        }
        assert_eq!(buffer.len(), model.held().len());
    }
    let mut rest = Vec::new();
    buffer.flush(|block| rest.extend_from_slice(block));
    assert!(rest.iter().eq(model.held().iter()) && buffer.is_empty());
}

proptest! {
    #[test]
    fn the_stream_buffer_keeps_the_newest_bytes(size in 1..70_usize, steps in steps()) {
        let mut memory = vec![0; size];
        let mut buffer = StreamBuffer::new(&mut memory);
        compare(&mut buffer, &mut Bytes(VecDeque::new(), size), &steps);
    }

    #[test]
    fn the_frame_buffer_keeps_whole_frames(size in 1..70_usize, steps in steps()) {
        let mut memory = vec![0; size];
        let mut buffer = FrameBuffer::new(&mut memory);
        compare(&mut buffer, &mut Frames(VecDeque::new(), size), &steps);
    }
}

#[test]
fn a_buffer_without_memory_loses_everything() {
    let mut stream = StreamBuffer::new(&mut []);
    let mut frames = FrameBuffer::new(&mut []);
    for byte in 0..9 {
        stream.put(byte);
        frames.begin();
        frames.put(byte);
        assert!(!frames.end());
    }
    assert_eq!((stream.overwritten(), frames.dropped()), (9, 9));
    assert_eq!((stream.get(), frames.get()), (None, None));
}

#[test]
fn bytes_may_be_taken_while_a_frame_is_written() {
    let mut memory = [0; 8];
    let mut buffer = FrameBuffer::new(&mut memory);
    buffer.begin();
    [1, 2, 3].iter().for_each(|byte| buffer.put(*byte));
    assert!(buffer.end());
    buffer.begin();
    [4, 5, 6].iter().for_each(|byte| buffer.put(*byte));
    assert_eq!(buffer.block(2), [1, 2]);
    buffer.put(7);
    assert_eq!(buffer.block(9), [3]);
    assert_eq!(buffer.block(9), []);
    assert!(buffer.end());
    let mut out = [0; 9];
    assert_eq!(buffer.read(&mut out), 4);
    assert_eq!(out[..4], [4, 5, 6, 7]);
}
