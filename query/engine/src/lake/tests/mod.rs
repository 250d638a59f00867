//! Tests of the log and its checkpoints, in a storage in memory that can stop and interleave
//! writers after any operation.

mod unsteady;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::future::join_all;
use object_store::path::Path as Key;
use url::Url;

use super::checkpoint::newest;
use super::commit::{Commit, DataFile, Replaced, TraceEntry};
use super::log::{Appended, Lake};
use super::place::Place;
use unsteady::{Fault, Unsteady};

fn place(store: Unsteady) -> Place {
    let url = Url::parse("lake://test").unwrap();
    Place { name: "test".to_owned(), store: Arc::new(store), url }
}

/// Runs the future of a test on one thread, so its interleaving depends only on the storage.
fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

/// Runs a test of users of one storage, with many different interleavings of their operations. The
/// test also gets the number of the interleaving, for its messages.
fn interleaved(test: impl AsyncFn(&Unsteady, u64)) {
    for seed in 1..=150 {
        let store = Unsteady::default();
        run(async {
            open(&store).await;
            store.interleave(seed);
            test(&store, seed).await;
        });
    }
}

/// Returns a commit with one trace and one file. `writer` is a part of the file's name.
fn commit(trace: u32, writer: u32) -> Commit {
    let labels = BTreeMap::from([(format!("label{trace}"), "1".to_owned())]);
    let trace = TraceEntry { hash: format!("{trace:04}"), path: format!("{trace}.trx"), labels };
    let key = format!("data/events/{}-{writer}.parquet", trace.hash);
    let file = DataFile { table: "events".to_owned(), key, ..DataFile::default() };
    Commit { traces: vec![trace], files: vec![file], ..Commit::default() }
}

/// Returns a commit that merges files. The name of a file begins with the hashes of its traces.
fn merge(files: &[DataFile], writer: u32) -> Commit {
    let names: Vec<_> = files.iter().map(hashes_of).collect();
    let key = format!("data/events/{}-m{writer}.parquet", names.join("+"));
    let replaced = files.iter().map(|file| Replaced { key: file.key.clone(), at: 0 });
    let file = DataFile { table: "events".to_owned(), key, ..DataFile::default() };
    Commit { files: vec![file], replaced: replaced.collect(), ..Commit::default() }
}

fn hashes_of(file: &DataFile) -> String {
    file.key["data/events/".len()..].split_once('-').unwrap().0.to_owned()
}

/// Returns the hashes of all traces in increasing order, and checks that each is in one file.
fn merged_hashes(lake: &Lake) -> Vec<String> {
    let content = lake.content();
    let mut hashes: Vec<String> = content.traces.iter().map(|trace| trace.hash.clone()).collect();
    let names: Vec<_> = content.files.iter().map(hashes_of).collect();
    let mut found: Vec<String> =
        names.iter().flat_map(|name| name.split('+').map(str::to_owned)).collect();
    hashes.sort();
    found.sort();
    assert_eq!(found, hashes);
    hashes
}

async fn open(store: &Unsteady) -> Lake {
    Lake::open_or_create(place(store.clone())).await.unwrap()
}

/// Returns the hashes of all traces of a lake, and checks that each has one file.
fn hashes(lake: &Lake) -> Vec<String> {
    let content = lake.content();
    let hashes: Vec<String> = content.traces.iter().map(|trace| trace.hash.clone()).collect();
    let of_file = |file: &DataFile| file.key["data/events/".len()..][..4].to_owned();
    assert_eq!(content.files.iter().map(of_file).collect::<Vec<_>>(), hashes);
    assert_eq!(lake.len(), hashes.len());
    assert_eq!(lake.labels().count(), hashes.len());
    assert!(hashes.iter().all(|hash| lake.path_of(hash).is_some()));
    hashes
}

async fn keys(store: &Unsteady, folder: &str) -> usize {
    place(store.clone()).list(&Key::from(folder), None).await.unwrap().len()
}

