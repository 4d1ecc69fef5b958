//! Reads facts from files in HCL 2.

use super::error::Located;
use super::{Backend, Fact, FileError, ModuleSource, Statement, Target, first_name, in_nfc};
use crate::syntax::outline::{self, Block, Body, Expression};

/// The statements of a file about providers.
pub(super) fn read(bytes: &[u8]) -> Result<Vec<Fact>, Located> {
    let body = Body::parse(bytes).map_err(hcl)?;
    let mut facts = Vec::new();
    for block in &body.blocks {
        match block.name {
            "terraform" => {
                for required in block.body.blocks("required_providers") {
                    read_required(required, &mut facts)?;
                }
                let backends = ["backend", "cloud"].into_iter();
                let backends = backends.flat_map(|name| block.body.blocks(name));
                facts.extend(backends.map(backend));
            }
            "provider" => facts.push(configured(block)?),
            "resource" | "data" | "ephemeral" | "action" => facts.push(used(block)?),
            "check" => {
                for data in block.body.blocks("data") {
                    facts.push(used(data)?);
                }
            }
            "import" => facts.extend(imported(block)?),
            "module" => {
                let [name] = labels(block)?;
                facts.push(call(block, name));
            }
            "run" => {
                let [name] = labels(block)?;
                let modules = block.body.blocks("module");
                facts.extend(modules.map(|module| call(module, name.clone())));
            }
            _ => {}
        }
    }
    Ok(facts)
}

fn hcl(error: outline::Error) -> Located {
    (Some(error.line), FileError::Hcl(error.mistake))
}

fn fact(line: usize, statement: Statement) -> Fact {
    Fact {
        line: Some(line),
        statement,
    }
}

fn labels<const N: usize>(block: &Block<'_>) -> Result<[String; N], Located> {
    let labels: Vec<String> = block
        .labels
        .iter()
        .map(|label| (*label).to_owned())
        .collect();
    labels.try_into().map_err(|labels: Vec<_>| {
        let mistake = FileError::Labels {
            name: block.name.to_owned(),
            expected: N,
            received: labels.len(),
        };
        (Some(block.line), mistake)
    })
}

fn text(value: &Expression<'_>, name: &'static str) -> Result<String, Located> {
    let refusal = || (Some(value.line()), FileError::NotText { name });
    plain(value).ok_or_else(refusal)
}

/// The text of an expression, as clients have it.
fn plain(value: &Expression<'_>) -> Option<String> {
    value.as_text().map(|text| in_nfc(&text))
}

fn read_required(block: &Block<'_>, facts: &mut Vec<Fact>) -> Result<(), Located> {
    facts.push(fact(block.line, Statement::RequiredProviders));
    for (name, value) in &block.body.attributes {
        let (mut source, mut version) = (None, value.as_text());
        if version.is_none() {
            let name = (*name).to_owned();
            let refusal = || (Some(value.line()), FileError::Requirement { name });
            for member in value.as_object().ok_or_else(refusal)? {
                match member.map_err(hcl)? {
                    ("source", value) => source = Some(text(&value, "source")?),
                    ("version", value) => version = Some(text(&value, "version")?),
                    _ => {}
                }
            }
        }
        let required = Statement::Required {
            name: (*name).to_owned(),
            source,
            version,
        };
        facts.push(fact(value.line(), required));
    }
    Ok(())
}

fn configured(block: &Block<'_>) -> Result<Fact, Located> {
    let [name] = labels(block)?;
    let argument = |name| {
        let value = block.body.attributes.get(name);
        value.map(|value| text(value, name)).transpose()
    };
    let configured = Statement::Configured {
        name,
        alias: argument("alias")?,
        version: argument("version")?,
    };
    Ok(fact(block.line, configured))
}

fn used(block: &Block<'_>) -> Result<Fact, Located> {
    let [type_name, name] = labels(block)?;
    let provider = provider(block)?;
    let key = [block.name.to_owned(), type_name, name];
    Ok(fact(block.line, Statement::Used { key, provider }))
}

fn imported(block: &Block<'_>) -> Result<Option<Fact>, Located> {
    let provider = provider(block)?;
    let target = block.body.attributes.get("to").and_then(Target::of);
    Ok(target.map(|target| fact(block.line, Statement::Imported { target, provider })))
}

/// The local name of the provider that a block refers to. Clients read it in forms that this refuses, such as a heredoc.
fn provider(block: &Block<'_>) -> Result<Option<String>, Located> {
    let Some(value) = block.body.attributes.get("provider") else {
        return Ok(None);
    };
    let name = "provider";
    let refusal = || (Some(value.line()), FileError::NotText { name });
    root(value).ok_or_else(refusal).map(Some)
}

/// The first name of a reference such as `aws.west`, which may be written as text.
fn root(reference: &Expression<'_>) -> Option<String> {
    match reference.as_text() {
        Some(text) => Some(first_name(&text)),
        None => reference.as_root().map(str::to_owned),
    }
}

/// A `backend` block, or a `cloud` block, which has no label.
fn backend(block: &Block<'_>) -> Fact {
    let text = |name| block.body.attributes.get(name).map(plain);
    let name = block.labels.first().unwrap_or(&block.name);
    let backend = Backend::of(name, text("path"), text("workspace_dir"));
    fact(block.line, Statement::Backend(backend))
}

fn call(block: &Block<'_>, name: String) -> Fact {
    let source = block.body.attributes.get("source").map(|value| {
        let computed = || ModuleSource::Computed(value.text().to_owned());
        plain(value).map_or_else(computed, ModuleSource::of)
    });
    let version = block.body.attributes.get("version").map(|value| {
        let computed = || value.text().to_owned();
        value.as_text().ok_or_else(computed)
    });
    let call = Statement::Call {
        name,
        source,
        version,
    };
    fact(block.line, call)
}
