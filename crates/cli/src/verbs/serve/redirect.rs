//! The private file that redirects the browser to the address of the server.
//!
//! Other users of a computer can see the arguments of its processes. The address contains the
//! secret, so no program gets it as an argument: the browser gets the path of this file.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
#[cfg(unix)]
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use tracewell::text::shown_path;

/// A page that only the user can read, in a new folder that only the user can enter. Dropping the
/// value removes both.
#[derive(Debug)]
pub(super) struct Redirect {
    folder: PathBuf,
    page: PathBuf,
}

impl Redirect {
    /// Writes a page that opens an address. `parent` is the folder for temporary files.
    ///
    /// # Errors
    /// Returns an error with the path if the folder or the page cannot be created, or if the system
    /// provides no random numbers.
    pub(super) fn new(parent: &Path, address: &str) -> io::Result<Self> {
        let name = getrandom::u64().map_err(|error| io::Error::other(error.to_string()))?;
        let folder = parent.join(format!("tracewell-{name:016x}"));
        let mut options = DirBuilder::new();
        // If the folder already exists, this is an error: another user could own it.
        options.recursive(false);
        #[cfg(unix)]
        options.mode(0o700);
        options.create(&folder).map_err(|error| about(&folder, &error))?;
        let redirect = Self { page: folder.join("open.html"), folder };
        let written = redirect.write(address);
        written.map_err(|error| about(&redirect.page, &error))?;
        Ok(redirect)
    }

    /// Returns the path of the page.
    pub(super) fn path(&self) -> &Path {
        &self.page
    }

    fn write(&self, address: &str) -> io::Result<()> {
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        options.mode(0o600);
        options.open(&self.page)?.write_all(page(address).as_bytes())
    }
}

impl Drop for Redirect {
    fn drop(&mut self) {
        // It is not an error if the user has already removed them.
        let _ = fs::remove_file(&self.page);
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Returns the page. The server's address contains no characters that HTML interprets.
fn page(address: &str) -> String {
    format!(
        "<!doctype html>\n<meta charset=\"utf-8\">\n<title>Tracewell</title>\n\
         <meta http-equiv=\"refresh\" content=\"0; url={address}\">\n\
         <p><a href=\"{address}\">Open the trace</a></p>\n"
    )
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", shown_path(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADDRESS: &str = "http://[::1]:40227/9f1c3a7de0b2645889ab1c2d3e4f5061/";

    #[test]
    fn the_page_leads_to_the_address_and_exists_as_long_as_the_value() {
        let parent = tempfile::tempdir().unwrap();
        let redirect = Redirect::new(parent.path(), ADDRESS).unwrap();
        let page = fs::read_to_string(redirect.path()).unwrap();
        let refresh = format!("<meta http-equiv=\"refresh\" content=\"0; url={ADDRESS}\">");
        assert!(page.contains(&refresh), "{page}");
        assert!(!redirect.path().to_string_lossy().contains("9f1c3a7d"), "{redirect:?}");
        let other = Redirect::new(parent.path(), ADDRESS).unwrap();
        assert_ne!(other.path(), redirect.path());
        drop((redirect, other));
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[cfg(unix)]
    #[test]
    fn only_the_user_can_read_the_page() {
        use std::os::unix::fs::PermissionsExt;

        let parent = tempfile::tempdir().unwrap();
        let redirect = Redirect::new(parent.path(), ADDRESS).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(redirect.path()), 0o600);
        assert_eq!(mode(redirect.path().parent().unwrap()), 0o700);
    }

    #[test]
    fn an_error_names_the_folder() {
        let parent = tempfile::tempdir().unwrap();
        let missing = parent.path().join("missing");
        let error = Redirect::new(&missing, ADDRESS).unwrap_err().to_string();
        assert!(error.contains("missing"), "{error}");
    }
}
