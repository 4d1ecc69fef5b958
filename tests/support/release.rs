//! Release folders as a build writes them: zips, the checksum document and its signature, valid or with one mistake.

use std::fs;
use std::io::{Cursor, Write as _};
use std::path::Path;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::signer::Signer;
use super::testdata;

/// The size in bytes from which a zip is made quickly instead of small.
const LARGE: usize = 100_000;

/// A mistake in a release folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// The zips were changed after their checksums were taken.
    ZipsAltered,
    /// The checksum document does not name the zips.
    ZipsUnlisted,
    /// The checksum document was changed after it was signed.
    DocumentAltered,
    /// There is no checksum document, and so no signature.
    DocumentMissing,
    /// The signature is not an OpenPGP signature.
    SignatureBroken,
    /// The signature is by another key.
    SignatureByStranger,
    /// The signature is good and armoured.
    SignatureArmored,
    /// There is no signature.
    SignatureMissing,
}

/// A release folder to be written.
#[derive(Clone)]
pub struct ReleaseFolder {
    type_name: String,
    version: String,
    packages: Vec<Package>,
    protocols: Vec<String>,
    manifest: Option<String>,
    v_in_names: bool,
    mistake: Option<Mistake>,
    signer: &'static Signer,
    first_signature: Option<Signing>,
    document: Option<Change>,
    /// A document and a signature that were made elsewhere.
    proof: Option<[Vec<u8>; 2]>,
}

/// The package of a release for one platform.
#[derive(Clone)]
struct Package {
    platform: String,
    /// The file name, if it is not the usual one.
    name: Option<String>,
    zip: Vec<u8>,
}

/// Makes the signature of a checksum document.
pub type Signing = fn(&[u8]) -> Vec<u8>;

/// A change of a checksum document before it is signed.
type Change = Arc<dyn Fn(&str) -> String + Send + Sync>;

/// A file of a release: its name and its content.
#[derive(Clone)]
pub struct File {
    pub name: String,
    pub bytes: Vec<u8>,
}

/// The files of a release.
pub struct Built {
    /// The zip of each platform.
    pub zips: Vec<(String, File)>,
    pub manifest: Option<File>,
    pub document: Option<File>,
    pub signature: Option<File>,
}

impl ReleaseFolder {
    /// A release of a provider type (`demo`) without packages, with a manifest of protocols 5.0 and 6.0.
    pub fn new(type_name: &str, version: &str) -> Self {
        Self {
            type_name: type_name.to_owned(),
            version: version.to_owned(),
            packages: Vec::new(),
            protocols: vec!["5.0".to_owned(), "6.0".to_owned()],
            manifest: None,
            v_in_names: false,
            mistake: None,
            signer: Signer::acme(),
            first_signature: None,
            document: None,
            proof: None,
        }
    }

    /// The document of `testdata/keys` with the signature of one of its cases, and its key. Its "zips" are text.
    pub fn of_testdata(case: &str) -> (Self, String) {
        let read = |name: &str| fs::read(testdata("keys").join(name)).unwrap();
        let platforms = ["darwin_arm64", "linux_amd64", "windows_amd64"].iter();
        let mut folder = platforms.fold(Self::new("demo", "1.0.0"), |folder, platform| {
            folder.zip(platform, platform.as_bytes())
        });
        folder.proof = Some(["SHA256SUMS", &format!("{case}.sig")].map(read));
        let key = read(&format!("{case}.asc"));
        (folder, String::from_utf8(key).unwrap())
    }

    /// The version in the names of its files.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// The platforms of its packages.
    pub fn platforms(&self) -> impl Iterator<Item = &str> {
        self.packages
            .iter()
            .map(|package| package.platform.as_str())
    }

    /// The protocols of its manifest.
    pub fn manifest_protocols(&self) -> &[String] {
        &self.protocols
    }

