/// Where `program` may be: the folders of `PATH`, and where Debian keeps servers that are not meant to be on it.
fn places(program: &str) -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut folders: Vec<PathBuf> = env::split_paths(&path).collect();
    let mut versions: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .collect();
    versions.sort();
    folders.extend(versions.into_iter().rev());
    folders.into_iter().map(move |folder| folder.join(program))
}
