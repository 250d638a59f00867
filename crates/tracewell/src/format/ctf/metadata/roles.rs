//! The roles of numbers in packets and events. CTF 1.8 assigns roles by names and clocks, and CTF 2
//! declares them.

use std::sync::Arc;

use crate::format::ctf::classes::{Integer, IntegerKind, Role, Scope};
use crate::format::ctf::declared::types::IntegerType;

/// The place of a number.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    /// The scope that contains the number.
    pub scope: Scope,
    /// Name of the member, as the metadata declares it; empty in an array or an option.
    pub name: &'a str,
    /// True for a member of the scope's root structure.
    pub is_root: bool,
    /// True for the first member of its structure.
    pub is_first: bool,
    /// True for an element of an array, or for a part of an element.
    pub is_in_array: bool,
}

/// Returns the roles of a number in CTF 1.8. `has_default` is true if the metadata declares exactly
/// one clock. Timestamps without `map` belong to this clock.
pub(super) fn by_name(integer: &IntegerType, place: Place<'_>, has_default: bool) -> Vec<Role> {
    if integer.class.kind != IntegerKind::Unsigned {
        return Vec::new();
    }
    let time = |role| (has_default || integer.clock.is_some()).then_some(role);
    let named = match (place.scope, place.is_root, place.name) {
        (_, _, _) if place.is_in_array => None,
        (Scope::PacketHeader, true, "magic") if place.is_first => Some(Role::Magic),
        (Scope::PacketHeader, true, "stream_id") => Some(Role::StreamClass),
        (Scope::PacketHeader, true, "stream_instance_id") => Some(Role::StreamInstance),
        (Scope::PacketContext, true, "packet_size") => Some(Role::PacketSize),
        (Scope::PacketContext, true, "content_size") => Some(Role::ContentSize),
        (Scope::PacketContext, true, "timestamp_begin") => time(Role::Time),
        (Scope::PacketContext, true, "timestamp_end") => time(Role::EndTime),
        (Scope::PacketContext, true, "events_discarded") => Some(Role::Discarded),
        (Scope::PacketContext, true, "packet_seq_num") => Some(Role::PacketNumber),
        (Scope::PacketContext, true, "cpu_id") => Some(Role::Processor),
        // LTTng's headers also contain this field within the options of a variant.
        (Scope::EventHeader, _, "id") => Some(Role::EventClass),
        (Scope::EventHeader, _, "timestamp") => time(Role::Time),
        _ => None,
    };
    let mut roles: Vec<Role> = named.into_iter().collect();
    let has_time = roles.iter().any(|role| matches!(role, Role::Time | Role::EndTime));
    if integer.clock.is_some() && !has_time {
        roles.push(Role::Time);
    }
    roles
}

/// Returns true if the number is named like a timestamp; CTF 1.8 implies a clock for such a number.
pub(super) fn is_stamp(integer: &IntegerType, place: Place<'_>) -> bool {
    by_name(integer, place, true).iter().any(|role| matches!(role, Role::Time | Role::EndTime))
}

/// Returns true if the number is named like the processor number.
pub(super) fn is_processor(integer: &IntegerType, place: Place<'_>) -> bool {
    by_name(integer, place, false) == [Role::Processor]
}

/// Returns true if a number of CTF 2 may have a role in a scope.
pub(super) fn is_possible(role: Role, scope: Scope) -> bool {
    match role {
        Role::Magic | Role::StreamClass | Role::StreamInstance => scope == Scope::PacketHeader,
        Role::PacketSize
        | Role::ContentSize
        | Role::EndTime
        | Role::Discarded
        | Role::PacketNumber
        | Role::Processor => scope == Scope::PacketContext,
        Role::Time => matches!(scope, Scope::PacketContext | Scope::EventHeader),
        Role::EventClass => scope == Scope::EventHeader,
    }
}

/// Returns the number with these roles. If it already has them, returns the same `Arc`.
pub(super) fn with(integer: &Arc<Integer>, roles: Vec<Role>) -> Arc<Integer> {
    match integer.roles == roles {
        true => Arc::clone(integer),
        false => Arc::new(Integer { roles, ..(**integer).clone() }),
    }
}
