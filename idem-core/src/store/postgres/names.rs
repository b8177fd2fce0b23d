//! The names that become part of statements. Nothing else that a user says does.

use crate::{StoreError, StoreErrorKind};

/// A table's name, found valid.
#[derive(Clone, Debug)]
pub(super) struct Table {
    schema: Option<String>,
    quoted: String,
}

/// Postgres cuts names off here, and two long ones would become one.
const LONGEST: usize = 63;

impl Table {
    pub(super) fn new(schema: Option<&str>, name: &str) -> Result<Self, StoreError> {
        valid("table", name)?;
        let Some(schema) = schema else {
            return Ok(Self { schema: None, quoted: format!("\"{name}\"") });
        };
        valid("schema", schema)?;
        let schema = format!("\"{schema}\"");
        Ok(Self { quoted: format!("{schema}.\"{name}\""), schema: Some(schema) })
    }

    /// The name that it has if nobody says another.
    pub(super) fn plain() -> Self {
        Self { schema: None, quoted: "\"idem_record\"".to_owned() }
    }

    /// For statements, and for messages.
    pub(super) fn quoted(&self) -> &str {
        &self.quoted
    }

    /// The schema, where one was named, for statements.
    pub(super) fn schema(&self) -> Option<&str> {
        self.schema.as_deref()
    }

    /// The table as a value. A valid name has no apostrophe.
    pub(super) fn regclass(&self) -> String {
        format!("'{}'::regclass", self.quoted)
    }
}

fn valid(what: &str, name: &str) -> Result<(), StoreError> {
    let starts = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    let goes_on = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    if starts && goes_on && name.len() <= LONGEST {
        return Ok(());
    }
    let message = format!(
        "Postgres store: {name:?} cannot be the name of its {what}; use up to {LONGEST} ASCII letters, digits and underscores, \
         and no digit in front"
    );
    Err(StoreError::new(StoreErrorKind::Misconfigured, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted() {
        let table = Table::new(Some("Billing"), "idem_record").unwrap();
        assert_eq!(table.quoted(), r#""Billing"."idem_record""#);
        assert_eq!(table.regclass(), r#"'"Billing"."idem_record"'::regclass"#);
        assert_eq!(Table::new(None, "order").unwrap().quoted(), r#""order""#);
    }

    #[test]
    fn what_could_be_more_than_a_name_is_refused() {
        let long = "a".repeat(64);
        for name in ["", "1a", "a-b", "a b", "a\"b", "a'b", "a.b", "ä", "a\0", "a;drop table b", &long] {
            for table in [Table::new(None, name), Table::new(Some(name), "idem_record")] {
                assert_eq!(table.unwrap_err().kind(), StoreErrorKind::Misconfigured, "{name:?}");
            }
        }
    }
}
