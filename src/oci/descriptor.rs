//! Descriptors: references from one OCI object to another.

use std::borrow::Cow;
use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Serialize;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::annotations;
use super::{Part, Refusal};
use crate::json::{self, Object};
use crate::platform::Platform;
use crate::release::{Expected, LARGEST_BLOB};

/// A reference to a blob or manifest: media type, digest, size, and attributes in an index.
///
/// Parsing keeps invalid values, because clients ignore them in entries that they do not select. [`Descriptor::expected_of`] checks them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Descriptor {
    /// The media type; empty if absent.
    pub media_type: String,
    /// The artifact type of a manifest; `None` if absent or empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact_type: Option<String>,
    /// The digest, as written.
    pub digest: String,
    /// The size in bytes, as written.
    pub size: i64,
    /// The platform of the package, if the descriptor has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<DescriptorPlatform>,
    /// The annotations that tfoci reads. Others are kept only in the original bytes.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub annotations: BTreeMap<String, String>,
    /// Whether a member had its name in an unusual letter case.
    #[serde(skip)]
    pub lenient: bool,
}

impl Descriptor {
    /// The descriptor of bytes with this media type.
    pub fn new(media_type: &str, expected: Expected) -> Self {
        Self {
            media_type: media_type.to_owned(),
            digest: expected.digest.to_string(),
            size: i64::try_from(expected.size).unwrap_or(i64::MAX),
            ..Self::default()
        }
    }

    /// Whether the media type is that of a manifest that may refer to others.
    pub fn may_refer_to_others(&self) -> bool {
        let media_type = &self.media_type;
        media_type.ends_with("json")
            && (media_type.contains("manifest") || media_type.contains("index"))
    }

    /// The digest and size that the bytes of this part of an artifact must have.
    ///
    /// # Errors
    /// The digest is malformed or its algorithm is unknown, or the size is negative or more than [`LARGEST_BLOB`].
    pub fn expected_of(&self, what: Part) -> Result<Expected, Refusal> {
        let what = what.pointer();
        let Ok(digest) = self.digest.parse() else {
            let expected = "64 lower-case hex digits after `sha256:`";
            return Err(Refusal::wrong(what, "digest", expected, &self.digest));
        };
        let size = u64::try_from(self.size).ok();
        let Some(size) = size.filter(|size| *size <= LARGEST_BLOB) else {
            let expected = format!("0 to {LARGEST_BLOB} bytes");
            return Err(Refusal::wrong(what, "size", expected, self.size));
        };
        Ok(Expected { digest, size })
    }

    /// Parses every member whose type clients check. Like clients, it parses `null` as an empty descriptor.
    ///
    /// # Errors
    /// A member has a type that clients refuse, or is duplicated.
    pub fn of(value: &RawValue) -> Result<Self, json::Error> {
        Self::read(Object::of(value)?)
    }

    pub(super) fn read(mut object: Object<'_>) -> Result<Self, json::Error> {
        object.list("urls", usize::MAX, text)?;
        if let Some(data) = object.take("data")? {
            check_data(data).map_err(|error| error.within("data"))?;
        }
        let (platform, is_lenient) = object.object("platform", DescriptorPlatform::read)?.unzip();
        let mut descriptor = Self {
            media_type: object.text("mediaType")?,
            artifact_type: Some(object.text("artifactType")?).filter(|text| !text.is_empty()),
            digest: object.text("digest")?,
            size: object.integer("size")?,
            annotations: annotations::take(&mut object, |name| annotations::READ.contains(&name))?,
            lenient: is_lenient.unwrap_or_default(),
            platform,
        };
        descriptor.lenient |= object.is_lenient();
        Ok(descriptor)
    }
}

/// Checks the form of `data`: base64, or the other form in which Go decodes bytes. Its content is not used.
fn check_data(value: &RawValue) -> Result<(), json::Error> {
    let number = |item: &RawValue| Ok(serde_json::from_str::<Option<u8>>(item.get()).map(|_| ())?);
    if json::items(value, usize::MAX, number).is_ok() {
        return Ok(());
    }
    let mut text: Cow<'_, str> = serde_json::from_str(value.get())?;
    if text.contains(['\r', '\n']) {
        text = text.replace(['\r', '\n'], "").into();
    }
    let decoded = BASE64.decode(&*text);
    decoded.map_err(|_| serde_json::Error::custom("expected base64"))?;
    Ok(())
}

/// The `platform` of a descriptor, unnormalised: clients compare it byte for byte.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DescriptorPlatform {
    /// The architecture, by its name in Go.
    pub architecture: String,
    /// The operating system, by its name in Go.
    pub os: String,
    /// A version of the operating system. All clients skip an entry that has one.
    #[serde(rename = "os.version", skip_serializing_if = "Option::is_none")]
    pub os_version: Option<String>,
}

impl DescriptorPlatform {
    /// Parses a platform. Also returns whether a member had its name in an unusual letter case.
    fn read(mut object: Object<'_>) -> Result<(Self, bool), json::Error> {
        object.text("variant")?;
        object.list("os.features", usize::MAX, text)?;
        let platform = Self {
            architecture: object.text("architecture")?,
            os: object.text("os")?,
            os_version: Some(object.text("os.version")?).filter(|text| !text.is_empty()),
        };
        Ok((platform, object.is_lenient()))
    }

