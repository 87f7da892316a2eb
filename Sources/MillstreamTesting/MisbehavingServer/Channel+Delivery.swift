import NIOCore

#if os(Linux)
extension Channel {
    /// Whether bytes that were written are not at the other side yet; `false` where the system does not tell.
    ///
    /// `getTCPInfo()` has the C library's shorter structure, which lacks what was not sent for want of a window.
    func hasUndeliveredBytes() -> EventLoopFuture<Bool> {
        guard let socket = self as? any SocketOptionProvider else { return eventLoop.makeSucceededFuture(false) }
        // Safe: the kernel fills in as much of its `tcp_info` as fits, and the rest was zero before.
        let info: EventLoopFuture<InlineArray<37, UInt32>> = socket.unsafeGetSocketOption(
            level: .tcp,
            name: .tcp_info
        )
        // `tcpi_unacked` is at byte 24 and `tcpi_notsent_bytes` at byte 144 (linux/tcp.h).
        return info.map { $0[6] > 0 || $0[36] > 0 }.recover { _ in false }
    }
}
#endif
