//! The page for people, and the providers that it lists.

use std::path::Path;

use url::Url;

use super::folder::{self, ProviderFolder};
use super::{Site, documents};
use crate::address::ProviderAddr;
use crate::disk::{self, Directory};
use crate::version::Version;

/// The text by which tfoci recognises its own page, so that it never replaces another one.
pub const GENERATOR: &str = r#"<meta name="generator" content="tfoci site">"#;

/// The file name of the page.
const PAGE: &str = "index.html";

/// The largest page that is read, in bytes: enough for a hundred thousand providers.
const LARGEST: u64 = 64 << 20;

/// A provider and its versions, as the page lists them.
#[derive(Clone, Debug)]
pub struct ListedProvider {
    /// The provider's address.
    pub provider: ProviderAddr,
    /// The listed versions, in ascending order.
    pub versions: Vec<Version>,
}

/// The result of writing the page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageChange {
    /// The page is written, or had this content already.
    Written,
    /// The path has a page of another program, which stays.
    Foreign,
}

impl Site<'_> {
    /// The providers in the site, sorted by address. This includes those that earlier runs wrote.
    ///
    /// # Errors
    /// The system reported an error, or an `index.json` is a symbolic link.
    pub fn providers(&self) -> Result<Vec<ListedProvider>, disk::Error> {
        let mut listed = Vec::new();
        for provider in self.folders()? {
            let folder = ProviderFolder::of(&self.request.into, &provider);
            let versions = match folder.open()? {
                Some(directory) => documents::indexed(&directory)?,
                None => None,
            };
            let versions = versions.filter(|versions| !versions.is_empty());
            listed.extend(versions.map(|versions| ListedProvider { provider, versions }));
        }
        Ok(listed)
    }

    /// Writes the page, which has to contain [`GENERATOR`]. All files that it lists have to be written before.
    ///
    /// # Errors
    /// The system reported an error, or the page's path is a symbolic link.
    pub fn write_page(&self, html: &str) -> Result<PageChange, disk::Error> {
        let root = &self.request.into;
        let directory = open(root)?;
        let old = folder::read(&directory, PAGE, LARGEST)?;
        let exists = folder::has_file(&directory, PAGE)?;
        let is_own = old.is_some_and(|old| {
            let text = String::from_utf8_lossy(&old);
            text.contains(GENERATOR)
        });
        if exists && !is_own {
            return Ok(PageChange::Foreign);
        }
        folder::write(root, &directory, PAGE, html.as_bytes())?;
        Ok(PageChange::Written)
    }

    /// The providers that have a directory, sorted. Entries that are not directories, or have other names, are ignored.
    pub(super) fn folders(&self) -> Result<Vec<ProviderAddr>, disk::Error> {
        let Some(root) = disk::if_exists(open(&self.request.into))? else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        // Only one directory of each level is open at a time, because the number of open files is limited.
        for host in names(&root)? {
            let Ok(within_host) = root.enter(&host) else {
                continue;
            };
            for namespace in names(&within_host)? {
                let Ok(within_namespace) = within_host.enter(&namespace) else {
                    continue;
                };
                for type_name in names(&within_namespace)? {
                    let text = format!("{host}/{namespace}/{type_name}");
                    let provider = ProviderAddr::from_ascii(&text).ok();
                    let provider = provider.filter(|provider| provider.to_ascii() == text);
                    let is_directory = || within_namespace.enter(&type_name).is_ok();
                    found.extend(provider.filter(|_| is_directory()));
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// The URL for clients that the page of an earlier run names, so that a run without one does not lose it; `None` if there is no such page.
pub fn known_url(directory: &Path) -> Option<Url> {
    const LINK: &str = r#"<link rel="canonical" href=""#;
    let directory = Directory::open(directory).ok()?;
    let page = folder::read(&directory, PAGE, LARGEST).ok()??;
    let page = String::from_utf8(page).ok()?;
    // The page of another program has other links.
    let (head, _) = page
        .split_once("</head>")
        .filter(|_| page.contains(GENERATOR))?;
    let (_, rest) = head.split_once(LINK)?;
    let (url, _) = rest.split_once('"')?;
    let escapes = [("&#x27;", "'"), ("&#x3D;", "="), ("&amp;", "&")];
    let url = escapes.iter().fold(url.to_owned(), |url, (escape, plain)| {
        url.replace(escape, plain)
    });
    Url::parse(&url).ok()
}

fn open(path: &Path) -> Result<Directory, disk::Error> {
    Directory::open(path).map_err(|error| disk::Error::at_use(path, error))
}

/// The names in a directory, without hidden ones.
fn names(at: &Directory) -> Result<Vec<String>, disk::Error> {
    let names = at.names();
    let mut names = names.map_err(|error| disk::Error::at_use(at.path(), error))?;
    names.retain(|name| !name.starts_with('.'));
    Ok(names)
}
