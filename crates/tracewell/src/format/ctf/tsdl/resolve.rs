//! Converts type trees to types: finds names, checks attributes and sets defaults.

use std::collections::HashSet;
use std::sync::Arc;

use tracewell_wire::ByteOrder;

use super::attributes::check_names;
use super::scopes::{Scopes, key};
use super::tree::{
    Attribute, Declaration, Declarator, LabelTree, LengthTree, MemberTree, PathTree, TypeKind,
    TypeTree, Value as Written,
};
use super::words::{ALIGNMENT, alignment_of, base_of, byte_order, is_text, size_of};
use crate::format::ctf::classes::{
    Clock, Encoding, Float, Integer, IntegerKind, Mapping, Scope, Value,
};
use crate::format::ctf::declared::fault::{Fault, Log, fault};
use crate::format::ctf::declared::limits::checked_alignment;
use crate::format::ctf::declared::ranges::without_underscore;
use crate::format::ctf::declared::types::{
    ChoiceType, IntegerType, LengthType, MemberType, OptionType, Origin, Reference, Type,
};

/// Resolves the types of the metadata, in the order of the text.
pub(super) struct Resolver<'l> {
    /// Byte order of the trace.
    pub native: ByteOrder,
    /// All clocks of the metadata.
    pub clocks: Vec<Clock>,
    /// The environment of the trace. Lengths of arrays can refer to it.
    pub environment: Vec<(String, Value)>,
    /// The names of types.
    pub scopes: Scopes,
    /// The warnings so far.
    pub log: &'l mut Log,
    /// Number of structure bodies so far.
    bodies: u32,
    /// Number of the current structure body; `None` outside of bodies.
    body: Option<u32>,
}

impl<'l> Resolver<'l> {
    /// Creates a resolver that knows no names of types yet.
    pub(crate) fn new(
        native: ByteOrder,
        clocks: Vec<Clock>,
        environment: Vec<(String, Value)>,
        log: &'l mut Log,
    ) -> Self {
        let scopes = Scopes::new();
        Self { native, clocks, environment, scopes, log, bodies: 0, body: None }
    }

    /// Declares names of types.
    pub(crate) fn declare(&mut self, declaration: &Declaration<'_>) -> Result<(), Fault> {
        match declaration {
            Declaration::Type(class) => self.class(class).map(|_| ()),
            Declaration::Typedef(class, declarators) => {
                let base = self.base(class, declarators)?;
                declarators.iter().try_for_each(|declarator| {
                    let class = self.declared(class, &base, declarator)?;
                    let name = declarator.name.unwrap_or_default();
                    self.scopes.declare(declarator.at, name.to_owned(), class)
                })
            }
            Declaration::Alias { at, class, declarator, name } => {
                let base = self.base(class, std::slice::from_ref(declarator))?;
                let class = self.declared(class, &base, declarator)?;
                self.scopes.declare(*at, key(name, 0), class)
            }
        }
    }

    /// Returns the type of a tree that has no declarator.
    pub(crate) fn class(&mut self, tree: &TypeTree<'_>) -> Result<Type, Fault> {
        match &tree.kind {
            TypeKind::Named(words) => self.named(tree.at, words, 0),
            TypeKind::Integer(attributes) => self.integer(tree.at, attributes),
            TypeKind::Float(attributes) => self.float(tree.at, attributes),
            TypeKind::String(attributes) => self.string(attributes),
            TypeKind::Structure { name, members, alignment } => {
                self.structure(tree.at, *name, members.as_deref(), *alignment)
            }
            TypeKind::Variant { name, tag, members } => {
                self.variant(tree.at, *name, tag.as_ref(), members.as_deref())
            }
            TypeKind::Enumeration { name, container, labels } => {
                self.enumeration(tree.at, *name, container.as_deref(), labels.as_deref())
            }
        }
    }

