/// What runs a program, which comes as further arguments, with a disk of so many megabytes on `folder`: a file system in memory, mounted
/// where only that program sees it, so that it goes with its process. Users other than root need a system that lets them have such a place.
fn with_small_disk(folder: &Path, megabytes: u32) -> Command {
    let is_root = std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0);
    let mut command = Command::new("unshare");
    command.arg("--mount");
    if !is_root {
        command.args(["--user", "--map-current-user", "--keep-caps"]);
    }
    let owner = if is_root { "chown postgres:postgres \"$folder\" && " } else { "" };
    let script =
        format!("folder=$1; shift; mount -t tmpfs -o size={megabytes}m,mode=0700 none \"$folder\" && {owner}exec \"$@\"");
    command.args(["sh", "-c", &script, "small-disk"]).arg(folder);
    command
}
