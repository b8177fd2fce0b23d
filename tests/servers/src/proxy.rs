//! A network that fails on demand: a proxy in front of one server, on threads of its own, that knows nothing of protocols.
//!
//! It passes bytes on until a test says otherwise: it can delay them, swallow them as a half-open connection does, cut all
//! connections, and, worst of all, pass a request on and lose the reply.

mod connection;

use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use connection::Connection;

/// A proxy on a port of its own, in front of a server on loopback. Gone, with its connections, when it is dropped.
#[derive(Debug)]
pub struct Proxy {
    port: u16,
    shared: Arc<Shared>,
    acceptor: Option<JoinHandle<()>>,
}

/// What happens to bytes, in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    /// They arrive.
    Passes,
    /// They arrive so much later. In each direction by itself: a round trip takes twice as long.
    Delays(Duration),
    /// They vanish, and nobody is told: connections look open.
    Swallows,
    /// Connections are closed as soon as they are made.
    Refuses,
}

/// Requests whose replies are to be lost.
#[derive(Debug)]
struct Loss {
    marker: Vec<u8>,
    left: usize,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Told about all that was lost.
    losses: Condvar,
}

#[derive(Debug)]
struct State {
    server: SocketAddr,
    network: Network,
    loss: Option<Loss>,
    lost: usize,
    swallowed: usize,
    accepted: usize,
    connections: HashMap<usize, Arc<Connection>>,
    closed: bool,
}

