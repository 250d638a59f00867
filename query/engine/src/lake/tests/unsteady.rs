//! A storage in memory that stops after a number of changes, or makes its users take turns in a
//! pseudo-random order. Lists are not atomic: the beginning of a list can show an earlier state
//! than its end.

use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use object_store::memory::InMemory;
use object_store::path::Path as Key;
use object_store::{
    CopyOptions, Error, GetOptions, GetResult, ListResult, MultipartUpload, ObjectMeta,
    ObjectStore, ObjectStoreExt, PutMultipartOptions, PutOptions, PutPayload, PutResult, Result,
};

/// The point at which a storage fails.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fault {
    /// Before it changes an object.
    Before,
    /// After it changed an object, but before it reports the change.
    After,
    /// It does not stop, but makes one change twice, as a client does that repeats a request. The
    /// second attempt to create an object finds the object.
    Twice,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Unsteady {
    store: InMemory,
    control: Arc<Mutex<Control>>,
}

#[derive(Debug, Default)]
struct Control {
    /// Number of changes that succeed before the storage stops, and the way in which it stops.
    changes: Option<(u32, Fault)>,
    /// State of the pseudo-random sequence; 0 if the users do not take turns.
    random: u64,
}

impl Control {
    /// Returns a number below `n` (xorshift, G. Marsaglia).
    fn draw(&mut self, n: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 32) % n
    }
}

impl Unsteady {
    pub(super) fn stop_after(&self, changes: u32, fault: Fault) {
        self.control.lock().unwrap().changes = Some((changes, fault));
    }

    pub(super) fn go_on(&self) {
        self.control.lock().unwrap().changes = None;
    }

    pub(super) fn interleave(&self, seed: u64) {
        self.control.lock().unwrap().random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    /// Lets the other users of the storage run.
    async fn pause(&self) {
        let turns = {
            let mut control = self.control.lock().unwrap();
            if control.random == 0 { 0 } else { control.draw(4) }
        };
        for _ in 0..turns {
            tokio::task::yield_now().await;
        }
    }

    /// Makes a change, unless the storage stops.
    async fn change<T>(&self, change: impl Future<Output = Result<T>>) -> Result<T> {
        self.pause().await;
        let fault = {
            let mut control = self.control.lock().unwrap();
            match &mut control.changes {
                Some((0, Fault::Twice)) => control.changes.take().map(|(_, fault)| fault),
                Some((0, fault)) => Some(*fault),
                Some((changes, _)) => {
                    *changes -= 1;
                    None
                }
                None => None,
            }
        };
        let stopped = || Error::Generic { store: "unsteady", source: "stopped".into() };
        let exists = || Error::AlreadyExists { path: String::new(), source: "exists".into() };
        match fault {
            Some(Fault::Before) => Err(stopped()),
            Some(Fault::After) => change.await.and(Err(stopped())),
            Some(Fault::Twice) => change.await.and(Err(exists())),
            None => {
                let result = change.await;
                self.pause().await;
                result
            }
        }
    }

    /// Lists objects in two parts, and lets the other users of the storage run in between.
    async fn listed(self, prefix: Option<Key>) -> Vec<Result<ObjectMeta>> {
        self.pause().await;
        let mut first: Vec<ObjectMeta> =
            self.store.list(prefix.as_ref()).try_collect().await.unwrap();
        self.pause().await;
        let second: Vec<ObjectMeta> = self.store.list(prefix.as_ref()).try_collect().await.unwrap();
        let (is_ordered, pivot) = {
            let mut control = self.control.lock().unwrap();
            let pivots = first.len() as u64 + 1;
            (control.draw(2) == 0, control.draw(pivots) as usize)
        };
        if let Some(pivot) = first.get(pivot).map(|object| object.location.clone()) {
            // File systems list folders in any order, so later names may come first.
            let is_early = |object: &ObjectMeta| (object.location < pivot) == is_ordered;
            first.retain(is_early);
            first.extend(second.into_iter().filter(|object| !is_early(object)));
        }
        first.into_iter().map(Ok).collect()
    }
}

impl fmt::Display for Unsteady {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("unsteady")
    }
}

#[async_trait]
impl ObjectStore for Unsteady {
    async fn put_opts(
        &self,
        key: &Key,
        payload: PutPayload,
        options: PutOptions,
    ) -> Result<PutResult> {
        self.change(self.store.put_opts(key, payload, options)).await
    }

    async fn put_multipart_opts(
        &self,
        key: &Key,
        options: PutMultipartOptions,
    ) -> Result<Box<dyn MultipartUpload>> {
        self.store.put_multipart_opts(key, options).await
    }

    async fn get_opts(&self, key: &Key, options: GetOptions) -> Result<GetResult> {
        self.pause().await;
        self.store.get_opts(key, options).await
    }

    fn delete_stream(
        &self,
        keys: BoxStream<'static, Result<Key>>,
    ) -> BoxStream<'static, Result<Key>> {
        let this = self.clone();
        let delete = move |key: Result<Key>| {
            let this = this.clone();
            async move {
                let key = key?;
                this.change(this.store.delete(&key)).await?;
                Ok(key)
            }
        };
        keys.then(delete).boxed()
    }

    fn list(&self, prefix: Option<&Key>) -> BoxStream<'static, Result<ObjectMeta>> {
        let listed = self.clone().listed(prefix.cloned());
        stream::once(listed).flat_map(stream::iter).boxed()
    }

    async fn list_with_delimiter(&self, prefix: Option<&Key>) -> Result<ListResult> {
        self.store.list_with_delimiter(prefix).await
    }

    async fn copy_opts(&self, from: &Key, to: &Key, options: CopyOptions) -> Result<()> {
        self.change(self.store.copy_opts(from, to, options)).await
    }
}
