//! Findings: what `verify` and `doctor` report, each with a code that stays the same.

use serde::Serialize;

use crate::address::ProviderAddr;
use crate::error::{Category, one_line};
use crate::event::Subject;
use crate::platform::Platform;
use crate::version::Version;

/// Something that is wrong, or that somebody should know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[must_use]
pub struct Finding {
    /// How bad it is. The code decides.
    pub severity: Severity,
    /// What it is, for programs.
    pub code: Code,
    /// The provider; `None` if it is about this machine or a store as a whole.
    pub provider: Option<ProviderAddr>,
    /// The version; `None` if it is about all of them.
    pub version: Option<Version>,
    /// The platform; `None` if it is about all of them.
    pub platform: Option<Platform>,
    /// The tag, manifest, file or URL, as people name it. It has no secrets.
    pub reference: Option<String>,
    /// What was found, on one line.
    pub message: String,
    /// What helps.
    pub fix: Option<Fix>,
}

/// What helps.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fix {
    /// One sentence.
    pub text: &'static str,
    /// The command that does it, for a shell.
    pub command: Option<String>,
}

/// How bad a finding is, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Clients fail, or the bytes prove something else.
    Error,
    /// Clients work now.
    Warning,
}

/// What follows from a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// Something does not verify.
    Untrusted,
    /// Something is missing, cannot be read, or is refused by clients.
    Broken,
    /// Something may fail later, or under other circumstances.
    Warning,
    /// The store differs from the origin.
    Drift,
}

macro_rules! codes {
    ($($name:ident $text:literal $gravity:ident $meaning:literal $fix:literal;)+) => {
        /// What a finding is. Names do not change, and a name is not used for something else.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum Code {
            $(#[doc = $meaning] #[serde(rename = $text)] $name,)+
        }

        impl Code {
            /// All codes, in the order of the work that finds them.
            pub const ALL: &[Self] = &[$(Self::$name),+];

            /// The name of the code.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// What follows from it.
            pub fn gravity(self) -> Gravity {
                match self { $(Self::$name => Gravity::$gravity,)+ }
            }

            /// A sentence that explains it.
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$name => $meaning,)+ }
            }

            /// A sentence that says what helps; empty if that depends on the message.
            pub fn fix(self) -> &'static str {
                match self { $(Self::$name => $fix,)+ }
            }
        }
    };
}

