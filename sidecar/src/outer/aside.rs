//! Work that blocks, on a thread of its own.

use std::future::Future;
use std::{io, thread};

use tokio::sync::oneshot;

/// Starts work that blocks; the future is its outcome, or an error if it has panicked.
///
/// The runtime's own way of doing that panics where the kernel gives no thread, and a proxy that starts on a machine without
/// memory must say so and be tried again: here it is an error.
pub fn aside<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<impl Future<Output = io::Result<T>>> {
    let (done, outcome) = oneshot::channel();
    // Nobody may wait for it any more.
    thread::Builder::new().name(name.to_owned()).spawn(move || drop(done.send(work())))?;
    Ok(async { outcome.await.map_err(|_| io::Error::other("its thread has panicked")) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_a_thread_comes_to() {
        assert_eq!(aside("fine", || 7).unwrap().await.unwrap(), 7);
        let lost: io::Result<()> = aside("lost", || panic!("on purpose")).unwrap().await;
        assert_eq!(lost.unwrap_err().to_string(), "its thread has panicked");
    }
}