#[test]
fn a_checkpoint_replaces_the_log() {
    run(async {
        let store = Unsteady::default();
        let mut lake = open(&store).await;
        let mut expected = Vec::new();
        for round in 0..4 {
            for trace in 3 * round..3 * round + 3 {
                assert_eq!(lake.append(&commit(trace, 0)).await.unwrap(), Appended::Done);
                expected.push(format!("{trace:04}"));
            }
            assert_eq!(keys(&store, "log").await, 3);
            lake.compact().await.unwrap();
            assert_eq!(keys(&store, "log").await, 0);
            // The checkpoint before the newest is kept.
            assert_eq!(keys(&store, "checkpoint").await, if round == 0 { 1 } else { 2 });
            assert_eq!(hashes(&open(&store).await), expected);
            // Without new commits, there is nothing to do.
            lake.compact().await.unwrap();
            assert_eq!(newest(&lake.place).await.unwrap(), lake.last());
        }
        assert_eq!(lake.append(&commit(5, 1)).await.unwrap(), Appended::Conflict);
    });
}

#[test]
fn a_long_log_is_compacted_without_request() {
    run(async {
        let store = Unsteady::default();
        let mut lake = open(&store).await;
        for trace in 0..70 {
            lake.append(&commit(trace, 0)).await.unwrap();
            lake.compact_if_long().await.unwrap();
        }
        assert_eq!((keys(&store, "log").await, keys(&store, "checkpoint").await), (6, 1));
        assert_eq!(hashes(&open(&store).await).len(), 70);
    });
}

#[test]
fn programs_that_missed_a_checkpoint_find_it() {
    run(async {
        let store = Unsteady::default();
        let (mut reader, mut writer) = (open(&store).await, open(&store).await);
        let mut same = open(&store).await;
        let mut other = open(&store).await;
        for trace in 0..3 {
            other.append(&commit(trace, 0)).await.unwrap();
        }
        other.compact().await.unwrap();
        // The writer creates commit 1 again, which was deleted, and then finds the checkpoint.
        assert_eq!(writer.append(&commit(7, 1)).await.unwrap(), Appended::Done);
        assert_eq!(same.append(&commit(1, 1)).await.unwrap(), Appended::Conflict);
        assert_eq!(keys(&store, "log").await, 1);
        reader.refresh().await.unwrap();
        for lake in [&reader, &writer, &open(&store).await] {
            assert_eq!((lake.last(), hashes(lake)), (4, hashes(&writer)));
        }
        assert_eq!(hashes(&reader), ["0000", "0001", "0002", "0007"]);
    });
}

#[test]
fn a_missing_commit_is_damage() {
    run(async {
        let store = Unsteady::default();
        let mut lake = open(&store).await;
        for trace in 0..3 {
            lake.append(&commit(trace, 0)).await.unwrap();
        }
        lake.place.delete(&Key::from("log/00000000000000000002.json")).await.unwrap();
        let failure = Lake::open(lake.place).await.unwrap_err().to_string();
        assert_eq!(
            failure,
            "test: log/00000000000000000002.json is missing, and later commits exist"
        );
    });
}

#[test]
fn a_writer_can_stop_after_any_operation() {
    for fault in [Fault::Before, Fault::After] {
        let mut operations = 0;
        loop {
            let store = Unsteady::default();
            let mut known = 0;
            let stopped = run(async {
                let mut lake = open(&store).await;
                store.stop_after(operations, fault);
                for trace in 0..9 {
                    let added = lake.append(&commit(trace, 0)).await;
                    known += u32::from(added.is_ok());
                    if added.is_err() || trace % 3 == 2 && lake.compact().await.is_err() {
                        return true;
                    }
                }
                false
            });
            store.go_on();
            run(async {
                // The lake has all commits that the writer knows, and perhaps one more.
                let mut lake = open(&store).await;
                let found = hashes(&lake);
                assert!((known as usize..=known as usize + 1).contains(&found.len()));
                for trace in 0..9 {
                    let is_known = found.contains(&format!("{trace:04}"));
                    let expected = if is_known { Appended::Conflict } else { Appended::Done };
                    assert_eq!(lake.append(&commit(trace, 1)).await.unwrap(), expected);
                }
                lake.compact().await.unwrap();
                let expected: Vec<_> = (0..9).map(|trace| format!("{trace:04}")).collect();
                assert_eq!(hashes(&open(&store).await), expected);
                assert_eq!((keys(&store, "log").await, newest(&lake.place).await.unwrap()), (0, 9));
            });
            if !stopped {
                break;
            }
            operations += 1;
        }
        // Nine commits, three checkpoints, the deletion of nine commits and of one checkpoint.
        assert_eq!(operations, 22);
    }
}

