//! Fuzz target for the AIX byte layout: reads entries, writes them, and checks that they can be
//! read again.

use tracewell_wire::ByteOrder;
use tracewell_wire::aix::{Entry, Env, FileHeader, Frame, MAX_DATA_LENGTH, TimeConversion};

/// Reads the bytes as a container with frames and entries, and as a single entry.
pub fn wire_aix(data: &[u8]) {
    for env in [Env::Bits32, Env::Bits64] {
        entry(env, data);
    }
    let Ok((header, length)) = FileHeader::read(data) else { return };
    let mut written = vec![0; header.length()];
    assert!(written.len() <= length && length <= data.len());
    header.write(&mut written).expect("a header that was read is not too long");
    assert_eq!(FileHeader::read(&written), Ok((header, written.len())));
    frames(header.order, &data[length..]);
}

fn frames(order: ByteOrder, mut bytes: &[u8]) {
    while let Ok((frame, size)) = Frame::read(order, bytes) {
        let mut written = vec![0xEE; size];
        assert_eq!(frame.write(order, &mut written), Some(size));
        assert_eq!(Frame::read(order, &written), Ok((frame, size)));
        entry(frame.head.env, frame.entry);
        bytes = &bytes[size..];
    }
}

fn entry(env: Env, bytes: &[u8]) {
    let Ok(entry) = Entry::read(env, bytes) else { return };
    let _ = (TimeConversion::of_entry(&entry), entry.id().to_string());
    let data = entry.variable_data();
    let words = [1, 2, 3, 4, 5].map(|number| entry.word(number).unwrap_or(0));
    let mut written = vec![0xEE; entry.length()];
    let length = match entry.is_generic() {
        true if data.len() > MAX_DATA_LENGTH => return,
        true => Entry::write_generic(entry.hook(), words[0], data, &mut written),
        false => Entry::write_plain(entry.hook(), &words, &mut written),
    };
    assert_eq!(length, Ok(entry.length()));
    let padding = entry.length() - (1 + entry.word_count()) * env.word_bytes() - data.len();
    let unpadded = entry.length() - padding;
    assert_eq!(written[..unpadded], bytes[..unpadded]);
    let again = Entry::read(env, &written).expect("the written bytes can be read");
    assert_eq!((again.hook(), again.variable_data()), (entry.hook(), data));
}