codes! {
    // Whether the store has everything.
    VersionMissing "version-missing" Broken "The store has no version that matches." "Mirror it.";
    IndexMissing "index-missing" Broken "The tag of a version leads to an index that the store does not have." "Mirror it again, or push or copy it again with `--existing replace`.";
    ChildMissing "child-missing" Broken "An index names a platform manifest that the store does not have." "Mirror it again, or push or copy it again with `--existing replace`.";
    PackageMissing "package-missing" Broken "A platform manifest names a package that the store does not have." "Mirror it again, or push or copy it again with `--existing replace`.";
    EvidenceMissing "evidence-missing" Broken "A version that tfoci wrote has no evidence, or a part of it is missing." "Mirror it again, or push or copy it again with `--existing replace`.";
    EvidenceOrphan "evidence-orphan" Warning "The store has evidence of a version that it does not have." "Mirror it.";
    SizeDiffers "size-differs" Untrusted "A manifest or package has another size than stated." "Mirror it again, or push or copy it again with `--existing replace`.";
    BytesDiffer "bytes-differ" Untrusted "The bytes of a manifest or package do not match their digest." "Mirror it again, or push or copy it again with `--existing replace`.";
    Unreadable "unreadable" Broken "The store or a file could not be read." "";
    // Whether clients accept it.
    NewestRefused "newest-refused" Broken "Clients select a newest version that they cannot install." "Delete the tag, or push the provider under it with `--existing replace`.";
    TagNotCanonical "tag-not-canonical" Warning "Clients list the version of a tag, but cannot fetch it by that tag." "Delete the tag.";
    TagCrashesClients "tag-crashes-clients" Broken "A number in a tag exceeds 64 bits, and clients crash." "Delete the tag.";
    TagOfPlatform "tag-of-platform" Warning "A tag names a version and a platform, and clients take it for another version." "Delete the tag.";
    TagTooLong "tag-too-long" Warning "A version is so long that tfoci cannot tag its evidence." "";
    NotAProvider "not-a-provider" Broken "The tag of a version leads to something other than a provider, such as a container image." "Delete the tag, or push the provider under it with `--existing replace`.";
    IndexRefused "index-refused" Broken "Clients refuse the index of a version." "Push the version again with `tfoci push --existing replace`.";
    EntryIgnored "entry-ignored" Warning "An entry of an index is for a platform that no client asks for." "Push the version again with `tfoci push --existing replace`.";
    ManifestRefused "manifest-refused" Broken "Clients refuse the manifest of a platform." "Push the version again with `tfoci push --existing replace`.";
    MemberRepeated "member-repeated" Untrusted "A document repeats a member, so that two readers see two packages in it." "Find out who wrote it before you replace it.";
    IrregularManifest "irregular-manifest" Warning "Clients accept a manifest that some registries or other tools refuse." "";
    OtherProvider "other-provider" Warning "The title of an index names another provider." "";
    ListLeavesRegistry "list-leaves-registry" Broken "The list of tags continues at another host." "";
    NoApiRoot "no-api-root" Broken "OpenTofu before 1.13 asks the registry for /v2/, and it does not answer as it should." "Let the registry answer GET /v2/ with 200, or use OpenTofu 1.13.";
    // Whether it is authentic.
    NotVerified "not-verified" Untrusted "The evidence does not prove the packages." "Find out who wrote the version, and do not use it before.";
    Denied "denied" Untrusted "The block list of the trust file has the version." "Remove it from the store.";
    NotPinned "not-pinned" Untrusted "No key is pinned for the provider, and --require-pinned asks for one." "Pin the key of its author: `tfoci help trust` says how.";
    NotAttested "not-attested" Untrusted "An attestation of the version is required, and none that is there counts." "Attest it with `tfoci mirror --attest`, if that mirror is yours.";
    NotSigned "not-signed" Warning "No signature covers the packages." "Allow it with `unsigned = \"allow\"` in the trust file, if you trust the store.";
    KeyRevoked "key-revoked" Untrusted "The owner of the signing key revoked it." "Ask the author of the provider for a new key, and pin it.";
    KeyExpired "key-expired" Warning "The signing key has expired." "Ask the author of the provider for a new key, and pin it.";
    KeyExpires "key-expires" Warning "The signing key expires within 30 days." "Ask the author of the provider for a new key, and pin it.";
    KeyOutdated "key-outdated" Warning "The trust file has a newer copy of the signing key than the store." "Mirror it again, or push or copy it again with `--existing replace`.";
    KeyWeak "key-weak" Warning "The signing key or its signature uses an algorithm that is no longer recommended." "";
    // Whether the origin still says the same.
    OriginUnreadable "origin-unreadable" Broken "The origin could not be read, or its release does not verify." "";
    VersionNotMirrored "version-not-mirrored" Drift "The origin has a version that the store does not have." "Mirror it.";
    PlatformNotMirrored "platform-not-mirrored" Drift "The origin has a platform that the store does not have." "Mirror it.";
    ReleaseChanged "release-changed" Drift "The origin has other packages of the same version." "Ask the author whether the release was made again.";
    VersionWithdrawn "version-withdrawn" Drift "The origin does not list the version any more." "";
    KeyNew "key-new" Drift "The origin has a key that has not signed what is stored." "Compare the key with what its owner published, and pin it.";
    // What is in the packages.
    ZipRefused "zip-refused" Untrusted "A package is no zip that clients can unpack safely." "Ask the author of the provider to build it again.";
    NoExecutable "no-executable" Broken "A package has no executable of the provider." "Ask the author of the provider to build it again.";
    TwoH1 "two-h1" Warning "A package has directory entries, so that it and its unpacked directory have different h1 hashes." "";
    // What this machine's clients read.
    ConfigurationRefused "configuration-refused" Broken "Clients refuse the CLI configuration." "";
    ByteOrderMark "byte-order-mark" Broken "The CLI configuration begins with a byte order mark, and clients refuse it." "Save the file as UTF-8 without a byte order mark.";
    BlockIgnored "block-ignored" Warning "A block or argument of the CLI configuration has no effect." "";
    MethodsOverlap "methods-overlap" Warning "Two methods are for the same providers, so the first needs every version of the second." "Name the providers in `exclude` of the second one.";
    MirrorUrl "mirror-url" Broken "The URL of a network mirror is not one of https with a slash at its end." "";
    TemplateRefused "template-refused" Broken "Clients refuse a repository template." "";
    DevOverrides "dev-overrides" Warning "Clients use a directory in place of packages, and ignore versions and the lock file." "";
    DirectoryMissing "directory-missing" Broken "There is no plugin cache or filesystem mirror where one is named." "Create it, or name another one.";
    CacheIsMirror "cache-is-mirror" Broken "The plugin cache and a filesystem mirror are one directory." "Name another directory for one of the two.";
    CredentialsNotRead "credentials-not-read" Broken "There are credentials that this client does not read." "Name the file in `docker_style_config_files` of `oci_default_credentials`.";
    CredentialsUnreadable "credentials-unreadable" Broken "A file or helper of credentials cannot be used, and clients then use none." "Repair or delete it.";
    ProxyUnusable "proxy-unusable" Warning "A variable names a proxy that cannot be used." "";
    AuthoritiesMissing "authorities-missing" Broken "A variable names certificate authorities that are not there." "Name the host's authority in SSL_CERT_FILE, which clients read, or add it to the system's.";
    ClockWrong "clock-wrong" Warning "The clock of this machine differs from that of a server by more than five minutes." "Set the clock of this machine.";
    // Where the way of init ends.
    NoMethod "no-method" Broken "No installation method is for the provider." "Name it in `include` of a method, or take it out of `exclude`.";
    NameUnknown "name-unknown" Broken "The name of a host has no address." "Check the host, and HTTPS_PROXY if this machine is behind a proxy.";
    ConnectionFailed "connection-failed" Broken "A host cannot be reached." "Check the host, and HTTPS_PROXY if this machine is behind a proxy.";
    TlsFailed "tls-failed" Broken "The client does not trust the certificate of a host, or there is no TLS." "Name the host's authority in SSL_CERT_FILE, which clients read, or add it to the system's.";
    CertificateDate "certificate-date" Broken "A certificate has expired or is not valid yet, or the clock of this machine is wrong." "Set the clock of this machine, or renew the certificate.";
    CredentialsMissing "credentials-missing" Broken "A host requires credentials, and the client has none." "Log in.";
    CredentialsRefused "credentials-refused" Broken "A host refuses the credentials of the client." "Log in again.";
    UnexpectedAnswer "unexpected-answer" Broken "A host answers with something other than what the client asked for." "";
    ProviderMissing "provider-missing" Broken "No installation method has the provider." "";
    PlatformMissing "platform-missing" Broken "The version has no package for this platform." "Mirror it for this platform.";
    LockDiffers "lock-differs" Untrusted "The package is none of those in the lock file." "Compare the lock file with its last commit, and ask the author about a new release.";
    LockWithoutZh "lock-without-zh" Untrusted "The lock file has no zh hash, which an OCI mirror needs." "Add the zh hashes.";
}

