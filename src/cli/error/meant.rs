//! What an argument was probably meant to be.

/// The argument that was probably meant. [`hints::meant`](crate::cli::hints::meant) finds it.
#[derive(Debug)]
pub(in crate::cli) enum Meant {
    /// Another key file than the one beside the trust file.
    KeyFile,
    /// The registry of a URL or of a repository, for `login` or `logout`.
    Registry {
        command: &'static str,
        registry: String,
    },
}
