//! The OCI documents that the client decodes, with every field whose type it checks.

use super::json::{Malformed, Node};

/// The members of both kinds of tagged document.
#[derive(Default)]
pub struct Head {
    pub media_type: String,
    pub artifact_type: String,
}

/// An image index; also the `index.json` of a layout.
pub struct Index {
    pub head: Head,
    pub manifests: Vec<Descriptor>,
}

/// An image manifest.
pub struct Manifest {
    pub head: Head,
    pub layers: Vec<Descriptor>,
}

/// A pointer to content.
#[derive(Clone, Default)]
pub struct Descriptor {
    pub media_type: String,
    pub artifact_type: String,
    pub digest: String,
    pub size: i64,
    pub platform: Option<Platform>,
    pub annotations: Option<Vec<(String, String)>>,
}

/// The platform of a descriptor's content.
#[derive(Clone, Default)]
pub struct Platform {
    pub os: String,
    pub arch: String,
    pub os_version: String,
}

impl Head {
    fn read(node: &Node) -> Result<Self, Malformed> {
        let mut head = Self::default();
        node.integer("schemaVersion", &mut 0)?;
        node.text("mediaType", &mut head.media_type)?;
        node.text("artifactType", &mut head.artifact_type)?;
        node.object("subject", &mut None, Descriptor::read)?;
        node.object("annotations", &mut None, Node::pairs)?;
        Ok(head)
    }
}

impl Index {
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let node = Node::parse(bytes)?;
        let (head, mut manifests) = (Head::read(&node)?, Vec::new());
        node.list("manifests", &mut manifests, Descriptor::read)?;
        Ok(Self { head, manifests })
    }
}

impl Manifest {
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let node = Node::parse(bytes)?;
        let (head, mut layers) = (Head::read(&node)?, Vec::new());
        node.list("layers", &mut layers, Descriptor::read)?;
        node.object("config", &mut None, Descriptor::read)?;
        Ok(Self { head, layers })
    }
}

impl Descriptor {
    fn read(node: &Node, into: &mut Self) -> Result<(), Malformed> {
        node.text("mediaType", &mut into.media_type)?;
        node.text("artifactType", &mut into.artifact_type)?;
        node.text("digest", &mut into.digest)?;
        node.integer("size", &mut into.size)?;
        node.object("platform", &mut into.platform, Platform::read)?;
        node.object("annotations", &mut into.annotations, Node::pairs)?;
        node.list("urls", &mut Vec::new(), text)?;
        node.object("data", &mut None, bytes)
    }

    /// An annotation, the last one of its name.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        let mut all = self.annotations.iter().flatten().rev();
        let (_, value) = all.find(|(key, _)| key == name)?;
        Some(value)
    }
}

impl Platform {
    fn read(node: &Node, into: &mut Self) -> Result<(), Malformed> {
        node.text("os", &mut into.os)?;
        node.text("architecture", &mut into.arch)?;
        node.text("os.version", &mut into.os_version)?;
        node.text("variant", &mut String::new())?;
        node.list("os.features", &mut Vec::new(), text)
    }
}

fn text(node: &Node, (): &mut ()) -> Result<(), Malformed> {
    matches!(node, Node::Text(_) | Node::Null)
        .then_some(())
        .ok_or(Malformed)
}

/// Go reads bytes from base64 text or from a list of small numbers.
fn bytes(node: &Node, (): &mut ()) -> Result<(), Malformed> {
    let sound = match node {
        Node::Text(text) => is_base64(&text.replace(['\r', '\n'], "")),
        Node::List(items) => items.iter().all(|item| match item {
            Node::Null => true,
            Node::Number(number) => number.parse::<u8>().is_ok(),
            _ => false,
        }),
        _ => false,
    };
    sound.then_some(()).ok_or(Malformed)
}

fn is_base64(text: &str) -> bool {
    let payload = text.trim_end_matches('=');
    text.len().is_multiple_of(4)
        && text.len() - payload.len() <= 2
        && payload
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b == b'+' || b == b'/')
}

#[test]
fn a_duplicate_object_or_list_is_merged_into_the_first() {
    let manifest = Manifest::parse(
        br#"{"layers":[{"size":1,"platform":{"os":"linux"},"PLATFORM":{"architecture":"arm"}},{}],
            "Layer\u017f":[{"digest":"x","\u017fize":null}]}"#,
    )
    .unwrap();
    let [layer] = &manifest.layers[..] else {
        panic!("{} layers", manifest.layers.len());
    };
    let platform = layer.platform.as_ref().unwrap();
    assert_eq!((layer.size, layer.digest.as_str()), (1, "x"));
    assert_eq!(
        (platform.os.as_str(), platform.arch.as_str()),
        ("linux", "arm")
    );
}
