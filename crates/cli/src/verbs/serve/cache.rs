//! The summaries of large traces, in the user's folder for caches. A server that finds the summary
//! of its trace does not read the trace.
//!
//! A summary belongs to one state, which consists of the paths, sizes and modification times of its
//! files, the options, and the program that made the summary. Each trace has one file, whose name
//! depends on the paths and options. Summaries that are damaged or belong to another state are
//! replaced.
//!
//! Each program writes a file of its own and renames this file at the end, so that several programs
//! can use the cache at the same time. A program writes most of the file while it reads the trace,
//! so that the summary does not need much memory. If the cache fails, the server continues without
//! it.

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{env, process};

use serde_json::{Value, json};
use tracewell::export::page::LargePage;

/// Maximum number of bytes of all summaries together.
const MAX_BYTES: u64 = 2 << 30;

/// Extension of the files that contain summaries.
const EXTENSION: &str = "summary";

/// Extension of files that are being written.
const PARTIAL: &str = "partial";

/// Age above which a file with the extension [`PARTIAL`] counts as abandoned: the program that was
/// writing it must have ended.
const ABANDONED: Duration = Duration::from_secs(24 * 3600);

/// A folder with summaries.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    folder: PathBuf,
    /// Maximum number of bytes of all summaries together.
    most: u64,
}

/// The name of a summary, and the state of the files, the options and the program for which it is
/// valid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Key {
    name: String,
    state: Value,
}

impl Key {
    /// Returns the key for files that are read with these options. The trace consists of the first
    /// `traces` files. The other files are additional inputs, such as a file with names. Returns
    /// `None` if a file of the trace is not a regular file, or if the state of any file is unknown.
    pub(super) fn new(files: &[PathBuf], traces: usize, options: &Value) -> Option<Self> {
        let state = |(index, path): (usize, &PathBuf)| {
            let path_text = fs::canonicalize(path).ok()?.into_os_string().into_string().ok()?;
            let metadata = fs::metadata(path).ok()?;
            let is_accepted = index >= traces || metadata.is_file();
            let since = metadata.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
            is_accepted.then(|| {
                json!([path.to_str(), path_text, metadata.len(), since.as_nanos().to_string()])
            })
        };
        let files: Option<Vec<_>> = files.iter().enumerate().map(state).collect();
        let files = files?;
        let paths: Vec<_> = files.iter().map(|file| (&file[0], &file[1])).collect();
        let mut hasher = DefaultHasher::new();
        json!([paths, options]).to_string().hash(&mut hasher);
        let program = env::current_exe().and_then(fs::metadata).ok()?;
        let built = program.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        let program =
            json!([env!("CARGO_PKG_VERSION"), program.len(), built.as_nanos().to_string()]);
        let state = json!({ "files": files, "options": options, "program": program });
        Some(Self { name: format!("{:016x}", hasher.finish()), state })
    }
}

impl Cache {
    /// Returns the cache of the user; `None` if the user has no folder for caches.
    pub(super) fn of_user() -> Option<Self> {
        let absolute =
            |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let base = absolute("XDG_CACHE_HOME");
        let base = base.or_else(|| absolute("HOME").map(|home| home.join(".cache")))?;
        Some(Self { folder: base.join("tracewell"), most: MAX_BYTES })
    }

    /// Returns a cache in another folder.
    #[cfg(test)]
    pub(super) fn at(folder: PathBuf) -> Self {
        Self { folder, most: MAX_BYTES }
    }

    /// Returns the path of the summary for a key.
    pub(super) fn file(&self, key: &Key) -> PathBuf {
        self.folder.join(&key.name).with_extension(EXTENSION)
    }

    /// Returns the file into which the summary for a key is written.
    pub(super) fn draft(&self, key: &Key) -> Draft {
        let partial = self.folder.join(format!("{}-{}", key.name, process::id()));
        Draft { partial: partial.with_extension(PARTIAL) }
    }

    /// Returns the page for a key, and the facts that were stored with it.
    pub(super) fn load(&self, key: &Key) -> Option<(Value, LargePage)> {
        let path = self.file(key);
        let file = File::open(&path).ok()?;
        let description = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
        let belongs = |bytes: &[u8]| description(bytes).is_some_and(|all| all["key"] == key.state);
        let Some((found, page)) = LargePage::load(file, belongs) else {
            self.remove(key);
            return None;
        };
        // The time of the last use decides which summaries are removed first.
        let used = File::options().append(true).open(&path);
        let _ = used.and_then(|file| file.set_modified(SystemTime::now()));
        Some((description(&found)?["facts"].take(), page))
    }

