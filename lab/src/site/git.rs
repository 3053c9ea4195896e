//! A repository of one commit, as the static files of git's "dumb" HTTP protocol (gitprotocol-http(5)).
//!
//! The three loose objects beside this file were made with git itself: README with the line
//! "A repository of the lab. If you can read this, cloning works.", committed on `main` as
//! `closedbook lab <lab@closedbook.test>` at 2001-01-01T00:00:00Z, "The one commit".

use hyper::{Response, StatusCode};

use super::{Body, body};

const COMMIT: &str = "67b2fc0f61899c379a035cbedd3b33803da750f8";
const REFS: &str = "67b2fc0f61899c379a035cbedd3b33803da750f8\trefs/heads/main\n";

/// A file of the repository. The question `?service=git-upload-pack` gets the plain list of references, by which a
/// client knows that the server is a dumb one.
pub(super) fn file(path: &str) -> Response<Body> {
    let object: &'static [u8] = match path {
        "HEAD" => return text("ref: refs/heads/main\n"),
        "info/refs" => return text(REFS),
        "refs/heads/main" => return text(COMMIT),
        "objects/info/packs" => return text(""),
        "objects/67/b2fc0f61899c379a035cbedd3b33803da750f8" => include_bytes!("git/commit.zlib"),
        "objects/8f/88a955b7538def349718432a92418e7186641c" => include_bytes!("git/tree.zlib"),
        "objects/e5/ce810870012a0c0d3fa194a99d7ab290750eb4" => include_bytes!("git/blob.zlib"),
        _ => return body::text(StatusCode::NOT_FOUND, "no such file in the repository\n"),
    };
    body::typed(StatusCode::OK, "application/x-git-loose-object", body::full(object))
}

fn text(text: &'static str) -> Response<Body> {
    body::typed(StatusCode::OK, "text/plain; charset=utf-8", body::full(text))
}
