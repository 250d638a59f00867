//! Fuzz targets that open traces: recognise a format, decompress, join the parts of a run.

use std::io::Read;

use tracewell::compressed::Compression;
use tracewell::compressed::reader::{Decompressor, Fault};
use tracewell::format;
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Trace};

/// Opens any bytes without a given format. Checks that the bytes are opened in the format that
/// `recognise` returns. An exception is text that encodes a memory image, such as Intel HEX.
pub fn recognition(data: &[u8]) {
    let found = format::recognise(data);
    let opened = Input::from_bytes("fuzz", data.to_vec(), Settings::default());
    if let (Some(found), Ok(input)) = (found, &opened) {
        assert!(std::ptr::eq(found, input.format()) || input.size() != Some(data.len() as u64));
    }
    let Ok(mut input) = opened else { return };
    let mut events = Count::default();
    if let Ok(trace) = input.read(&mut events) {
        assert_eq!(trace.events, events.0);
    }
}

/// Decompresses any bytes as gzip and zstd, into large and small buffers. Checks that both buffers
/// get the same bytes and faults, and that every byte of the file was read or counted.
pub fn decompress(data: &[u8]) {
    for compression in [Compression::Gzip, Compression::Zstd] {
        let (whole, faults) = decompressed(compression, data, 64 * 1024);
        assert_eq!(decompressed(compression, data, 7), (whole, faults.clone()));
        assert!(faults.iter().all(|fault| fault.offset + fault.unread <= data.len() as u64));
    }
    let Ok(mut input) = Input::from_bytes("fuzz", data.to_vec(), Settings::default()) else {
        return;
    };
    let mut events = Count::default();
    if let Ok(trace) = input.read(&mut events) {
        assert_eq!(trace.events, events.0);
    }
}

/// Largest output that is compared, in bytes. A few bytes can expand to gigabytes.
const MAX_OUTPUT: usize = 4 << 20;

fn decompressed(compression: Compression, data: &[u8], piece: usize) -> (Vec<u8>, Vec<Fault>) {
    let mut reader = Decompressor::new(compression, data);
    let (mut all, mut buffer) = (Vec::new(), vec![0; piece]);
    loop {
        let read = reader.read(&mut buffer).expect("reading memory never fails");
        all.extend_from_slice(&buffer[..read]);
        if read == 0 {
            return (all, reader.faults());
        }
        if all.len() >= MAX_OUTPUT {
            all.truncate(MAX_OUTPUT);
            return (all, Vec::new());
        }
    }
}

/// Reads any bytes as the parts of a run. The first two bytes select where the second and the third
/// part begin.
pub fn join(data: &[u8]) {
    let [one, two, data @ ..] = data else { return };
    let mut places = [usize::from(*one), usize::from(*two)].map(|place| place * data.len() / 256);
    places.sort_unstable();
    for format in ["threadx", "shark", "aix"] {
        let format = Some(format.to_owned());
        let settings = Settings { format, parts: places.to_vec(), ..Settings::default() };
        let opened = Input::from_bytes("fuzz", data.to_vec(), settings);
        let Ok(mut input) = opened else { continue };
        let mut events = Count::default();
        let Ok(trace) = input.read(&mut events) else { continue };
        assert_eq!(trace.events, events.0);
        assert!(events.0 * 4 <= data.len().max(16 << 20) as u64, "an event needs bytes");
    }
}

/// Counts events and checks that they are numbered consecutively.
#[derive(Default)]
struct Count(u64);

impl Sink for Count {
    fn events(&mut self, _: &Trace, batch: &Batch<'_>) -> Flow {
        for event in batch.events() {
            assert_eq!(event.seq, self.0);
            self.0 += 1;
        }
        Flow::Continue(())
    }
}
