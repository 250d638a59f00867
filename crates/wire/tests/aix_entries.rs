//! Tests AIX hook words and entries: fields are at the offsets that IBM documents, reading returns
//! the written entries, and no input causes a panic.

use proptest::prelude::*;
use tracewell_wire::aix::{
    Entry, EntryError, Env, HookId, HookType, HookWord, HookWord32, HookWord64, MAX_DATA_LENGTH,
    TimeConversion, ids,
};

const TYPES: [HookType; 8] = [
    HookType::Trcgen,
    HookType::Trchk,
    HookType::Trchkl,
    HookType::Trchkg,
    HookType::Trcgent,
    HookType::Trchkt,
    HookType::Trchklt,
    HookType::Trchkgt,
];

fn types() -> impl Strategy<Value = HookType> {
    prop::sample::select(&TYPES[..])
}

/// Hook words of plain entries with 32 and 64 bits, each with the number of its data words.
fn plain_hooks() -> impl Strategy<Value = (HookWord, usize)> {
    let narrow = (types(), any::<u16>(), any::<u16>())
        .prop_filter("plain", |(hook_type, ..)| !hook_type.is_generic())
        .prop_map(|(t, id, data)| (HookWord32::new(HookId(id), t, data).into(), t.words()));
    let wide = (any::<u16>(), any::<u16>(), any::<u16>(), 0_u16..=5).prop_map(
        |(flags, id, sub_hook, words)| {
            let flags = flags & !HookWord64::GENERIC;
            let hook = HookWord64::new(flags, 8 * words, HookId(id), sub_hook);
            (hook.into(), usize::from(words))
        },
    );
    prop_oneof![narrow, wide]
}

/// Hook words of any type and length, with 32 or 64 bits.
fn any_hooks() -> impl Strategy<Value = HookWord> {
    prop_oneof![
        any::<u32>().prop_map(|word| HookWord::Bits32(HookWord32(word))),
        any::<u64>().prop_map(|word| HookWord::Bits64(HookWord64(word))),
    ]
}

fn cut(env: Env, word: u64) -> u64 {
    if env == Env::Bits32 { word & 0xFFFF_FFFF } else { word }
}

#[test]
fn a_32_bit_hook_word_has_id_type_and_data_from_the_top() {
    let word = HookWord32(0x4657_BEEF);
    assert_eq!((word.id(), word.type_nibble(), word.data()), (HookId(0x4650), 7, 0xBEEF));
    assert_eq!(word.hook_type(), None);
    let word = HookWord32::new(ids::THREAD_CREATE, HookType::Trchkgt, 0xBEEF);
    assert_eq!(word, HookWord32(0x465E_BEEF));
    // A constant of a C program, completed by a macro.
    assert_eq!(HookWord32(0x15B0_0000).with_type(HookType::Trchkl), HookWord32(0x15B2_0000));
}

#[test]
fn a_64_bit_hook_word_has_flags_length_id_and_sub_hook_from_the_top() {
    let word = HookWord64(0x8000_0010_0AA0_1234);
    assert_eq!((word.flags(), word.length()), (0x8000, 16));
    assert_eq!((word.id(), word.sub_hook()), (HookId(0x0AA0), 0x1234));
    assert!(word.is_stamped() && !word.is_generic());
    assert_eq!(HookWord64::plain(HookId(0x0AA0), 0x1234, 2), word);
    assert_eq!(HookWord64::generic(HookId(0x00A0), 0x25C), HookWord64(0xC000_0000_00A0_025C));
}

#[test]
fn the_types_are_the_eight_documented_ones_and_bit_3_is_the_stamp() {
    let numbers = TYPES.map(HookType::nibble);
    assert_eq!(numbers, [0, 1, 2, 6, 8, 9, 0xA, 0xE]);
    assert_eq!(TYPES.map(HookType::words), [1, 0, 1, 5, 1, 0, 1, 5]);
    let known = (0..16).filter(|&nibble| HookType::from_nibble(nibble).is_some());
    assert_eq!(known.collect::<Vec<_>>(), numbers);
    for hook_type in TYPES {
        assert_eq!(HookType::from_nibble(hook_type.nibble()), Some(hook_type));
        assert_eq!(hook_type.stamped().nibble(), hook_type.nibble() | 8);
        assert_eq!(hook_type.is_stamped(), hook_type.nibble() >= 8);
    }
    assert_eq!([0, 1, 2, 5].map(HookType::for_words).map(HookType::nibble), [1, 2, 6, 6]);
}

