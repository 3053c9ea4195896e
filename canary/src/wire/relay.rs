//! A relay on loopback, as any process of the task can have one: whoever judges by who is connected to whom sees two
//! connections, and neither is what it seems.

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};

use super::{PATIENCE, tcp};

/// Relays one connection to `to`. It ends when both sides have.
pub fn to(to: SocketAddr) -> io::Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let here = listener.local_addr()?;
    std::thread::Builder::new().name("relay".to_owned()).spawn(move || {
        let Ok((client, _)) = listener.accept() else { return };
        // A connection that can't be made ends the client's.
        let Ok(server) = tcp::connect(to, PATIENCE) else { return };
        let Ok(client) = tcp::prepare(client, PATIENCE) else { return };
        let (Ok(client_too), Ok(server_too)) = (client.try_clone(), server.try_clone()) else { return };
        std::thread::scope(|scope| {
            scope.spawn(|| copy(client, server));
            scope.spawn(|| copy(server_too, client_too));
        });
    })?;
    Ok(here)
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    // However it ends: the other side is told, and hears the rest.
    let _ = io::copy(&mut from, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use super::*;

    #[test]
    fn what_goes_in_comes_out_both_ways() {
        let server = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let mut client = TcpStream::connect(to(server.local_addr().unwrap()).unwrap()).unwrap();
        let (mut accepted, _) = server.accept().unwrap();
        client.write_all(b"ask").unwrap();
        let mut three = [0; 3];
        accepted.read_exact(&mut three).unwrap();
        assert_eq!(&three, b"ask");
        accepted.write_all(b"answer").unwrap();
        drop(accepted);
        let mut rest = String::new();
        client.read_to_string(&mut rest).unwrap();
        assert_eq!(rest, "answer");
    }
}
