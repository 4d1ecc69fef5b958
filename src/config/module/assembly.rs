//! Reads what the files of a module state, and combines it.

use std::collections::BTreeMap;

use super::error::Located;
use super::files::SourceFile;
use super::read::{
    blocks, line, literal_of, located, name, provider, requirement, roots, target, text, text_of,
};
use super::{
    Error, FileError, Module, ModuleCall, ModuleSource, Position, Requirement, Stated, Target,
};
use crate::address::{self, Hostname, ProviderAddr};
use crate::constraint::{self, VersionConstraints};
use crate::lockfile::Client;
use crate::syntax::{self, Block, Member, Section};

/// The namespace of providers that are only named by their type.
const IMPLIED_NAMESPACE: &str = "hashicorp";

/// The name of the provider that is part of the client, unless `required_providers` redefines it.
const BUILT_IN: &str = "terraform";

/// What was read so far.
pub(super) struct Assembly<'a> {
    client: Option<Client>,
    default_host: &'a Hostname,
    required_at: Option<Position>,
    /// By name; `None` for a provider that is part of the client.
    required: BTreeMap<String, Option<Requirement>>,
    /// By name and alias.
    configured: BTreeMap<(String, Option<String>), Stated>,
    /// By kind, type and name of the block.
    used: BTreeMap<[String; 3], Used>,
    /// Each on its own, since several may have the same target.
    imported: Vec<(Target, Used)>,
    /// By name.
    calls: BTreeMap<String, Call>,
    backend: Option<String>,
}

/// The use of a provider under a local name, and the place of its first use.
struct Used {
    provider: Option<String>,
    place: Position,
}

/// A `module` block. Either argument may be in another file.
#[derive(Default)]
struct Call {
    source: Option<(ModuleSource, Position)>,
    version: Option<Result<String, String>>,
}

impl<'a> Assembly<'a> {
    pub(super) fn new(client: Option<Client>, default_host: &'a Hostname) -> Self {
        Self {
            client,
            default_host,
            required_at: None,
            required: BTreeMap::new(),
            configured: BTreeMap::new(),
            used: BTreeMap::new(),
            imported: Vec::new(),
            calls: BTreeMap::new(),
            backend: None,
        }
    }

    /// Adds what a file states about providers. Override files must come last.
    pub(super) fn add(&mut self, file: &SourceFile<'_>) -> Result<(), Located> {
        if !file.name.ends_with(".json") {
            let body = syntax::hcl(file.bytes).map_err(located)?;
            return self.add_body(file, &body);
        }
        let roots = roots(syntax::json(file.bytes).map_err(located)?)?;
        roots.iter().try_for_each(|root| self.add_body(file, root))
    }

    fn add_body(&mut self, file: &SourceFile<'_>, root: &Section<'_>) -> Result<(), Located> {
        for terraform in blocks(root, "terraform", 0)? {
            for block in blocks(terraform.body, "required_providers", 0)? {
                self.add_required(file, &block)?;
            }
            let backends = blocks(terraform.body, "backend", 1)?.into_iter();
            for backend in backends.chain(blocks(terraform.body, "cloud", 0)?) {
                let name = backend.labels.first().unwrap_or(&"cloud");
                self.backend = Some((*name).to_owned());
            }
        }
        for block in blocks(root, "provider", 1)? {
            self.add_configured(file, &block)?;
        }
        for kind in ["resource", "data", "ephemeral", "action"] {
            for block in blocks(root, kind, 2)? {
                self.add_used(file, kind, &block)?;
            }
        }
        for check in blocks(root, "check", 1)? {
            for block in blocks(check.body, "data", 2)? {
                self.add_used(file, "data", &block)?;
            }
        }
        // Override files may not have such blocks.
        for block in blocks(root, "import", 0)? {
            let (provider, place) = (provider(block.body)?, file.at(block.line));
            let imported = target(block.body).map(|target| (target, Used { provider, place }));
            self.imported.extend(imported);
        }
        for block in blocks(root, "module", 1)? {
            self.add_call(file, name(&block), &block)?;
        }
        for run in blocks(root, "run", 1)? {
            for block in blocks(run.body, "module", 0)? {
                self.add_call(file, name(&run), &block)?;
            }
        }
        Ok(())
    }

    fn add_required(&mut self, file: &SourceFile<'_>, block: &Block<'_>) -> Result<(), Located> {
        if !file.is_override() {
            if let Some(first) = self.required_at.clone() {
                return Err((block.line, FileError::Several { first }));
            }
            self.required_at = Some(file.at(block.line));
        }
        for Member { name, value, .. } in block.body.all().filter(|one| one.name != "//") {
            let (source, version) = match text(value) {
                Some(version) => (None, Some(version)),
                None => requirement(name, value)?,
            };
            let source = self.source(source.as_deref().unwrap_or(name));
            let source = source.map_err(|error| (line(value), error.into()))?;
            let position = file.at(line(value));
            let constraints = constraints(version, position.line)?;
            let requirement = source.map(|source| Requirement {
                source,
                stated: vec![Stated {
                    position,
                    constraints,
                }],
            });
            self.required.insert(name.to_string(), requirement);
        }
        Ok(())
    }

    fn add_configured(&mut self, file: &SourceFile<'_>, block: &Block<'_>) -> Result<(), Located> {
        let (alias, version) = (
            text_of(block.body, "alias")?,
            text_of(block.body, "version")?,
        );
        let constraints = constraints(version, block.line)?;
        let alias = match file.is_test() {
            // Terraform takes no provider from test files.
            true if self.client == Some(Client::Terraform) => return Ok(()),
            // Each has configurations of its own.
            true => Some(format!("{}/{}", file.name, alias.unwrap_or_default())),
            false => alias,
        };
        let known = self.configured.entry((name(block), alias));
        let known = known.or_insert_with(|| Stated {
            position: file.at(block.line),
            constraints: VersionConstraints::any(),
        });
        if !constraints.is_any() {
            known.constraints = constraints;
        }
        Ok(())
    }