impl Proxy {
    /// A proxy in front of what listens on `port` of 127.0.0.1.
    ///
    /// # Panics
    /// If there is no port left to listen on.
    pub fn to(port: u16) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let own = listener.local_addr().expect("a bound socket has an address").port();
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                server: (Ipv4Addr::LOCALHOST, port).into(),
                network: Network::Passes,
                loss: None,
                lost: 0,
                swallowed: 0,
                accepted: 0,
                connections: HashMap::new(),
                closed: false,
            }),
            losses: Condvar::new(),
        });
        let acceptor = std::thread::spawn({
            let shared = shared.clone();
            move || shared.accept(&listener)
        });
        Self { port: own, shared, acceptor: Some(acceptor) }
    }

    /// The port of 127.0.0.1 that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Passes new connections on to another server. Those that are open stay where they are.
    pub fn redirect(&self, port: u16) {
        self.shared.lock().server = (Ipv4Addr::LOCALHOST, port).into();
    }

    /// All is well again. Connections that lost bytes are cut: what would go on in them is no protocol.
    pub fn pass(&self) {
        let mut state = self.shared.lock();
        state.network = Network::Passes;
        state.loss = None;
        state.close(Connection::has_lost_bytes);
    }

    /// All is well for connections that are made from now on. Those that are open go on losing everything, as they do when a machine is
    /// gone and another has its address.
    pub fn pass_new(&self) {
        let mut state = self.shared.lock();
        state.network = Network::Passes;
        state.connections.values().for_each(|connection| connection.lose_bytes());
    }

    /// Holds bytes up for so long, in each direction.
    pub fn delay(&self, by: Duration) {
        self.shared.lock().network = Network::Delays(by);
    }

    /// Loses all bytes in both directions, and leaves connections open, as a dead network or a paused machine does.
    pub fn swallow(&self) {
        self.shared.lock().network = Network::Swallows;
    }

    /// Closes all connections, and each new one as soon as it is made.
    pub fn cut(&self) {
        let mut state = self.shared.lock();
        state.network = Network::Refuses;
        state.close(|_| true);
    }

    /// Closes all connections, and accepts new ones.
    pub fn cut_once(&self) {
        self.shared.lock().close(|_| true);
    }

    /// Passes on the next request that contains `marker` (any request, if it is empty), then loses all that the server says on
    /// that connection, and closes it to the client.
    pub fn lose_reply_to(&self, marker: &[u8]) {
        self.lose_replies_to(marker, 1);
    }

    /// The same, for the next `times` such requests.
    pub fn lose_replies_to(&self, marker: &[u8], times: usize) {
        self.shared.lock().loss = Some(Loss { marker: marker.to_vec(), left: times });
    }

    /// How many replies were lost on demand.
    pub fn lost(&self) -> usize {
        self.shared.lock().lost
    }

    /// Waits until so many replies were lost in all.
    ///
    /// # Panics
    /// If that takes more than ten seconds.
    pub fn wait_until_lost(&self, replies: usize) {
        self.wait_until(|state| state.lost >= replies);
    }

    /// How many bytes were swallowed.
    pub fn swallowed(&self) -> usize {
        self.shared.lock().swallowed
    }

    /// Waits until more than so many bytes were swallowed in all.
    ///
    /// # Panics
    /// If that takes more than ten seconds.
    pub fn wait_until_swallowed(&self, bytes: usize) {
        self.wait_until(|state| state.swallowed > bytes);
    }

    fn wait_until(&self, is_so: impl Fn(&State) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(10);
        let mut state = self.shared.lock();
        while !is_so(&state) {
            let left = deadline.saturating_duration_since(Instant::now());
            let (lost, swallowed) = (state.lost, state.swallowed);
            assert!(!left.is_zero(), "ten seconds: {lost} replies were lost, {swallowed} bytes swallowed");
            state = self.shared.losses.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// How many connections were made so far.
    pub fn accepted(&self) -> usize {
        self.shared.lock().accepted
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        let mut state = self.shared.lock();
        state.closed = true;
        state.close(|_| true);
        drop(state);
        // Wakes the acceptor.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
        if let Some(acceptor) = self.acceptor.take() {
            let _ = acceptor.join();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: &Arc<Self>, listener: &TcpListener) {
        for client in listener.incoming() {
            let Ok(client) = client else { continue };
            let mut state = self.lock();
            if state.closed {
                return;
            }
            state.accepted += 1;
            if state.network == Network::Refuses {
                continue;
            }
            let (number, server) = (state.accepted, state.server);
            drop(state);
            // A server that is not there looks to the client as it does without a proxy: the connection ends.
            let Ok(server) = TcpStream::connect(server) else { continue };
            let Ok(connection) = Connection::new(client, server) else { continue };
            let connection = Arc::new(connection);
            let mut state = self.lock();
            if state.closed || state.network == Network::Refuses {
                connection.close();
                continue;
            }
            state.connections.insert(number, connection.clone());
            drop(state);
            connection::pump(self, number, &connection);
        }
    }

    /// What happens to bytes now.
    fn network(&self) -> Network {
        self.lock().network
    }

    /// Whether the reply to what contains `seen` is to be lost; counts it if so.
    fn loses(&self, seen: &[u8]) -> bool {
        let mut state = self.lock();
        let Some(loss) = state.loss.as_mut().filter(|loss| loss.left > 0 && contains(seen, &loss.marker))
        else {
            return false;
        };
        loss.left -= 1;
        true
    }

    /// How many bytes of a request to look at again with the next ones, as a marker may lie across two readings.
    fn overlap(&self) -> usize {
        self.lock().loss.as_ref().map_or(0, |loss| loss.marker.len().saturating_sub(1))
    }

    fn count_loss(&self) {
        self.lock().lost += 1;
        self.losses.notify_all();
    }

    fn count_swallowed(&self, bytes: usize) {
        self.lock().swallowed += bytes;
        self.losses.notify_all();
    }

    fn forget(&self, number: usize) {
        self.lock().connections.remove(&number);
    }
}

impl State {
    fn close(&mut self, which: impl Fn(&Connection) -> bool) {
        self.connections
            .values()
            .filter(|connection| which(connection))
            .for_each(|connection| connection.close());
    }
}

fn contains(seen: &[u8], marker: &[u8]) -> bool {
    marker.is_empty() || seen.windows(marker.len()).any(|part| part == marker)
}

#[cfg(test)]
mod tests;
