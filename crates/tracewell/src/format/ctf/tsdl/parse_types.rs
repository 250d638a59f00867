//! Parses types and declarators of CTF 1.8.

use super::lexer::Kind;
use super::parser::Parser;
use super::tree::{
    Declarator, KEYWORDS, LabelTree, LengthTree, MemberTree, PathTree, TYPE_WORDS, TypeKind,
    TypeTree,
};
use crate::format::ctf::declared::fault::{Fault, fault};
use crate::format::ctf::declared::limits::MAX_MAPPINGS;

impl<'a> Parser<'a> {
    /// Parses a type without a declarator.
    pub(crate) fn type_tree(&mut self) -> Result<TypeTree<'a>, Fault> {
        self.count()?;
        let at = self.token.at;
        let mut is_const = false;
        while self.eat_word("const")? {
            is_const = true;
        }
        let Kind::Word(word) = self.token.kind else { return Err(self.unexpected("a type")) };
        let kind = match word {
            "integer" => TypeKind::Integer(self.type_attributes()?),
            "floating_point" => TypeKind::Float(self.type_attributes()?),
            "string" => TypeKind::String(self.type_attributes()?),
            "struct" => self.nested(Self::structure)?,
            "variant" => self.nested(Self::variant)?,
            "enum" => self.nested(Self::enumeration)?,
            _ if TYPE_WORDS.contains(&word) => {
                let mut words = if is_const { vec!["const"] } else { Vec::new() };
                while let Kind::Word(word) = self.token.kind {
                    if word != "const" && !TYPE_WORDS.contains(&word) {
                        break;
                    }
                    self.count()?;
                    words.push(word);
                    self.advance()?;
                }
                TypeKind::Named(words)
            }
            _ if KEYWORDS.contains(&word) => return Err(self.unexpected("a type")),
            _ => {
                self.advance()?;
                TypeKind::Named(if is_const { vec!["const", word] } else { vec![word] })
            }
        };
        Ok(TypeTree { at, kind })
    }

    /// Returns a type whose name consists of these words.
    pub(crate) fn named_type(&self, at: u32, words: Vec<&'a str>) -> TypeTree<'a> {
        TypeTree { at, kind: TypeKind::Named(words) }
    }

    /// Consumes the keyword of a type and parses the attributes that follow.
    fn type_attributes(&mut self) -> Result<Vec<super::tree::Attribute<'a>>, Fault> {
        self.advance()?;
        match self.eat("{")? {
            true => self.attributes(),
            false => Ok(Vec::new()),
        }
    }

    /// Parses a name that is not a keyword, if such a name is next.
    fn optional_name(&mut self) -> Result<Option<&'a str>, Fault> {
        match self.token.kind {
            Kind::Word(word) if !KEYWORDS.contains(&word) => {
                self.advance()?;
                Ok(Some(word))
            }
            _ => Ok(None),
        }
    }

    fn structure(&mut self) -> Result<TypeKind<'a>, Fault> {
        self.advance()?;
        let name = self.optional_name()?;
        let members = match self.eat("{")? {
            true => Some(self.members()?),
            false if name.is_some() => None,
            false => return Err(self.unexpected("a name or '{' after 'struct'")),
        };
        let mut alignment = None;
        if self.eat_word("align")? {
            self.expect("(")?;
            let at = self.token.at;
            let Kind::Number(number) = self.token.kind else {
                return Err(self.unexpected("an alignment"));
            };
            self.advance()?;
            self.expect(")")?;
            alignment = Some((number, at));
        }
        Ok(TypeKind::Structure { name, members, alignment })
    }

    fn variant(&mut self) -> Result<TypeKind<'a>, Fault> {
        self.advance()?;
        let name = self.optional_name()?;
        let mut tag = None;
        if self.eat("<")? {
            tag = Some(PathTree { at: self.token.at, words: self.path()? });
            self.expect(">")?;
        }
        let members = match self.eat("{")? {
            true => Some(self.members()?),
            false if name.is_some() => None,
            false => return Err(self.unexpected("a name, '<' or '{' after 'variant'")),
        };
        Ok(TypeKind::Variant { name, tag, members })
    }

    fn enumeration(&mut self) -> Result<TypeKind<'a>, Fault> {
        self.advance()?;
        let name = self.optional_name()?;
        let container = match self.eat(":")? {
            true => Some(Box::new(self.nested(Self::type_tree)?)),
            false => None,
        };
        let labels = match self.eat("{")? {
            true => Some(self.labels()?),
            false if name.is_some() && container.is_none() => None,
            false => return Err(self.unexpected("'{' with the labels of the enumeration")),
        };
        Ok(TypeKind::Enumeration { name, container, labels })
    }

    /// Parses the labels of an enumeration after the opening brace.
    fn labels(&mut self) -> Result<Vec<LabelTree>, Fault> {
        let mut labels = Vec::new();
        while !self.eat("}")? {
            self.count()?;
            let at = self.token.at;
            if labels.len() == MAX_MAPPINGS {
                let message = format!("expected at most {MAX_MAPPINGS} labels, found more");
                return Err(fault(at, message));
            }
            let label = match &mut self.token.kind {
                Kind::Word(word) => (*word).to_owned(),
                Kind::Text(text) => std::mem::take(text),
                _ => return Err(self.unexpected("a label")),
            };
            self.advance()?;
            let values = match self.eat("=")? {
                true => Some(self.label_values()?),
                false => None,
            };
            labels.push(LabelTree { at, label, values });
            if !self.eat(",")? {
                self.expect("}")?;
                break;
            }
        }
        Ok(labels)
    }

    /// Parses a value or a range of values.
    fn label_values(&mut self) -> Result<(i128, i128), Fault> {
        let at = self.token.at;
        let low = self.number()?;
        let high = if self.eat("...")? { self.number()? } else { low };
        match low > high {
            true => Err(fault(at, format!("expected an ascending range, found {low} ... {high}"))),
            false => Ok((low, high)),
        }
    }

    /// Parses the members of a structure or a variant after the opening brace.
    fn members(&mut self) -> Result<Vec<MemberTree<'a>>, Fault> {
        let mut members = Vec::new();
        while !self.eat("}")? {
            if self.eat(";")? {
                continue;
            }
            members.push(self.member()?);
            self.expect(";")?;
        }
        Ok(members)
    }

    fn member(&mut self) -> Result<MemberTree<'a>, Fault> {
        if matches!(self.token.kind, Kind::Word("typedef" | "typealias")) {
            return Ok(MemberTree::Declaration(self.declaration()?));
        }
        let class = self.type_tree()?;
        match self.token.kind {
            Kind::Word("typedef") => Ok(MemberTree::Declaration(self.typedef_of(class)?)),
            // This is a declaration of a named type, without a field.
            Kind::Mark(";") if class.declares_name() => {
                Ok(MemberTree::Declaration(super::tree::Declaration::Type(class)))
            }
            _ => Ok(MemberTree::Fields(class, self.declarators()?)),
        }
    }

    /// Parses stars, a name if `has_name`, and lengths.
    pub(crate) fn declarator(&mut self, has_name: bool) -> Result<Declarator<'a>, Fault> {
        self.count()?;
        let at = self.token.at;
        let mut stars = 0;
        while self.eat("*")? {
            stars += 1;
            // A constant pointer is treated as a pointer.
            while self.eat_word("const")? {}
        }
        let mut declarator = if has_name && self.eat("(")? {
            let inner = self.nested(|parser| parser.declarator(true))?;
            self.expect(")")?;
            if inner.stars > 0 {
                return Err(fault(at, "expected a name in parentheses, found a pointer"));
            }
            Declarator { stars, ..inner }
        } else if has_name {
            let name = self.field_name()?;
            Declarator { at, stars, name: Some(name), lengths: Vec::new() }
        } else {
            Declarator { at, stars, name: None, lengths: Vec::new() }
        };
        if matches!(self.token.kind, Kind::Mark(":")) && has_name {
            return Err(self.unexpected("';' (bit-fields of C have no defined layout)"));
        }
        while self.eat("[")? {
            self.count()?;
            declarator.lengths.push(self.length()?);
            self.expect("]")?;
        }
        Ok(declarator)
    }

    /// Parses the name of a field.
    fn field_name(&mut self) -> Result<&'a str, Fault> {
        match self.token.kind {
            Kind::Word(word) if !KEYWORDS.contains(&word) => {
                self.advance()?;
                Ok(word)
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Parses the length of an array.
    fn length(&mut self) -> Result<LengthTree<'a>, Fault> {
        let at = self.token.at;
        match self.token.kind {
            Kind::Number(_) | Kind::Mark("-" | "+") => {
                let length = self.number()?;
                u64::try_from(length)
                    .map(LengthTree::Number)
                    .map_err(|_| fault(at, format!("expected a length, found {length}")))
            }
            Kind::Word(_) => Ok(LengthTree::Field(PathTree { at, words: self.path()? })),
            _ => Err(self.unexpected("a length or a field")),
        }
    }
}

impl TypeTree<'_> {
    /// Returns true if the type declares a name.
    fn declares_name(&self) -> bool {
        match &self.kind {
            TypeKind::Structure { name, members, .. } => name.is_some() && members.is_some(),
            TypeKind::Variant { name, members, .. } => name.is_some() && members.is_some(),
            TypeKind::Enumeration { name, labels, .. } => name.is_some() && labels.is_some(),
            _ => false,
        }
    }
}
