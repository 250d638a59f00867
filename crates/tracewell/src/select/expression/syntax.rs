//! The data structures for conditions on the fields of an event.

/// A string to compare with.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Text {
    /// A pattern with wildcards. Case is ignored.
    Like(String),
    /// A string that the field must equal character by character.
    Exactly(String),
}

impl Default for Text {
    fn default() -> Self {
        Self::Exactly(String::new())
    }
}

/// A field: the left side of a condition.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Field {
    Argument(String),
    Property(Property),
}

/// The properties that every event has.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Property {
    Name,
    Label,
    Family,
    Level,
    Target,
    Span,
    Id,
    Context,
    Cpu,
    Priority,
    Ticks,
    /// All decoded arguments, as shown in reports.
    Text,
    /// Any argument that refers to an object.
    Object,
}

impl Property {
    pub(crate) const ALL: [(&'static str, Self); 13] = [
        ("name", Self::Name),
        ("label", Self::Label),
        ("family", Self::Family),
        ("level", Self::Level),
        ("target", Self::Target),
        ("span", Self::Span),
        ("id", Self::Id),
        ("context", Self::Context),
        ("cpu", Self::Cpu),
        ("priority", Self::Priority),
        ("ticks", Self::Ticks),
        ("text", Self::Text),
        ("object", Self::Object),
    ];

    /// Returns the name of the property, without `@`.
    pub(crate) fn name(self) -> &'static str {
        let named = Self::ALL.iter().find(|(_, property)| *property == self);
        named.map_or("", |(name, _)| name)
    }
}

/// A field and the values to compare it with.
#[derive(Clone, Debug)]
pub(crate) struct Condition {
    pub(crate) comparison: Comparison,
    /// For `=`, one of the values must be equal. For `!=`, none may be equal.
    pub(crate) values: Vec<Wanted>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// Returns the sign of the comparison, as users write it.
    pub(crate) const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "=",
            Self::Different => "!=",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        }
    }

    /// Returns true if the comparison depends on which value is larger.
    pub(crate) const fn is_ordered(self) -> bool {
        !matches!(self, Self::Equal | Self::Different)
    }

    pub(crate) fn holds(self, order: std::cmp::Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::Different => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }
}

/// A value to compare with.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Wanted {
    /// A number, and the text from which it was parsed.
    Number(i128, String),
    Text(Text),
    /// A variable of a rule. If it has no value yet, it is set to the value of the field.
    Variable(usize),
}
