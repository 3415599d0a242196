//! A web server that knows a few answers. It runs until the program ends.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, RwLock};

use anyhow::{Context as _, Result};

/// One answer.
#[derive(Clone, Default)]
pub(super) struct Answer {
    /// Beside those that every answer has.
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Vec<u8>,
}

/// Answers by path.
pub(super) type Answers = Arc<RwLock<BTreeMap<String, Answer>>>;

/// Starts it, and says where.
pub(super) fn start(answers: Answers) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0").context("cannot listen on this machine")?;
    let address = listener.local_addr()?.to_string();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answers = Arc::clone(&answers);
            std::thread::spawn(move || serve(stream, &answers));
        }
    });
    Ok(address)
}

/// Answers one question. Whoever asks notices if that fails.
fn serve(stream: TcpStream, answers: &Answers) -> Option<()> {
    let mut reader = BufReader::new(stream);
    let mut request = String::new();
    reader.read_line(&mut request).ok()?;
    let mut line = String::new();
    while reader.read_line(&mut line).ok()? > 2 {
        line.clear();
    }
    let path = request.split(' ').nth(1)?.split('?').next()?.to_owned();
    let answer = answers.read().ok()?.get(&path).cloned();
    let (status, answer) = match answer {
        Some(answer) => ("200 OK", answer),
        None => ("404 Not Found", Answer::default()),
    };
    let mut head = format!("HTTP/1.1 {status}\r\nConnection: close\r\nContent-Length: {}\r\n", answer.body.len());
    for (name, value) in &answer.headers {
        head.extend([name, ": ", value, "\r\n"]);
    }
    let mut stream = reader.into_inner();
    stream.write_all(format!("{head}\r\n").as_bytes()).ok()?;
    stream.write_all(&answer.body).ok()
}
