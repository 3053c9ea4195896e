//! The control socket: how the operator looks at a running proxy and switches its phase.
//!
//! Line-delimited JSON-RPC 2.0 over a unix socket that the task does not see (G10). `lines` cuts what comes into
//! lines, `message` reads them, `method` types them, `desk` does what they ask for; none of these does any
//! IO. `server` moves the bytes: each client in a task of its own, so that a slow or hostile one holds up nobody.
//!
//! `docs/control.md` is the reference for users.

use std::io;
use std::os::unix::net::UnixListener;
use std::sync::Arc;

use tokio::net::UnixListener as AsyncListener;
use tokio::runtime::{Builder, Runtime};

use crate::outer::Outer;
use crate::outer::stop::Stop;

mod desk;
mod fault;
mod lines;
mod message;
mod method;
pub mod proposal;
pub mod report;
mod server;
#[cfg(test)]
mod tests;

pub use fault::Word;

/// Where the operator is listened to, and who that is.
#[derive(Debug)]
pub struct Control {
    /// Listening already. Whoever bound it removes its file.
    pub listener: UnixListener,
    /// The one user, beside root, who is answered. In the user namespace of this process.
    pub owner: u32,
}

/// A control socket that can be served.
pub(crate) struct Open {
    runtime: Runtime,
    listener: AsyncListener,
    owner: u32,
}

impl Control {
    /// Makes what serving it needs: a runtime of its own, so that an operator is heard at once, however many connections
    /// of the task wait for their turn in the proxy's.
    pub(crate) fn open(self) -> io::Result<Open> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        self.listener.set_nonblocking(true)?;
        let listener = {
            let _context = runtime.enter();
            AsyncListener::from_std(self.listener)?
        };
        Ok(Open { runtime, listener, owner: self.owner })
    }
}

impl Open {
    /// Serves until `stop`, on the calling thread.
    pub(crate) fn serve(self, outer: Arc<Outer>, stop: Stop) {
        self.runtime.block_on(server::serve(self.listener, self.owner, outer, stop));
    }
}
