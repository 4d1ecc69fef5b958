//! Values for the templates in `templates/`.

use std::collections::BTreeSet;
use std::path::{Path, absolute};

use handlebars::{Handlebars, RenderError, no_escape};
use serde::Serialize;

use tfoci::address::ProviderAddr;

/// Fills a template. It can include the partials by their names.
pub(super) fn fill(
    template: &str,
    partials: &[(&str, &str)],
    escape: fn(&str) -> String,
    view: &impl Serialize,
) -> String {
    let mut handlebars = Handlebars::new();
    handlebars.set_strict_mode(true);
    handlebars.register_escape_fn(escape);
    handlebars.register_helper("quote", Box::new(quote));
    let mut partials = partials.iter();
    let registered = partials.try_for_each(|(name, text)| handlebars.register_partial(name, text));
    let filled = registered.map_err(RenderError::from);
    let filled = filled.and_then(|()| handlebars.render_template(template, view));
    // The templates are compiled into the program, and tests render them, so this does not fail.
    filled.unwrap_or_else(|error| error.to_string())
}

/// Where clients install providers from.
#[derive(Clone)]
pub(super) enum Mirror {
    /// An OCI registry. Only OpenTofu reads it.
    Oci {
        /// The repository template, in the form of the CLI configuration.
        template: String,
    },
    Filesystem {
        /// The absolute path.
        path: String,
    },
    /// A server with the network mirror protocol.
    Network {
        /// The URL, with a slash at its end.
        url: String,
    },
}

impl Mirror {
    /// A filesystem mirror. Clients run in other directories, so its path is made absolute.
    pub(super) fn directory(path: &Path) -> Self {
        let path = absolute(path).unwrap_or_else(|_| path.to_owned());
        let path = path.display().to_string();
        Self::Filesystem { path }
    }

    /// The name of the installation method.
    pub(super) fn method(&self) -> &'static str {
        match self {
            Self::Oci { .. } => "oci_mirror",
            Self::Filesystem { .. } => "filesystem_mirror",
            Self::Network { .. } => "network_mirror",
        }
    }
}

/// `templates/provider_installation.hcl.hbs`: CLI configuration of a client that installs from a mirror.
///
/// No provider has two methods: clients would take the newest version that either has, and fail if the mirror does not have it
/// ([clients: installation methods](tfoci::clients#installation-methods)).
#[derive(Serialize)]
pub(super) struct ProviderInstallationView {
    method: &'static str,
    /// The names of both arguments, of the same width.
    argument: String,
    include_name: String,
    value: String,
    /// The patterns of the providers in the mirror; empty for all providers.
    include: Vec<String>,
    comments: Vec<String>,
}

impl ProviderInstallationView {
    pub(super) fn new(mirror: Mirror, include: Vec<String>, comment: Option<String>) -> Self {
        let method = mirror.method();
        let (argument, value) = match mirror {
            Mirror::Oci { template } => ("repository_template", template),
            Mirror::Filesystem { path } => ("path", path),
            Mirror::Network { url } => ("url", url),
        };
        let name = "include";
        let width = match include.is_empty() {
            true => 0,
            false => argument.len().max(name.len()),
        };
        let mut comments = Vec::from_iter(comment);
        if include.is_empty() {
            let why = [
                "Every provider comes from this mirror. A `direct` block beside it would offer",
                "versions that are not in the mirror, and clients would fail to install them.",
            ];
            comments.extend(why.map(str::to_owned));
        }
        Self {
            method,
            argument: format!("{argument:width$}"),
            include_name: format!("{name:width$}"),
            value,
            include,
            comments,
        }
    }

