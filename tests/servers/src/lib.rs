//! Private servers on loopback, for the tests and benches of idem's stores, and a network in front of them that fails on demand.
//!
//! Each server has a folder of its own and free ports, and is stopped, by its process id, when its value is dropped. Tests of
//! servers that are not on this machine are `#[ignore]`d by the `cfg`s that `build.rs` sets; with `IDEM_REQUIRE_SERVERS=1` they fail.

mod disk;
mod folder;
mod pgbouncer;
mod port;
mod postgres;
mod process;
mod program;
mod proxy;
mod redis;
mod warden;

pub use disk::Disk;
pub use folder::Folder;
pub use pgbouncer::PgBouncer;
pub use port::free_port;
pub use postgres::PostgresServer;
pub use process::Process;
pub use program::program;
pub use proxy::Proxy;
pub use redis::{DURABLE, RedisClient, RedisCluster, RedisSentinels, RedisServer, wait_until};
