//! The form in which clients record the source of a module in `modules.json`.
//!
//! Clients normalise sources: `github.com/acme/net` becomes `git::https://github.com/acme/net.git`, and `acme/net/aws` becomes
//! `registry.opentofu.org/acme/net/aws`. They compare the record in this form with the call, and download the module again if
//! these differ ([what clients do](crate::clients#installed-modules)).

use url::form_urlencoded::byte_serialize;

use crate::address::Hostname;

/// The recorded form of a source; `None` if it is not certain, as for shorthands of S3. `registry` is the host of modules without one.
pub(super) fn recorded(source: &str, registry: &Hostname) -> Option<String> {
    let path = source.replace('\\', "/");
    if path.starts_with("./") || path.starts_with("../") {
        return Some(local(&path));
    }
    let (package, directory) = split(source);
    let directory = directory.map(clean);
    if directory.as_deref().is_some_and(leads_out) {
        return None;
    }
    let of_registry = registry_module(&package, registry);
    let (package, detected) = match of_registry {
        Some(package) => (package, None),
        None => detect(&package)?,
    };
    let directory = match (detected, directory) {
        (Some(outer), Some(inner)) => Some(clean(&format!("{outer}/{inner}"))),
        (outer, inner) => outer.or(inner),
    };
    Some(match directory {
        None => package,
        Some(directory) => match package.split_once('?') {
            Some((package, query)) => format!("{package}//{directory}?{query}"),
            None => format!("{package}//{directory}"),
        },
    })
}

fn local(path: &str) -> String {
    let path = clean(path);
    match path.starts_with("../") {
        true => path,
        false => format!("./{path}"),
    }
}

fn leads_out(directory: &str) -> bool {
    directory.starts_with("../")
}

/// The shortest equal path, as Go's `path.Clean` finds it.
pub(super) fn clean(path: &str) -> String {
    let is_rooted = path.starts_with('/');
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." if names.last().is_some_and(|last| *last != "..") => {
                names.pop();
            }
            ".." if is_rooted => {}
            name => names.push(name),
        }
    }
    let path = names.join("/");
    match (is_rooted, path.is_empty()) {
        (true, _) => format!("/{path}"),
        (false, true) => ".".to_owned(),
        (false, false) => path,
    }
}

/// Splits `PACKAGE//DIRECTORY?QUERY` into `PACKAGE?QUERY` and `DIRECTORY`.
fn split(source: &str) -> (String, Option<&str>) {
    let (before, query) = match source.find('?').and_then(|at| source.split_at_checked(at)) {
        Some(parts) => parts,
        None => (source, ""),
    };
    let (scheme, rest) = match before.split_once("://") {
        Some((scheme, rest)) => (format!("{scheme}://"), rest),
        None => (String::new(), before),
    };
    match rest.split_once("//") {
        Some((package, directory)) => (
            format!("{scheme}{package}{query}"),
            (!directory.is_empty()).then_some(directory),
        ),
        None => (source.to_owned(), None),
    }
}

/// `[HOST/]NAMESPACE/NAME/SYSTEM` with its host.
fn registry_module(package: &str, registry: &Hostname) -> Option<String> {
    let parts: Vec<&str> = package.split('/').collect();
    let (host, [namespace, name, system]) = match *parts.as_slice() {
        [namespace, name, system] => (registry.clone(), [namespace, name, system]),
        [host, namespace, name, system] => {
            let host: Hostname = host.parse().ok()?;
            (host, [namespace, name, system])
        }
        _ => return None,
    };
    let is_name = |name: &str| {
        let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let is_outer = |c: char| c.is_ascii_alphanumeric();
        name.len() <= 64
            && name.chars().all(is_inner)
            && name.starts_with(is_outer)
            && name.ends_with(is_outer)
    };
    let is_lower = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    let is_system = is_name(system) && system.chars().all(is_lower);
    let host = host.to_unicode();
    // Modules of these hosts are repositories.
    let is_registry = host.contains('.') && host != "github.com" && host != "bitbucket.org";
    let is_module = is_registry && is_name(namespace) && is_name(name) && is_system;
    is_module.then(|| format!("{host}/{namespace}/{name}/{system}"))
}