    /// Returns the type before the declarators. Returns `None` if all declarators are pointers,
    /// because pointers have type names of their own.
    fn base(
        &mut self,
        tree: &TypeTree<'_>,
        declarators: &[Declarator<'_>],
    ) -> Result<Option<Type>, Fault> {
        match declarators.iter().all(|declarator| declarator.stars > 0) {
            true => Ok(None),
            false => self.class(tree).map(Some),
        }
    }

    /// Returns the type of a declarator: the base with stars and lengths.
    fn declared(
        &mut self,
        tree: &TypeTree<'_>,
        base: &Option<Type>,
        declarator: &Declarator<'_>,
    ) -> Result<Type, Fault> {
        let mut class = match (base, declarator.stars) {
            (Some(base), 0) => base.clone(),
            (_, stars) => self.pointer(tree, stars)?,
        };
        for length in declarator.lengths.iter().rev() {
            let length = self.length(length)?;
            class = array(declarator.at, length, class)?;
        }
        Ok(class)
    }

    /// Returns the type that is declared under the name of a pointer.
    fn pointer(&self, tree: &TypeTree<'_>, stars: usize) -> Result<Type, Fault> {
        match &tree.kind {
            TypeKind::Named(words) => self.named(tree.at, words, stars),
            TypeKind::Structure { name: Some(name), members: None, .. } => {
                self.named(tree.at, &["struct", name], stars)
            }
            _ => Err(fault(
                tree.at,
                "expected a pointer of the form 'NAME *' or 'struct NAME *', found another",
            )),
        }
    }

    /// Returns the type that has the given name. Ignores `const`.
    fn named(&self, at: u32, words: &[&str], stars: usize) -> Result<Type, Fault> {
        let full = key(words, stars);
        let plain = || {
            let words: Vec<_> = words.iter().copied().filter(|word| *word != "const").collect();
            key(&words, stars)
        };
        let found = self.scopes.find(&full).or_else(|| self.scopes.find(&plain()));
        found
            .cloned()
            .ok_or_else(|| fault(at, format!("expected the name of a type, found '{full}'")))
    }

    fn integer(&mut self, at: u32, attributes: &[Attribute<'_>]) -> Result<Type, Fault> {
        check_names(attributes.iter())?;
        let mut size = None;
        let mut alignment = None;
        let mut clock = None;
        let mut class = Integer {
            bits: 0,
            alignment: 1,
            order: self.native,
            reversed: false,
            kind: IntegerKind::Unsigned,
            base: 10,
            is_text: false,
            mappings: Vec::new(),
            is_enumeration: false,
            roles: Vec::new(),
        };
        for attribute in attributes {
            match &*attribute.name {
                "size" => size = Some(size_of(attribute)?),
                "align" => alignment = Some(alignment_of(attribute)?),
                "signed" if attribute.boolean()? => class.kind = IntegerKind::Signed,
                "signed" => {}
                "byte_order" => class.order = self.order_of(attribute)?,
                "base" => class.base = base_of(attribute)?,
                "encoding" => class.is_text = is_text(attribute)?,
                "map" => clock = Some(self.clock_of(attribute)?),
                _ => attribute.warn_unknown(self.log),
            }
        }
        class.bits =
            size.ok_or_else(|| fault(at, "expected the attribute 'size' of an integer"))?;
        class.alignment = alignment.unwrap_or(if class.bits.is_multiple_of(8) { 8 } else { 1 });
        Ok(Type::Integer(Arc::new(IntegerType {
            class: Arc::new(class),
            is_variable: false,
            clock,
        })))
    }

    fn float(&mut self, at: u32, attributes: &[Attribute<'_>]) -> Result<Type, Fault> {
        check_names(attributes.iter())?;
        let (mut exponent, mut mantissa) = (None, None);
        let mut float = Float { bits: 0, alignment: 8, order: self.native, reversed: false };
        for attribute in attributes {
            match &*attribute.name {
                "exp_dig" => exponent = Some(attribute.unsigned()?),
                "mant_dig" => mantissa = Some(attribute.unsigned()?),
                "align" => float.alignment = alignment_of(attribute)?,
                "byte_order" => float.order = self.order_of(attribute)?,
                _ => attribute.warn_unknown(self.log),
            }
        }
        match (exponent, mantissa) {
            (Some(8), Some(24)) => float.bits = 32,
            (Some(11), Some(53)) => float.bits = 64,
            (Some(exponent), Some(mantissa)) => {
                let reason = format!(
                    "expected a floating-point number of 8 and 24 or of 11 and 53 digits, \
                     found {exponent} and {mantissa}"
                );
                return Ok(Type::Unsupported(reason.into()));
            }
            _ => {
                let message = "expected the attributes 'exp_dig' and 'mant_dig'";
                return Err(fault(at, message));
            }
        }
        Ok(Type::Float(float))
    }

    fn string(&mut self, attributes: &[Attribute<'_>]) -> Result<Type, Fault> {
        check_names(attributes.iter())?;
        for attribute in attributes {
            match &*attribute.name {
                // The encodings of CTF 1.8 are UTF-8 and ASCII, so all strings are UTF-8.
                "encoding" => _ = is_text(attribute)?,
                _ => attribute.warn_unknown(self.log),
            }
        }
        Ok(Type::Text(Encoding::Utf8))
    }

    fn structure(
        &mut self,
        at: u32,
        name: Option<&str>,
        members: Option<&[MemberTree<'_>]>,
        alignment: Option<(u64, u32)>,
    ) -> Result<Type, Fault> {
        let Some(members) = members else {
            return self.named(at, &["struct", name.unwrap_or_default()], 0);
        };
        let alignment = match alignment {
            Some((alignment, at)) => checked_alignment(alignment)
                .ok_or_else(|| fault(at, format!("expected {ALIGNMENT}, found {alignment}")))?,
            None => 1,
        };
        let body = self.bodies;
        self.bodies += 1;
        let outer = self.body.replace(body);
        let members = self.members(members)?;
        self.body = outer;
        let class = Type::structure(at, body, alignment, members)?;
        self.declare_tagged(at, "struct", name, &class)?;
        Ok(class)
    }

    /// Declares the name of a structure, a variant or an enumeration, if it has one.
    fn declare_tagged(
        &mut self,
        at: u32,
        keyword: &str,
        name: Option<&str>,
        class: &Type,
    ) -> Result<(), Fault> {
        match name {
            Some(name) => self.scopes.declare(at, key(&[keyword, name], 0), class.clone()),
            None => Ok(()),
        }
    }

    /// Returns the members of a structure or a variant. Its body is a scope of type names.
    fn members(&mut self, trees: &[MemberTree<'_>]) -> Result<Vec<MemberType>, Fault> {
        self.scopes.open();
        let mut names = HashSet::new();
        let mut members = Vec::new();
        for tree in trees {
            let (tree, declarators) = match tree {
                MemberTree::Fields(tree, declarators) => (tree, declarators),
                MemberTree::Declaration(declaration) => {
                    self.declare(declaration)?;
                    continue;
                }
            };
            let base = self.base(tree, declarators)?;
            for declarator in declarators {
                let class = self.declared(tree, &base, declarator)?;
                let (at, name) = (declarator.at, declarator.name.unwrap_or_default());
                if !names.insert(name) {
                    let message = format!("expected each name once, found '{name}' again");
                    return Err(fault(at, message));
                }
                let plain = without_underscore(name);
                let name: Arc<str> = name.into();
                let shown = if plain == &*name { Arc::clone(&name) } else { plain.into() };
                members.push(MemberType { at, name, shown, class });
            }
        }
        self.scopes.close();
        Ok(members)
    }

    fn variant(
        &mut self,
        at: u32,
        name: Option<&str>,
        tag: Option<&PathTree<'_>>,
        members: Option<&[MemberTree<'_>]>,
    ) -> Result<Type, Fault> {
        let selector = tag.map(|tag| self.reference(tag));
        let Some(members) = members else {
            let class = self.named(at, &["variant", name.unwrap_or_default()], 0)?;
            return Ok(match (class, selector) {
                (Type::Choice(choice), Some(selector)) => {
                    let selector = Some(selector);
                    Type::Choice(Arc::new(ChoiceType { selector, ..(*choice).clone() }))
                }
                (class, _) => class,
            });
        };
        let options = self.members(members)?.into_iter().map(|member| {
            let MemberType { at, name, shown, class } = member;
            OptionType { at, name, shown, values: None, class }
        });
        let class = Type::choice(at, false, selector, options.collect())?;
        self.declare_tagged(at, "variant", name, &class)?;
        Ok(class)
    }

    fn enumeration(
        &mut self,
        at: u32,
        name: Option<&str>,
        container: Option<&TypeTree<'_>>,
        labels: Option<&[LabelTree]>,
    ) -> Result<Type, Fault> {
        let Some(labels) = labels else {
            return self.named(at, &["enum", name.unwrap_or_default()], 0);
        };
        let (at_container, container) = match container {
            Some(tree) => (tree.at, self.class(tree)?),
            None => (at, self.named(at, &["int"], 0)?),
        };
        let container = match &container {
            Type::Integer(integer) if !integer.class.is_enumeration => integer,
            other => {
                let found = other.described();
                let message = format!("expected an integer for the enumeration, found {found}");
                return Err(fault(at_container, message));
            }
        };
        let mappings = self.mappings(labels, &container.class);
        let class = Integer { mappings, is_enumeration: true, ..(*container.class).clone() };
        let clock = container.clock;
        let class = Type::Integer(Arc::new(IntegerType {
            class: Arc::new(class),
            is_variable: false,
            clock,
        }));
        self.declare_tagged(at, "enum", name, &class)?;
        Ok(class)
    }

    /// Returns the ranges of labels. A label without a value gets the value that follows the
    /// previous range.
    fn mappings(&mut self, labels: &[LabelTree], container: &Integer) -> Vec<Mapping> {
        let values = match (container.kind, container.bits) {
            (IntegerKind::Signed, bits) => -(1_i128 << (bits - 1))..=(1_i128 << (bits - 1)) - 1,
            (_, bits) => 0..=(1_i128 << bits) - 1,
        };
        let mut next = 0;
        let mut mappings = Vec::with_capacity(labels.len());
        for LabelTree { at, label, values: range } in labels {
            let (low, high) = range.unwrap_or((next, next));
            next = high + 1;
            if !values.contains(&low) || !values.contains(&high) {
                let (first, last) = (values.start(), values.end());
                self.log.warn(*at, || {
                    format!("values {low} to {high} of '{label}' are not within {first} to {last}")
                });
            }
            mappings.push(Mapping { label: label.as_str().into(), low, high });
        }
        mappings
    }

    fn length(&mut self, length: &LengthTree<'_>) -> Result<LengthType, Fault> {
        let path = match length {
            LengthTree::Number(length) => return Ok(LengthType::Fixed(*length)),
            LengthTree::Field(path) => path,
        };
        let Some((&"env", names)) = path.words.split_first() else {
            return Ok(LengthType::Field(self.reference(path)));
        };
        let length = self.environment.iter().find_map(|(name, value)| match value {
            Value::Number(number) if *names == [&**name] => u64::try_from(*number).ok(),
            _ => None,
        });
        length.map(LengthType::Fixed).ok_or_else(|| {
            let path_text = path.words.join(".");
            let message =
                format!("expected a non-negative number in the environment, found '{path_text}'");
            fault(path.at, message)
        })
    }

    /// Returns the reference that a path stands for.
    fn reference(&self, path: &PathTree<'_>) -> Arc<Reference> {
        const SCOPES: [(&[&str], Scope); 6] = [
            (&["trace", "packet", "header"], Scope::PacketHeader),
            (&["stream", "packet", "context"], Scope::PacketContext),
            (&["stream", "event", "header"], Scope::EventHeader),
            (&["stream", "event", "context"], Scope::CommonContext),
            (&["event", "context"], Scope::SpecificContext),
            (&["event", "fields"], Scope::Payload),
        ];
        let absolute = SCOPES.iter().find_map(|(words, scope)| {
            let names = path.words.strip_prefix(*words)?;
            (!names.is_empty()).then_some((Origin::Scope(*scope), names))
        });
        let (origin, names) = absolute.unwrap_or((Origin::Nearest, &path.words));
        let names = names.iter().map(|name| (*name).into()).collect();
        Arc::new(Reference { at: path.at, body: self.body, origin, names })
    }

    fn order_of(&self, attribute: &Attribute<'_>) -> Result<ByteOrder, Fault> {
        match attribute.word() {
            Some("native") => Ok(self.native),
            _ => byte_order(attribute),
        }
    }

    /// Returns the clock to which `clock.NAME.value` refers.
    fn clock_of(&self, attribute: &Attribute<'_>) -> Result<usize, Fault> {
        let name = match &attribute.value {
            Written::Path(words) => match &words[..] {
                ["clock", name, "value"] => Some(*name),
                _ => None,
            },
            Written::Text(text) => {
                text.strip_prefix("clock.").and_then(|text| text.strip_suffix(".value"))
            }
            Written::Number(_) => None,
        };
        name.and_then(|name| self.clocks.iter().position(|clock| clock.name == name))
            .ok_or_else(|| attribute.expected("clock.NAME.value with the name of a clock"))
    }
}

/// Returns an array type, or a string type if the elements are characters.
fn array(at: u32, length: LengthType, element: Type) -> Result<Type, Fault> {
    if let Type::Integer(integer) = &element {
        let Integer { bits, alignment, is_text, is_enumeration, .. } = *integer.class;
        if bits == 8 && alignment == 8 && is_text && !is_enumeration {
            return Ok(Type::SizedText { length, encoding: Encoding::Utf8 });
        }
    }
    Type::array(at, 1, length, element)
}
