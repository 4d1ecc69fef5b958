//! The OCI documents that the client decodes, with every field whose type it checks.

use super::json::{Malformed, Node};

/// What both kinds of tagged document say about themselves.
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
#[derive(Clone)]
pub struct Descriptor {
    pub media_type: String,
    pub artifact_type: String,
    pub digest: String,
    pub size: i64,
    pub platform: Option<Platform>,
    pub annotations: Vec<(String, String)>,
}

/// What a descriptor's content is built for.
#[derive(Clone)]
pub struct Platform {
    pub os: String,
    pub arch: String,
    pub os_version: String,
}

impl Head {
    fn read(node: &Node) -> Result<Self, Malformed> {
        node.integer("schemaVersion")?;
        node.object("subject", Descriptor::read)?;
        node.object("annotations", Node::pairs)?;
        Ok(Self {
            media_type: node.text("mediaType")?,
            artifact_type: node.text("artifactType")?,
        })
    }
}

impl Index {
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let node = Node::parse(bytes)?;
        Ok(Self {
            head: Head::read(&node)?,
            manifests: node.list("manifests", Descriptor::read)?,
        })
    }
}

impl Manifest {
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let node = Node::parse(bytes)?;
        node.object("config", Descriptor::read)?;
        Ok(Self {
            head: Head::read(&node)?,
            layers: node.list("layers", Descriptor::read)?,
        })
    }
}

impl Descriptor {
    fn read(node: &Node) -> Result<Self, Malformed> {
        node.list("urls", text)?;
        node.text("data")?;
        Ok(Self {
            media_type: node.text("mediaType")?,
            artifact_type: node.text("artifactType")?,
            digest: node.text("digest")?,
            size: node.integer("size")?,
            platform: node.object("platform", Platform::read)?,
            annotations: node.object("annotations", Node::pairs)?.unwrap_or_default(),
        })
    }

    /// An annotation, the last one of its name.
    pub fn annotation(&self, name: &str) -> Option<&str> {
        let mut named = self.annotations.iter().rev().filter(|(key, _)| key == name);
        named.next().map(|(_, value)| value.as_str())
    }
}

impl Platform {
    fn read(node: &Node) -> Result<Self, Malformed> {
        node.list("os.features", text)?;
        node.text("variant")?;
        Ok(Self {
            os: node.text("os")?,
            arch: node.text("architecture")?,
            os_version: node.text("os.version")?,
        })
    }
}

fn text(node: &Node) -> Result<(), Malformed> {
    matches!(node, Node::Text(_) | Node::Null)
        .then_some(())
        .ok_or(Malformed)
}