#[test]
fn a_repeated_request_does_not_lose_a_commit() {
    for operations in 0..12 {
        let store = Unsteady::default();
        run(async {
            let mut lake = open(&store).await;
            store.stop_after(operations, Fault::Twice);
            let mut added = Vec::new();
            for trace in 0..6 {
                added.push(commit(trace, 0));
                assert_eq!(lake.append(added.last().unwrap()).await.unwrap(), Appended::Done);
            }
            let merged = merge(&lake.all_files().to_vec()[..3], 0);
            assert_eq!(lake.append(&merged).await.unwrap(), Appended::Done);
            let deleted: Vec<_> = lake.replaced().iter().map(|file| file.key.clone()).collect();
            assert_eq!(deleted.len(), 3);
            let commit = Commit { deleted, ..Commit::default() };
            assert_eq!(lake.append(&commit).await.unwrap(), Appended::Done);
            let again = open(&store).await;
            assert_eq!((merged_hashes(&again).len(), again.replaced().len()), (6, 0));
            assert_eq!((again.last(), lake.last()), (8, 8));
        });
    }
}

#[test]
fn writers_and_readers_can_interleave_in_any_way() {
    const WRITERS: u32 = 3;
    const TRACES: u32 = 8;
    interleaved(async |store, seed| {
        let writers = (0..WRITERS).map(async |writer| {
            let mut lake = open(store).await;
            let mut done = Vec::new();
            for trace in 0..TRACES {
                // All writers add trace 0; every other trace has one writer.
                let trace = if trace == 0 { 0 } else { writer * TRACES + trace };
                match lake.append(&commit(trace, writer)).await.unwrap() {
                    Appended::Done => done.push(trace),
                    Appended::Conflict => assert_eq!(trace, 0),
                }
                if (trace + writer) % 2 == 0 {
                    lake.compact().await.unwrap();
                }
                hashes(&lake);
            }
            done
        });
        let reader = async {
            let mut lake = open(store).await;
            let mut before = Vec::new();
            while before.len() < (WRITERS * (TRACES - 1) + 1) as usize {
                lake.refresh().await.unwrap();
                let found = hashes(&lake);
                assert!(found.starts_with(&before), "{before:?} {found:?}");
                before = found;
            }
            before
        };
        let (done, read) = futures::future::join(join_all(writers), reader).await;
        let mut done: Vec<u32> = done.into_iter().flatten().collect();
        let lake = open(store).await;
        assert_eq!(hashes(&lake), read, "seed {seed}");
        let mut found: Vec<u32> = read.iter().map(|hash| hash.parse().unwrap()).collect();
        done.sort_unstable();
        found.sort_unstable();
        assert_eq!(done, found, "seed {seed}");
    });
}

#[test]
fn a_commit_can_replace_files() {
    run(async {
        let store = Unsteady::default();
        let mut lake = open(&store).await;
        for trace in 0..4 {
            lake.append(&commit(trace, 0)).await.unwrap();
        }
        let mut other = open(&store).await;
        let files = lake.all_files().to_vec();
        assert_eq!(lake.append(&merge(&files[..3], 0)).await.unwrap(), Appended::Done);
        // Of two programs that merge the same file, one succeeds.
        assert_eq!(other.append(&merge(&files[2..], 1)).await.unwrap(), Appended::Conflict);
        for lake in [&lake, &other, &open(&store).await] {
            assert_eq!(merged_hashes(lake), ["0000", "0001", "0002", "0003"]);
            assert_eq!((lake.all_files().len(), lake.replaced().len()), (2, 3));
        }
        // A writer that looks for its commit so late still finds that it was added.
        assert!(lake.content().contains(&commit(0, 0)));
        assert!(!lake.content().contains(&commit(0, 1)));
        lake.compact().await.unwrap();
        assert_eq!(open(&store).await.content(), lake.content());
        let deleted = lake.replaced().iter().map(|file| file.key.clone()).collect();
        lake.append(&Commit { deleted, ..Commit::default() }).await.unwrap();
        lake.compact().await.unwrap();
        let again = open(&store).await;
        assert_eq!((merged_hashes(&again).len(), again.replaced().len()), (4, 0));
        assert_eq!(again.content(), lake.content());
    });
}