    /// Removes the summary for a key. Ignores errors, because the next summary for this key
    /// replaces the file.
    pub(super) fn remove(&self, key: &Key) {
        let _ = fs::remove_file(self.file(key));
    }

    /// Stores a page with facts about it. Then removes the least recently used summaries until the
    /// rest fit into the cache. `draft` must be the file that the page uses. If the page uses no
    /// file, this function writes the page to `draft`.
    ///
    /// # Errors
    /// Returns the error of the file system.
    pub(super) fn store(
        &self,
        key: &Key,
        facts: &Value,
        page: &LargePage,
        draft: &Draft,
    ) -> io::Result<()> {
        let description = json!({ "key": key.state, "facts": facts }).to_string();
        if page.store(description.as_bytes(), self.most, || draft.open())? {
            fs::rename(&draft.partial, self.file(key))?;
            self.shrink();
        }
        Ok(())
    }

    /// Removes the least recently used summaries until the rest fit into the cache. Also removes
    /// files that other programs have left behind. Ignores errors: another program may remove the
    /// same files.
    fn shrink(&self) {
        let now = SystemTime::now();
        let mut kept = Vec::new();
        for entry in fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let (path, metadata) = (entry.path(), entry.metadata());
            let Ok((metadata, used)) = metadata.and_then(|m| m.modified().map(|used| (m, used)))
            else {
                continue;
            };
            let has = |extension: &str| path.extension().is_some_and(|found| found == extension);
            if has(PARTIAL) && now.duration_since(used).is_ok_and(|age| age > ABANDONED) {
                let _ = fs::remove_file(&path);
            } else if has(EXTENSION) {
                kept.push((used, metadata.len(), path));
            }
        }
        kept.sort();
        let mut total: u64 = kept.iter().map(|(_, length, _)| length).sum();
        for (_, length, path) in kept {
            if total <= self.most {
                break;
            }
            let _ = fs::remove_file(path);
            total -= length;
        }
    }
}

/// A file of this program in the folder of the cache. It is removed when this value is dropped,
/// unless it became a summary. A page that uses the file can continue to do so.
#[derive(Debug)]
pub(super) struct Draft {
    partial: PathBuf,
}

impl Draft {
    /// Returns a file outside of the cache.
    pub(super) fn unnamed() -> Self {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("tracewell-{}-{number}", process::id());
        Self { partial: env::temp_dir().join(name).with_extension(PARTIAL) }
    }

    /// Creates the file.
    pub(super) fn open(&self) -> io::Result<File> {
        if let Some(folder) = self.partial.parent() {
            make_private(folder)?;
        }
        let _ = fs::remove_file(&self.partial);
        private(&self.partial)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.partial);
    }
}

/// Creates a folder that only the user can read. An existing folder stays as it is.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Creates a file that only the user can read.
fn private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

#[cfg(test)]
mod tests {
    use tracewell::export::page::View;

    use super::*;

    /// Returns the page of a small trace, in the form that the server uses for large traces.
    fn page() -> LargePage {
        let trace = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/scheduling.trx");
        let mut builder = tracewell::export::page::ServedBuilder::with_views();
        let trace = tracewell::open(trace).unwrap().read(&mut builder).unwrap();
        builder.finish(&trace, "scheduling.trx").unwrap().1.unwrap()
    }

