//! Names of AIX's error numbers, as in its `<errno.h>`. The list was not checked on an AIX system.

/// Returns the name of an error number, or `None` for numbers without a name, such as 0.
pub(super) fn name(number: u64) -> Option<&'static str> {
    let index = usize::try_from(number).ok()?;
    NAMES
        .iter()
        .find(|(first, names)| (*first..first + names.len()).contains(&index))
        .and_then(|(first, names)| names.get(index - first).copied())
}

/// Names of consecutive error numbers, each list with its first number.
static NAMES: &[(usize, &[&str])] = &[
    (
        1,
        &[
            "EPERM",
            "ENOENT",
            "ESRCH",
            "EINTR",
            "EIO",
            "ENXIO",
            "E2BIG",
            "ENOEXEC",
            "EBADF",
            "ECHILD",
            "EAGAIN",
            "ENOMEM",
            "EACCES",
            "EFAULT",
            "ENOTBLK",
            "EBUSY",
            "EEXIST",
            "EXDEV",
            "ENODEV",
            "ENOTDIR",
            "EISDIR",
            "EINVAL",
            "ENFILE",
            "EMFILE",
            "ENOTTY",
            "ETXTBSY",
            "EFBIG",
            "ENOSPC",
            "ESPIPE",
            "EROFS",
            "EMLINK",
            "EPIPE",
            "EDOM",
            "ERANGE",
            "ENOMSG",
            "EIDRM",
            "ECHRNG",
            "EL2NSYNC",
            "EL3HLT",
            "EL3RST",
            "ELNRNG",
            "EUNATCH",
            "ENOCSI",
            "EL2HLT",
            "EDEADLK",
            "ENOTREADY",
            "EWRPROTECT",
            "EFORMAT",
            "ENOLCK",
            "ENOCONNECT",
        ],
    ),
    (52, &["ESTALE", "EDIST", "EWOULDBLOCK", "EINPROGRESS", "EALREADY", "ENOTSOCK"]),
    (
        58,
        &[
            "EDESTADDRREQ",
            "EMSGSIZE",
            "EPROTOTYPE",
            "ENOPROTOOPT",
            "EPROTONOSUPPORT",
            "ESOCKTNOSUPPORT",
            "EOPNOTSUPP",
            "EPFNOSUPPORT",
            "EAFNOSUPPORT",
            "EADDRINUSE",
            "EADDRNOTAVAIL",
            "ENETDOWN",
            "ENETUNREACH",
            "ENETRESET",
            "ECONNABORTED",
            "ECONNRESET",
            "ENOBUFS",
            "EISCONN",
            "ENOTCONN",
            "ESHUTDOWN",
            "ETIMEDOUT",
            "ECONNREFUSED",
            "EHOSTDOWN",
            "EHOSTUNREACH",
            "ERESTART",
            "EPROCLIM",
            "EUSERS",
            "ELOOP",
            "ENAMETOOLONG",
            "ENOTEMPTY",
            "EDQUOT",
            "ECORRUPT",
            "ESYSERROR",
        ],
    ),
    (93, &["EREMOTE"]),
    (
        109,
        &[
            "ENOSYS",
            "EMEDIA",
            "ESOFT",
            "ENOATTR",
            "ESAD",
            "ENOTRUST",
            "ETOOMANYREFS",
            "EILSEQ",
            "ECANCELED",
            "ENOSR",
            "ETIME",
            "EBADMSG",
            "EPROTO",
            "ENODATA",
            "ENOSTR",
            "ENOTSUP",
            "EMULTIHOP",
            "ENOLINK",
            "EOVERFLOW",
        ],
    ),
];

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn numbers_have_their_names() {
        let known =
            [(1, "EPERM"), (2, "ENOENT"), (22, "EINVAL"), (45, "EDEADLK"), (78, "ETIMEDOUT")];
        for (number, expected) in known {
            assert_eq!(name(number), Some(expected));
        }
        assert_eq!((name(109), name(127)), (Some("ENOSYS"), Some("EOVERFLOW")));
        for number in [0, 51, 91, 108, 128, u64::MAX] {
            assert_eq!(name(number), None, "{number}");
        }
    }
}