/// What go-getter makes of an address without directory, and the directory that it finds.
fn detect(package: &str) -> Option<(String, Option<String>)> {
    let (forced, address) = match package.split_once("::") {
        Some((forced, address)) if !forced.is_empty() && forced.chars().all(is_alphanumeric) => {
            (Some(forced), address)
        }
        _ => (None, package),
    };
    if has_scheme(address) {
        return Some((package.to_owned(), None));
    }
    let (path, query) = match address.split_once('?') {
        Some((path, query)) => (path, Some(query).filter(|query| !query.is_empty())),
        None => (address, None),
    };
    let (scheme, url, query, directory) = if let Some(ssh) = path.strip_prefix("git@") {
        let query = query.map(sorted);
        ("git", over_ssh(ssh)?, query, None)
    } else if path.starts_with('/') {
        (
            "file",
            format!("file://{path}"),
            query.map(str::to_owned),
            None,
        )
    } else {
        let (url, directory) = repository(path)?;
        ("git", url, query.map(str::to_owned), directory)
    };
    let url = match query {
        Some(query) => format!("{url}?{query}"),
        None => url,
    };
    let url = match (forced, scheme) {
        (Some(forced), _) => format!("{forced}::{url}"),
        (None, "file") => url,
        (None, scheme) => format!("{scheme}::{url}"),
    };
    Some((url, directory))
}

fn is_alphanumeric(c: char) -> bool {
    c.is_ascii_alphanumeric()
}

/// Whether it is a URL with a scheme, which clients leave as it is.
fn has_scheme(address: &str) -> bool {
    let Some((scheme, _)) = address.split_once(':') else {
        return false;
    };
    let is_rest = |c: char| is_alphanumeric(c) || matches!(c, '+' | '-' | '.');
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_rest)
}

/// Whether Go escapes none of its characters.
fn is_plain(path: &str) -> bool {
    let is_plain = |c: char| is_alphanumeric(c) || matches!(c, '-' | '.' | '_' | '~' | '/');
    path.chars().all(is_plain)
}

/// The URL of `HOST:PATH`.
fn over_ssh(address: &str) -> Option<String> {
    let (host, path) = address.split_once(':')?;
    let path = path.strip_prefix('/').unwrap_or(path);
    let is_certain = is_plain(host) && is_plain(path) && !host.is_empty() && !path.is_empty();
    (is_certain && !path.starts_with('/')).then(|| format!("ssh://git@{host}/{path}"))
}

/// The URL of `github.com/OWNER/REPOSITORY[/DIRECTORY]`, and the directory.
fn repository(path: &str) -> Option<(String, Option<String>)> {
    let mut parts = path.splitn(4, '/');
    let (host, owner, name) = (parts.next()?, parts.next()?, parts.next()?);
    let directory = parts.next().filter(|directory| !directory.is_empty());
    // go-getter takes no directory from the paths of Bitbucket.
    let is_known = host == "github.com" || host == "bitbucket.org" && directory.is_none();
    let is_certain = is_known && is_plain(path) && !owner.is_empty() && !name.is_empty();
    let name = name.strip_suffix(".git").unwrap_or(name);
    let url = format!("https://{host}/{owner}/{name}.git");
    is_certain.then(|| (url, directory.map(clean)))
}

/// A query as Go writes it: sorted by names, and escaped.
fn sorted(query: &str) -> String {
    // Go escapes `*` and not `~`, and browsers do the opposite.
    let escaped = |text: &str| {
        let escaped: String = byte_serialize(text.as_bytes()).collect();
        escaped.replace('*', "%2A").replace("%7E", "~")
    };
    let pairs = url::form_urlencoded::parse(query.as_bytes());
    let mut pairs: Vec<_> = pairs
        .map(|(name, value)| {
            (
                name.clone(),
                format!("{}={}", escaped(&name), escaped(&value)),
            )
        })
        .collect();
    pairs.sort_by(|(one, _), (other, _)| one.cmp(other));
    let pairs: Vec<String> = pairs.into_iter().map(|(_, pair)| pair).collect();
    pairs.join("&")
}
