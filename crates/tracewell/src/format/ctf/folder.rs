//! Finds the files of a trace, which are a file `metadata` and the streams in the same folder.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::index;
use crate::format::FolderFiles;

/// Name of the metadata file of a trace.
pub(super) const METADATA: &str = "metadata";

/// Maximum depth of nested folders. LTTng uses six.
const MAX_DEPTH: usize = 16;

/// Maximum number of files of a trace.
const MAX_FILES: usize = 1 << 16;

/// Names of the hidden folders to which LTTng moves the chunks of a session during a rotation.
const MOVED_CHUNKS: [&str; 2] = [".tmp_old_chunk", ".tmp_new_chunk"];

/// Finds the files of the trace at a path. For a folder, these are the files of all traces in the
/// folder. For a file `metadata`, these are the files of the folder that contains it. For a stream,
/// these are the stream and its `metadata`.
///
/// In the list of files, each file `metadata` precedes its streams. Returns `None` if the path is
/// not a trace.
pub(super) fn find(path: &Path) -> io::Result<Option<FolderFiles>> {
    let mut files = Vec::new();
    if path.is_dir() {
        collect(path, 0, &mut files)?;
    } else {
        let folder = match path.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
            Some(folder) => folder,
            None => return Ok(None),
        };
        let metadata = folder.join(METADATA);
        if !begins_as_metadata(&metadata) {
            return Ok(None);
        }
        if path.file_name().is_some_and(|name| name == METADATA) {
            add_folder(folder, &mut files)?;
        } else {
            files = vec![metadata, path.to_owned()];
            files.extend(index::path_of(path).filter(|path| path.is_file()));
        }
    }
    let main = files.iter().find(|file| file.ends_with(METADATA)).cloned();
    Ok(main.map(|main| FolderFiles { main, files }))
}

/// Adds the traces in a folder and below it.
fn collect(folder: &Path, depth: usize, files: &mut Vec<PathBuf>) -> io::Result<()> {
    if folder.join(METADATA).is_file() {
        add_folder(folder, files)?;
    }
    if depth == MAX_DEPTH {
        return Ok(());
    }
    for folder in sorted(folder)? {
        // A symbolic link may point back to this folder.
        let is_folder = fs::symlink_metadata(&folder).is_ok_and(|data| data.is_dir());
        let is_chunk = MOVED_CHUNKS.iter().any(|name| folder.ends_with(name));
        if is_folder && (is_chunk || !is_hidden(&folder)) && !folder.ends_with(index::FOLDER) {
            collect(&folder, depth + 1, files)?;
        }
    }
    Ok(())
}

/// Adds the files of one folder: the file `metadata`, the streams, and the index files of the
/// streams.
fn add_folder(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    files.push(folder.join(METADATA));
    let first = files.len();
    for file in sorted(folder)? {
        if file.is_file() && !is_hidden(&file) && !file.ends_with(METADATA) {
            files.push(file);
        }
    }
    let indexes = files[first..].iter().filter_map(|file| index::path_of(file));
    let indexes: Vec<_> = indexes.filter(|path| path.is_file()).collect();
    files.extend(indexes);
    if files.len() > MAX_FILES {
        let message = format!("expected at most {MAX_FILES} files in the folder of a trace");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(())
}

fn sorted(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder)?.map(|entry| entry.map(|entry| entry.path()));
    let mut paths = entries.collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    Ok(paths)
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
}

/// Returns true if the path is a regular file that begins like metadata. If the path is a pipe, the
/// function does not wait for a writer.
fn begins_as_metadata(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(4096).read_to_end(&mut start));
    read.is_ok() && super::is_metadata(&start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_next_to_metadata_of_another_kind_is_no_stream() {
        let folder = tempfile::tempdir().unwrap();
        let stream = folder.path().join("stream");
        fs::write(&stream, "").unwrap();
        for (text, files) in [("/* CTF 1.8 */", Some(2)), ("title: a log", None), ("", None)] {
            fs::write(folder.path().join(METADATA), text).unwrap();
            let found = find(&stream).unwrap();
            assert_eq!(found.map(|found| found.files.len()), files, "{text}");
        }
    }

    /// Writes an empty file, or the start of metadata.
    fn write(folder: &Path, path: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = if path.ends_with(METADATA) { "/* CTF 1.8 */" } else { "" };
        fs::write(path, text).unwrap();
    }

    /// Returns the files that belong to a path, relative to the folder.
    fn found(folder: &Path, path: &str) -> Option<Vec<String>> {
        let found = find(&folder.join(path)).unwrap()?;
        assert_eq!(found.files.first(), Some(&found.main));
        let relative = |file: &PathBuf| file.strip_prefix(folder).unwrap().display().to_string();
        Some(found.files.iter().map(relative).collect())
    }

    #[test]
    fn streams_follow_their_metadata_and_indexes_follow_the_streams() {
        let folder = tempfile::tempdir().unwrap();
        let files = "metadata b a .c index/a.idx index/c.idx index/metadata sub/x \
                     sub/deep/metadata sub/deep/s .d/metadata .d/s .tmp_old_chunk/metadata \
                     .tmp_old_chunk/s .tmp_new_chunk/metadata .tmp_new_chunk/s";
        files.split_whitespace().for_each(|file| write(folder.path(), file));
        let list = |files: &str| Some(files.split(' ').map(str::to_owned).collect::<Vec<_>>());
        for (path, expected) in [
            (
                "",
                list(
                    "metadata a b index/a.idx .tmp_new_chunk/metadata .tmp_new_chunk/s \
                     .tmp_old_chunk/metadata .tmp_old_chunk/s sub/deep/metadata sub/deep/s",
                ),
            ),
            ("metadata", list("metadata a b index/a.idx")),
            ("a", list("metadata a index/a.idx")),
            ("b", list("metadata b")),
            ("sub", list("sub/deep/metadata sub/deep/s")),
            ("sub/x", None),
            ("sub/deep/s", list("sub/deep/metadata sub/deep/s")),
        ] {
            assert_eq!(found(folder.path(), path), expected, "{path}");
        }
    }

    #[test]
    fn folders_are_searched_up_to_a_depth() {
        for (depth, is_found) in [(0, true), (1, true), (MAX_DEPTH, true), (MAX_DEPTH + 1, false)] {
            let folder = tempfile::tempdir().unwrap();
            let path = "d/".repeat(depth) + METADATA;
            write(folder.path(), &path);
            assert_eq!(found(folder.path(), ""), is_found.then_some(vec![path]), "{depth}");
        }
    }
}
