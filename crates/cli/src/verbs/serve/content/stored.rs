//! Shows the cached summary of a large trace, stores it, and discards it if it is damaged.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use tracewell::export::page::View;
use tracewell::input::Advance;
use tracewell::model::{Diagnostics, Severity};

use super::super::cache::{Draft, Key};
use super::super::progress::Progress;
use super::Content;
use crate::outcome::{note, report_diagnostics};

impl Content {
    /// Returns the key of the trace in the cache. Returns `None` if this trace is not cached, or
    /// has no key.
    pub(super) fn key(&self) -> Option<Key> {
        let is_cached = self.cache.is_some() && !self.is_one_of_several;
        if is_cached { self.traces.key() } else { None }
    }

    /// Shows the summary from the cache, if there is one. Reports the diagnostics that were stored
    /// with it.
    pub(super) fn show_stored(&self, key: &Key, verbose: bool) -> bool {
        let stored = self.cache.as_ref().and_then(|cache| cache.load(key));
        let Some((facts, large)) = stored else { return false };
        let diagnostics = StoredFacts::diagnostics(&facts);
        let (Some(diagnostics), Ok(page)) = (diagnostics, large.view(&View::default())) else {
            return false;
        };
        let outcome = report_diagnostics(self.traces.first(), &diagnostics, verbose);
        self.change(|state| {
            let number = |name: &str| facts[name].as_u64().unwrap_or(0);
            state.progress.reading = false;
            state.progress.advance = Advance { events: number("events"), bytes: number("bytes") };
            state.progress.size = facts["size"].as_u64();
            state.progress.edition += 1;
            state.info = Some(facts["info"].clone());
            state.outcome = Some(outcome);
            (state.page, state.large) = (Some(Arc::new(page)), Some(Arc::new(large)));
        });
        true
    }

    /// Stores the summary of a trace that was read completely and has not changed since, unless the
    /// cache cannot be used.
    pub(super) fn store(&self, key: &Key, diagnostics: Diagnostics, draft: &Draft) {
        let (progress, large, info) = {
            let state = self.state();
            (state.progress.clone(), state.large.clone(), state.info.clone())
        };
        // Store nothing if some diagnostics were not kept, or if a file has changed.
        if diagnostics.more() > 0 || self.key().as_ref() != Some(key) {
            return;
        }
        if let (Some(cache), Some(large)) = (&self.cache, large) {
            let facts = StoredFacts::json(&progress, info, &diagnostics);
            if let Err(error) = cache.store(key, &facts, &large, draft) {
                note!("the summary is not kept for the next start: {error}");
            }
        }
    }

    /// Forgets the shown summary, because its file is damaged, and lets the reading thread read the
    /// trace again. Returns false if this has happened before.
    pub(super) fn forget(&self) -> bool {
        if self.is_damaged.swap(true, Ordering::AcqRel) {
            return false;
        }
        if let (Some(cache), Some(key)) = (&self.cache, self.key()) {
            cache.remove(&key);
        }
        self.change(|state| {
            (state.page, state.large, state.brief) = (None, None, None);
            state.progress.reading = true;
        });
        true
    }
}

/// The facts about a trace that the cache stores in addition to the page.
struct StoredFacts;

impl StoredFacts {
    fn json(progress: &Progress, info: Option<Value>, diagnostics: &Diagnostics) -> Value {
        let diagnostics = diagnostics.iter().map(|diagnostic| {
            json!([diagnostic.severity.as_str(), diagnostic.offset, diagnostic.message_with_file()])
        });
        json!({
            "events": progress.advance.events,
            "bytes": progress.advance.bytes,
            "size": progress.size,
            "info": info,
            "diagnostics": diagnostics.collect::<Vec<_>>(),
        })
    }

    /// Returns the diagnostics that the facts of a page contain.
    fn diagnostics(facts: &Value) -> Option<Diagnostics> {
        let mut all = Diagnostics::default();
        for stored in facts["diagnostics"].as_array()? {
            let name = stored[0].as_str()?;
            let severity = SEVERITIES.into_iter().find(|severity| severity.as_str() == name)?;
            all.add(severity, stored[1].as_u64(), stored[2].as_str()?);
        }
        Some(all)
    }
}

