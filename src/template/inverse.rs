//! From the name of a repository back to the provider, for templates of text and symbols.

use super::{RepositoryTemplate, Symbol};
use crate::address::{Hostname, ProviderAddr};
use crate::oci::Repository;

/// The most readings of one name that are tried. A name with more is ambiguous.
const MOST_READINGS: usize = 64;

/// A template that can be read backwards.
#[derive(Debug)]
pub struct InverseTemplate<'a> {
    pub(super) template: &'a RepositoryTemplate,
    /// The text before the first symbol.
    pub(super) start: String,
    /// Each symbol with the text behind it.
    pub(super) parts: Vec<(Symbol, String)>,
}

impl RepositoryTemplate {
    /// The template for reading names of repositories; `None` unless it consists of text, `namespace`, `type` and possibly `hostname`,
    /// with text between them, behind the host of one registry.
    pub fn inverse(&self) -> Option<InverseTemplate<'_>> {
        let text = self.uri()?;
        let mut pieces = text.split('{');
        let start = pieces.next()?.to_owned();
        let mut parts = Vec::new();
        for piece in pieces {
            let (name, behind) = piece.split_once('}')?;
            parts.push((Symbol::named(name)?, behind.to_owned()));
        }
        let has = |symbol| parts.iter().any(|(other, _)| *other == symbol);
        let (_, before) = parts.split_last()?;
        let are_apart = before.iter().all(|(_, behind)| !behind.is_empty());
        let is_inverse =
            are_apart && has(Symbol::Namespace) && has(Symbol::Type) && start.contains('/');
        is_inverse.then_some(InverseTemplate {
            template: self,
            start,
            parts,
        })
    }
}

impl InverseTemplate<'_> {
    /// The host of the registry.
    pub fn registry(&self) -> &str {
        self.start.split('/').next().unwrap_or_default()
    }

    /// Whether the names of repositories do not tell the hosts of providers.
    pub fn lacks_hostname(&self) -> bool {
        let mut symbols = self.parts.iter().map(|(symbol, _)| *symbol);
        symbols.all(|symbol| symbol != Symbol::Hostname)
    }

    /// The provider that the template maps to this repository; `None` if there is none, or there are several. If the template has no
    /// host name, the provider is on `default_host`.
    pub fn provider(
        &self,
        repository: &Repository,
        default_host: &Hostname,
    ) -> Option<ProviderAddr> {
        let rest = repository.as_str().strip_prefix(&self.start)?;
        let mut readings = Vec::new();
        read(rest, &self.parts, [None; 3], &mut readings);
        if readings.len() == MOST_READINGS {
            return None;
        }
        let providers = readings.iter().filter_map(|[host, namespace, type_name]| {
            let host = host.unwrap_or(default_host.as_ascii());
            let text = format!("{host}/{}/{}", (*namespace)?, (*type_name)?);
            let provider = ProviderAddr::from_ascii(&text).ok()?;
            let mapped = self.template.repository(&provider).ok()?;
            (mapped == *repository).then_some(provider)
        });
        let mut providers: Vec<ProviderAddr> = providers.collect();
        providers.dedup();
        match providers.as_slice() {
            [provider] => Some(provider.clone()),
            _ => None,
        }
    }
}

/// The values of the symbols, in their order.
type Reading<'a> = [Option<&'a str>; 3];

/// Finds all values of the symbols with which the parts give this text.
fn read<'a>(
    text: &'a str,
    parts: &[(Symbol, String)],
    known: Reading<'a>,
    readings: &mut Vec<Reading<'a>>,
) {
    let Some(((symbol, behind), others)) = parts.split_first() else {
        if text.is_empty() && readings.len() < MOST_READINGS {
            readings.push(known);
        }
        return;
    };
    // No value contains a slash.
    let level = text.find('/').unwrap_or(text.len());
    let ends = (1..=level).filter_map(|end| text.split_at_checked(end));
    for (value, rest) in ends {
        let mut known = known;
        let place = known.get_mut(*symbol as usize);
        let is_same = place.is_some_and(|place| *place.get_or_insert(value) == value);
        if let Some(rest) = rest.strip_prefix(behind.as_str())
            && is_same
            && readings.len() < MOST_READINGS
        {
            read(rest, others, known, readings);
        }
    }
}

#[cfg(test)]
mod tests;
