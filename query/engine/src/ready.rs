//! Predefined queries: the files in `queries/`. The head comment of each file describes it.

/// A predefined query: its name and its SQL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadyQuery {
    /// Name of the query, for the option `--run`.
    pub name: &'static str,
    /// The SQL, with its head comment.
    pub sql: &'static str,
}

macro_rules! queries {
    ($($name:literal),* $(,)?) => {
        &[$(ReadyQuery { name: $name, sql: include_str!(concat!("../queries/", $name, ".sql")) }),*]
    };
}

/// All predefined queries, in the order of the list.
pub const READY: &[ReadyQuery] = queries![
    "worst-responses",
    "load-by-context",
    "top-talkers",
    "longest-waits",
    "losses-by-trace",
    "regressions",
    "steps",
];

impl ReadyQuery {
    /// Returns the query with a name.
    pub fn named(name: &str) -> Option<&'static Self> {
        READY.iter().find(|query| query.name == name)
    }

    /// Returns the first line of the head comment.
    pub fn title(&self) -> &'static str {
        self.sql.lines().next().unwrap_or("").trim_start_matches(['-', ' '])
    }

    /// Returns the SQL with the values of its parameters, such as `$label`.
    ///
    /// # Errors
    ///
    /// Returns the name of a parameter without a value, or of a value that the query does not use.
    pub fn with(&self, values: &[(String, String)]) -> Result<String, String> {
        let mut sql = self.sql.to_owned();
        for (name, value) in values {
            let parameter = format!("${name}");
            if !self.parameters().any(|known| known == parameter) {
                return Err(parameter);
            }
            // A label is an identifier; all other values are text.
            let quoted = match name.as_str() {
                LABEL => format!("\"{}\"", value.replace('"', "\"\"")),
                _ => format!("'{}'", value.replace('\'', "''")),
            };
            sql = sql.replace(&parameter, &quoted);
        }
        let given = |parameter: &str| values.iter().any(|(name, _)| parameter[1..] == *name);
        match self.parameters().find(|parameter| !given(parameter)) {
            Some(missing) => Err(missing.to_owned()),
            None => Ok(sql),
        }
    }

    /// Returns all occurrences of parameters in the SQL, each with its `$`.
    fn parameters(&self) -> impl Iterator<Item = &'static str> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let starts = self.sql.match_indices('$');
        starts.map(move |(start, _)| {
            let rest = &self.sql[start + 1..];
            let length = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
            &self.sql[start..=start + length]
        })
    }
}

/// The parameter whose value is the name of a label.
const LABEL: &str = "label";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_query_has_a_title() {
        for query in READY {
            assert!(query.sql.starts_with("-- "), "{}", query.name);
            assert!(query.title().len() > 10 && query.title().len() <= 80, "{}", query.title());
        }
    }

    #[test]
    fn parameters_are_quoted() {
        let query = ReadyQuery { name: "", sql: "SELECT $label, $old, $new" };
        let value = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let values = [value("label", "a\"b"), value("old", "it's"), value("new", "2")];
        assert_eq!(query.with(&values).unwrap(), "SELECT \"a\"\"b\", 'it''s', '2'");
        assert_eq!(query.with(&values[..2]), Err("$new".to_owned()));
        let unknown = [values.as_slice(), &[value("x", "1")]].concat();
        assert_eq!(query.with(&unknown), Err("$x".to_owned()));
    }
}