    /// Whether a client on `platform` selects this entry ([clients: platform selection](crate::clients#platform-selection)).
    pub fn is(&self, platform: &Platform) -> bool {
        self.os_version.is_none()
            && self.os == platform.os()
            && self.architecture == platform.arch()
    }

    /// The platform; `None` if no client can request it.
    pub fn platform(&self) -> Option<Platform> {
        let platform = Platform::new(&self.os, &self.architecture).ok()?;
        self.is(&platform).then_some(platform)
    }
}

impl From<&Platform> for DescriptorPlatform {
    fn from(platform: &Platform) -> Self {
        Self {
            architecture: platform.arch().to_owned(),
            os: platform.os().to_owned(),
            os_version: None,
        }
    }
}

/// Checks that an item of a list is a text. `null` counts as an empty text.
pub(super) fn text(value: &RawValue) -> Result<(), json::Error> {
    let _: Option<Cow<'_, str>> = serde_json::from_str(value.get())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn canonical_bytes() {
        let mut descriptor = Descriptor::new("archive/zip", Expected::of(b"{}"));
        descriptor.platform = Some(DescriptorPlatform::from(
            &"linux_amd64".parse::<Platform>().unwrap(),
        ));
        descriptor
            .annotations
            .insert("b".to_owned(), "2".to_owned());
        descriptor
            .annotations
            .insert("a".to_owned(), "<1>".to_owned());
        assert_eq!(
            serde_json::to_string(&descriptor).unwrap(),
            "{\"mediaType\":\"archive/zip\",\"digest\":\"sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a\",\
             \"size\":2,\"platform\":{\"architecture\":\"amd64\",\"os\":\"linux\"},\"annotations\":{\"a\":\"<1>\",\"b\":\"2\"}}"
        );
    }

    #[test]
    fn reading_is_as_liberal_as_clients_are() {
        let text = r#"{"MediaType":"a","digest":"md5:x","size":-1,"artifactType":"","platform":{"OS":"linux","architecture":"arm","variant":"v7","os.version":""}}"#;
        let descriptor = Descriptor::of(serde_json::from_str(text).unwrap()).unwrap();
        assert_eq!(
            (descriptor.media_type.as_str(), &descriptor.artifact_type),
            ("a", &None)
        );
        assert!(descriptor.lenient);
        assert!(
            descriptor
                .platform
                .as_ref()
                .unwrap()
                .is(&"linux_arm".parse().unwrap())
        );
        assert!(descriptor.expected_of(Part::Blob).is_err());
    }

    #[test]
    fn a_wrong_type_in_any_known_field_is_refused_as_clients_refuse_it() {
        let read = |members: &str| {
            let text = format!("{{{members}}}");
            Descriptor::of(serde_json::from_str(&text).unwrap())
        };
        for good in [
            r#""urls":null"#,
            r#""urls":["https://example.com",null]"#,
            r#""data":"e3\n0=""#,
            r#""data":[123,125]"#,
            r#""annotations":{"a":null}"#,
            r#""platform":{"os.features":["a"],"variant":null,"features":7}"#,
            r#""unknown":[{}]"#,
        ] {
            assert!(read(good).is_ok(), "{good}");
        }
        for bad in [
            r#""mediaType":1"#,
            r#""size":"1""#,
            r#""size":1.0"#,
            r#""urls":"https://example.com""#,
            r#""urls":[1]"#,
            r#""data":"e30""#,
            r#""data":{}"#,
            r#""data":[256]"#,
            r#""annotations":{"a":1}"#,
            r#""annotations":[]"#,
            r#""platform":"linux""#,
            r#""platform":{"os.features":"a"}"#,
            r#""platform":{"variant":7}"#,
            r#""platform":{"os":1},"platform":{"os":"linux"}"#,
        ] {
            assert!(read(bad).is_err(), "{bad}");
        }
        let nothing = Descriptor::of(serde_json::from_str("null").unwrap());
        assert_eq!(nothing.unwrap(), Descriptor::default());
    }

    #[test]
    fn an_annotation_that_is_read_is_there_once() {
        let read = |members: &str| {
            let text = format!(r#"{{"annotations":{{{members}}}}}"#);
            let read = Descriptor::of(serde_json::from_str(&text).unwrap());
            read.map(|read| read.annotations.len())
                .map_err(|error| error.to_string())
        };
        assert_eq!(read(r#""other":"a","other":"b""#), Ok(0));
        assert_eq!(
            read(r#""org.tfoci.package":"a","ORG.TFOCI.PACKAGE":"b""#),
            Ok(1)
        );
        assert_eq!(
            read(r#""org.tfoci.package":"a","org.tfoci.package":null"#),
            Err("`annotations`: an object has the members `org.tfoci.package` and `org.tfoci.package`".to_owned())
        );
    }

    #[test]
    fn letter_case_and_os_version_never_match() {
        let linux: Platform = "linux_amd64".parse().unwrap();
        let target = |os: &str, version: Option<&str>| DescriptorPlatform {
            architecture: "amd64".to_owned(),
            os: os.to_owned(),
            os_version: version.map(str::to_owned),
        };
        assert!(target("linux", None).is(&linux));
        assert!(!target("Linux", None).is(&linux));
        assert!(!target("linux", Some("10")).is(&linux));
        assert_eq!(target("linux", Some("10")).platform(), None);
    }
}
