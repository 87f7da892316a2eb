import NIOCore

#if os(Linux)
extension Channel {
    /// Returns whether written bytes have not been acknowledged by the peer; `false` if the system does not provide the
    /// information.
    ///
    /// `getTCPInfo()` uses the shorter structure of the C library, which lacks the bytes that wait for the receive
    /// window.
    func hasUndeliveredBytes() -> EventLoopFuture<Bool> {
        guard let socket = self as? any SocketOptionProvider else { return eventLoop.makeSucceededFuture(false) }
        // Safe: the kernel writes as much of its `tcp_info` as fits, and the rest is initialized with zeros.
        let info: EventLoopFuture<InlineArray<37, UInt32>> = socket.unsafeGetSocketOption(
            level: .tcp,
            name: .tcp_info
        )
        // `tcpi_unacked` is at byte offset 24 and `tcpi_notsent_bytes` at byte offset 144 (linux/tcp.h).
        return info.map { $0[6] > 0 || $0[36] > 0 }.recover { _ in false }
    }
}
#endif
