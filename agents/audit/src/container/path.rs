//! Paths of a machine that is not this one: compared as text, nothing is looked up.

/// One spelling of each path: no doubled or trailing slashes, no `.` and `..`, and without the symbolic links that every
/// distribution has. A path that leads up from an unknown folder is taken to lead to the root, which is the most it can do.
pub(super) fn clean(path: &str) -> String {
    let path = path.replace('\\', "/");
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    // /private is where macOS has them.
    if let ["private", "var" | "tmp" | "etc", ..] = parts.as_slice() {
        parts.remove(0);
    }
    if let ["var", "run" | "lock", ..] = parts.as_slice() {
        parts.remove(0);
    }
    let is_home = parts.first().is_some_and(|first| first.starts_with('~'));
    let is_relative = !path.starts_with('/') && !path.starts_with("..") && !is_home;
    match parts.is_empty() {
        true if is_relative => ".".to_owned(),
        true => "/".to_owned(),
        false if is_home => parts.join("/"),
        false if is_relative => format!("./{}", parts.join("/")),
        false => format!("/{}", parts.join("/")),
    }
}

/// Whether it is this folder or lies in it.
pub(super) fn is_in(path: &str, folder: &str) -> bool {
    if folder == "/" {
        return path.starts_with('/');
    }
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// It, and the folders that it lies in.
pub(super) fn ancestors(path: &str) -> impl Iterator<Item = &str> {
    let ends = path.match_indices('/').map(|(at, _)| at.max(1)).chain([path.len()]);
    ends.filter_map(|end| path.get(..end))
}

/// The last part.
pub(super) fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling() {
        for (path, expected) in [
            ("//var/./run//docker.sock/", "/run/docker.sock"),
            ("/var/run/../run/docker.sock", "/run/docker.sock"),
            ("/etc/../var/run", "/run"),
            ("../../../var/run/docker.sock", "/run/docker.sock"),
            ("../../..", "/"),
            ("./a/b/", "./a/b"),
            (".", "."),
            ("", "."),
            ("~/x", "~/x"),
            ("/", "/"),
            ("///", "/"),
            ("/private/var/run/x", "/run/x"),
            ("\\\\.\\pipe\\docker_engine", "/pipe/docker_engine"),
        ] {
            assert_eq!(clean(path), expected, "{path}");
        }
        assert_eq!(ancestors("/a/b").collect::<Vec<_>>(), ["/", "/a", "/a/b"]);
        assert!(is_in("/run/x", "/run") && !is_in("/running", "/run") && is_in("/x", "/"));
    }
}