impl Code {
    /// How bad it is.
    pub fn severity(self) -> Severity {
        match self.gravity() {
            Gravity::Untrusted | Gravity::Broken => Severity::Error,
            Gravity::Warning | Gravity::Drift => Severity::Warning,
        }
    }

    /// The category that decides the exit code if the finding fails the run.
    pub fn category(self) -> Category {
        match self.gravity() {
            Gravity::Untrusted => Category::Untrusted,
            Gravity::Broken | Gravity::Warning => Category::Malformed,
            Gravity::Drift => Category::Differs,
        }
    }
}

impl Severity {
    /// The word for it in text and JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl Finding {
    /// A finding. The message has no final stop.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self {
            severity: code.severity(),
            code,
            provider: None,
            version: None,
            platform: None,
            reference: None,
            message: message.into(),
            fix: (!code.fix().is_empty()).then(|| Fix {
                text: code.fix(),
                command: None,
            }),
        }
    }

    /// A finding, from the error that tells it.
    pub fn of(code: Code, error: &dyn std::error::Error) -> Self {
        Self::new(code, one_line(error))
    }

    /// The finding about this provider, version or package.
    pub fn about(mut self, subject: &Subject) -> Self {
        self.provider = Some(subject.provider.clone());
        self.version.clone_from(&subject.version);
        self.platform.clone_from(&subject.platform);
        self
    }

    /// The finding at this place.
    pub fn at(mut self, reference: impl Into<String>) -> Self {
        self.reference = Some(reference.into());
        self
    }

    /// The finding with the command that does what helps.
    pub fn fixed_by(mut self, command: String) -> Self {
        self.fix.get_or_insert_default().command = Some(command);
        self
    }
}
