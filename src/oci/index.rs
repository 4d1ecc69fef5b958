//! Indexes: one provider version, with an entry per platform.

use std::collections::BTreeMap;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use super::descriptor::DescriptorPlatform;
use super::parsed::{ListedDescriptor, ManifestKind, ParsedManifest};
use super::{
    Descriptor, Error, INDEX, MANIFEST, MOST_PLATFORMS, PACKAGE, PROVIDER, PROVIDER_TARGET, Part,
    RawManifest, Refusal, TITLE, VERSION, write,
};
use crate::address::ProviderAddr;
use crate::authentication::Note;
use crate::digest::Digest;
use crate::json;
use crate::platform::Platform;
use crate::version::Version;

/// The index of a provider version, to which the version's tag refers.
///
/// It keeps unknown members, so that they are not lost when tfoci adds a platform to an index of another tool.
#[derive(Clone, Debug, Default)]
pub struct Index {
    entries: Vec<ListedDescriptor>,
    annotations: BTreeMap<String, String>,
    rest: Vec<(String, Box<RawValue>)>,
    notes: Vec<Note>,
}

impl ListedDescriptor {
    fn is_provider(&self) -> bool {
        self.descriptor.artifact_type.as_deref() == Some(PROVIDER_TARGET)
    }

    /// The platform on which clients may select this entry, if it is that of a provider.
    fn platform(&self) -> Option<Platform> {
        let platform = self.descriptor.platform.as_ref();
        platform.and_then(DescriptorPlatform::platform)
    }
}

impl Index {
    /// Reads the index that a version's tag refers to, as [clients do](crate::clients#index).
    ///
    /// # Errors
    /// The reason why clients refuse the version on all platforms.
    pub fn read(raw: &RawManifest) -> Result<Self, Refusal> {
        let artifact_type = raw.artifact_type.as_deref().unwrap_or_default();
        for (member, expected, received) in [
            ("artifactType", PROVIDER, artifact_type),
            ("mediaType", INDEX, &raw.media_type),
        ] {
            // Registries report no artifact type.
            let is_unsaid = member == "artifactType" && received.is_empty();
            if received != expected && !is_unsaid {
                return Err(Refusal::wrong(Part::Tag, member, expected, received));
            }
        }
        let manifest = ParsedManifest::read(raw, ManifestKind::Index, Part::Index, PROVIDER)?;
        let index = Self {
            notes: manifest.notes(raw),
            entries: manifest.items,
            annotations: manifest.annotations,
            rest: manifest.rest,
        };
        index.check_count()?;
        Ok(index)
    }

    /// Checks that the index has no more platforms than tfoci reads.
    ///
    /// # Errors
    /// It has more.
    pub fn check_count(&self) -> Result<(), Refusal> {
        if self.providers().count() <= MOST_PLATFORMS {
            return Ok(());
        }
        let too_many = json::Error::too_many("platforms", MOST_PLATFORMS);
        Err(Refusal::unread(Part::Index, too_many))
    }

    /// Whether the annotations show that tfoci wrote some of the entries.
    pub fn is_ours(&self) -> bool {
        let mut entries = self.providers();
        entries.any(|entry| entry.descriptor.annotations.contains_key(PACKAGE))
    }

    fn providers(&self) -> impl Iterator<Item = &ListedDescriptor> {
        self.entries.iter().filter(|entry| entry.is_provider())
    }

    /// The provider in its title annotation; `None` if the title is not an address.
    pub fn provider(&self) -> Option<ProviderAddr> {
        ProviderAddr::from_ascii(self.annotations.get(TITLE)?).ok()
    }

    /// The provider that its title names, if that is another one than `provider`.
    pub fn other_provider(&self, provider: &ProviderAddr) -> Option<ProviderAddr> {
        self.provider().filter(|named| named != provider)
    }

    /// The entry that a client on `platform` installs from ([clients: platform selection](crate::clients#platform-selection)). It
    /// visits all entries: one invalid entry makes the version unusable on every platform.
    ///
    /// # Errors
    /// The reason why the client refuses the version.
    pub fn select(&self, platform: &Platform) -> Result<&Descriptor, Refusal> {
        let mut chosen = None;
        for entry in self.providers() {
            if !target(entry)?.is(platform) {
                continue;
            }
            let second = &entry.descriptor;
            if let Some(first) = chosen.replace(second) {
                return Err(ambiguous(platform, first, second));
            }
        }
        chosen.ok_or_else(|| self.without(platform))
    }

