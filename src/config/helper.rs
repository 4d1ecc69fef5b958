//! The names of credential helpers.

use super::Error;

/// A program that provides credentials: `docker-credential-NAME` for registries, `terraform-credentials-NAME` for tokens.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HelperName(String);

impl HelperName {
    /// Parses the name of a helper for registries.
    ///
    /// # Errors
    /// The name is empty or a path: a helper is only looked up in `PATH`
    /// ([clients: credential blocks](crate::clients#credential-blocks)).
    pub fn docker(name: &str) -> Result<Self, Error> {
        Self::parse(name, "docker-credential-")
    }

    pub(super) fn terraform(name: &str) -> Result<Self, Error> {
        Self::parse(name, "terraform-credentials-")
    }

    fn parse(name: &str, program: &'static str) -> Result<Self, Error> {
        let odd = |c: char| matches!(c, '/' | '\\' | ':') || c.is_control();
        if name.is_empty() || name.contains(odd) {
            let name = name.to_owned();
            return Err(Error::Helper { name, program });
        }
        Ok(Self(format!("{program}{name}")))
    }

    /// The name of the program.
    pub fn program(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn helpers_are_programs_and_no_paths() {
        assert_eq!(
            HelperName::docker("pass").unwrap().program(),
            "docker-credential-pass"
        );
        for bad in ["", "a/b", "..\\b", "c:b", "a\nb"] {
            assert!(HelperName::docker(bad).is_err(), "{bad:?}");
        }
    }
}