#[test]
fn three_digits_are_the_same_id_as_four_with_a_0() {
    assert_eq!(HookId::short(0x00A), HookId(0x00A0));
    let shown = [0x00A0, 0x1340, 0x1341, 0x0FF1].map(|id| HookId(id).to_string());
    assert_eq!(shown, ["00A", "134", "1341", "0FF1"]);
    let allowed = [0x0FF0, 0x0FF1, 0x1000, 0x1001].map(|id| HookId(id).is_allowed());
    assert_eq!(allowed, [true, false, true, true]);
    assert_eq!((ids::USER_FIRST, ids::USER_LAST), (HookId(0x0100), HookId(0x0FF0)));
}

#[test]
fn plain_entries_have_the_documented_bytes() {
    let words = [0x1_0000_0001, 2, 3, 4, 5];
    let mut bytes = [0xEE; 48];
    let mut written = |hook: HookWord| {
        let length = Entry::write_plain(hook, &words, &mut bytes).unwrap();
        bytes[..length].to_vec()
    };
    let narrow = |t| HookWord32::new(HookId(0x0AA0), t, 7).into();
    assert_eq!(written(narrow(HookType::Trchk)), [0x0A, 0xA1, 0, 7]);
    assert_eq!(written(narrow(HookType::Trchklt)), [0x0A, 0xAA, 0, 7, 0, 0, 0, 1]);
    assert_eq!(written(narrow(HookType::Trchkg)).len(), 24);
    assert_eq!(
        written(HookWord64::plain(HookId(0x0AA0), 3, 1).into()),
        [0x80, 0, 0, 8, 0x0A, 0xA0, 0, 3, 0, 0, 0, 1, 0, 0, 0, 1]
    );
}

#[test]
fn generic_entries_get_type_length_and_padding() {
    let mut bytes = [0xEE; 32];
    let hook = HookWord32::new(HookId(0x0AA0), HookType::Trchk, 0xBEEF).into();
    let length = Entry::write_generic(hook, 1, b"abc", &mut bytes).unwrap();
    assert_eq!(bytes[..length], [0x0A, 0xA0, 0, 3, 0, 0, 0, 1, b'a', b'b', b'c', 0]);
    assert_eq!(bytes[length], 0xEE);
    let hook = HookWord64::new(0x8001, 99, HookId(0x0AA0), 3).into();
    let length = Entry::write_generic(hook, 1, b"abc", &mut bytes).unwrap();
    assert_eq!(length, 24);
    assert_eq!(bytes[..8], [0xC0, 1, 0, 11, 0x0A, 0xA0, 0, 3]);
    assert_eq!(bytes[16..24], *b"abc\0\0\0\0\0");
}

#[test]
fn invalid_hook_words_are_errors_that_report_what_was_found() {
    let wide = |hook: u64| Entry::read(Env::Bits64, &hook.to_be_bytes()).unwrap_err();
    let length = |found, generic| EntryError::Length { found, generic };
    assert_eq!(wide(0x8000_0007_0AA0_0000), length(7, false));
    assert_eq!(wide(0x8000_0030_0AA0_0000), length(48, false));
    assert_eq!(wide(0xC000_0007_0AA0_0000), length(7, true));
    let narrow = Entry::read(Env::Bits32, &[0x0A, 0xA3, 0, 0]).unwrap_err();
    assert_eq!(narrow, EntryError::UnknownType { found: 3 });
    assert_eq!(narrow.to_string(), "expected a hook type of 0, 1, 2, 6, 8, 9, A or E, found 3");
    let hook = HookWord32(0x0AA0_0000).into();
    assert_eq!(Entry::write_plain(hook, &[0; 5], &mut [0; 64]), Err(EntryError::Generic));
    let hook = HookWord64::generic(HookId(0x0AA0), 0).into();
    assert_eq!(Entry::write_plain(hook, &[0; 5], &mut [0; 64]), Err(EntryError::Generic));
}

#[test]
fn variable_data_has_4096_bytes_at_most() {
    let data = [7; MAX_DATA_LENGTH + 1];
    let mut bytes = [0; 5000];
    for hook in [HookWord32(0x0AA0_0000).into(), HookWord64::generic(HookId(0x0AA0), 0).into()] {
        let refused = Entry::write_generic(hook, 1, &data, &mut bytes);
        assert_eq!(refused, Err(EntryError::DataTooLong { found: 4097 }));
        let length = Entry::write_generic(hook, 1, &data[..4096], &mut bytes).unwrap();
        let entry = Entry::read(hook.env(), &bytes[..length]).unwrap();
        assert_eq!(entry.variable_data(), &data[..4096]);
    }
}

