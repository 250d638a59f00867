//! Compares the tracks of an analysis that takes the fast paths with the tracks of its twin, which
//! takes no fast path.

use proptest::prelude::*;

use super::*;
use crate::analysis::scheduling::twin_tests::{any_batch, followed, schema};

/// Returns all tracks and counts of a builder as text.
fn shown(builder: Builder) -> String {
    let Builder { cores, contexts, locks, marks, arrows, gaps, entries, left_out, .. } = builder;
    let (rows, reasons) = contexts.finish();
    let counts = (entries, left_out);
    format!(
        "{cores:?}\n{rows:?}\n{reasons:?}\n{:?}\n{marks:?}\n{arrows:?}\n{gaps:?}\n{counts:?}",
        locks.finish()
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn fast_paths_lead_to_the_same_tracks(
        is_threadx in any::<bool>(),
        batches in prop::collection::vec(any_batch(), 1..4),
    ) {
        let (schema, wanted) = (schema(is_threadx), Wanted::default());
        let [short, long] = [true, false].map(|short_ways| {
            shown(followed::<Builder>(&schema, &wanted, true, &batches, short_ways).1)
        });
        prop_assert_eq!(short, long);
    }
}