const SEVERITIES: [Severity; 4] =
    [Severity::Note, Severity::Hint, Severity::Warning, Severity::Damage];

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::io::{Read, Seek, Write};
    use std::path::Path;
    use std::sync::Arc;
    use std::thread;

    use serde_json::json;
    use tracewell::export::page::{FIRST_PARTS, ServedBuilder, View};
    use tracewell_wire::ByteOrder;
    use tracewell_wire::threadx::{Event, Header, Layout, PriorityWord, Width, ids};

    use super::super::super::cache::Cache;
    use super::super::super::traces::Traces;
    use super::super::Content;
    use crate::args::InputArgs;

    /// Number of events in the dump: enough for a complete segment in each row of the summary.
    const EVENTS: u64 = 80_000;

    /// Writes a dump in which two threads take turns.
    fn write_turns(path: &Path) {
        let layout = Layout { order: ByteOrder::Little, width: Width::Bits32, name_size: 32 };
        let start = layout.header_size() as u64;
        let header = Header {
            timer_valid_mask: u64::from(u32::MAX),
            trace_base_address: 0,
            registry_start: start,
            registry_end: start,
            buffer_start: start,
            buffer_end: start + EVENTS * layout.event_size() as u64,
            buffer_current: start,
            reserved1: 0,
            reserved: Header::RESERVED,
        };
        let mut bytes = vec![0; start as usize];
        header.write(layout, &mut bytes).unwrap();
        for number in 0..EVENTS {
            let threads = [0x1000 + number % 2 * 0x100, 0x1100 - number % 2 * 0x100];
            let event = Event {
                context: threads[0],
                priority_word: PriorityWord::of_thread(5, 5),
                id_word: u64::from(ids::THREAD_SUSPEND),
                stamp: 10 * number,
                info: [threads[0], 4, 0, threads[1]],
            };
            let mut slot = vec![0; layout.event_size()];
            event.write(layout, &mut slot).unwrap();
            bytes.extend_from_slice(&slot);
        }
        fs::write(path, bytes).unwrap();
    }

    /// Changes all bytes of the records, which are at the beginning of the file.
    fn damage(path: &Path) {
        let mut file = File::options().read(true).write(true).open(path).unwrap();
        let mut bytes = vec![0; 10_000];
        file.read_exact(&mut bytes).unwrap();
        file.rewind().unwrap();
        file.write_all(&bytes.iter().map(|byte| !byte).collect::<Vec<_>>()).unwrap();
    }

    #[test]
    fn a_trace_is_read_again_if_a_view_finds_damage_in_its_summary() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("turns.trx");
        write_turns(&file);
        let cache = Cache::at(folder.path().join("cache"));
        let files = std::slice::from_ref(&file);
        let traces = Traces::new(files, files, &InputArgs::default()).unwrap();
        let content = Arc::new(Content::new(traces, false, Some(cache.clone()), Arc::default()));
        let key = content.key().unwrap();
        let mut builder = ServedBuilder::with_views();
        let trace = tracewell::open(&file).unwrap().read(&mut builder).unwrap();
        let (_, large) = builder.finish(&trace, "turns.trx").unwrap();
        let facts = json!({ "events": trace.events, "diagnostics": [] });
        cache.store(&key, &facts, &large.unwrap(), &cache.draft(&key)).unwrap();

        let reader = Arc::clone(&content);
        thread::spawn(move || reader.read(false));
        let (_, edition) = content.page().unwrap();
        assert_eq!((edition, content.has_views()), (1, true), "the stored summary is shown");
        let view = || View { range: Some(0..trace.span / 100), parts: 100_000, ..View::default() };
        assert!(content.view(view()).unwrap().is_some());
        damage(&cache.file(&key));
        // The reading thread answers this request while it reads the trace again.
        content.view(view()).unwrap();
        let (page, edition) = content.page().unwrap();
        let mut builder = ServedBuilder::default();
        let trace = tracewell::open(&file).unwrap().read(&mut builder).unwrap();
        assert!(*page == builder.finish(&trace, "turns.trx").unwrap().0);
        assert_eq!(edition, 2);
        assert!(cache.load(&key).is_none(), "the damaged summary is removed");
        assert!(!content.forget(), "a summary is forgotten once");
    }

    #[test]
    fn a_long_trace_is_first_shown_as_a_view() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("turns.trx");
        write_turns(&file);
        let files = std::slice::from_ref(&file);
        let traces = Traces::new(files, files, &InputArgs::default()).unwrap();
        let content = Arc::new(Content::new(traces, false, None, Arc::default()));
        let reader = Arc::clone(&content);
        thread::spawn(move || reader.read(false));
        let (whole, edition) = content.page().unwrap();
        assert_eq!((content.page_so_far(FIRST_PARTS).unwrap(), edition), ((whole, 1), 1));
        let mut builder = ServedBuilder::with_views();
        let trace = tracewell::open(&file).unwrap().read(&mut builder).unwrap();
        let expected = builder.finish(&trace, "turns.trx").unwrap().0;
        let (first, edition) = content.first_page().unwrap();
        assert_eq!((*first == expected, edition), (true, 0), "the page then loads edition 1");
        assert!(content.view(View::default()).unwrap().is_some(), "the page can zoom in");
    }
}
