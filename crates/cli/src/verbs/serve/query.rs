//! Parses the parameters of a request: the text after `?` in its address.

use tracewell::select::{Bound, Expression, Selection};
use tracewell::source::Source;

use super::http::{BAD, Response};

/// The parameters of a request, in their original order.
#[derive(Debug)]
pub(super) struct Query(Vec<(String, String)>);

impl Query {
    /// Parses `name=value&name=value`. Refuses repeated names, and names that are not in `known`:
    /// if the server ignored these, its answer would not match the request.
    pub(super) fn parse(text: &str, known: &[&str]) -> Result<Self, Response> {
        let mut parameters: Vec<(String, String)> = Vec::new();
        for part in text.split('&').filter(|part| !part.is_empty()) {
            let (name, value) = part.split_once('=').unwrap_or((part, ""));
            let (Some(name), Some(value)) = (decoded(name), decoded(value)) else {
                return Err(bad(format!("'{part}': expected UTF-8 with escapes such as %20")));
            };
            if !known.contains(&name.as_str()) {
                let expected = match known {
                    [] => "no parameter".to_owned(),
                    _ => known.join(", "),
                };
                return Err(bad(format!("no parameter '{name}': expected {expected}")));
            }
            if parameters.iter().any(|(earlier, _)| *earlier == name) {
                return Err(bad(format!("the parameter '{name}' is repeated")));
            }
            parameters.push((name, value));
        }
        Ok(Self(parameters))
    }

    /// Returns the value of a parameter.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Returns a number of at most `max`, or `default` if the request does not contain the
    /// parameter.
    pub(super) fn number(&self, name: &str, default: u64, max: u64) -> Result<u64, Response> {
        let Some(value) = self.get(name) else { return Ok(default) };
        let number = value.parse().ok().filter(|number| *number <= max);
        number.ok_or_else(|| bad(format!("{name}={value}: expected a number up to {max}")))
    }

    /// Returns the selection that `from`, `to` and `where` describe.
    pub(super) fn selection(&self) -> Result<Selection, Response> {
        let bound = |name| -> Result<Option<Bound>, Response> {
            let Some(value) = self.get(name) else { return Ok(None) };
            let bound = value.parse::<Bound>();
            bound.map(Some).map_err(|error| bad(format!("{name}={value}: {error}")))
        };
        let mut expressions = Vec::new();
        if let Some(text) = self.get("where") {
            let source = Source::new("where", text);
            let parsed = Expression::parse(&source).map_err(|findings| {
                let texts = findings.iter().map(|finding| finding.show(&source));
                bad(texts.collect::<Vec<_>>().join("\n"))
            });
            expressions.push(parsed?);
        }
        Ok(Selection {
            from: bound("from")?,
            to: bound("to")?,
            expressions,
            ..Selection::default()
        })
    }
}

/// Returns the response to a request with wrong parameters.
pub(super) fn bad(message: impl AsRef<str>) -> Response {
    Response::error(BAD, message)
}

/// Decodes the escapes in a text: `%` with two hexadecimal digits, and `+` for a space. Returns
/// `None` if an escape is wrong or the result is not UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                (digit()? << 4 | digit()?) as u8
            }
            byte => byte,
        });
    }
    String::from_utf8(decoded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_those_of_forms() {
        assert_eq!(decoded("a+b%20%C3%A4%2f"), Some("a b ä/".to_owned()));
        for wrong in ["%", "%2", "%2g", "%ff"] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn unknown_repeated_and_wrong_parameters_are_refused() {
        let known = ["from", "limit"];
        for wrong in ["too=1", "from=1&from=2", "from=%zz"] {
            assert!(Query::parse(wrong, &known).is_err(), "{wrong}");
        }
        let query = Query::parse("from=20ms&limit=7", &known).unwrap();
        assert_eq!(query.number("limit", 1, 10).unwrap(), 7);
        assert!(query.number("limit", 1, 6).is_err());
        assert_eq!(query.selection().unwrap().from, Some(Bound::Nanoseconds(20_000_000)));
        assert!(Query::parse("from=x", &known).unwrap().selection().is_err());
    }
}
