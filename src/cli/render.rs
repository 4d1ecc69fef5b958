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
            // The brace would begin an interpolation without an end.
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

/// The length in bytes of the interpolation `${…}` that a text begins with. Clients count braces, even within quotes.
fn interpolation(text: &str) -> Option<usize> {
    let inner = text
        .strip_prefix('$')
        .filter(|rest| rest.starts_with('{'))?;
    let mut depth = 0_usize;
    let closing = inner.char_indices().find(|(_, c)| {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        depth == 0
    });
    closing.map(|(at, _)| "$".len() + at + "}".len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_what_clients_read() {
        let view = FilesystemMirrorView {
            path: "/srv/a \"b\" ${c} ${d".to_owned(),
            include: vec![
                "example.com/acme/demo".to_owned(),
                "example.com/acme/more".to_owned(),
            ],
        };
        assert_eq!(
            view.render(),
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
}
