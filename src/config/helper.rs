//! The names of credential helpers.

use std::fmt;

use super::Error;

/// The `NAME` of a program `docker-credential-NAME`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HelperName(String);

impl HelperName {
    /// Parses a name.
    ///
    /// # Errors
    /// The name is empty or a path: a helper is only looked up in `PATH`
    /// ([clients: credential blocks](crate::clients#credential-blocks)).
    pub fn parse(text: &str) -> Result<Self, Error> {
        let odd = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
        if text.is_empty() || text.contains(odd) {
            return Err(Error::HelperName {
                name: text.to_owned(),
            });
        }
        Ok(Self(text.to_owned()))
    }

    /// `docker-credential-NAME`.
    pub fn program(&self) -> String {
        format!("docker-credential-{}", self.0)
    }
}

impl fmt::Display for HelperName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.program())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_are_programs_and_no_paths() {
        assert_eq!(
            HelperName::parse("pass").unwrap().program(),
            "docker-credential-pass"
        );
        for bad in ["", "a/b", "..\\b", "c:b", "a\nb"] {
            assert!(HelperName::parse(bad).is_err(), "{bad:?}");
        }
    }
}
