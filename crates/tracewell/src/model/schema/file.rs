//! The keys of a schema file.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

use crate::model::Meaning;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    #[serde(default)]
    pub(super) hooks: bool,
    #[serde(default)]
    pub(super) versions: Vec<String>,
    #[serde(default)]
    pub(super) prefixes: Vec<(String, String)>,
    #[serde(default)]
    pub(super) object: Vec<Kind>,
    #[serde(default, rename = "enum")]
    pub(super) enums: BTreeMap<String, Names>,
    #[serde(default)]
    pub(super) flags: BTreeMap<String, Names>,
    #[serde(default)]
    pub(super) event: Vec<Event>,
    #[serde(default)]
    pub(super) range: Vec<Range>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Kind {
    pub(super) code: u32,
    pub(super) symbol: String,
    pub(super) label: String,
    #[serde(default)]
    pub(super) parameters: Vec<String>,
    #[serde(default)]
    pub(super) keys: u64,
    #[serde(default)]
    pub(super) numbered: bool,
    pub(super) capacity: Option<Spanned<Holds>>,
    pub(super) process: Option<Spanned<String>>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Holds {
    pub(super) bytes: String,
    pub(super) words: Option<String>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Names {
    #[serde(default)]
    pub(super) unit: String,
    pub(super) names: Vec<(u64, String)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Event {
    pub(super) id: Option<Spanned<u32>>,
    /// The ids of the event. Each is valid from the given version on.
    pub(super) ids: Option<Spanned<Vec<(String, u32)>>>,
    pub(super) since: Option<String>,
    pub(super) until: Option<String>,
    pub(super) name: Spanned<String>,
    pub(super) label: String,
    pub(super) family: String,
    #[serde(default)]
    pub(super) filter: u32,
    #[serde(default)]
    pub(super) hides: u32,
    #[serde(default)]
    pub(super) args: Vec<Spanned<String>>,
    pub(super) context: Option<Spanned<String>>,
    pub(super) means: Option<Spanned<Roles>>,
    pub(super) zero: Option<Spanned<StandsFor>>,
}

/// The keys of an event that determine its id.
#[derive(Default)]
pub(super) struct Head {
    pub(super) id: Option<u32>,
    pub(super) ids: Option<Vec<(String, u32)>>,
    pub(super) since: Option<String>,
    pub(super) until: Option<String>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct StandsFor {
    #[serde(rename = "in")]
    pub(super) argument: String,
    pub(super) is: String,
    pub(super) note: String,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Range {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) since: Option<String>,
    pub(super) until: Option<String>,
    pub(super) name: Spanned<String>,
    pub(super) label: String,
    pub(super) family: String,
    #[serde(default)]
    pub(super) args: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) is: Option<Meaning>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct Roles {
    pub(super) is: Meaning,
    pub(super) subject: Option<String>,
    pub(super) object: Option<String>,
    pub(super) next: Option<String>,
    pub(super) value: Option<String>,
    #[serde(default)]
    pub(super) offset: u64,
    #[serde(default)]
    pub(super) cases: Vec<CaseText>,
    pub(super) state: Option<String>,
    pub(super) period: Option<String>,
    pub(super) owner: Option<String>,
    pub(super) capacity: Option<String>,
    pub(super) least_free: Option<String>,
    pub(super) used: Option<String>,
    pub(super) free: Option<String>,
    pub(super) holds: Option<String>,
    #[serde(default)]
    pub(super) before: bool,
    #[serde(default)]
    pub(super) empties: bool,
    pub(super) waits_in: Option<String>,
}

#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct CaseText {
    pub(super) bits: u64,
    pub(super) is: Meaning,
}

impl Roles {
    /// Removes the roles whose arguments do not exist.
    pub(super) fn keep(&mut self, exists: impl Fn(&str) -> bool) {
        for role in self.arguments_mut() {
            role.take_if(|name| !exists(name));
        }
        if self.value.is_none() {
            self.offset = 0;
            self.cases.clear();
        }
    }

    /// Returns the roles. Each role is the name of an argument.
    pub(super) fn arguments_mut(&mut self) -> [&mut Option<String>; 12] {
        [
            &mut self.subject,
            &mut self.object,
            &mut self.next,
            &mut self.value,
            &mut self.state,
            &mut self.period,
            &mut self.owner,
            &mut self.capacity,
            &mut self.least_free,
            &mut self.used,
            &mut self.free,
            &mut self.holds,
        ]
    }
}

/// The keys of a schema file of a user.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct UserFile {
    pub(super) format: Spanned<String>,
    #[serde(default)]
    pub(super) object: Vec<Kind>,
    #[serde(default, rename = "enum")]
    pub(super) enums: BTreeMap<String, Names>,
    #[serde(default)]
    pub(super) flags: BTreeMap<String, Names>,
    #[serde(default)]
    pub(super) event: Vec<Spanned<UserEvent>>,
    #[serde(default)]
    pub(super) range: Vec<Spanned<Range>>,
}

/// An event in a user's schema file. Keys that are not given change nothing.
#[derive(Deserialize, Clone, Debug)]
#[serde(deny_unknown_fields)]
pub(super) struct UserEvent {
    pub(super) id: Option<Spanned<u32>>,
    pub(super) name: Option<Spanned<String>>,
    pub(super) label: Option<String>,
    pub(super) family: Option<String>,
    pub(super) filter: Option<u32>,
    pub(super) args: Option<Vec<Spanned<String>>>,
    pub(super) context: Option<Spanned<String>>,
    pub(super) means: Option<Spanned<Roles>>,
    pub(super) zero: Option<Spanned<StandsFor>>,
}

/// The offset of an error in the text, and the message.
pub(super) type Fault = (usize, String);
