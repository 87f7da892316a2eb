import Foundation
import MediaTransport
import ReportFormat
import ResourceAddressing
import Synchronization

/// The scheme of a source without one: `https`, and `http` only if no encrypted connection is possible.
enum AssumedScheme {
    /// Returns the `https` address of a source without a scheme, such as `example.com/a.m3u8` or
    /// `localhost:8080/a.m3u8`; `nil` if the source has a scheme, or is the name of a file.
    static func address(_ text: String) -> ResourceAddress? {
        guard !text.contains("://"), !FileManager.default.fileExists(atPath: text) else { return nil }
        let authority = text.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        let address = ResourceAddress("https://" + text)
        guard address.isHTTP, let host = address.host, !text.contains(where: \.isWhitespace), !text.contains("\\")
        else {
            return nil
        }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        let isName = labels.count > 1 && !labels.contains(where: \.isEmpty)
        guard isName || host == "localhost" || host.contains(":") else { return nil }
        // A name without a port and a path is more likely that of a file, such as `film.mp4`.
        let hasPort = ResourceAddress("x://" + authority).port != nil
        return authority.count < text.count || hasPort ? address : nil
    }

    /// A transport that loads the resources of some origins over `http` if `https` cannot connect to them.
    final class Fallback: Transport {
        private let base: any Transport
        private let origins: [HeaderFieldScope]
        /// The origins to which `https` cannot connect, as the `https` addresses without a path.
        private let plainOrigins = Mutex<Set<String>>([])

        /// Creates a transport.
        ///
        /// - Parameters:
        ///   - base: The transport that sends the requests.
        ///   - addresses: The addresses whose scheme was assumed; `http` is used only for their origins.
        init(_ base: any Transport, for addresses: [ResourceAddress]) {
            self.base = base
            origins = addresses.compactMap { HeaderFieldScope(originOf: $0) }
        }

        var executor: (any TaskExecutor)? { base.executor }

        func send(_ request: TransportRequest) async throws -> TransportResponse {
            guard let scope = origins.first(where: { $0.contains(request.address) }) else {
                return try await base.send(request)
            }
            if plainOrigins.withLock({ $0.contains("\(scope)") }) { return try await base.send(Self.plain(request)) }
            do {
                return try await base.send(request)
            } catch let error as TransportError where error.code == .cannotConnect {
                guard let response = try? await base.send(Self.plain(request)) else { throw error }
                plainOrigins.withLock { _ = $0.insert("\(scope)") }
                StandardError.write(
                    "note: \(scope) does not accept encrypted connections; http is used instead of https\n"
                )
                return response
            }
        }

        private static func plain(_ request: TransportRequest) -> TransportRequest {
            var request = request
            request.address = ResourceAddress("http" + request.address.text.dropFirst("https".count))
            return request
        }
    }
}
