//! The place of a lake: a local folder, or a prefix in a bucket of object storage.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use futures::TryStreamExt;
use object_store::aws::AmazonS3Builder;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use object_store::prefix::PrefixStore;
use object_store::{ObjectStore, ObjectStoreExt};
use url::Url;

use crate::failure::Failure;

/// Start of the address of a bucket.
const S3: &str = "s3://";

/// The scheme of the addresses of lakes in the engine.
pub(super) const SCHEME: &str = "lake";

/// Returns true for the address of object storage.
pub(crate) fn is_url(text: &str) -> bool {
    text.starts_with(S3)
}

/// The storage of a lake.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    /// The place as the user gave it.
    pub(crate) name: String,
    /// The storage. Its keys are relative to the lake.
    pub(crate) store: Arc<dyn ObjectStore>,
    /// The address by which the engine finds `store`, on other machines too.
    pub(crate) url: Url,
}

impl Place {
    /// Finds the storage. A local folder must exist. The keys, the region and the endpoint of
    /// object storage come from the environment: `AWS_ACCESS_KEY_ID`, `AWS_ENDPOINT_URL` and so on.
    ///
    /// # Errors
    ///
    /// Fails if the folder does not exist or the address is not valid.
    pub(crate) fn find(name: &str) -> Result<Self, Failure> {
        let mut whole = name.to_owned();
        let store: Arc<dyn ObjectStore> = match name.strip_prefix(S3) {
            None => {
                let folder = fs::canonicalize(name);
                let folder = folder.map_err(|error| Failure::io(Path::new(name), &error))?;
                whole = folder.to_string_lossy().into_owned();
                let store = LocalFileSystem::new_with_prefix(folder);
                Arc::new(store.map_err(|error| failure(name, &error))?)
            }
            Some(rest) => {
                let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
                let builder = AmazonS3Builder::from_env().with_bucket_name(bucket);
                let store = builder.build().map_err(|error| failure(name, &error))?;
                Arc::new(PrefixStore::new(store, Key::from(prefix)))
            }
        };
        // Encode the whole name in the address, so that several lakes can be in one bucket.
        let host: String = whole.bytes().map(|byte| format!("{byte:02x}")).collect();
        let url = Url::parse(&format!("{SCHEME}://{host}"));
        let url = url.map_err(|error| Failure::usage(format!("{name}: {error}")))?;
        Ok(Self { name: name.to_owned(), store, url })
    }

    /// Finds the storage of a lake by its address in the engine.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`Place::find`], and an error if the address is not one that `find`
    /// makes.
    pub(super) fn of_url(url: &Url) -> Result<Self, Failure> {
        let digits = url.host_str().unwrap_or_default().as_bytes();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
        let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
        match bytes.map(String::from_utf8) {
            Some(Ok(name)) => Self::find(&name),
            _ => Err(Failure::usage(format!("{url}: not the address of a lake"))),
        }
    }

    /// Returns the content of an object, or `None` if it does not exist.
    pub(crate) async fn get(&self, key: &Key) -> Result<Option<Vec<u8>>, Failure> {
        let read = async { self.store.get(key).await?.bytes().await };
        match read.await {
            Ok(bytes) => Ok(Some(bytes.to_vec())),
            Err(object_store::Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(failure(&self.name, &error)),
        }
    }

    /// Returns the keys of all objects in a folder, or of those after a key, in increasing order.
    pub(super) async fn list(
        &self,
        folder: &Key,
        after: Option<&Key>,
    ) -> Result<Vec<Key>, Failure> {
        let listed = match after {
            Some(after) => self.store.list_with_offset(Some(folder), after),
            None => self.store.list(Some(folder)),
        };
        let keys: Result<Vec<_>, _> = listed.map_ok(|object| object.location).try_collect().await;
        let mut keys = keys.map_err(|error| self.failure(&error))?;
        keys.sort();
        Ok(keys)
    }

    /// Deletes an object, unless it is already deleted.
    pub(crate) async fn delete(&self, key: &Key) -> Result<(), Failure> {
        match self.store.delete(key).await {
            Ok(()) | Err(object_store::Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failure(&error)),
        }
    }

    /// Returns the failure of an operation of the storage.
    pub(crate) fn failure(&self, error: &object_store::Error) -> Failure {
        failure(&self.name, error)
    }
}

fn failure(name: &str, error: &object_store::Error) -> Failure {
    Failure::storage(format!("{name}: {error}"))
}
