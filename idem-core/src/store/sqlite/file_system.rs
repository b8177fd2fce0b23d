//! On which file system a path lies: write-ahead logging needs memory shared by all processes, which no network gives.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The type of the network file system that `path` lies on, if it does. `path` must be absolute and free of links.
///
/// Known on Linux only; elsewhere the answer is always `None`.
pub(super) fn network(path: &Path) -> Option<String> {
    let table = std::fs::read("/proc/self/mountinfo").ok()?;
    mounted_type(&String::from_utf8_lossy(&table), path).filter(|kind| is_network(kind))
}

/// The file system type of the longest mount point above `path`; of two mounts at one point, the later hides the earlier.
fn mounted_type(mountinfo: &str, path: &Path) -> Option<String> {
    mountinfo
        .lines()
        .filter_map(mount)
        .filter(|(point, _)| path.starts_with(point))
        .max_by_key(|(point, _)| point.components().count())
        .map(|(_, kind)| kind.to_owned())
}

/// The mount point and the type in one line of `mountinfo`: `36 35 98:0 /root /point options optional… - type source options`.
fn mount(line: &str) -> Option<(PathBuf, &str)> {
    let (mount, file_system) = line.split_once(" - ")?;
    let point = mount.split(' ').nth(4)?;
    let kind = file_system.split(' ').next()?;
    Some((PathBuf::from(unescape(point)), kind))
}

/// The kernel writes space, tab, line feed and backslash as three octal digits.
fn unescape(text: &str) -> OsString {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        let digits =
            tail.get(..3).filter(|_| first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(byte);
            rest = &tail[3..];
        } else {
            bytes.push(first);
            rest = tail;
        }
    }
    OsString::from(String::from_utf8_lossy(&bytes).into_owned())
}

/// Whether other hosts can write to file systems of this type, or only the server keeps their locks.
fn is_network(kind: &str) -> bool {
    // `fuse.sshfs` and the like name the program that serves them.
    let kind = kind.strip_prefix("fuse.").unwrap_or(kind);
    NETWORK.contains(&kind) || kind.starts_with("nfs") || kind.starts_with("smb")
}

const NETWORK: &[&str] = &[
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "coda",
    "davfs",
    "davfs2",
    "gcsfuse",
    "gfs2",
    "glusterfs",
    "goofys",
    "gpfs",
    "juicefs",
    "kafs",
    "lizardfs",
    "lustre",
    "mfs",
    "mount-s3",
    "ncpfs",
    "ocfs2",
    "orangefs",
    "panfs",
    "pvfs2",
    "rclone",
    "s3fs",
    "seaweedfs",
    "sshfs",
    "wekafs",
];

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "\
22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw
30 22 0:40 / /srv rw shared:2 master:1 - nfs4 server:/export rw,vers=4.2
31 30 254:1 / /srv/local rw - xfs /dev/vdb rw
32 22 0:50 / /mnt/my\\040share rw - cifs //host/share rw
33 22 0:51 / /mnt/remote rw - fuse.sshfs user@host: rw
34 22 0:52 / /tmp rw - nfs server:/tmp rw
35 22 0:53 / /tmp rw - tmpfs tmpfs rw
";

    fn refused(path: &str) -> Option<String> {
        mounted_type(TABLE, Path::new(path)).filter(|kind| is_network(kind))
    }

    #[test]
    fn a_file_on_a_network_mount_is_recognised() {
        assert_eq!(refused("/srv/idem.db").as_deref(), Some("nfs4"));
        assert_eq!(refused("/mnt/remote/a/b.db").as_deref(), Some("fuse.sshfs"));
    }

    #[test]
    fn a_space_in_a_mount_point_is_read() {
        assert_eq!(refused("/mnt/my share/idem.db").as_deref(), Some("cifs"));
    }

    #[test]
    fn the_longest_mount_point_decides() {
        assert_eq!(refused("/srv/local/idem.db"), None);
    }

    #[test]
    fn mount_points_end_at_a_slash() {
        assert_eq!(refused("/srv2/idem.db"), None);
    }

    #[test]
    fn the_later_of_two_mounts_at_one_point_decides() {
        assert_eq!(refused("/tmp/idem.db"), None);
    }

    #[test]
    fn local_types_are_not_refused() {
        for kind in ["ext4", "xfs", "btrfs", "tmpfs", "overlay", "zfs", "apfs", "fuse.ntfs-3g", "fuseblk"] {
            assert!(!is_network(kind), "{kind}");
        }
        for kind in ["nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "ceph", "fuse.glusterfs", "lustre", "afs"]
        {
            assert!(is_network(kind), "{kind}");
        }
    }
}
