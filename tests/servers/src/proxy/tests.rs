use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use super::Proxy;

/// A server that says back each line it is told, and tells the test what it was told.
fn echo() -> (u16, Receiver<String>) {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    let (told, hears) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let told = told.clone();
            std::thread::spawn(move || {
                for line in BufReader::new(&stream).lines().map_while(Result::ok) {
                    let _ = told.send(line.clone());
                    let _ = writeln!(&stream, "{line}");
                }
            });
        }
    });
    (port, hears)
}

struct Client(BufReader<TcpStream>);

impl Client {
    fn of(proxy: &Proxy) -> Self {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, proxy.port())).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        Self(BufReader::new(stream))
    }

    fn say(&mut self, line: &str) {
        writeln!(self.0.get_ref(), "{line}").unwrap();
    }

    /// The next line; empty when the connection has ended.
    fn hear(&mut self) -> String {
        let mut line = String::new();
        let _ = self.0.read_line(&mut line);
        line.trim_end().to_owned()
    }
}

const SOON: Duration = Duration::from_secs(10);

#[test]
fn bytes_pass_in_both_directions() {
    let (port, hears) = echo();
    let proxy = Proxy::to(port);
    let mut client = Client::of(&proxy);
    client.say("hello");
    assert_eq!(client.hear(), "hello");
    assert_eq!(hears.recv_timeout(SOON).unwrap(), "hello");
}

#[test]
fn a_request_arrives_and_its_reply_is_lost() {
    let (port, hears) = echo();
    let proxy = Proxy::to(port);
    let (mut first, mut second) = (Client::of(&proxy), Client::of(&proxy));
    proxy.lose_reply_to(b"charge 7");
    first.say("charge 6");
    assert_eq!(first.hear(), "charge 6");
    // The marker may come in two pieces.
    write!(first.0.get_ref(), "char").unwrap();
    first.say("ge 7");
    assert_eq!(first.hear(), "");
    proxy.wait_until_lost(1);
    let told: Vec<_> = std::iter::from_fn(|| hears.recv_timeout(SOON).ok()).take(2).collect();
    assert_eq!(told, ["charge 6", "charge 7"]);
    second.say("charge 7");
    assert_eq!(second.hear(), "charge 7");
}

#[test]
fn cut_connections_end_and_new_ones_are_refused_until_all_is_well() {
    let (port, _hears) = echo();
    let proxy = Proxy::to(port);
    let mut client = Client::of(&proxy);
    client.say("hello");
    assert_eq!(client.hear(), "hello");
    proxy.cut();
    assert_eq!(client.hear(), "");
    assert_eq!(Client::of(&proxy).hear(), "");
    proxy.pass();
    let mut client = Client::of(&proxy);
    client.say("again");
    assert_eq!(client.hear(), "again");
}

#[test]
fn swallowed_bytes_never_arrive_and_their_connection_is_cut_when_all_is_well() {
    let (port, hears) = echo();
    let proxy = Proxy::to(port);
    let mut client = Client::of(&proxy);
    client.say("before");
    assert_eq!(client.hear(), "before");
    proxy.swallow();
    client.say("into the void");
    proxy.wait_until_swallowed(0);
    proxy.pass();
    assert_eq!(client.hear(), "");
    let mut client = Client::of(&proxy);
    client.say("after");
    assert_eq!(client.hear(), "after");
    assert_eq!(hears.try_iter().collect::<Vec<_>>(), ["before", "after"]);
}