    /// Adds a block whose type belongs to a provider, such as a resource. An override file repeats its kind, type and name.
    fn add_used(
        &mut self,
        file: &SourceFile<'_>,
        kind: &str,
        block: &Block<'_>,
    ) -> Result<(), Located> {
        let provider = provider(block.body)?;
        // Not every client lets them override others, so the providers of both count.
        let is_apart = file.is_override() && matches!(kind, "ephemeral" | "action");
        if is_apart && provider.is_none() {
            return Ok(());
        }
        let kind = match is_apart {
            true => format!("overriding {kind}"),
            false => kind.to_owned(),
        };
        let type_name = block.labels.first().copied().unwrap_or_default().to_owned();
        let known = self.used.entry([kind, type_name, name(block)]);
        let known = known.or_insert_with(|| Used {
            provider: None,
            place: file.at(block.line),
        });
        known.provider = provider.or(known.provider.take());
        Ok(())
    }

    /// Adds a call of a module. An override file may omit either argument.
    fn add_call(
        &mut self,
        file: &SourceFile<'_>,
        name: String,
        block: &Block<'_>,
    ) -> Result<(), Located> {
        let version = literal_of(block.body, "version")?;
        let source = literal_of(block.body, "source")?.map(|source| {
            let source = source.map_or_else(ModuleSource::Computed, ModuleSource::of);
            (source, file.at(block.line))
        });
        let call = self.calls.entry(file.name_of_call(name)).or_default();
        call.source = source.or(call.source.take());
        call.version = version.or(call.version.take());
        Ok(())
    }

    /// Whether an import requires a provider that its resource does not. In Terraform, an import into a module or of a resource that is there
    /// uses the provider of the resource.
    fn requires(&self, import: &Target) -> bool {
        let key = ["resource", &import.type_name, &import.name].map(str::to_owned);
        let is_known = import.is_in_module || self.used.contains_key(&key);
        !(is_known && self.client == Some(Client::Terraform))
    }

    /// Parses a provider source: a type, a namespace and type, or a full address. `None` if the provider is part of the client.
    fn source(&self, text: &str) -> Result<Option<ProviderAddr>, address::Error> {
        let address = if text.contains('/') || text.is_empty() {
            ProviderAddr::parse(text, self.default_host)
        } else if text == BUILT_IN {
            return Ok(None);
        } else {
            ProviderAddr::new(self.default_host.clone(), IMPLIED_NAMESPACE, text)
        };
        match address {
            Ok(address)
                if self.client == Some(Client::OpenTofu) && address.namespace().contains('_') =>
            {
                Err(address::Error::Namespace {
                    name: address.namespace().to_owned(),
                })
            }
            Ok(address) => Ok(Some(address)),
            Err(address::Error::BuiltIn { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The module that results from all statements.
    pub(super) fn finish(mut self) -> Result<Module, Error> {
        let mut imported = std::mem::take(&mut self.imported);
        imported.retain(|(target, _)| self.requires(target));
        let imported = imported.into_iter();
        let imported = imported.map(|(target, used)| (target.type_name, used));
        let used = std::mem::take(&mut self.used).into_iter();
        let used = used.map(|([_, type_name, _], used)| (type_name, used));
        for (type_name, used) in used.chain(imported) {
            let implied = type_name.split('_').next().unwrap_or_default();
            let name = used.provider.unwrap_or_else(|| implied.to_owned());
            let stated = Stated {
                position: used.place,
                constraints: VersionConstraints::any(),
            };
            self.require(&name, stated)?;
        }
        for ((name, _), stated) in std::mem::take(&mut self.configured) {
            self.require(&name, stated)?;
        }
        let required = self.required.into_iter();
        // Clients refuse a call without source.
        let calls = self.calls.into_iter().filter_map(|(name, call)| {
            let (source, position) = call.source?;
            let call = ModuleCall {
                source,
                version: call.version,
                position,
            };
            Some((name, call))
        });
        Ok(Module {
            requirements: required
                .filter_map(|(name, one)| Some((name, one?)))
                .collect(),
            calls: calls.collect(),
            backend: self.backend,
        })
    }

    /// Adds constraints to the provider that has this local name.
    fn require(&mut self, name: &str, stated: Stated) -> Result<(), Error> {
        if !self.required.contains_key(name) {
            let source = self.source(name).map_err(|error| Error {
                position: stated.position.clone(),
                mistake: error.into(),
            })?;
            let requirement = source.map(|source| Requirement {
                source,
                stated: Vec::new(),
            });
            self.required.insert(name.to_owned(), requirement);
        }
        if let Some(Some(known)) = self.required.get_mut(name) {
            // Hundreds of resources may use one provider.
            if known.stated.is_empty() || !stated.constraints.is_any() {
                known.stated.push(stated);
            }
        }
        Ok(())
    }
}

fn constraints(
    version: Option<String>,
    line: Option<usize>,
) -> Result<VersionConstraints, Located> {
    let Some(version) = version else {
        return Ok(VersionConstraints::any());
    };
    let refuse = |error: constraint::Error| (line, error.into());
    let constraints: VersionConstraints = version.parse().map_err(refuse)?;
    if constraints.is_any() {
        return Err(refuse(constraint::Error { text: version }));
    }
    Ok(constraints)
}
