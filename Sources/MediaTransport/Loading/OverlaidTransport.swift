import Synchronization

/// A transport that can be replaced while it is in use: an asset that is being downloaded reads stored media through the
/// overlay.
package final class OverlaidTransport: Transport {
    /// The transport without the overlay.
    package let base: any Transport
    private let overlay = Mutex<(any Transport)?>(nil)

    /// Creates a transport without an overlay.
    package init(_ base: any Transport) { self.base = base }

    /// The executor of the transport without the overlay.
    package var executor: (any TaskExecutor)? { base.executor }

    /// Sends all further requests to the given transport, which may use ``base``; `nil` removes the overlay.
    package func setOverlay(_ transport: (any Transport)?) { overlay.withLock { $0 = transport } }

    /// Sends a request; see ``Transport/send(_:)``.
    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        let overlay = overlay.withLock { $0 }
        return try await (overlay ?? base).send(request)
    }
}
