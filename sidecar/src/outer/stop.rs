//! The signal that ends the proxy: the drop of its only sender.

use tokio::sync::watch;

/// Dropping it ends everything that holds a [`Stop`] of it.
#[derive(Debug)]
pub(crate) struct Running(#[expect(dead_code, reason = "held for its drop")] watch::Sender<()>);

/// Waits for the drop of [`Running`].
#[derive(Debug, Clone)]
pub(crate) struct Stop(watch::Receiver<()>);

/// A signal that has not been given yet.
pub(crate) fn signal() -> (Running, Stop) {
    let (sender, receiver) = watch::channel(());
    (Running(sender), Stop(receiver))
}

impl Stop {
    /// Ends when the signal is given, at once if it was.
    pub(crate) async fn told(&mut self) {
        // Nothing is ever sent, so the one thing that can happen is the drop of the sender.
        while self.0.changed().await.is_ok() {}
    }
}
