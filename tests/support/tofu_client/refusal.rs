//! Every refusal of the client.

/// Why the client does not install. Displays the fragment of its message that identifies the reason.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// An error of the reader itself, which the client does not have.
    #[error("no image layout: {0}")]
    NoLayout(String),
    /// The client does not refuse, it crashes.
    #[error("panic: {0}")]
    Crash(String),

    #[error("resolving tag \"{0}\"")]
    TagMissing(String),
    #[error("tag refers directly to image manifest")]
    TagIsPlatformManifest,
    #[error("is an OpenTofu module package")]
    TagIsModule,
    #[error("unsupported OCI artifact type \"{0}\"")]
    TagArtifactType(String),
    #[error("selected an OCI image manifest directly")]
    TagIsImageManifest,
    #[error("found OCI descriptor but expected")]
    TagIsDescriptor,
    #[error("unsupported media type \"{0}\" for OCI index manifest")]
    TagMediaType(String),

    #[error("exceeds OpenTofu's size limit of 4 MiB")]
    ManifestTooLarge,
    #[error("manifest content does not match digest")]
    ManifestDigest,
    #[error("invalid manifest content")]
    ManifestMalformed,
    #[error("found image manifest but need index manifest")]
    IndexIsImageManifest,
    #[error("unexpected manifest media type \"{0}\"")]
    BodyMediaType(String),
    #[error("unexpected artifact type \"{0}\"")]
    BodyArtifactType(String),

    #[error("provider image manifest has unsupported media type")]
    EntryMediaType,
    #[error("lacks the required platform constraints")]
    EntryPlatformMissing,
    #[error("ambiguous manifest has multiple descriptors for platform {0}")]
    PlatformAmbiguous(String),
    #[error("platform not supported")]
    PlatformNotSupported,
    #[error("unsupported artifact type \"{0}\"")]
    EntriesArtifactType(String),
    #[error("is a container image")]
    ContainerImage,

    #[error("contains no layers of type \"archive/zip\"")]
    LayerMissing,
    #[error("contains no layers of type \"archive/zip\", but has other unsupported formats")]
    LayerMediaType,
    #[error("multiple eligible provider packages")]
    LayerAmbiguous,
    #[error("invalid digest")]
    LayerDigest,
    #[error("unsupported digest algorithm")]
    LayerDigestAlgorithm,
    #[error("selected OCI artifact is for {is}, but was expected to be for {expected}")]
    LayerPlatform { is: String, expected: String },
    #[error("provider package does not match digest")]
    PackageDigest,

    /// A blob has another length than its descriptor states.
    #[error("mismatch Content-Length")]
    ContentLength,
    /// A blob is missing.
    #[error("not found")]
    BlobMissing,
}
