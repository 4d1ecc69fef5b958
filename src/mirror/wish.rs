//! Wishes: which versions of a provider to mirror, and for which platforms.

use std::collections::BTreeMap;

use crate::constraint::VersionConstraints;
use crate::platform::Platform;
use crate::source::Offer;
use crate::version::Version;

/// A range of versions of one provider.
#[derive(Clone, Debug)]
pub struct Wish {
    /// The acceptable versions.
    pub versions: VersionConstraints,
    /// How many of them, from the newest; `None` for all.
    pub newest: Option<usize>,
    /// Whether pre-releases are among them that no constraint names.
    pub prereleases: bool,
    /// For which platforms; `None` for all that the source has.
    pub platforms: Option<Vec<Platform>>,
}

/// A version that is wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) offer: Offer,
    /// For which platforms, sorted; `None` where only the source's answer will tell.
    pub(super) platforms: Option<Vec<Platform>>,
    /// Platforms that were asked for, and that the source does not list.
    pub(super) absent: Vec<Platform>,
}

impl Choice {
    /// Whether nothing that was asked for is there.
    pub(super) fn is_empty(&self) -> bool {
        self.platforms.as_ref().is_some_and(Vec::is_empty)
    }

    /// For which platforms the source lists packages of it.
    pub(super) fn published(&self) -> Option<(Version, Vec<Platform>)> {
        let platforms = self.offer.platforms.clone()?;
        Some((self.offer.version.version().clone(), platforms))
    }
}

impl Wish {
    fn admits(&self, version: &Version) -> bool {
        self.versions.admits(version)
            || self.prereleases && version.is_prerelease() && self.versions.spans(version)
    }

    /// The offers that fulfil it, the newest first.
    fn among<'a>(&self, offers: &'a [Offer]) -> Vec<&'a Offer> {
        let admitted = offers
            .iter()
            .rev()
            .filter(|offer| self.admits(offer.version.version()));
        admitted.take(self.newest.unwrap_or(usize::MAX)).collect()
    }

    fn unfulfilled(&self, offers: &[Offer]) -> Unfulfilled {
        let available = offers.iter().map(|offer| offer.version.version().clone());
        Unfulfilled {
            versions: self.versions.clone(),
            platforms: self.platforms.clone(),
            available: available.collect(),
        }
    }

    /// The platforms that it has of an offer, and those that it lacks.
    fn platforms_of(&self, offer: &Offer) -> (Option<Vec<Platform>>, Vec<Platform>) {
        match (&self.platforms, &offer.platforms) {
            (Some(wanted), Some(there)) => {
                let is_there = |platform: &Platform| there.contains(platform);
                let (found, absent) = wanted.iter().cloned().partition(is_there);
                (Some(found), absent)
            }
            (Some(only), None) | (None, Some(only)) => (Some(only.clone()), Vec::new()),
            (None, None) => (None, Vec::new()),
        }
    }
}

/// What wishes come to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Chosen {
    /// What fulfils them, the newest version first.
    pub(super) choices: Vec<Choice>,
    /// What nothing fulfils.
    pub(super) unfulfilled: Vec<Unfulfilled>,
}

/// Versions that were wished for, and of which there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unfulfilled {
    pub(super) versions: VersionConstraints,
    /// For which platforms; `None` for all.
    pub(super) platforms: Option<Vec<Platform>>,
    /// The versions that there are, ascending.
    pub(super) available: Vec<Version>,
}

/// Chooses among offers, which are ascending. A version that several wishes choose is wanted for the platforms of all of them.
pub(super) fn choose(wishes: &[Wish], offers: &[Offer]) -> Chosen {
    let mut chosen: BTreeMap<&Version, Choice> = BTreeMap::new();
    let mut unfulfilled: Vec<Unfulfilled> = Vec::new();
    for wish in wishes {
        let among = wish.among(offers);
        if among.is_empty() {
            let mut known = unfulfilled.iter_mut();
            match known.find(|known| known.versions == wish.versions) {
                Some(known) => {
                    known.platforms = union(known.platforms.take(), wish.platforms.clone());
                }
                None => unfulfilled.push(wish.unfulfilled(offers)),
            }
        }
        for offer in among {
            let (platforms, absent) = wish.platforms_of(offer);
            let choice = chosen
                .entry(offer.version.version())
                .or_insert_with(|| Choice {
                    offer: offer.clone(),
                    platforms: Some(Vec::new()),
                    absent: Vec::new(),
                });
            choice.platforms = union(choice.platforms.take(), platforms);
            choice.absent.extend(absent);
        }
    }
    Chosen {
        choices: chosen.into_values().rev().collect(),
        unfulfilled,
    }
}

