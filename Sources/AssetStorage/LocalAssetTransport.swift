package import Foundation
package import MediaTransport
import ResourceAddressing
import Synchronization

/// A transport for a local path that may be a downloaded package; the first request determines whether it is one.
///
/// The initializer does no I/O.
package final class LocalAssetTransport: Transport {
    private enum State {
        case unknown
        case known(any Transport)
    }

    private let folder: URL
    private let origin: any Transport
    private let files: any Transport
    private let state = Mutex(State.unknown)

    /// Creates a transport for a path.
    ///
    /// - Parameters:
    ///   - folder: The path.
    ///   - origin: The transport for the files of a package that are not stored.
    ///   - files: The transport for all requests if the path is not a package.
    package init(_ folder: URL, origin: any Transport, files: any Transport) {
        self.folder = folder
        self.origin = origin
        self.files = files
    }

    /// The executor of the transport to the origin.
    package var executor: (any TaskExecutor)? { origin.executor }

    /// Sends a request; see `Transport`.
    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        if case .known(let transport) = state.withLock({ $0 }) { return try await transport.send(request) }
        let folder = folder
        let package = try await BlockingOperation.run { PackageTransport.package(at: folder) }
        let transport: any Transport =
            package.map { PackageTransport($0.library, id: $0.id, origin: origin) } ?? files
        // Concurrent first requests get the same result, so it does not matter which one sets the state.
        state.withLock { $0 = .known(transport) }
        return try await transport.send(request)
    }
}
