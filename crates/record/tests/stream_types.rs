//! Tests that the name of an event type has one id, whichever thread defines it. This must hold
//! even if the thread stops before it has stored the whole name.

use std::sync::atomic::{AtomicU64, Ordering};

use tracewell_record::stream::{
    DefineError, FIRST_FREE_ID, FullPolicy, Image, Stream, StreamOptions,
};
use tracewell_wire::native::image::{Geometry, ImageHeader, TYPE_TEXT, TYPE_WORDS, TypeHeader};

#[test]
fn a_name_gets_the_same_id_from_every_caller() {
    let stream = Stream::anonymous(&StreamOptions::default()).unwrap();
    let ids: Vec<Vec<_>> = std::thread::scope(|scope| {
        let define = || (0..200).map(|n| stream.image().define(0, format!("f/{n}()").as_bytes()));
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(move || define().collect::<Result<Vec<_>, _>>().unwrap()))
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|list| *list == ids[0]));
    let long = vec![b'x'; 505];
    assert_eq!(stream.image().define(0, &long), Err(DefineError::TooLong));
    assert_eq!(stream.image().define(0, b""), Err(DefineError::NoEventType));
    assert_eq!(stream.image().define(0, b"f/a\0b()"), Err(DefineError::NoEventType));
}

/// A defining thread can be preempted, stopped, killed, or interrupted between any two of its
/// stores.
#[test]
fn a_name_has_one_id_wherever_its_defining_thread_stopped() {
    let text = b"family/name(first:u64,second:hex)";
    let parts: Vec<_> = text.chunks(8).map(word_of).collect();
    let clock = Stream::anonymous(&StreamOptions::default()).unwrap().image().clock();
    let geometry = Geometry { lanes: 1, packets: 2, packet_words: 64 };
    let header = ImageHeader { geometry, policy: FullPolicy::Loop, clock, process: 1 };
    let slot = geometry.types() + usize::from(FIRST_FREE_ID) * TYPE_WORDS;
    for stored in 0..=parts.len() {
        let words: Vec<_> = (0..geometry.total()).map(|_| AtomicU64::new(0)).collect();
        let image = Image::create(&words, &header).unwrap();
        let claim = TypeHeader { state: TypeHeader::CLAIMED, family: 1, length: text.len() as u32 };
        words[slot].store(claim.pack(), Ordering::Relaxed);
        for (word, part) in words[slot + 1..].iter().zip(&parts[..stored]) {
            word.store(*part, Ordering::Relaxed);
        }
        // Two other names, one with the same length. Neither of them may get the slot.
        let other = b"family/name(first:u64,second:u64)";
        let last_word_decides = stored == parts.len();
        if last_word_decides {
            assert_eq!(image.define(1, other), Ok(FIRST_FREE_ID + 1));
        }
        assert_eq!(
            image.define(1, b"family/shorter()"),
            Ok(FIRST_FREE_ID + 1 + u16::from(last_word_decides))
        );
        assert_eq!(image.define(1, text), Ok(FIRST_FREE_ID), "{stored} words");
        assert_eq!(image.define_as(FIRST_FREE_ID, 1, other), Err(DefineError::Conflict));
        let mut found = [0; TYPE_TEXT];
        assert_eq!(image.event_type(FIRST_FREE_ID, &mut found), Some((1, text.len())));
        assert_eq!(&found[..text.len()], text);
    }
}

fn word_of(piece: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..piece.len()].copy_from_slice(piece);
    u64::from_le_bytes(word)
}
