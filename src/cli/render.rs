//! Values for the templates in `templates/`.

use handlebars::Handlebars;
use serde::Serialize;
use serde_json::json;

/// `templates/filesystem_mirror.hcl.hbs`: CLI configuration of a client that installs from a filesystem mirror.
#[derive(Serialize)]
pub(super) struct FilesystemMirrorView {
    /// The directory of the mirror.
    pub(super) path: String,
    /// The addresses of the providers in it.
    pub(super) include: Vec<String>,
}

impl FilesystemMirrorView {
    /// The configuration block.
    pub(super) fn render(&self) -> String {
        let mut handlebars = Handlebars::new();
        handlebars.set_strict_mode(true);
        handlebars.register_escape_fn(handlebars::no_escape);
        handlebars.register_helper("quote", Box::new(quote));
        let template = include_str!("../../templates/filesystem_mirror.hcl.hbs");
        // The template is compiled into the program, and a test renders it, so this does not fail.
        handlebars
            .render_template(template, &json!(self))
            .unwrap_or_else(|error| error.to_string())
    }
}

/// An HCL string literal without templates.
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
    let escaped = text
        .replace('\\', "\\\\")
        .replace('"', "\\\"")
        .replace('\n', "\\n")
        .replace('\r', "\\r")
        .replace("${", "$${")
        .replace("%{", "%%{");
    out.write(&format!("\"{escaped}\""))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_what_clients_read() {
        let view = FilesystemMirrorView {
            path: "/srv/a \"b\" ${c}".to_owned(),
            include: vec![
                "example.com/acme/demo".to_owned(),
                "example.com/acme/more".to_owned(),
            ],
        };
        assert_eq!(
            view.render(),
            r#"provider_installation {
  filesystem_mirror {
    path    = "/srv/a \"b\" $${c}"
    include = ["example.com/acme/demo", "example.com/acme/more"]
  }
  direct {
    exclude = ["example.com/acme/demo", "example.com/acme/more"]
  }
}
"#
        );
    }
}
