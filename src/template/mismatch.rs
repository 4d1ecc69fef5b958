//! How the names of repositories differ from a template that matches none of them.

use std::collections::BTreeSet;

use super::InverseTemplate;
use crate::nearest::nearest;
use crate::oci::Repository;

/// Why a template matches no repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatch {
    /// What a name would begin with, behind the registry; `None` if some names do.
    pub beginning: Option<String>,
    /// The template with the beginning that is probably meant.
    pub meant: Option<String>,
    /// A name that is similar to those of the template: it has as many levels, or begins as they do.
    pub nearest: Option<Repository>,
}

impl InverseTemplate<'_> {
    /// How these repositories of the registry differ from the template.
    pub fn mismatch(&self, repositories: &[Repository]) -> Mismatch {
        let levels = |text: &str| text.matches('/').count();
        let behind = self.parts.iter().map(|(_, behind)| levels(behind));
        let wanted = levels(&self.start) + behind.sum::<usize>();
        let names = repositories.iter();
        let alike: Vec<&Repository> = names.filter(|one| levels(one.as_str()) == wanted).collect();
        let first = |start: &str| {
            let mut alike = alike.iter();
            let found = alike.find(|one| one.as_str().starts_with(start));
            found.map(|one| (*one).clone())
        };
        let mut all = repositories.iter();
        if let Some(begun) = all.find(|one| one.as_str().starts_with(&self.start)) {
            return Mismatch {
                nearest: first(&self.start).or_else(|| Some(begun.clone())),
                ..Mismatch::default()
            };
        }
        let (_, beginning) = self.start.split_once('/').unwrap_or_default();
        let starts: BTreeSet<&str> = alike
            .iter()
            .filter_map(|one| start(one.as_str(), levels(&self.start)))
            .collect();
        let starts: Vec<&str> = starts.into_iter().collect();
        let meant = match starts.as_slice() {
            _ if !self.start.ends_with('/') => None,
            [only] => Some(*only),
            several => nearest(&self.start, several),
        };
        let rest = self.template.text.strip_prefix(&self.start);
        Mismatch {
            beginning: Some(beginning.to_owned()),
            meant: meant
                .zip(rest)
                .map(|(start, rest)| format!("{start}{rest}")),
            nearest: first(meant.unwrap_or_default()),
        }
    }
}

/// The first levels of a name, with the slash behind them.
fn start(name: &str, levels: usize) -> Option<&str> {
    let (last, _) = name.match_indices('/').nth(levels.checked_sub(1)?)?;
    name.get(..=last)
}

#[cfg(test)]
mod tests {
    use super::super::RepositoryTemplate;
    use super::*;

    #[test]
    fn the_beginning_that_is_meant() {
        let tofu = "r.example/tofu/a.example/acme/demo";
        let other = "r.example/mirror/a.example/acme/demo";
        let more = "r.example/tofu/a.example/acme/demo/more";
        for (template, names, beginning, meant, nearest) in [
            (
                "r.example/toffu/${hostname}/${namespace}/${type}",
                &[other, more, tofu][..],
                Some("toffu/"),
                Some("r.example/tofu/${hostname}/${namespace}/${type}"),
                Some(tofu),
            ),
            // Only one is possible.
            (
                "r.example/providers/{hostname}/{namespace}/{type}",
                &[more, tofu],
                Some("providers/"),
                Some("r.example/tofu/{hostname}/{namespace}/{type}"),
                Some(tofu),
            ),
            (
                "r.example/providers/{hostname}/{namespace}/{type}",
                &[other, tofu],
                Some("providers/"),
                None,
                Some(other),
            ),
            (
                "r.example/tofu/{hostname}/{namespace}/{type}",
                &["r.example/tofu/acme/demo", other],
                None,
                None,
                Some("r.example/tofu/acme/demo"),
            ),
            (
                "r.example/tofu/{hostname}/{namespace}/{type}",
                &["r.example/acme/demo"],
                Some("tofu/"),
                None,
                None,
            ),
            (
                "r.example/toffu-{hostname}/{namespace}/{type}",
                &["r.example/tofu-a.example/acme/demo"],
                Some("toffu-"),
                None,
                Some("r.example/tofu-a.example/acme/demo"),
            ),
        ] {
            let template = RepositoryTemplate::parse(template).unwrap();
            let names = names.iter().map(|name| Repository::in_registry(name));
            let names: Vec<Repository> = names.collect::<Result<_, _>>().unwrap();
            let found = template.inverse().unwrap().mismatch(&names);
            let near = found.nearest.as_ref().map(Repository::as_str);
            assert_eq!(
                (found.beginning.as_deref(), found.meant.as_deref(), near),
                (beginning, meant, nearest)
            );
        }
    }
}