fn union(one: Option<Vec<Platform>>, other: Option<Vec<Platform>>) -> Option<Vec<Platform>> {
    let (mut all, more) = (one?, other?);
    all.extend(more);
    all.sort();
    all.dedup();
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offers(texts: &[(&str, Option<&str>)]) -> Vec<Offer> {
        let offer = |(version, platforms): &(&str, Option<&str>)| Offer {
            version: version.parse().unwrap(),
            platforms: platforms.map(read),
        };
        texts.iter().map(offer).collect()
    }

    fn read(platforms: &str) -> Vec<Platform> {
        let words = platforms.split_whitespace();
        words.map(|text| text.parse().unwrap()).collect()
    }

    fn wish(constraints: &str, newest: Option<usize>, platforms: Option<&str>) -> Wish {
        Wish {
            versions: constraints.parse().unwrap(),
            newest,
            prereleases: false,
            platforms: platforms.map(read),
        }
    }

    fn shown(chosen: Chosen) -> Vec<String> {
        let show = |choice: &Choice| {
            let platforms = choice.platforms.as_ref().map(|all| {
                let texts: Vec<String> = all.iter().map(Platform::to_string).collect();
                texts.join(" ")
            });
            let version = choice.offer.version.version();
            format!("{version} {}", platforms.as_deref().unwrap_or("?"))
        };
        chosen.choices.iter().map(show).collect()
    }

    #[test]
    fn the_newest_of_a_range_for_the_platforms_that_are_there() {
        let offers = offers(&[
            ("1.0.0", Some("linux_amd64")),
            ("1.1.0", Some("linux_amd64 linux_arm64")),
            ("1.2.0-rc1", None),
            ("2.0.0", None),
        ]);
        assert_eq!(
            shown(choose(
                &[wish("~> 1.0", None, Some("linux_arm64"))],
                &offers
            )),
            ["1.1.0 linux_arm64", "1.0.0 "]
        );
        assert_eq!(
            shown(choose(&[wish(">= 0", Some(1), None)], &offers)),
            ["2.0.0 ?"]
        );
        let mut early = wish("~> 1.0", Some(2), None);
        early.prereleases = true;
        assert_eq!(
            shown(choose(&[early], &offers)),
            ["1.2.0-rc1 ?", "1.1.0 linux_amd64 linux_arm64"]
        );
    }

    #[test]
    fn wishes_for_one_version_are_united() {
        let offers = offers(&[("1.0.0", None), ("2.0.0", None)]);
        let wishes = [
            wish("1.0.0", None, Some("linux_arm64")),
            wish(">= 1", None, Some("linux_amd64")),
            wish("2.0.0", None, None),
        ];
        assert_eq!(
            shown(choose(&wishes, &offers)),
            ["2.0.0 ?", "1.0.0 linux_amd64 linux_arm64"]
        );
    }

    #[test]
    fn platforms_that_are_not_there_are_told() {
        let offers = offers(&[("1.0.0", Some("linux_amd64"))]);
        let one = |platforms| {
            let chosen = choose(&[wish(">= 1", None, Some(platforms))], &offers);
            chosen.choices.into_iter().next_back().unwrap()
        };
        let some = one("linux_amd64 linux_arm64");
        assert_eq!((some.is_empty(), some.absent), (false, read("linux_arm64")));
        assert!(one("linux_arm64").is_empty());
    }

    #[test]
    fn what_nothing_fulfils_says_what_there_is() {
        let offers = offers(&[("1.0.0", None)]);
        let wishes = [
            wish("3.0.0", None, Some("linux_arm64")),
            wish(">= 1", None, None),
            wish("3.0.0", None, Some("linux_amd64")),
        ];
        let chosen = choose(&wishes, &offers);
        let expected = Unfulfilled {
            versions: "3.0.0".parse().unwrap(),
            platforms: Some(read("linux_amd64 linux_arm64")),
            available: vec!["1.0.0".parse().unwrap()],
        };
        assert_eq!(chosen.unfulfilled, [expected]);
        assert_eq!(shown(chosen), ["1.0.0 ?"]);
    }
}
