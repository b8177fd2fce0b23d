//! The same of sqlx's SQLite, on the same files.

mod both;
mod cancelled;
#[path = "any_sqlx/handlers.rs"]
pub(crate) mod handlers;
mod leases;
#[macro_use]
#[path = "any_sqlx/promises.rs"]
mod promises;
mod races;
pub(crate) mod scene;
mod schema;
mod trouble;

macro_rules! promised {
    ($($name:ident($($store:ident)?))*) => {$(
        #[test]
        fn $name() {
            let scene = scene::Scene::new();
            $(let $store = scene.file.store();)?
            run(promises::$name(&scene $(, &$store)?));
        }
    )*};
}

each_promise!(promised);

pub(crate) fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(test)
}