    /// Every platform that some client can install, with its entry, sorted.
    ///
    /// # Errors
    /// The reason why clients refuse the version on all platforms, or on one of them.
    pub fn platforms(&self) -> Result<Vec<(Platform, &Descriptor)>, Refusal> {
        let mut all: Vec<(Platform, &Descriptor)> = Vec::new();
        for entry in self.providers() {
            if let Some(platform) = target(entry)?.platform() {
                all.push((platform, &entry.descriptor));
            }
        }
        all.sort_by(|a, b| a.0.cmp(&b.0));
        let twice = all.windows(2).find_map(|pair| match pair {
            [(a, first), (b, second)] if a == b => Some(ambiguous(a, first, second)),
            _ => None,
        });
        let foreign = || self.providers().next().is_none().then(|| self.foreign());
        twice.or_else(foreign).map_or(Ok(all), Err)
    }

    /// The entries that were probably meant for clients, and that no client selects: either clients cannot ask for their platform, or they
    /// do not have the artifact type of a provider.
    pub fn ignored(&self) -> impl Iterator<Item = &Descriptor> {
        let entries = self.entries.iter().filter(|entry| {
            let is_of_go = entry.platform().is_some_and(|one| one.is_of_go());
            match &entry.descriptor.artifact_type {
                None => is_of_go,
                Some(_) => entry.is_provider() && !is_of_go,
            }
        });
        entries.map(|entry| &entry.descriptor)
    }

    /// Irregularities that clients accept in this index.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Adds the manifest of a package, and replaces any entry for the same platform.
    ///
    /// # Errors
    /// None for manifests that tfoci builds.
    pub fn insert(
        &mut self,
        platform: &Platform,
        manifest: &RawManifest,
        package: &Digest,
    ) -> Result<(), Error> {
        let mut descriptor = manifest.descriptor();
        descriptor.platform = Some(DescriptorPlatform::from(platform));
        descriptor
            .annotations
            .insert(PACKAGE.to_owned(), package.to_string());
        self.entries
            .retain(|entry| !entry.is_provider() || entry.platform().as_ref() != Some(platform));
        self.entries.push(ListedDescriptor {
            raw: to_raw_value(&descriptor)?,
            descriptor,
        });
        Ok(())
    }

    /// Sets the annotations with the provider and version, which registries show, and then `others`. Each replaces one with the same key.
    pub fn annotate(
        &mut self,
        provider: &ProviderAddr,
        version: &Version,
        others: &BTreeMap<String, String>,
    ) {
        let ours = [
            (TITLE.to_owned(), provider.to_ascii()),
            (VERSION.to_owned(), version.to_string()),
        ];
        self.annotations.extend(ours);
        self.annotations.extend(others.clone());
    }

    /// Writes the index: entries of providers sorted by platform, then all others in their order, then unknown members unchanged.
    ///
    /// # Errors
    /// The entries do not fit into 4 MiB.
    pub fn write(&self) -> Result<RawManifest, Error> {
        write(INDEX, PROVIDER, self)
    }

    fn without(&self, platform: &Platform) -> Refusal {
        if self.providers().next().is_none() {
            return self.foreign();
        }
        let available = self.providers().filter_map(ListedDescriptor::platform);
        let mut available: Vec<Platform> = available.collect();
        available.sort();
        Refusal::NoPlatform {
            platform: platform.clone(),
            available,
        }
    }

    fn foreign(&self) -> Refusal {
        let mut entries = self.entries.iter();
        Refusal::NoProviders {
            received: entries.find_map(|entry| entry.descriptor.artifact_type.clone()),
        }
    }
}

