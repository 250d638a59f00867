//! Builds crates for a target, with the options that `dist` and `page` share. The results contain
//! no paths of the machine that built them.

use std::path::{Path, PathBuf};

use crate::steps::{cargo, fault, run};

/// Options of `dist` and `page`.
pub(crate) struct Options {
    /// Folder for the results.
    pub(crate) output: PathBuf,
    profile: String,
    target_dir: Option<PathBuf>,
}

impl Options {
    /// Parses the options. Returns `None` if they are invalid. `output` is the default for the
    /// folder of the results.
    pub(crate) fn parse(
        output: PathBuf,
        mut arguments: impl Iterator<Item = String>,
    ) -> Option<Self> {
        let mut options = Self { output, profile: "release".to_owned(), target_dir: None };
        while let Some(name) = arguments.next() {
            let value = arguments.next()?;
            match name.as_str() {
                "--output" => options.output = value.into(),
                "--profile" => options.profile = value,
                "--target-dir" => options.target_dir = Some(value.into()),
                _ => return None,
            }
        }
        Some(options)
    }

    /// Builds a package for a target, without symbols, and returns the folder with the results.
    /// `target_dir` is the default of `--target-dir`.
    ///
    /// # Errors
    /// Returns an error if `root` does not exist or the build fails.
    pub(crate) fn build(
        &self,
        root: &Path,
        package: &str,
        target: &str,
        target_dir: &Path,
    ) -> Result<PathBuf, String> {
        let target_dir = self.target_dir.as_deref().unwrap_or(target_dir);
        let root = root.canonicalize().map_err(|error| fault(root, &error))?;
        let home = std::env::var("CARGO_HOME").map_or_else(
            |_| PathBuf::from(std::env::var("HOME").unwrap_or_default()).join(".cargo"),
            PathBuf::from,
        );
        // Without these flags, the results contain paths, which differ between machines.
        let flags = format!(
            "--remap-path-prefix={}=tracewell --remap-path-prefix={}=cargo",
            root.display(),
            home.display()
        );
        run(cargo(&root)
            .args(["build", "--quiet", "--locked", "--package", package, "--target", target])
            .args(["--profile", &self.profile, "--target-dir"])
            .arg(target_dir)
            .env("RUSTFLAGS", flags)
            .env(format!("CARGO_PROFILE_{}_STRIP", self.profile.to_uppercase()), "symbols"))?;
        // The output folder of the profile `dev` is called `debug`.
        let folder = if self.profile == "dev" { "debug" } else { &self.profile };
        Ok(target_dir.join(target).join(folder))
    }
}
