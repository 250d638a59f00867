//! Rules about imports: a module must not import from a higher tier of `tracewell`, and imports
//! between files must not form a circle.
//!
//! The path of a file determines its module. This module resolves each path in the code to a file,
//! through `pub use` if necessary. Tests may import anything, so the rules ignore them.

use std::collections::{BTreeMap, BTreeSet};

use crate::rust::{self, Named};

/// The tiers of the library, lowest first. A module names only modules of lower tiers.
const TIERS: [&[&str]; 7] = [
    &["compressed", "model"],
    &["text"],
    &["source", "threads"],
    &["select"],
    &["format", "analysis", "check", "template"],
    &["input", "report"],
    &["export"],
];

/// Pairs of modules. The first module must not name the second, although the second is in a lower
/// tier.
const ALSO_FORBIDDEN: [(&str, &str); 1] = [("template", "model")];

/// The Rust files of one crate, without the tests.
pub(crate) struct Crate<'a> {
    /// Folder of the sources, such as `crates/wire/src`.
    folder: &'a str,
    /// The files, by the path of their module in the crate.
    files: BTreeMap<Vec<String>, Module>,
}

struct Module {
    name: String,
    paths: Vec<Named>,
}

impl<'a> Crate<'a> {
    /// Creates the list from the files of a folder.
    pub(crate) fn new<'b>(
        folder: &'a str,
        files: impl Iterator<Item = (&'b str, &'b str)>,
    ) -> Self {
        let within = files.filter_map(|(name, text)| {
            let inner = name.strip_prefix(folder)?.strip_prefix('/')?.strip_suffix(".rs")?;
            let mut module: Vec<String> = inner.split('/').map(str::to_owned).collect();
            if module.iter().any(|part| part == "tests" || part == "bin") {
                return None;
            }
            if ["mod", "lib", "main"].contains(&module.last()?.as_str()) {
                module.pop();
            }
            let mut lines = rust::lines(text);
            rust::without_tests(&mut lines);
            Some((module, Module { name: name.to_owned(), paths: rust::paths(&lines) }))
        });
        Self { folder, files: within.collect() }
    }

    /// Returns the segments of a path from the crate's root, or `None` if the path is outside the
    /// crate.
    fn absolute(&self, module: &[String], named: &[String]) -> Option<Vec<String>> {
        let mut base = module.to_vec();
        let mut rest = named;
        match named.first()?.as_str() {
            "crate" => base.clear(),
            "self" => {}
            "super" => {
                base.pop()?;
            }
            // A child module, as in `mod child; use child::Name`.
            first => {
                base.push(first.to_owned());
                self.files.contains_key(&base).then_some(())?;
                base.pop();
                rest = named;
                return Some([&base[..], rest].concat());
            }
        }
        rest = &rest[1..];
        while rest.first().is_some_and(|segment| segment == "super") {
            base.pop()?;
            rest = &rest[1..];
        }
        Some([&base[..], rest].concat())
    }

    /// Follows `use` declarations, and returns the module that defines the target of an absolute
    /// path.
    fn home(&self, path: &[String], depth: usize) -> Vec<String> {
        let mut length = path.len();
        while length > 0 && !self.files.contains_key(&path[..length]) {
            length -= 1;
        }
        let module = &path[..length];
        if let (Some(next), Some(file), true) =
            (path.get(length), self.files.get(module), depth < 8)
        {
            let brings = |named: &&Named| named.alias.as_deref() == Some(next.as_str());
            if let Some(named) = file.paths.iter().find(brings)
                && let Some(target) = self.absolute(module, &named.segments)
                && target != path
            {
                return self.home(&[&target[..], &path[length + 1..]].concat(), depth + 1);
            }
        }
        module.to_vec()
    }

    /// Returns, for each module, the other modules that it names, each with the first line that
    /// names it.
    ///
    /// Ignores the crate's root and its re-exports, because the root lists all modules.
    fn edges(&self) -> BTreeMap<&[String], BTreeMap<Vec<String>, usize>> {
        let mut edges: BTreeMap<&[String], BTreeMap<Vec<String>, usize>> = BTreeMap::new();
        for (module, file) in &self.files {
            for named in &file.paths {
                let Some(path) = self.absolute(module, &named.segments) else { continue };
                let target = self.home(&path, 0);
                if target != *module && !target.is_empty() {
                    let targets = edges.entry(module).or_default();
                    targets.entry(target).or_insert(named.line + 1);
                }
            }
        }
        edges
    }

    /// Returns a fault for each import that the tiers forbid.
    pub(crate) fn tier_faults(&self) -> Vec<String> {
        let tier = |name: &str| TIERS.iter().position(|tier| tier.contains(&name));
        let mut faults = Vec::new();
        for (module, file) in &self.files {
            let Some(own) = module.first() else { continue };
            let Some(own_tier) = tier(own) else {
                faults.push(format!("{}:1: `{own}` is in no tier of xtask", file.name));
                continue;
            };
            for named in &file.paths {
                let path = self.absolute(module, &named.segments);
                let Some(other) = path.as_ref().and_then(|path| path.first()) else { continue };
                let is_higher = other != own && tier(other).is_some_and(|tier| tier >= own_tier);
                if is_higher || ALSO_FORBIDDEN.contains(&(own, other)) {
                    let place = format!("{}:{}", file.name, named.line + 1);
                    faults.push(format!("{place}: `{own}` must not name `{other}`"));
                }
            }
        }
        faults
    }

    /// Returns a fault for each circle of files.
    ///
    /// A folder's `mod.rs` may name the files of its folder, because it declares them.
    pub(crate) fn circle_faults(&self) -> Vec<String> {
        let edges = self.edges();
        let mut graph: BTreeMap<&[String], BTreeSet<&[String]>> = BTreeMap::new();
        for (from, targets) in &edges {
            let others = targets.keys().map(Vec::as_slice).filter(|to| !to.starts_with(from));
            graph.insert(from, others.collect());
        }
        let reach: BTreeMap<_, _> =
            graph.keys().map(|from| (*from, reachable(&graph, from))).collect();
        let mut faults = Vec::new();
        let mut seen = BTreeSet::new();
        for (from, reached) in &reach {
            if !reached.contains(from) || seen.contains(from) {
                continue;
            }
            let back = |to: &&&[String]| reach.get(**to).is_some_and(|set| set.contains(from));
            let circle: Vec<&[String]> = reached.iter().filter(back).copied().collect();
            seen.extend(circle.iter().copied());
            let names: Vec<_> = circle.iter().map(|module| self.name(module)).collect();
            faults.push(format!("{}: circle of files: {}", self.folder, names.join(", ")));
        }
        faults
    }

    fn name(&self, module: &[String]) -> &str {
        self.files.get(module).map_or("", |file| file.name.as_str())
    }
}

