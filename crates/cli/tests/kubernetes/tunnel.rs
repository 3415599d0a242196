//! A proxy as companies have them: it makes connections for others, without knowing what is said on them.

use std::io::{self, Read, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Speech {
    /// `CONNECT host:port`.
    Http,
    /// Version 5, without a user.
    Socks,
}

/// A proxy, as long as the test program runs.
pub(crate) struct Tunnel {
    pub(crate) port: u16,
    made: Arc<AtomicUsize>,
}

impl Tunnel {
    pub(crate) fn start(speech: Speech) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let made = Arc::new(AtomicUsize::new(0));
        let counted = made.clone();
        std::thread::spawn(move || {
            for connection in listener.incoming().flatten() {
                let counted = counted.clone();
                std::thread::spawn(move || serve(connection, speech, &counted));
            }
        });
        Self { port, made }
    }

    /// How many connections it has made.
    pub(crate) fn made(&self) -> usize {
        self.made.load(Ordering::SeqCst)
    }
}

fn serve(mut client: TcpStream, speech: Speech, made: &AtomicUsize) -> io::Result<()> {
    let (place, granted) = match speech {
        Speech::Http => (asked_by_http(&mut client)?, &b"HTTP/1.1 200 OK\r\n\r\n"[..]),
        Speech::Socks => (asked_by_socks(&mut client)?, &[5, 0, 0, 1, 127, 0, 0, 1, 0, 0][..]),
    };
    let mut server = TcpStream::connect(place)?;
    made.fetch_add(1, Ordering::SeqCst);
    client.write_all(granted)?;
    let (mut from_server, mut to_client) = (server.try_clone()?, client.try_clone()?);
    std::thread::spawn(move || {
        let _ = io::copy(&mut from_server, &mut to_client);
        let _ = to_client.shutdown(Shutdown::Write);
    });
    io::copy(&mut client, &mut server)?;
    server.shutdown(Shutdown::Write)
}

fn asked_by_http(client: &mut TcpStream) -> io::Result<String> {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(take::<1>(client)?[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let place = head.strip_prefix("CONNECT ").and_then(|rest| rest.split(' ').next());
    place.map(str::to_owned).ok_or_else(|| io::Error::other(head))
}

fn asked_by_socks(client: &mut TcpStream) -> io::Result<String> {
    let [_, methods] = take::<2>(client)?;
    for _ in 0..methods {
        take::<1>(client)?;
    }
    client.write_all(&[5, 0])?;
    let [_, _, _, kind] = take::<4>(client)?;
    let host = match kind {
        1 => Ipv4Addr::from(take::<4>(client)?).to_string(),
        3 => {
            let length = take::<1>(client)?[0];
            let name: io::Result<Vec<u8>> = (0..length).map(|_| Ok(take::<1>(client)?[0])).collect();
            String::from_utf8_lossy(&name?).into_owned()
        }
        other => return Err(io::Error::other(format!("an address of kind {other}"))),
    };
    Ok(format!("{host}:{}", u16::from_be_bytes(take::<2>(client)?)))
}

fn take<const N: usize>(client: &mut TcpStream) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes)?;
    Ok(bytes)
}