    /// As [`ProviderInstallationView::new`], after a run in which some providers failed. They are in both lists, so that clients do not install
    /// from their origins what this run refused. `None` if clients can install nothing: in a network mirror, they refuse hosts with a port.
    pub(super) fn after<'a>(
        mirror: Mirror,
        installed: impl Iterator<Item = &'a ProviderAddr>,
        failed: impl Iterator<Item = &'a ProviderAddr>,
    ) -> Option<Self> {
        let is_network = matches!(mirror, Mirror::Network { .. });
        let is_refused = |one: &&ProviderAddr| is_network && one.hostname().has_port();
        let installed = installed.filter(|one| !is_refused(one));
        let mut include: BTreeSet<String> = installed.map(ToString::to_string).collect();
        if include.is_empty() {
            return None;
        }
        let failed = failed.filter(|one| !is_refused(one));
        let failed: Vec<String> = failed.map(ToString::to_string).collect();
        let comment = "Providers that failed are in both lists, so that clients install them from nowhere else.";
        let comment = (!failed.is_empty()).then(|| comment.to_owned());
        include.extend(failed);
        Some(Self::new(mirror, include.into_iter().collect(), comment))
    }

    /// The patterns of the providers in the mirror.
    pub(super) fn include(&self) -> &[String] {
        &self.include
    }

    /// The configuration block.
    pub(super) fn render(&self) -> String {
        let template = include_str!("../../templates/provider_installation.hcl.hbs");
        fill(template, &[], no_escape, self)
    }
}

/// The value as a string literal of HCL 1.
fn quote(
    helper: &handlebars::Helper<'_>,
    _: &Handlebars<'_>,
    _: &handlebars::Context,
    _: &mut handlebars::RenderContext<'_, '_>,
    out: &mut dyn handlebars::Output,
) -> handlebars::HelperResult {
    let text = helper
        .param(0)
        .and_then(|param| param.value().as_str())
        .unwrap_or_default();
    out.write(&format!("\"{}\"", escaped(text)))?;
    Ok(())
}

/// Escapes text for a literal of HCL 1. Clients copy `${…}` as it is, up to the brace that matches, and unescape the rest.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if let Some(length) = interpolation(rest)
            && let Some((verbatim, after)) = rest.split_at_checked(length)
        {
            escaped.push_str(verbatim);
            rest = after;
            continue;
        }
        rest = rest.get(c.len_utf8()..).unwrap_or_default();
        match c {
            // Clients count the braces after it, even within quotes, and may find no end.
            '$' if rest.starts_with('{') => escaped.push_str("\\u0024"),
            '\\' | '"' => escaped.extend(['\\', c]),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            c => escaped.push(c),
        }
    }
    escaped
}

/// The length in bytes of the interpolation `${…}` that a text begins with, if no braces are in it.
fn interpolation(text: &str) -> Option<usize> {
    let inner = text.strip_prefix("${")?;
    let brace = inner.find(['{', '}'])?;
    let is_end = inner.get(brace..)?.starts_with('}');
    is_end.then_some("${".len() + brace + "}".len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tfoci::config::cli::{CliConfig, MethodKind};
    use tfoci::lockfile::Client;

    fn view(mirror: Mirror, include: &[&str]) -> ProviderInstallationView {
        let include = include.iter().map(ToString::to_string).collect();
        ProviderInstallationView::new(mirror, include, None)
    }

    fn path(text: &str) -> Mirror {
        let path = text.to_owned();
        Mirror::Filesystem { path }
    }

    #[test]
    fn the_block_is_what_clients_read() {
        let providers = ["example.com/acme/demo", "example.com/acme/more"];
        assert_eq!(
            view(path("/srv/a \"b\" ${c} ${d"), &providers).render(),
            r#"provider_installation {
  filesystem_mirror {
    path    = "/srv/a \"b\" ${c} \u0024{d"
    include = ["example.com/acme/demo", "example.com/acme/more"]
  }
  direct {
    exclude = ["example.com/acme/demo", "example.com/acme/more"]
  }
}
"#
        );
    }

    proptest! {
        #[test]
        fn clients_read_the_text_that_was_quoted(text in "\\PC{0,20}|[a${}%\"\\\\\n\t]{0,12}") {
            let block = view(path(&text), &[]).render();
            let config = CliConfig::parse(block.as_bytes(), Client::OpenTofu).unwrap();
            let kind = &config.installation.unwrap()[0].kind;
            prop_assert_eq!(kind, &MethodKind::FilesystemMirror { path: Some(text) });
        }
    }
}
