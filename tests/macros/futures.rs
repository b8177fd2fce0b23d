//! Futures: drop order, size, `Send`, panics.

/// Drop order of arguments, async.
mod drop_order_async {
    use crate::{Error, idempotent};
    use std::sync::{Arc, Mutex};
    pub struct D(&'static str, Arc<Mutex<Vec<&'static str>>>);
    impl Drop for D {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0)
        }
    }
    #[idempotent(key = "msg:<id>")]
    async fn marked(id: u64, a: D, _b: D, _: D, d: D) -> Result<(), Error> {
        let l = D("local", d.1.clone());
        let _ = (&a, &l);
        Ok(())
    }
    async fn plain(id: u64, a: D, _b: D, _: D, d: D) -> Result<(), Error> {
        let _ = id;
        let l = D("local", d.1.clone());
        let _ = (&a, &l);
        Ok(())
    }
    #[test]
    fn arguments_drop_as_in_the_plain_function() {
        crate::install_store();
        let (x, y) = (Arc::new(Mutex::new(vec![])), Arc::new(Mutex::new(vec![])));
        let d = |n, l: &Arc<Mutex<Vec<&'static str>>>| D(n, l.clone());
        futures::executor::block_on(plain(1, d("a", &x), d("b", &x), d("c", &x), d("d", &x))).unwrap();
        futures::executor::block_on(marked(1, d("a", &y), d("b", &y), d("c", &y), d("d", &y))).unwrap();
        assert_eq!(*x.lock().unwrap(), *y.lock().unwrap());
    }
}

/// Drop order of arguments, sync.
mod drop_order_sync {
    use crate::{Error, idempotent};
    use std::sync::{Arc, Mutex};
    pub struct D(&'static str, Arc<Mutex<Vec<&'static str>>>);
    impl Drop for D {
        fn drop(&mut self) {
            self.1.lock().unwrap().push(self.0)
        }
    }
    #[idempotent(key = "msg:<id>")]
    fn marked(id: u64, a: D, _b: D, _: D, d: D) -> Result<(), Error> {
        let l = D("local", d.1.clone());
        let _ = (&a, &l);
        Ok(())
    }
    fn plain(id: u64, a: D, _b: D, _: D, d: D) -> Result<(), Error> {
        let _ = id;
        let l = D("local", d.1.clone());
        let _ = (&a, &l);
        Ok(())
    }
    #[test]
    fn arguments_drop_as_in_the_plain_function() {
        crate::install_store();
        let (x, y) = (Arc::new(Mutex::new(vec![])), Arc::new(Mutex::new(vec![])));
        let d = |n, l: &Arc<Mutex<Vec<&'static str>>>| D(n, l.clone());
        plain(1, d("a", &x), d("b", &x), d("c", &x), d("d", &x)).unwrap();
        marked(1, d("a", &y), d("b", &y), d("c", &y), d("d", &y)).unwrap();
        assert_eq!(*x.lock().unwrap(), *y.lock().unwrap());
    }
}

/// Nothing happens before the first poll.
mod nothing_before_the_first_poll {
    use crate::{Error, idempotent};
    use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
    static KEYS: AtomicU32 = AtomicU32::new(0);
    pub struct Id;
    impl idem::KeyPart for Id {
        fn write(&self, out: &mut idem::KeyWriter<'_>) {
            out.text(&self.to_string())
        }
    }
    impl std::fmt::Display for Id {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            KEYS.fetch_add(1, SeqCst);
            f.write_str("x")
        }
    }
    #[idempotent(key = "msg:<id>")]
    async fn f(id: Id) -> Result<u32, Error> {
        let _ = id;
        Ok(1)
    }
    #[test]
    fn making_the_future_derives_no_key() {
        crate::install_store();
        let fut = f(Id);
        assert_eq!(KEYS.load(SeqCst), 0);
        drop(fut);
        assert_eq!(KEYS.load(SeqCst), 0);
        futures::executor::block_on(f(Id)).unwrap();
        assert_eq!(KEYS.load(SeqCst), 1);
    }
}

