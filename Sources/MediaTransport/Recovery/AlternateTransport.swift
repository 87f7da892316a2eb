public import MediaTiming
import NIOCore
public import ResourceAddressing
import Synchronization

/// A transport that sends a request to another origin with the same resources if one fails.
///
/// An origin that does not respond, or reports that it is unavailable, is tried last for half a minute. A resource that an
/// origin does not have is requested from the others as well.
public final class AlternateTransport: Transport {
    private let base: any Transport
    private let groups: [[String]]
    private let time: any TimeSource
    private let failures = Mutex<[String: Duration]>([:])

    /// The time for which an origin is tried last after a failure.
    private static let exclusion = Duration.seconds(30)

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The transport that sends the requests.
    ///   - groups: Groups of URLs of folders that have the same contents, in order of preference.
    ///   - time: The clock.
    public init(_ base: any Transport, groups: [[ResourceAddress]], time: any TimeSource = SystemTimeSource()) {
        self.base = base
        self.groups = groups.map { group in
            group.map { address in
                let whole = address.text.prefix { $0 != "?" && $0 != "#" }
                guard !address.path.isEmpty, let slash = whole.lastIndex(of: "/") else { return "\(whole)/" }
                return String(whole[...slash])
            }
        }
        self.time = time
    }

    /// The executor of the underlying transport; see ``Transport/executor``.
    public var executor: (any TaskExecutor)? { base.executor }

    /// Sends a request; see ``Transport/send(_:)``.
    ///
    /// The response has the URL of the request, whichever origin it is from, unless that origin redirects.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard let location = location(of: request.address) else { return try await base.send(request) }
        // What is missing at one origin may be at another one that fails for a moment.
        var errors: [TransportError] = []
        for folder in ordered(location.folders) {
            var attempt = request
            attempt.address = ResourceAddress(folder + location.rest)
            // Header fields of the request are for its own origin.
            if folder != location.own { attempt.headers.removeAll { $0.name.lowercased() != "range" } }
            do {
                let response = try await base.send(attempt)
                failures.withLock { _ = $0.removeValue(forKey: folder) }
                return observed(response, folder).at(
                    response.address == attempt.address ? request.address : response.address
                )
            } catch let error as TransportError where Self.category(of: error, request.kind) != nil {
                if Self.category(of: error, request.kind) != .missing { recordFailure(folder) }
                errors.append(error)
            }
        }
        throw errors.first { Self.category(of: $0, request.kind) != .missing } ?? errors.first
            ?? TransportError(.cannotConnect, "no origin responds", address: request.address)
    }

    /// Returns the URL of a resource at the preferred origin that responds, for clients that are redirected to it.
    public func preferredAddress(for address: ResourceAddress) -> ResourceAddress {
        guard let location = location(of: address), let folder = ordered(location.folders).first else { return address }
        return ResourceAddress(folder + location.rest)
    }

    /// Returns the category of a failure after which another origin is tried; `nil` for other failures.
    private static func category(of error: TransportError, _ kind: TransportRequest.Kind) -> FailureCategory? {
        let category = error.category(of: kind)
        switch (error.code, category) {
        case (_, .unreachable), (_, .busy): return category
        case (.status, .missing) where error.status == 404 || error.status == 410: return .missing
        default: return nil
        }
    }

    private struct Location {
        let folders: [String]
        let own: String
        let rest: Substring
    }

    private func location(of address: ResourceAddress) -> Location? {
        for group in groups {
            guard let own = group.first(where: { address.text.hasPrefix($0) }) else { continue }
            return Location(folders: group, own: own, rest: address.text.dropFirst(own.count))
        }
        return nil
    }

    /// Returns the origins, those that have failed recently last.
    private func ordered(_ folders: [String]) -> [String] {
        let now = time.now
        let failed = failures.withLock { failures in
            failures = failures.filter { now - $0.value < Self.exclusion }
            return failures
        }
        return folders.filter { failed[$0] == nil }
            + folders.filter { failed[$0] != nil }.sorted { failed[$0] ?? .zero < failed[$1] ?? .zero }
    }

    private func recordFailure(_ folder: String) { failures.withLock { $0[folder] = time.now } }

    /// Returns a response whose origin is tried last once the body fails.
    private func observed(_ response: TransportResponse, _ folder: String) -> TransportResponse {
        response.replacingBody(
            with: TransportBody(
                ObservedBuffers(body: response.body, length: response.expectedLength) { [weak self] in
                    self?.recordFailure(folder)
                }
            )
        )
    }
}

/// Buffers that report whether they end with an error of the transport, or before the announced length.
private struct ObservedBuffers: AsyncSequence, Sendable {
    let body: TransportBody
    let length: Int64?
    let onFailure: @Sendable () -> Void

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: TransportBody.AsyncIterator
        var remaining: Int64?
        let onFailure: @Sendable () -> Void

        mutating func next() async throws -> ByteBuffer? {
            do {
                let buffer = try await iterator.next()
                if let buffer {
                    remaining = remaining.map { $0 -| Int64(buffer.readableBytes) }
                } else if remaining ?? 0 > 0 {
                    onFailure()
                }
                return buffer
            } catch {
                if error is TransportError { onFailure() }
                throw error
            }
        }
    }

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: body.makeAsyncIterator(), remaining: length, onFailure: onFailure)
    }
}