    fn cache(most: u64) -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache { folder: folder.path().join("tracewell"), most };
        (folder, cache)
    }

    fn store(cache: &Cache, key: &Key, facts: &Value, page: &LargePage) -> io::Result<()> {
        cache.store(key, facts, page, &cache.draft(key))
    }

    fn key(of: &Path) -> Key {
        Key::new(&[of.to_owned()], 1, &json!(["rate=1MHz"])).unwrap()
    }

    #[test]
    fn a_page_is_found_until_its_file_changes() {
        let (folder, cache) = cache(MAX_BYTES);
        let trace = folder.path().join("trace");
        fs::write(&trace, "abc").unwrap();
        let before = key(&trace);
        assert!(cache.load(&before).is_none(), "the cache is empty");
        let page = page();
        store(&cache, &before, &json!({ "events": 5 }), &page).unwrap();
        let (facts, found) = cache.load(&before).unwrap();
        assert_eq!(facts["events"], 5);
        let view = View { parts: 100, ..View::default() };
        assert_eq!(found.view(&view).unwrap(), page.view(&view).unwrap());
        let other = Key::new(std::slice::from_ref(&trace), 1, &json!(["rate=2MHz"])).unwrap();
        assert!(cache.load(&other).is_none(), "other options");
        fs::write(&trace, "abcd").unwrap();
        let after = key(&trace);
        assert_eq!((before.name == after.name, before == after), (true, false));
        assert!(cache.load(&after).is_none(), "the file has changed");
        assert!(cache.load(&before).is_none(), "the file of the older state was removed");
        assert!(Key::new(&[folder.path().to_owned()], 1, &json!([])).is_none(), "a folder");
    }

    #[test]
    fn a_damaged_file_is_removed() {
        let (folder, cache) = cache(MAX_BYTES);
        let trace = folder.path().join("trace");
        fs::write(&trace, "abc").unwrap();
        let (key, page) = (key(&trace), page());
        let damages: [fn(&mut Vec<u8>); 2] =
            [|bytes| *bytes.last_mut().unwrap() ^= 1, |bytes| bytes.truncate(5000)];
        for damage in damages {
            store(&cache, &key, &json!({}), &page).unwrap();
            let path = cache.file(&key);
            let mut bytes = fs::read(&path).unwrap();
            damage(&mut bytes);
            fs::write(&path, bytes).unwrap();
            assert!(cache.load(&key).is_none());
            assert!(!path.exists());
        }
        fs::create_dir(cache.file(&key)).unwrap();
        assert!(cache.load(&key).is_none(), "a folder");
        assert!(store(&cache, &key, &json!({}), &page).is_err());
        assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), 1, "no partial file is left");
    }

    #[test]
    fn the_oldest_summaries_are_removed_if_there_are_too_many() {
        let page = page();
        // A file in the cache also contains a description of less than 1000 bytes.
        let stored = tempfile::tempfile().unwrap();
        assert!(page.store(b"", u64::MAX, || stored.try_clone()).unwrap());
        let (folder, cache) = cache(2 * (stored.metadata().unwrap().len() + 1000));
        let keys: Vec<_> = (0..5)
            .map(|number| {
                let trace = folder.path().join(format!("trace{number}"));
                fs::write(&trace, "abc").unwrap();
                key(&trace)
            })
            .collect();
        let stale = cache.folder.join("stale.partial");
        let begin = SystemTime::now() - 3 * ABANDONED;
        for (number, key) in (0..).zip(&keys) {
            store(&cache, key, &json!({}), &page).unwrap();
            // The times differ by more than the resolution of the file system.
            let file = File::options().append(true).open(cache.file(key)).unwrap();
            file.set_modified(begin + Duration::from_secs(number)).unwrap();
            fs::write(&stale, "").unwrap();
            File::options().append(true).open(&stale).unwrap().set_modified(begin).unwrap();
        }
        cache.shrink();
        let found: Vec<_> = keys.iter().map(|key| cache.file(key).exists()).collect();
        assert_eq!(found, [false, false, false, true, true]);
        assert!(!stale.exists());
    }

    #[test]
    fn several_threads_store_and_load_the_same_page() {
        let (folder, cache) = cache(MAX_BYTES);
        let trace = folder.path().join("trace");
        fs::write(&trace, "abc").unwrap();
        let (key, page) = (key(&trace), page());
        let view = page.view(&View::default()).unwrap();
        store(&cache, &key, &json!({}), &page).unwrap();
        std::thread::scope(|scope| {
            let load = || {
                for _ in 0..20 {
                    let (_, found) = cache.load(&key).expect("the file is always complete");
                    assert_eq!(found.view(&View::default()).unwrap(), view);
                }
            };
            let threads = [scope.spawn(load), scope.spawn(load)];
            for _ in 0..20 {
                store(&cache, &key, &json!({}), &page).unwrap();
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
}
