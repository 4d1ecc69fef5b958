//! Settings: what holds if no option names a store, a trust file, authorities, a default host or a mirror file.
//!
//! An option comes first, then a variable `TFOCI_…`, then `tfoci.toml` in the working directory, then the user's `config.toml`. **A pull
//! request can write `tfoci.toml`**: it may name a store and a mirror file only, no command looks for it in a directory above, and a line names
//! it whenever it has an effect.

use std::collections::BTreeMap;
use std::path::Path;

use tfoci::config::{self, MirrorFile};
use tfoci::error::printable_path;
use tfoci::shown::Shown;
use tfoci::source;
use tfoci::store::Endpoint;

use super::environment::{config_file, variable};
use super::{Session, decode, read, requested};
use crate::cli::error::CommandError;
use crate::cli::printer::Tone;

/// The file of the working directory.
const OF_DIRECTORY: &str = "tfoci.toml";

/// A setting, and the variable or file where it stands.
#[derive(Clone)]
pub(in crate::cli) struct Setting {
    pub(in crate::cli) value: String,
    pub(in crate::cli) place: String,
}

impl Setting {
    fn is_of_directory(&self) -> bool {
        self.place == OF_DIRECTORY
    }
}

/// The settings of variables and of the user's file, by name.
pub(in crate::cli) struct Settings(BTreeMap<&'static str, Setting>);

impl Settings {
    /// Reads the variables, and the user's file if there is one. Paths in the file are relative to its directory.
    pub(in crate::cli) fn read() -> Result<Self, CommandError> {
        let path = config_file().filter(|path| path.exists());
        let file = path.as_deref().map(parsed).transpose()?.unwrap_or_default();
        let path = path.unwrap_or_default();
        let mut all = BTreeMap::new();
        for (name, value) in file.values() {
            let set_by = format!("TFOCI_{}", name.to_ascii_uppercase());
            let (value, place) = match (variable(&set_by), value) {
                (Some(value), _) => (value.to_string_lossy().into_owned(), set_by),
                (None, Some(value)) if matches!(name, "store" | "default_host") => {
                    (value, printable_path(&path))
                }
                (None, Some(value)) => {
                    let value = path.with_file_name(value);
                    (value.to_string_lossy().into_owned(), printable_path(&path))
                }
                (None, None) => continue,
            };
            all.insert(name, Setting { value, place });
        }
        Ok(Self(all))
    }

    /// A setting that holds in every directory.
    pub(in crate::cli) fn get(&self, name: &str) -> Option<&Setting> {
        self.0.get(name)
    }

    /// A setting that holds in this directory.
    pub(in crate::cli) fn here(&self, name: &str) -> Result<Option<Setting>, CommandError> {
        let everywhere = self.get(name).cloned();
        let path = Path::new(OF_DIRECTORY);
        if !path.exists() || everywhere.as_ref().is_some_and(is_of_variable) {
            return Ok(everywhere);
        }
        let mut set = None;
        for (known, value) in parsed(path)?.values() {
            if value.is_some() && !matches!(known, "store" | "mirror_file") {
                return Err(CommandError::usage(format!(
                    "`{known}` is no setting of {OF_DIRECTORY}: whoever can change this directory could write it\n  expected store or mirror_file"
                ))
                .advising("`tfoci config` names your own file of settings"));
            }
            set = set.or(value.filter(|_| known == name));
        }
        let place = OF_DIRECTORY.to_owned();
        Ok(set.map(|value| Setting { value, place }).or(everywhere))
    }
}

pub(super) fn is_of_variable(setting: &Setting) -> bool {
    setting.place.starts_with("TFOCI_")
}

/// Parses a file of settings. No text of [`OF_DIRECTORY`] is shown: a pull request may have made it a link to a file with passwords.
fn parsed(path: &Path) -> Result<config::Settings, CommandError> {
    let named_by = "the place where tfoci looks for settings";
    let bytes = read(path, named_by)?;
    config::Settings::parse(decode(path, &bytes, named_by)?).map_err(|error| {
        let error = match path.ends_with(OF_DIRECTORY) {
            true => error.without_text(),
            false => error,
        };
        let path = printable_path(path);
        let why = error.to_string().replace('\n', "\n  ");
        CommandError::usage(format!("{path} is not a file of settings\n  {why}"))
    })
}

impl Session {
    /// The store that an option names; without the option, what the settings name.
    pub(in crate::cli) fn store(
        &self,
        named: Option<String>,
        option: &str,
    ) -> Result<String, CommandError> {
        let store = named.map_or_else(|| self.set_store(), |text| Ok(Some(text)))?;
        store.ok_or_else(|| {
            CommandError::usage("nothing says which store it is").advising(format!(
                "name it with `{option} STORE`, or in your settings: see `tfoci config`"
            ))
        })
    }

    /// The store that holds in this directory. If the directory itself names it, a stranger may have.
    pub(in crate::cli) fn set_store(&self) -> Result<Option<String>, CommandError> {
        let Some(setting) = self.set("store")? else {
            return Ok(None);
        };
        if setting.is_of_directory() {
            self.distrust_store(&setting.value)?;
        }
        Ok(Some(setting.value))
    }

    /// The mirror file that holds in this directory. If the directory itself names it, it can set nothing about trust either.
    pub(in crate::cli) fn set_mirror_file(&self) -> Result<Option<MirrorFile>, CommandError> {
        let Some(setting) = self.set("mirror_file")? else {
            return Ok(None);
        };
        let path = Path::new(&setting.value);
        let file = requested::mirror_file(path, "the settings")?;
        if !setting.is_of_directory() {
            return Ok(Some(file));
        }
        if file.trust.is_some() || file.attest.is_some() {
            let path = printable_path(path);
            let text = format!(
                "{path} sets `trust` or `attest`, and only {OF_DIRECTORY} names it: whoever can change this directory could write both"
            );
            let hint = format!("name it yourself: `--file {path}`");
            return Err(CommandError::usage(text).advising(hint));
        }
        for entry in &file.providers {
            self.distrust(&self.http()?, [entry.provider.hostname()])?;
            entry.to.iter().try_for_each(|to| self.distrust_store(to))?;
        }
        Ok(Some(file))
    }

    /// Treats the host of a store as a stranger: it may not lead to a private address.
    fn distrust_store(&self, store: &str) -> Result<(), CommandError> {
        if Endpoint::parse(store, self.is_exact())?
            .template()
            .is_none()
        {
            return Ok(());
        }
        let host = store.split('/').next().unwrap_or_default();
        if host.contains(['$', '%', '{']) {
            let store = Shown::from(store);
            let text = format!(
                "{OF_DIRECTORY} leads to a store whose host depends on the provider\n  received {store}"
            );
            return Err(CommandError::usage(text));
        }
        Ok(self.http()?.distrust(host).map_err(source::Error::from)?)
    }

    /// A setting that holds in this directory. Says so if the directory itself has it.
    fn set(&self, name: &str) -> Result<Option<Setting>, CommandError> {
        let setting = self.settings.here(name)?;
        if let Some(setting) = setting.as_ref().filter(|one| one.is_of_directory()) {
            let shown = Shown::from(setting.value.as_str());
            let text = format!("{shown}, the {name} in {OF_DIRECTORY}");
            self.printer.line(Tone::Plain, "Using", &text);
        }
        Ok(setting)
    }
}
