//! Compares what the decoders answer to damaged inputs, and the figures of random traces, with
//! stored answers.
//!
//! Each dialect has some small samples. The test damages them in many ways, the same in each run,
//! decodes them, and compares the results with the table of the dialect. The tables are in
//! `tests/fixtures/answers`. They record what the decoders answer. They do not prove that the
//! answers are right: other tests compare answers with known events. This test shows that a change
//! of a decoder changes an answer. Whoever changes the decoder then judges which answer is right.
//!
//! * `BLESS=1 cargo test -p tracewell --test answers` renews the tables. Read the changed rows.
//! * `SHOW='CASE' cargo test -p tracewell --test answers` prints the whole answer of a row. `CASE`
//!   is the first column of the row.
//!
//! | module | content |
//! |---|---|
//! | `samples` | the undamaged inputs, and the options with which they are read |
//! | `ctf_packets`, `systemview_packets` | larger samples of these formats |
//! | `edits` | the kinds of damage |
//! | `cases` | the list of cases: which edits are applied to which sample |
//! | `answer` | decodes a case and writes the answer as text |
//! | `table` | compares the rows of the cases with the stored rows |
//! | `figures`, `random_traces`, `rules` | the same for figures of random traces, and for verdicts about them |
//! | `verdicts`, `rule_texts` | the same for verdicts of rules on traces of letters, and for wrong rules |

#[path = "../support/mod.rs"]
mod support;

#[path = "../support/dump.rs"]
mod dump;
#[path = "../support/letters.rs"]
mod letters;
#[path = "../support/native.rs"]
mod native;
#[path = "../support/posix.rs"]
mod posix;
#[path = "../support/rkh.rs"]
mod rkh;

mod answer;
mod cases;
mod ctf_packets;
mod edits;
mod figures;
mod random_traces;
mod rule_texts;
mod rules;
mod samples;
mod systemview_packets;
mod table;
mod verdicts;

macro_rules! dialects {
    ($($dialect:ident)*) => {
        $(
            #[test]
            fn $dialect() {
                table::compare(stringify!($dialect), &samples::$dialect());
            }
        )*

        /// The bytes of each sample. Most samples are made with the same definitions of the layouts
        /// with which the decoders read them, so a changed definition can change both.
        #[test]
        fn samples_have_the_same_bytes() {
            let mut rows = Vec::new();
            $(
                for sample in samples::$dialect() {
                    rows.push((format!("{}: {}", sample.format, sample.name), sample.row()));
                }
            )*
            table::check("samples", "sample\tbytes\tdigest", rows);
        }

        /// Every format needs samples.
        #[test]
        fn every_format_has_a_table() {
            let mut formats: Vec<_> =
                tracewell::format::FORMATS.iter().map(|format| format.name).collect();
            let mut tested = vec![$(stringify!($dialect)),*];
            formats.sort_unstable();
            tested.sort_unstable();
            assert_eq!(tested, formats);
        }
    };
}

dialects! { threadx aix native posix rkh shark systemview target ctf arrivals }

/// A server shows an input while it grows, unless the format needs all bytes.
#[test]
fn some_formats_are_decoded_as_a_whole() {
    let formats = tracewell::format::FORMATS.iter();
    let whole = formats.filter(|format| (format.is_whole)(&[])).map(|format| format.name);
    let mut whole: Vec<_> = whole.collect();
    whole.sort_unstable();
    assert_eq!(whole, ["ctf", "shark", "threadx"]);
}
