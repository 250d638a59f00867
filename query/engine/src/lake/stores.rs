//! Finds the storage of a lake by its address. The address contains the lake's name, so a program
//! on another machine finds the same storage. That program takes the access keys from its own
//! environment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use datafusion::common::Result;
use datafusion::execution::object_store::{DefaultObjectStoreRegistry, ObjectStoreRegistry};
use object_store::ObjectStore;
use url::Url;

use super::place::{Place, SCHEME};

/// Maximum number of lakes whose storage is kept. Each has its own connections.
const MAX_LAKES: usize = 64;

/// Finds the storage for the address of a lake, and for any other address that the engine knows.
#[derive(Debug, Default)]
pub struct Stores {
    lakes: Mutex<HashMap<Url, Arc<dyn ObjectStore>>>,
    others: DefaultObjectStoreRegistry,
}

impl ObjectStoreRegistry for Stores {
    fn register_store(
        &self,
        url: &Url,
        store: Arc<dyn ObjectStore>,
    ) -> Option<Arc<dyn ObjectStore>> {
        self.others.register_store(url, store)
    }

    fn get_store(&self, url: &Url) -> Result<Arc<dyn ObjectStore>> {
        if url.scheme() != SCHEME {
            return self.others.get_store(url);
        }
        let mut lakes = self.lakes.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(store) = lakes.get(url) {
            return Ok(Arc::clone(store));
        }
        let store = Place::of_url(url)?.store;
        if lakes.len() == MAX_LAKES {
            lakes.clear();
        }
        lakes.insert(url.clone(), Arc::clone(&store));
        Ok(store)
    }
}