#[test]
fn a_time_conversion_counts_only_if_its_third_word_is_2() {
    let conversion = TimeConversion { multiplier: 1000, divisor: 512 };
    let mut buffer = conversion.bytes();
    assert_eq!(TimeConversion::read(&buffer), Some(conversion));
    buffer[23] = 1;
    assert_eq!(TimeConversion::read(&buffer), Some(TimeConversion::NANOSECONDS));
    assert_eq!(TimeConversion::read(&buffer[1..]), None);
    let most = TimeConversion { multiplier: u64::MAX, divisor: 1 }.nanoseconds(u64::MAX);
    assert_eq!(most, u128::from(u64::MAX) * u128::from(u64::MAX));
    assert_eq!(TimeConversion { multiplier: 3, divisor: 0 }.nanoseconds(5), 15);
}

#[test]
fn a_time_conversion_is_found_only_in_its_own_entry() {
    let conversion = TimeConversion { multiplier: 5, divisor: 3 };
    for env in [Env::Bits32, Env::Bits64] {
        let mut bytes = [0; 48];
        let length = conversion.write_entry(env, &mut bytes).unwrap();
        let read = |bytes: &[u8]| TimeConversion::of_entry(&Entry::read(env, bytes).unwrap());
        assert_eq!(read(&bytes[..length]), Some(conversion));
        let id_at = if env == Env::Bits32 { 1 } else { 5 };
        let sub_hook_at = 7;
        for at in [id_at, sub_hook_at] {
            bytes[at] ^= 0x10;
            assert_eq!(read(&bytes[..length]), None, "{env:?}, byte {at}");
            bytes[at] ^= 0x10;
        }
    }
}

proptest! {
    #[test]
    fn plain_entries_there_and_back((hook, count) in plain_hooks(), words: [u64; 5]) {
        let mut bytes = [0xEE; 64];
        let length = Entry::write_plain(hook, &words, &mut bytes).unwrap();
        prop_assert_eq!(length, Entry::plain_length(hook).unwrap());
        prop_assert_eq!(length, (1 + count) * hook.env().word_bytes());
        let entry = Entry::read(hook.env(), &bytes[..length]).unwrap();
        prop_assert_eq!((entry.hook(), entry.length(), entry.is_generic()), (hook, length, false));
        let read: Vec<_> = (0..7).map(|number| entry.word(number)).collect();
        let expected = |number: usize| cut(hook.env(), words[number - 1]);
        let there = |number: usize| (1..=count).contains(&number).then(|| expected(number));
        prop_assert_eq!(read, (0..7).map(there).collect::<Vec<_>>());
        prop_assert_eq!(entry.variable_data(), b"");
        for room in 0..length {
            let found = Entry::write_plain(hook, &words, &mut bytes[..room]);
            prop_assert_eq!(found, Err(EntryError::TooShort { needed: length, found: room }));
        }
    }

    #[test]
    fn generic_entries_there_and_back(
        hook in any_hooks(),
        word: u64,
        data in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut bytes = [0xEE; 64];
        let length = Entry::write_generic(hook, word, &data, &mut bytes).unwrap();
        prop_assert_eq!(length % hook.env().word_bytes(), 0);
        prop_assert_eq!(Ok(length), Entry::generic_length(hook.env(), data.len()));
        let entry = Entry::read(hook.env(), &bytes[..length]).unwrap();
        prop_assert_eq!((entry.id(), entry.is_generic()), (hook.id(), true));
        let stamped = match hook {
            HookWord::Bits32(word) => word.type_nibble() & 8 != 0,
            HookWord::Bits64(word) => word.is_stamped(),
        };
        prop_assert_eq!((entry.is_stamped(), entry.length()), (stamped, length));
        prop_assert_eq!((entry.word_count(), entry.word(1)), (1, Some(cut(hook.env(), word))));
        prop_assert_eq!(entry.variable_data(), &data);
    }

    #[test]
    fn a_cut_entry_is_too_short_until_its_data_is_there(
        hook in any_hooks(),
        data in prop::collection::vec(any::<u8>(), 0..20),
    ) {
        let env = hook.env();
        let mut bytes = [0xEE; 64];
        let length = Entry::write_generic(hook, 1, &data, &mut bytes).unwrap();
        let unpadded = 2 * env.word_bytes() + data.len();
        for cut in 0..length {
            let needed = if cut < env.word_bytes() { env.word_bytes() } else { length };
            match Entry::read(env, &bytes[..cut]) {
                Ok(entry) => prop_assert!(cut >= unpadded && entry.variable_data() == data),
                Err(error) => {
                    prop_assert!(cut < unpadded);
                    prop_assert_eq!(error, EntryError::TooShort { needed, found: cut });
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_read_without_panic_and_stay_within(bytes: Vec<u8>) {
        for env in [Env::Bits32, Env::Bits64] {
            if let Ok(entry) = Entry::read(env, &bytes) {
                prop_assert!(entry.length() < bytes.len() + 8);
                prop_assert!(entry.word(entry.word_count()).is_some() || entry.word_count() == 0);
                let _ = (TimeConversion::of_entry(&entry), entry.id().to_string());
            }
        }
    }
}
