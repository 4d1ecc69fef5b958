//! The plugin cache: one directory of packages for many working directories ([clients: plugin
//! folders](crate::clients#plugin-folders)).

/// A directory with the values of environment variables in place of their names, as in `$HOME/cache` or `${HOME}/cache`. An unknown variable
/// has none.
pub fn expanded(directory: &str, variable: impl Fn(&str) -> Option<String>) -> String {
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut parts = directory.split('$');
    let mut expanded = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let braced = part.strip_prefix('{').and_then(|text| text.split_once('}'));
        let (name, rest) = braced.unwrap_or_else(|| {
            let end = part.find(|c| !is_name(c)).unwrap_or(part.len());
            part.split_at_checked(end).unwrap_or((part, ""))
        });
        expanded += &variable(name).unwrap_or_default();
        expanded += rest;
    }
    expanded
}

#[cfg(test)]
mod tests {
    use crate::config::cli::CliConfig;
    use crate::lockfile::Client;

    #[test]
    fn the_settings_are_read_and_variables_expanded() {
        let known = |name: &str| (name == "HOME").then(|| "/home/me".to_owned());
        for (text, directory, expanded) in [
            (
                "plugin_cache_dir = \"$HOME/.cache\"",
                Some("$HOME/.cache"),
                Some("/home/me/.cache"),
            ),
            (
                "plugin_cache_dir = \"${HOME}x/$NONE/y\"",
                Some("${HOME}x/$NONE/y"),
                Some("/home/mex//y"),
            ),
            (
                "{\"plugin_cache_dir\": \"/cache\"}",
                Some("/cache"),
                Some("/cache"),
            ),
            ("plugin_cache_dir = \"\"", None, None),
            ("plugin_cache_dir = 7", None, None),
            ("", None, None),
        ] {
            let config = CliConfig::parse(text.as_bytes(), Client::OpenTofu).unwrap();
            let named = config.plugin_cache_dir;
            assert_eq!(named.as_deref(), directory, "{text}");
            let named = named.map(|named| super::expanded(&named, known));
            assert_eq!(named.as_deref(), expanded, "{text}");
        }
    }
}