impl Serialize for Index {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut ours: Vec<(Platform, &RawValue)> = Vec::new();
        let mut others: Vec<&RawValue> = Vec::new();
        for entry in &self.entries {
            match entry.platform().filter(|_| entry.is_provider()) {
                Some(platform) => ours.push((platform, &entry.raw)),
                None => others.push(&entry.raw),
            }
        }
        ours.sort_by(|a, b| a.0.cmp(&b.0));
        let manifests: Vec<&RawValue> =
            ours.into_iter().map(|(_, raw)| raw).chain(others).collect();
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("schemaVersion", &2)?;
        map.serialize_entry("mediaType", INDEX)?;
        map.serialize_entry("artifactType", PROVIDER)?;
        map.serialize_entry("manifests", &manifests)?;
        if !self.annotations.is_empty() {
            map.serialize_entry("annotations", &self.annotations)?;
        }
        for (key, value) in &self.rest {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// The platform of a provider's entry.
fn target(entry: &ListedDescriptor) -> Result<&DescriptorPlatform, Refusal> {
    let Descriptor {
        media_type,
        platform,
        ..
    } = &entry.descriptor;
    if media_type != MANIFEST {
        return Err(Refusal::wrong(
            Part::Entry,
            "mediaType",
            MANIFEST,
            media_type,
        ));
    }
    let without = || Refusal::wrong(Part::Entry, "platform", "one", "");
    platform.as_ref().ok_or_else(without)
}

/// The refusal of two entries for the same platform, even if they have the same digest.
fn ambiguous(platform: &Platform, first: &Descriptor, second: &Descriptor) -> Refusal {
    let expected = format!("one entry for {platform}");
    let received = format!("{} and {}", first.digest, second.digest);
    Refusal::wrong(Part::Index, "manifests", expected, received)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::release::Expected;

    fn platform(text: &str) -> Platform {
        text.parse().unwrap()
    }

    fn annotate(index: &mut Index) {
        let provider = "registry.opentofu.org/acme/demo".parse().unwrap();
        index.annotate(&provider, &"1.0.0".parse().unwrap(), &BTreeMap::new());
    }

    fn fresh(platforms: &[&str]) -> Index {
        let mut index = Index::default();
        annotate(&mut index);
        for text in platforms {
            let package = Expected::of(text.as_bytes());
            let manifest = super::super::manifest::build(package, text).unwrap();
            index
                .insert(&platform(text), &manifest, &package.digest)
                .unwrap();
        }
        index
    }

    fn foreign(entries: &str) -> RawManifest {
        let text = format!(
            r#"{{"x-number":12345678901234567890123,"mediaType":"{INDEX}","manifests":[{entries}],"artifactType":"{PROVIDER}","annotations":{{"z":"1"}}}}"#
        );
        RawManifest::new(INDEX, PROVIDER, text.into_bytes())
    }

    #[test]
    fn canonical_bytes() {
        let raw = fresh(&["linux_amd64", "darwin_arm64"]).write().unwrap();
        let text = str::from_utf8(&raw.bytes).unwrap();
        assert!(text.starts_with(r#"{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","artifactType":"application/vnd.opentofu.provider","manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","artifactType":"application/vnd.opentofu.provider-target","digest":"sha256:"#), "{text}");
        assert!(text.contains(r#""platform":{"architecture":"arm64","os":"darwin"},"annotations":{"org.tfoci.package":"sha256:"#), "{text}");
        assert!(text.ends_with(r#""annotations":{"org.opencontainers.image.title":"registry.opentofu.org/acme/demo","org.opencontainers.image.version":"1.0.0"}}"#), "{text}");
        assert!(text.find("darwin") < text.find("linux"));
    }

    #[test]
    fn platforms_added_one_by_one_give_the_same_bytes() {
        let whole = fresh(&["linux_amd64", "darwin_arm64"]).write().unwrap();
        let mut merged = Index::read(&fresh(&["linux_amd64"]).write().unwrap()).unwrap();
        let package = Expected::of(b"darwin_arm64");
        let manifest = super::super::manifest::build(package, "darwin_arm64").unwrap();
        merged
            .insert(&platform("darwin_arm64"), &manifest, &package.digest)
            .unwrap();
        annotate(&mut merged);
        assert_eq!(merged.write().unwrap(), whole);
    }

    /// No index is written that would not be read.
    #[test]
    fn the_number_of_platforms_is_limited() {
        let platforms: Vec<String> = (0..=MOST_PLATFORMS)
            .map(|n| format!("linux_a{n}"))
            .collect();
        let mut platforms: Vec<&str> = platforms.iter().map(String::as_str).collect();
        let too_many = fresh(&platforms);
        assert!(matches!(too_many.check_count(), Err(Refusal::Json { .. })));
        assert!(matches!(
            Index::read(&too_many.write().unwrap()),
            Err(Refusal::Json { .. })
        ));
        platforms.pop();
        fresh(&platforms).check_count().unwrap();
    }

    #[test]
    fn what_others_wrote_survives_a_merge_verbatim() {
        let signature = r#"{ "mediaType":"x", "digest":"sha256:00" ,"weird":1e400}"#;
        let mut index = Index::read(&foreign(signature)).unwrap();
        let package = Expected::of(b"p");
        let manifest = super::super::manifest::build(package, "p").unwrap();
        index
            .insert(&platform("linux_amd64"), &manifest, &package.digest)
            .unwrap();
        let raw = index.write().unwrap();
        let text = str::from_utf8(&raw.bytes).unwrap();
        assert!(text.contains(&format!(",{signature}]")), "{text}");
        assert!(
            text.ends_with(r#""annotations":{"z":"1"},"x-number":12345678901234567890123}"#),
            "{text}"
        );
        assert!(
            Index::read(&raw)
                .unwrap()
                .select(&platform("linux_amd64"))
                .is_ok()
        );
    }
}