    /// The author who signs it, unless the mistake is another signature.
    pub fn signer(&self) -> &'static Signer {
        self.signer
    }

    /// Adds a package with a licence, a readme, and an executable that names the platform.
    pub fn platform(self, platform: &str) -> Self {
        let suffix = ["", ".exe"][usize::from(platform.starts_with("windows_"))];
        let (type_name, version) = (&self.type_name, &self.version);
        let executable = format!("terraform-provider-{type_name}_v{version}{suffix}");
        let script = format!("#!/bin/sh\necho {type_name} {version} {platform}\n");
        let files: [(&str, &[u8]); 3] = [
            ("LICENSE", b"demo license\n"),
            ("README.md", b"# demo\n"),
            (&executable, script.as_bytes()),
        ];
        self.package(platform, &files)
    }

    /// Adds such a package for each of these platforms.
    pub fn each(self, platforms: &[&str]) -> Self {
        let all = platforms.iter();
        all.fold(self, |folder, platform| folder.platform(platform))
    }

    /// Adds a package with these files; a name that ends in `/` is a directory entry.
    pub fn package(self, platform: &str, files: &[(&str, &[u8])]) -> Self {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, bytes) in files {
            let runs = name.starts_with("terraform-provider-");
            // Large files are there for their size alone.
            let options = SimpleFileOptions::default()
                .unix_permissions(if runs { 0o755 } else { 0o644 })
                .compression_level((bytes.len() > LARGE).then_some(1));
            match name.strip_suffix('/') {
                Some(directory) => zip.add_directory(directory, options).unwrap(),
                None => zip.start_file(*name, options).unwrap(),
            }
            zip.write_all(bytes).unwrap();
        }
        self.zip(platform, &zip.finish().unwrap().into_inner())
    }

    /// Adds a package with exactly these bytes.
    pub fn zip(mut self, platform: &str, bytes: &[u8]) -> Self {
        self.packages.push(Package {
            platform: platform.to_owned(),
            name: None,
            zip: bytes.to_vec(),
        });
        self
    }

    /// Writes this manifest, valid or not.
    pub fn manifest(mut self, text: &str) -> Self {
        self.manifest = Some(text.to_owned());
        self
    }

    /// Names other protocols in the manifest. Without any, there is no manifest.
    pub fn protocols(mut self, protocols: &[&str]) -> Self {
        self.protocols = protocols.iter().map(|&p| p.to_owned()).collect();
        self
    }

    /// Writes `_vVERSION_` in the names of the zips, as some authors do.
    pub fn v_in_names(mut self) -> Self {
        self.v_in_names = true;
        self
    }

    /// Renames the zip of the platform that was added last.
    pub fn named(mut self, name: &str) -> Self {
        self.packages.last_mut().unwrap().name = Some(name.to_owned());
        self
    }

    /// Signs it with another key than Acme's.
    pub fn signed_by(mut self, signer: &'static Signer) -> Self {
        self.signer = signer;
        self
    }

    /// Puts another signature before the good one, into the same file.
    pub fn first_signature(mut self, of_document: Signing) -> Self {
        self.first_signature = Some(of_document);
        self
    }

    /// Changes the checksum document before it is signed.
    pub fn document(mut self, change: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        self.document = Some(Arc::new(change));
        self
    }

    /// Makes a mistake.
    pub fn mistake(mut self, mistake: Mistake) -> Self {
        self.mistake = Some(mistake);
        self
    }

    /// Writes everything into a folder, which is created.
    pub fn write(&self, folder: &Path) {
        fs::create_dir_all(folder).unwrap();
        let built = self.build();
        let zips = built.zips.iter().map(|(_, file)| file);
        let others = [built.manifest, built.document, built.signature];
        for file in zips.chain(others.iter().flatten()) {
            fs::write(folder.join(&file.name), &file.bytes).unwrap();
        }
    }

    /// Builds everything.
    pub fn build(&self) -> Built {
        let stem = format!("terraform-provider-{}_{}", self.type_name, self.version);
        let mut document = String::new();
        let mut zips = Vec::new();
        for package in &self.packages {
            let (name, mut bytes) = (self.file_name(package), package.zip.clone());
            if self.mistake != Some(Mistake::ZipsUnlisted) {
                document += &line(&name, &bytes);
            }
            if self.mistake == Some(Mistake::ZipsAltered) {
                bytes.extend_from_slice(b"more");
            }
            zips.push((package.platform.clone(), File { name, bytes }));
        }
        let manifest = (!self.protocols.is_empty()).then(|| File {
            name: format!("{stem}_manifest.json"),
            bytes: self.manifest_bytes(),
        });
        if let Some(file) = &manifest {
            document += &line(&file.name, &file.bytes);
        }
        if let Some(change) = &self.document {
            document = change(&document);
        }
        let mut signature = self.signature(document.as_bytes());
        if let Some([made, signed]) = &self.proof {
            document = String::from_utf8(made.clone()).unwrap();
            signature = Some(signed.clone());
        }
        let signature = signature.map(|bytes| File {
            name: format!("{stem}_SHA256SUMS.sig"),
            bytes,
        });
        if self.mistake == Some(Mistake::DocumentAltered) {
            document += &line("terraform-provider-demo_1.0.0_plan9_mips.zip", b"");
        }
        let missing = self.mistake == Some(Mistake::DocumentMissing);
        let document = (!missing).then(|| File {
            name: format!("{stem}_SHA256SUMS"),
            bytes: document.into_bytes(),
        });
        Built {
            zips,
            manifest,
            document,
            signature,
        }
    }

    fn file_name(&self, package: &Package) -> String {
        if let Some(name) = &package.name {
            return name.clone();
        }
        let (v, platform) = (if self.v_in_names { "v" } else { "" }, &package.platform);
        format!(
            "terraform-provider-{}_{v}{}_{platform}.zip",
            self.type_name, self.version
        )
    }

    fn manifest_bytes(&self) -> Vec<u8> {
        if let Some(text) = &self.manifest {
            return text.clone().into_bytes();
        }
        let metadata = serde_json::json!({ "protocol_versions": self.protocols });
        let manifest = serde_json::json!({ "version": 1, "metadata": metadata });
        manifest.to_string().into_bytes()
    }

    fn signature(&self, document: &[u8]) -> Option<Vec<u8>> {
        match self.mistake {
            Some(Mistake::SignatureMissing | Mistake::DocumentMissing) => None,
            Some(Mistake::SignatureBroken) => Some(b"no signature".to_vec()),
            Some(Mistake::SignatureArmored) => Some(self.signer.sign_armored(document)),
            Some(Mistake::SignatureByStranger) => Some(Signer::stranger().sign_detached(document)),
            _ => {
                let first = self.first_signature.map(|first| first(document));
                let good = self.signer.sign_detached(document);
                Some([first.unwrap_or_default(), good].concat())
            }
        }
    }
}

/// A line of a checksum document.
fn line(name: &str, bytes: &[u8]) -> String {
    format!("{}  {name}\n", sha256(bytes))
}

/// SHA-256 in lower-case hex.
pub fn sha256(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    digest.iter().map(|b| format!("{b:02x}")).collect()
}
