//! An API on loopback that makes objects, and says of all of them that they are whatever it is told to say.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

#[derive(Default)]
struct World {
    objects: BTreeMap<String, Value>,
    made: usize,
    status: String,
}

/// The API. Its thread ends with the test.
#[derive(Clone)]
pub(crate) struct Api {
    port: u16,
    world: Arc<Mutex<World>>,
}

impl Api {
    /// Objects have that status.
    pub(crate) fn saying(status: &str) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let world = Arc::new(Mutex::new(World { status: status.to_owned(), ..World::default() }));
        let served = Arc::clone(&world);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let world = Arc::clone(&served);
                std::thread::spawn(move || serve(stream, &world));
            }
        });
        Self { port, world }
    }

    /// From now on objects have that status.
    pub(crate) fn say(&self, status: &str) {
        status.clone_into(&mut self.world.lock().unwrap().status);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// How many objects were ever made.
    pub(crate) fn made(&self) -> usize {
        self.world.lock().unwrap().made
    }

    /// The ids of the objects that there are.
    pub(crate) fn ids(&self) -> Vec<String> {
        self.world.lock().unwrap().objects.keys().cloned().collect()
    }
}

/// Answers one request after the other.
fn serve(stream: TcpStream, world: &Mutex<World>) {
    let mut reader = BufReader::new(stream);
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).is_err() || first.is_empty() {
            return;
        }
        let mut length = 0;
        loop {
            let mut header = String::new();
            reader.read_line(&mut header).unwrap();
            if header.trim().is_empty() {
                break;
            }
            if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let mut words = first.split_whitespace();
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let (status, answer) = answer(&mut world.lock().unwrap(), method, path, &body);
        let text = answer.map(|answer| answer.to_string()).unwrap_or_default();
        let head =
            format!("HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n", text.len());
        if reader.get_mut().write_all(format!("{head}{text}").as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(world: &mut World, method: &str, path: &str, body: &[u8]) -> (&'static str, Option<Value>) {
    let id = path.rsplit('/').next().unwrap_or_default().to_owned();
    let sent = || serde_json::from_slice::<Value>(body).unwrap_or_else(|_| json!({}));
    match method {
        "POST" => {
            world.made += 1;
            let id = format!("{}", world.made);
            let mut object = sent();
            object["id"] = id.as_str().into();
            world.objects.insert(id, object.clone());
            object["status"] = world.status.as_str().into();
            ("201 Created", Some(object))
        }
        "DELETE" => {
            world.objects.remove(&id);
            ("204 No Content", None)
        }
        _ => {
            let Some(object) = world.objects.get_mut(&id) else { return ("404 Not Found", None) };
            if method == "PUT" {
                *object = sent();
                object["id"] = id.as_str().into();
            }
            let mut object = object.clone();
            object["status"] = world.status.as_str().into();
            ("200 OK", Some(object))
        }
    }
}