/// A writer of two files looks for its commit so late that others have merged and deleted one of
/// the files. It must not delete the other file, which is part of the lake.
#[test]
fn a_commit_is_known_by_any_of_its_files() {
    run(async {
        let store = Unsteady::default();
        let mut lake = open(&store).await;
        let mut late = commit(0, 0);
        late.files.extend(commit(1, 0).files);
        late.traces.extend(commit(1, 0).traces);
        for commit in [&late, &commit(2, 0)] {
            lake.append(commit).await.unwrap();
        }
        let files = lake.all_files().to_vec();
        let merged = merge(&[files[0].clone(), files[2].clone()], 0);
        assert_eq!(lake.append(&merged).await.unwrap(), Appended::Done);
        let deleted = lake.replaced().iter().map(|file| file.key.clone()).collect();
        lake.append(&Commit { deleted, ..Commit::default() }).await.unwrap();
        assert!(lake.content().contains(&late) && lake.content().contains(&merged));
        assert!(!lake.content().contains(&commit(2, 0)), "its only file was deleted");
    });
}

#[test]
fn a_program_that_merges_can_stop_after_any_operation() {
    for fault in [Fault::Before, Fault::After] {
        let mut operations = 0;
        loop {
            let store = Unsteady::default();
            let stopped = run(async {
                let mut lake = open(&store).await;
                for trace in 0..6 {
                    lake.append(&commit(trace, 0)).await.unwrap();
                }
                store.stop_after(operations, fault);
                for writer in 0..5 {
                    let files = lake.all_files()[..2].to_vec();
                    let merged = lake.append(&merge(&files, writer)).await;
                    if merged.is_err() || writer % 2 == 1 && lake.compact().await.is_err() {
                        return true;
                    }
                }
                false
            });
            store.go_on();
            run(async {
                let mut lake = open(&store).await;
                assert_eq!(merged_hashes(&lake).len(), 6);
                while let [one, two, ..] = lake.all_files() {
                    let commit = merge(&[one.clone(), two.clone()], 9);
                    assert_eq!(lake.append(&commit).await.unwrap(), Appended::Done);
                }
                lake.compact().await.unwrap();
                assert_eq!(merged_hashes(&open(&store).await).len(), 6);
            });
            if !stopped {
                break;
            }
            operations += 1;
        }
        assert!(operations > 10);
    }
}

#[test]
fn programs_that_add_and_merge_can_interleave_in_any_way() {
    const WRITERS: u32 = 3;
    const TRACES: u32 = 6;
    interleaved(async |store, seed| {
        let writers = (0..WRITERS).map(async |writer| {
            let mut lake = open(store).await;
            for trace in 0..TRACES {
                let added = lake.append(&commit(writer * TRACES + trace, writer)).await;
                assert_eq!(added.unwrap(), Appended::Done);
                merged_hashes(&lake);
                if trace % 3 == writer {
                    lake.compact().await.unwrap();
                }
            }
        });
        let mergers = (0..WRITERS).map(async |merger| {
            let mut lake = open(store).await;
            let (mut done, mut number) = (0, merger);
            while merged_hashes(&lake).len() < (WRITERS * TRACES) as usize {
                lake.refresh().await.unwrap();
                if let [one, two, ..] = lake.all_files() {
                    number += WRITERS;
                    let commit = merge(&[one.clone(), two.clone()], number);
                    let merged = lake.append(&commit).await.unwrap();
                    done += usize::from(merged == Appended::Done);
                }
                merged_hashes(&lake);
            }
            done
        });
        let (_, merged) = futures::future::join(join_all(writers), join_all(mergers)).await;
        let lake = open(store).await;
        assert_eq!(merged_hashes(&lake).len(), (WRITERS * TRACES) as usize, "seed {seed}");
        // Each merge replaced two files by one.
        let merged: usize = merged.into_iter().sum();
        let files = lake.all_files().len();
        assert_eq!(files + merged, (WRITERS * TRACES) as usize, "seed {seed}");
    });
}
