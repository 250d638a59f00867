//! The summaries of large traces, in the user's folder for caches. A server that finds the summary
//! of its trace does not read the trace.
//!
//! A summary belongs to one state of its files: their paths, sizes and times of change, the
//! options, and the program that made it. Each trace has one file, whose name depends on the paths
//! and options. Summaries that are damaged or belong to another state are replaced.
//!
//! Programs write to a file of their own and rename it, so that several can use the cache at the
//! same time. If the cache fails, the server continues without it.

use std::fs::{self, File, OpenOptions};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
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

/// The name of a summary, and the state that it describes: files, options and program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Key {
    name: String,
    state: Value,
}

impl Key {
    /// Returns the key for files that are read with these options. The first `traces` files are the
    /// trace. Returns `None` if one of these is not a regular file, or if the state of any file is
    /// unknown.
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

    fn file(&self, key: &Key) -> PathBuf {
        self.folder.join(&key.name).with_extension(EXTENSION)
    }

    /// Returns the page for a key, and the facts that were stored with it.
    pub(super) fn load(&self, key: &Key) -> Option<(Value, LargePage)> {
        let path = self.file(key);
        let bytes = fs::read(&path).ok()?;
        let description = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
        let belongs = |bytes: &[u8]| description(bytes).is_some_and(|all| all["key"] == key.state);
        let Some((found, page)) = LargePage::load(&bytes, belongs) else {
            // Ignore errors: storing the page replaces the file.
            let _ = fs::remove_file(&path);
            return None;
        };
        // The time of the last use decides which summaries are removed first.
        let used = File::options().append(true).open(&path);
        let _ = used.and_then(|file| file.set_modified(SystemTime::now()));
        Some((description(&found)?["facts"].take(), page))
    }

    /// Stores a page with facts about it. Then removes the oldest summaries until the others fit
    /// into the cache.
    ///
    /// # Errors
    /// Returns the error of the file system.
    pub(super) fn store(&self, key: &Key, facts: &Value, page: &LargePage) -> io::Result<()> {
        let description = json!({ "key": key.state, "facts": facts }).to_string();
        let bytes = page.store(description.as_bytes());
        if bytes.len() as u64 > self.most {
            return Ok(());
        }
        make_private(&self.folder)?;
        let partial = self.folder.join(format!("{}-{}", key.name, process::id()));
        let partial = partial.with_extension(PARTIAL);
        let _ = fs::remove_file(&partial);
        let written =
            write_private(&partial, &bytes).and_then(|()| fs::rename(&partial, self.file(key)));
        if written.is_err() {
            let _ = fs::remove_file(&partial);
        }
        self.shrink();
        written
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

/// Makes a folder that only the user can read. An existing folder stays as it is.
fn make_private(folder: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(folder)
}

/// Writes a new file that only the user can read.
fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use tracewell::export::page::View;

    use super::*;

    /// Returns the page of a small trace. The views of a large trace have the same form.
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
        cache.store(&before, &json!({ "events": 5 }), &page).unwrap();
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
            [|bytes| bytes[100] ^= 1, |bytes| bytes.truncate(5000)];
        for damage in damages {
            cache.store(&key, &json!({}), &page).unwrap();
            let path = cache.file(&key);
            let mut bytes = fs::read(&path).unwrap();
            damage(&mut bytes);
            fs::write(&path, bytes).unwrap();
            assert!(cache.load(&key).is_none());
            assert!(!path.exists());
        }
        fs::create_dir(cache.file(&key)).unwrap();
        assert!(cache.load(&key).is_none(), "a folder");
        assert!(cache.store(&key, &json!({}), &page).is_err());
        assert_eq!(fs::read_dir(&cache.folder).unwrap().count(), 1, "no partial file is left");
    }

    #[test]
    fn the_oldest_summaries_are_removed_if_there_are_too_many() {
        let page = page();
        // A file also has a description of less than 1000 bytes.
        let (folder, cache) = cache(2 * (page.store(b"").len() as u64 + 1000));
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
            cache.store(key, &json!({}), &page).unwrap();
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
        cache.store(&key, &json!({}), &page).unwrap();
        std::thread::scope(|scope| {
            let load = || {
                for _ in 0..20 {
                    let (_, found) = cache.load(&key).expect("the file is always complete");
                    assert_eq!(found.view(&View::default()).unwrap(), view);
                }
            };
            let threads = [scope.spawn(load), scope.spawn(load)];
            for _ in 0..20 {
                cache.store(&key, &json!({}), &page).unwrap();
            }
            threads.into_iter().for_each(|thread| thread.join().unwrap());
        });
    }
}
