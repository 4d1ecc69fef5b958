//! The quirks of each kind of registry. Everything else follows the OCI distribution specification.

/// A kind of registry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Personality {
    /// The specification, and nothing else.
    Plain,
    /// GitHub's.
    Ghcr,
    /// Amazon's, private.
    Ecr,
    /// Azure's.
    Acr,
    /// Google's Artifact Registry.
    Gar,
    /// Docker Hub.
    Hub,
    /// Harbor.
    Harbor,
    /// GitLab's.
    Gitlab,
    /// Quay.
    Quay,
    /// Distribution 2.8.
    Distribution2,
    /// Distribution 3.
    Distribution3,
    /// zot.
    Zot,
}

impl Personality {
    /// All of them.
    pub const ALL: [Self; 12] = [
        Self::Plain,
        Self::Ghcr,
        Self::Ecr,
        Self::Acr,
        Self::Gar,
        Self::Hub,
        Self::Harbor,
        Self::Gitlab,
        Self::Quay,
        Self::Distribution2,
        Self::Distribution3,
        Self::Zot,
    ];
}

/// How the registry combines the PATCHes of one upload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patches {
    /// They are appended.
    AddUp,
    /// The last one replaces the others silently.
    LastWins,
    /// They are refused.
    Refused,
}

/// How a registry names its own URLs in `Location`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// With scheme and host.
    Absolute,
    /// As an absolute path.
    Path,
    /// Relative to the requested URL.
    Relative,
}

/// How the list of tags is paged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pages {
    /// All in one answer, in no order, regardless of the request's page size.
    AllAtOnce,
    /// In pages; `Link` with `last`, as a path.
    Path,
    /// In pages; `Link` with `last`, with scheme and host.
    Absolute,
    /// In pages; `Link` with an opaque token.
    Token,
}

/// How repositories come into existence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Creation {
    /// A push creates them.
    ByPush,
    /// They must be created beforehand, with their full name.
    Whole,
    /// The first levels of their names must be created beforehand, so many of them.
    Levels(usize),
}

/// The quirks of a registry.
#[derive(Clone, Debug)]
pub struct Quirks {
    pub patches: Patches,
    /// The longest body of a PATCH in bytes; a longer one is refused.
    pub largest_patch: Option<u64>,
    /// After how many bytes of a PUT the connection is cut.
    pub largest_put: Option<u64>,
    /// Whether `Content-Range` is checked.
    pub checks_ranges: bool,
    /// The value of `OCI-Chunk-Min-Length`.
    pub smallest_chunk: Option<u64>,
    /// Whether an upload keeps the received bytes when its connection is cut.
    pub keeps_partial: bool,
    pub location: Location,
    /// Whether an upload's URL carries a state in its query, which each answer renews.
    pub upload_state: bool,
    /// Whether uploads go to another host.
    pub uploads_elsewhere: bool,
    /// Whether one POST with the digest and the body is an upload.
    pub single_post: bool,
    pub mounts: bool,
    pub creation: Creation,
    /// The only number of levels in a repository's name; others are refused with 401.
    pub levels: Option<usize>,
    /// The error code for a missing repository.
    pub unknown: &'static str,
    /// Whether tags are immutable.
    pub immutable: bool,
    /// Whether manifests can be deleted.
    pub deletes: bool,
    /// Whether a PUT of a manifest by digest is answered with its `Location`.
    pub manifest_location: bool,
    /// The status for a manifest whose parts are missing.
    pub missing_part: u16,
    /// The only media types that are accepted, for every part of an artifact.
    pub types: Option<&'static [&'static str]>,
    /// Whether a manifest may have a `subject`.
    pub subjects: bool,
    /// Whether a manifest is served only if `Accept` lists its media type.
    pub needs_accept: bool,
    pub pages: Pages,
    /// The most tags on a page.
    pub page: usize,
    /// How many repositories are on a page of the list of repositories; `None` if there is no such list.
    pub catalog: Option<usize>,
    pub referrers: bool,
    /// Whether a GET of a blob is redirected to another host.
    pub blobs_elsewhere: bool,
}

/// GitLab's list, after the types of OpenTofu were added.
pub const GITLAB: &[&str] = &[
    "application/vnd.oci.image.index.v1+json",
    "application/vnd.oci.image.manifest.v1+json",
    "application/vnd.oci.image.config.v1+json",
    "application/vnd.oci.image.layer.v1.tar+gzip",
    "application/vnd.oci.empty.v1+json",
    "application/vnd.opentofu.provider",
    "application/vnd.opentofu.provider-target",
    "archive/zip",
];

/// GitLab's list before that.
pub const GITLAB_OLD: &[&str] = GITLAB.split_at(5).0;

impl Quirks {
    fn plain() -> Self {
        Self {
            patches: Patches::AddUp,
            largest_patch: None,
            largest_put: None,
            checks_ranges: true,
            smallest_chunk: None,
            keeps_partial: false,
            location: Location::Path,
            upload_state: false,
            uploads_elsewhere: false,
            single_post: true,
            mounts: true,
            creation: Creation::ByPush,
            levels: None,
            unknown: "NAME_UNKNOWN",
            immutable: false,
            deletes: false,
            manifest_location: true,
            missing_part: 404,
            types: None,
            subjects: true,
            needs_accept: false,
            pages: Pages::Path,
            page: 100,
            catalog: None,
            referrers: false,
            blobs_elsewhere: false,
        }
    }

    /// The quirks that all descendants of distribution share.
    fn distribution() -> Self {
        Self {
            checks_ranges: false,
            keeps_partial: true,
            location: Location::Absolute,
            upload_state: true,
            single_post: false,
            missing_part: 400,
            ..Self::plain()
        }
    }

    /// The quirks of a kind of registry.
    pub fn of(personality: Personality) -> Self {
        let (plain, distribution) = (Self::plain(), Self::distribution());
        match personality {
            Personality::Plain => plain,
            Personality::Ghcr => Self {
                patches: Patches::LastWins,
                largest_patch: Some(4 << 20),
                blobs_elsewhere: true,
                ..plain
            },
            Personality::Ecr => Self {
                creation: Creation::Whole,
                location: Location::Absolute,
                manifest_location: false,
                mounts: false,
                subjects: false,
                blobs_elsewhere: true,
                ..plain
            },
            Personality::Acr => Self {
                // 20 MB in the original.
                largest_put: Some(64 << 10),
                upload_state: true,
                referrers: true,
                blobs_elsewhere: true,
                ..plain
            },
            Personality::Gar => Self {
                patches: Patches::Refused,
                creation: Creation::Levels(2),
                location: Location::Absolute,
                mounts: false,
                pages: Pages::Absolute,
                referrers: true,
                blobs_elsewhere: true,
                ..plain
            },
            Personality::Hub => Self {
                levels: Some(2),
                blobs_elsewhere: true,
                ..distribution
            },
            Personality::Harbor => Self {
                creation: Creation::Levels(1),
                unknown: "NOT_FOUND",
                referrers: true,
                ..distribution
            },
            Personality::Gitlab => Self {
                types: Some(GITLAB),
                ..distribution
            },
            Personality::Quay => Self {
                location: Location::Absolute,
                pages: Pages::Token,
                page: 50,
                referrers: true,
                blobs_elsewhere: true,
                ..plain
            },
            Personality::Distribution2 => Self {
                pages: Pages::AllAtOnce,
                needs_accept: true,
                ..distribution
            },
            Personality::Distribution3 => distribution,
            Personality::Zot => Self {
                keeps_partial: true,
                referrers: true,
                ..plain
            },
        }
    }
}
