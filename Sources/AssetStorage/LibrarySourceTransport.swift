package import Foundation
package import MediaTransport
package import ResourceAddressing
import Synchronization

/// A transport that reads from the disk what a library has stored of a source, and loads everything else from the
/// origin.
///
/// The first request determines whether the library has a download of the source. If it has none, each later request
/// for the source itself looks again, since the source may have been downloaded in the meantime.
///
/// The initializer does no I/O. The library is opened for reading only.
package final class LibrarySourceTransport: Transport {
    private enum State {
        /// There has been no request.
        case unknown
        /// The library had no download of the source.
        case absent
        case known(AssetTransport)
    }

    private let directory: URL
    private let source: ResourceAddress
    private let origin: any Transport
    private let state = Mutex(State.unknown)

    /// Creates a transport for a source.
    ///
    /// - Parameters:
    ///   - directory: The directory of the library, which need not exist.
    ///   - source: The URL of the source.
    ///   - origin: The transport for what is not stored.
    package init(_ directory: URL, source: ResourceAddress, origin: any Transport) {
        self.directory = directory
        self.source = source
        self.origin = origin
    }

    /// The executor of the transport to the origin.
    package var executor: (any TaskExecutor)? { origin.executor }

    /// Sends a request; see `Transport`.
    package func send(_ request: TransportRequest) async throws -> TransportResponse {
        switch state.withLock({ $0 }) {
        case .known(let transport): return try await transport.send(request)
        case .absent where request.address != source: return try await origin.send(request)
        case .absent, .unknown: break
        }
        let (directory, source) = (directory, source)
        let found = try await BlockingOperation.run { AssetLibrary.sharableAsset(source: source, at: directory) }
        let stored = found.map { AssetTransport($0.library, id: $0.id, origin: origin) }
        state.withLock { state in
            if let stored {
                state = .known(stored)
            } else if case .unknown = state {
                // A concurrent request may have found a download.
                state = .absent
            }
        }
        guard let stored else { return try await origin.send(request) }
        return try await stored.send(request)
    }
}

extension AssetLibrary {
    /// Returns the library in a directory, opened for reading only, and the identifier of its asset with a source URL.
    ///
    /// - Parameters:
    ///   - source: The URL of the source.
    ///   - directory: The directory of the library.
    /// - Returns: The library and the identifier; `nil` if there is no library, or if it has no download of the
    ///   source with the playlists of the origin, which edited and recorded assets do not have.
    package static func sharableAsset(
        source: ResourceAddress,
        at directory: URL
    ) -> (library: AssetLibrary, id: String)? {
        guard let library = try? AssetLibrary(reading: directory),
            let found = try? library.sharableAsset(source: source)
        else { return nil }
        return (library, found.asset.id)
    }
}