/// `Send` futures stay `Send`.
mod send_stays_send {
    use crate::{Error, Message, idempotent};
    fn need<T: Send>(_: T) {}
    pub struct H {
        t: String,
    }
    impl H {
        #[idempotent(scope = "send_stays_send.1", key = "k:<self.t>:<message.id>")]
        pub async fn a(&self, message: Message, note: &str) -> Result<u64, Error> {
            tokio::task::yield_now().await;
            Ok(message.amount + note.len() as u64 + self.t.len() as u64)
        }
    }
    #[idempotent(scope = "send_stays_send.2", key = "msg:<message.id>")]
    pub async fn g<F: Fn(u64) -> u64 + Send>(message: Message, f: F) -> Result<u64, Error> {
        tokio::task::yield_now().await;
        Ok(f(message.amount))
    }
    pub fn go(h: &H, m: Message) {
        need(h.a(m.clone(), "x"));
        need(g(m, |n| n));
    }
}

/// An argument that is `Send` but not `Sync`.
mod send_but_not_sync {
    use crate::{Error, Message, idempotent};
    fn need<T: Send>(_: T) {}
    #[idempotent(key = "msg:<message.id>")]
    pub async fn f(
        message: Message,
        rx: std::sync::mpsc::Receiver<u64>,
        cell: std::cell::Cell<u64>,
    ) -> Result<u64, Error> {
        tokio::task::yield_now().await;
        cell.set(1);
        Ok(message.amount + rx.try_recv().unwrap_or(0) + cell.get())
    }
    pub fn go(m: Message) {
        let (_t, rx) = std::sync::mpsc::channel();
        need(f(m, rx, std::cell::Cell::new(0)));
    }
}

/// `!Send` bodies are allowed where the plain function is.
mod not_send {
    use crate::{Error, idempotent};
    use std::rc::Rc;
    #[idempotent(key = "msg:<n>")]
    pub async fn f(n: Rc<u64>) -> Result<u64, Error> {
        let r = n.clone();
        std::future::ready(()).await;
        Ok(*r)
    }
    #[test]
    fn a_body_need_not_be_send() {
        crate::install_store();
        assert_eq!(futures::executor::block_on(f(Rc::new(4))).unwrap(), 4);
    }
}

/// Size of the future.
mod size {
    use crate::{Error, idempotent};
    async fn tick() {}
    pub async fn plain(n: u64, big: [u8; 8192]) -> Result<u64, Error> {
        tick().await;
        Ok(n + u64::from(big[0]))
    }
    #[idempotent(key = "msg:<n>")]
    pub async fn marked(n: u64, big: [u8; 8192]) -> Result<u64, Error> {
        tick().await;
        Ok(n + u64::from(big[0]))
    }
    #[test]
    fn the_future_grows_by_at_most_512_bytes() {
        crate::install_store();
        let (p, m) =
            (std::mem::size_of_val(&plain(1, [0; 8192])), std::mem::size_of_val(&marked(1, [0; 8192])));
        assert!(m <= p + 512, "plain={} marked={}", p, m);
    }

    pub struct H(idem::MemoryStore);
    impl H {
        pub async fn plain(&self, n: u64, big: [u8; 8192]) -> Result<u64, Error> {
            tick().await;
            Ok(n + u64::from(big[0]))
        }
        #[idempotent(
            key = ["evt:<n>", "msg:<n>"],
            store = self.0,
            scope = "size.1",
            scope_was = ["size.2"],
            payload(n),
            ttl = "1d",
            on_duplicate = wait("5s"),
            max_tries = 9
        )]
        pub async fn marked(
            &self,
            n: u64,
            big: [u8; 8192],
            #[key] key: &idem::Key,
            #[attempt] attempt: &idem::Attempt,
        ) -> Result<u64, Error> {
            tick().await;
            let _ = (key.as_str(), attempt.fence());
            Ok(n + u64::from(big[0]))
        }
    }
    #[test]
    fn options_and_further_arguments_make_it_no_larger() {
        let h = H(idem::MemoryStore::new());
        let (p, m) =
            (std::mem::size_of_val(&h.plain(1, [0; 8192])), std::mem::size_of_val(&h.marked(1, [0; 8192])));
        assert!(m <= p + 512, "plain={} marked={}", p, m);
    }
}