fn reachable<'g>(
    graph: &BTreeMap<&'g [String], BTreeSet<&'g [String]>>,
    from: &'g [String],
) -> BTreeSet<&'g [String]> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(next) = open.pop() {
        for to in graph.get(next).into_iter().flatten() {
            if reached.insert(*to) {
                open.push(to);
            }
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library<'a>(files: &[(&'a str, &'a str)]) -> Crate<'static> {
        Crate::new("crates/tracewell/src", files.iter().copied())
    }

    #[test]
    fn an_import_from_a_higher_tier_is_a_fault_in_any_spelling() {
        let name = "crates/tracewell/src/format/new.rs";
        for text in [
            "use crate::export::X;",
            "use crate::{export};",
            "use crate::{\n    model::Trace,\n    export::{X},\n};",
            "use super::super::export;",
            "fn f() { crate::export::x(); }",
        ] {
            let found = library(&[(name, text)]).tier_faults();
            assert_eq!(found.len(), 1, "{text}: {found:?}");
            assert!(found[0].ends_with("`format` must not name `export`"), "{found:?}");
        }
    }

    #[test]
    fn lower_tiers_comments_and_tests_are_no_faults() {
        let text = "use crate::model::Trace; // not crate::export\n\
                    #[cfg(test)]\nmod tests {\n    use crate::input::Input;\n}\n";
        let found = library(&[("crates/tracewell/src/format/new.rs", text)]).tier_faults();
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn an_unknown_module_is_a_fault() {
        let found = library(&[("crates/tracewell/src/new.rs", "")]).tier_faults();
        assert_eq!(found.len(), 1, "{found:?}");
    }

    #[test]
    fn files_that_name_each_other_are_a_circle() {
        let circle = library(&[
            ("crates/tracewell/src/model/mod.rs", "pub use self::b::B;"),
            ("crates/tracewell/src/model/a.rs", "use super::B;"),
            ("crates/tracewell/src/model/b.rs", "use crate::model::a::A;"),
        ]);
        let found = circle.circle_faults();
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].contains("model/a.rs") && found[0].contains("model/b.rs"), "{found:?}");
    }

    #[test]
    fn a_folder_and_its_files_are_no_circle() {
        let folder = library(&[
            ("crates/tracewell/src/model/mod.rs", "mod a;\npub use a::A;"),
            ("crates/tracewell/src/model/a.rs", "use super::Trace;"),
        ]);
        assert_eq!(folder.circle_faults(), Vec::<String>::new());
    }
}