/// Depth of nested handlers.
mod fifteen_nested {
    use crate::{Error, Message, idempotent};
    macro_rules! chain {
        ($a:ident, $b:ident) => {
            #[idempotent(key = "msg:<message.id>")]
            pub async fn $a(message: Message) -> Result<u64, Error> {
                $b(message).await
            }
        };
    }
    #[idempotent(key = "msg:<message.id>")]
    pub async fn f0(message: Message) -> Result<u64, Error> {
        tokio::task::yield_now().await;
        Ok(message.amount)
    }
    chain!(f1, f0);
    chain!(f2, f1);
    chain!(f3, f2);
    chain!(f4, f3);
    chain!(f5, f4);
    chain!(f6, f5);
    chain!(f7, f6);
    chain!(f8, f7);
    chain!(f9, f8);
    chain!(f10, f9);
    chain!(f11, f10);
    chain!(f12, f11);
    chain!(f13, f12);
    chain!(f14, f13);
    chain!(f15, f14);
    pub fn go(m: Message) {
        fn need<T: Send>(_: T) {}
        need(f15(m));
    }
}

/// Panic in the body.
mod panic {
    use crate::{Error, Message, idempotent};
    #[idempotent(key = "msg:<message.id>")]
    pub fn f(message: Message) -> Result<u64, Error> {
        if message.amount == 0 {
            panic!("boom")
        }
        Ok(message.amount)
    }
    #[test]
    fn a_panic_reaches_the_caller_and_the_next_call_runs() {
        static SEEN: std::sync::Mutex<Option<String>> = std::sync::Mutex::new(None);
        crate::install_store();
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if info.payload().downcast_ref() == Some(&"boom") {
                *SEEN.lock().unwrap() = info.location().map(|location| location.file().to_owned());
            } else {
                before(info);
            }
        }));
        assert!(std::panic::catch_unwind(|| f(Message { id: "a".into(), amount: 0 })).is_err());
        assert_eq!(SEEN.lock().unwrap().as_deref(), Some(file!()));
        assert_eq!(f(Message { id: "a".into(), amount: 2 }).unwrap(), 2);
    }
}

/// The future is dropped while the body runs.
mod dropped_while_running {
    use crate::{Error, idempotent};
    use futures::FutureExt;
    #[idempotent(key = "msg:<n>")]
    pub async fn f(n: u64, wait: bool) -> Result<u64, Error> {
        if wait {
            std::future::pending::<()>().await
        }
        Ok(n)
    }
    #[test]
    fn a_dropped_future_is_not_recorded() {
        crate::install_store();
        assert!(f(1, true).now_or_never().is_none());
        assert_eq!(f(1, false).now_or_never().unwrap().unwrap(), 1);
    }
}

/// Backtraces.
mod backtrace {
    use crate::{Error, idempotent};
    #[idempotent(key = "msg:<n>")]
    #[inline(never)]
    pub fn handler(n: u64) -> Result<String, Error> {
        Ok(std::backtrace::Backtrace::force_capture().to_string())
    }
    #[test]
    fn few_frames_are_ours() {
        crate::install_store();
        let trace = handler(1).unwrap();
        assert!(trace.contains("backtrace::handler"), "{}", trace);
        let ours = trace.lines().filter(|line| line.contains("idem_core::")).count();
        assert!(ours <= 1, "{}", trace);
    }
}

/// Sync handler called inside an async runtime.
mod sync_inside_a_runtime {
    use crate::{Error, idempotent};
    #[idempotent(key = "msg:<n>")]
    pub fn f(n: u64) -> Result<u64, Error> {
        Ok(n)
    }
    #[test]
    fn a_plain_function_works_within_a_runtime() {
        crate::install_store();
        tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
            assert_eq!(f(1).unwrap(), 1);
        });
    }
}
