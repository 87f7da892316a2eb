import AsyncHTTPClient
import Foundation
public import MediaTiming
import NIOCore
import NIOHTTP1
import ResourceAddressing

/// A transport for HTTP/1.1 and HTTP/2, based on AsyncHTTPClient, with persistent connections.
///
/// Playlists, subtitles, and resources of other kinds may be compressed in transit. Media is requested without
/// compression, so that lengths and byte ranges refer to the resource itself.
public final class HTTPTransport: Transport {
    private let pool: HTTPClientPool
    private let loop = EventLoopExecutor(HTTPClientPool.eventLoops.next())
    private let endpoints = RequestEndpointCache()
    private let options: Options
    private let time: any TimeSource

    /// Creates a transport with its own connections; call ``shutdown()`` when it is no longer needed.
    public init(_ options: Options = Options(), time: any TimeSource = SystemTimeSource()) {
        self.options = options
        self.time = time
        pool = HTTPClientPool(options, time: time)
    }

    /// Closes all connections; later requests fail.
    public func shutdown() async throws { try await pool.shutdown() }

    /// An executor on an event loop thread: connections that tasks on it request are served by the same thread; see
    /// ``Transport/executor``.
    public var executor: (any TaskExecutor)? { loop }

    /// Sends a request; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        var address = request.address
        var visited: Set<String> = []
        var record = TransferRecord(TransferMeasurement(requestStart: time.now))
        for _ in 0...max(0, options.redirectLimit) {
            guard visited.insert(address.text).inserted || options.cookies != nil else {
                throw TransportError(.badRedirect, "the redirects form a loop", address: address)
            }
            let (response, lease) = try await attempt(request, at: address, record)
            let carriesCredentials = carriesCredentials(request, to: address)
            record.update { $0.carriedCredentials = carriesCredentials }
            let status = Int(clamping: response.status.code)
            guard [301, 302, 303, 307, 308].contains(status) else {
                do {
                    return try HTTPResponseValidator(response, request, address, record, lease).validatedResponse()
                } catch var error as TransportError where error.code == .status {
                    error.hasOmittedHeaderFields = omitsFields(of: request, for: address)
                    error.explanation = await ErrorExplanation.message(of: response, time)
                    // The connection is that of the client of the lease.
                    withExtendedLifetime(lease) {}
                    throw error
                }
            }
            guard let location = response.headers.first(name: "Location"), !location.isEmpty else {
                throw TransportError(
                    .badRedirect,
                    "the redirect has no Location header field",
                    address: address,
                    status: status
                )
            }
            address = address.resolving(location)
            record = recordAfterRedirect(record.measurement)
        }
        throw TransportError(
            .badRedirect,
            "more than \(options.redirectLimit) redirects",
            address: request.address
        )
    }

    /// Returns a new record for the request that follows a redirect.
    ///
    /// The response with the redirect can end later, and must not change the times and the bytes of the request that follows.
    private func recordAfterRedirect(_ former: TransferMeasurement) -> TransferRecord {
        var measurement = TransferMeasurement(requestStart: time.now)
        measurement.domainLookupDuration = former.domainLookupDuration
        let redirectCount = former.redirectCount +| 1
        measurement.redirectCount = redirectCount
        return TransferRecord(measurement)
    }

    private func attempt(
        _ request: TransportRequest,
        at address: ResourceAddress,
        _ record: TransferRecord
    ) async throws -> (HTTPClientResponse, HTTPClientPool.Lease) {
        guard let target = RequestTarget(address, endpoints) else {
            let reason = address.isHTTP ? "the URL has no valid host and port" : "the URL is not an HTTP URL"
            throw TransportError(.addressRefused, reason, address: address)
        }
        var hosts: [HostAddress?] = [nil]
        if options.proxy == nil {
            hosts = try await resolved(target.endpoint.host, for: address, record)
        }
        guard options.allowsLoading(address, hosts.compactMap { $0 }) else {
            throw TransportError(.addressRefused, "loading this URL is not allowed", address: address)
        }
        let outgoing = outgoingRequest(request, at: address, target)
        var lastError: any Error = TransportError(
            .cannotConnect,
            "the connection could not be established",
            address: address
        )
        // A host with several addresses may be reachable at only one of them.
        for host in hosts.prefix(Self.maximumAddressAttempts) {
            do {
                return try await execute(outgoing, target, at: host, address, record)
            } catch let error as TransportError where error.code == .cannotConnect {
                lastError = error
            }
        }
        pool.forget(target.endpoint.host)
        throw lastError
    }

    private static let maximumAddressAttempts = 4

    private func resolved(
        _ host: String,
        for address: ResourceAddress,
        _ record: TransferRecord
    ) async throws -> [HostAddress?] {
        do {
            let (addresses, duration) = try await pool.resolve(host)
            if let duration, !host.contains(":"), addresses.first?.description != host {
                record.update { $0.domainLookupDuration = ($0.domainLookupDuration ?? .zero) + duration }
            }
            return addresses
        } catch let error as TransportError {
            throw TransportError(error.code, error.message, address: address)
        }
    }

    private func execute(
        _ outgoing: HTTPClientRequest,
        _ target: RequestTarget,
        at host: HostAddress?,
        _ address: ResourceAddress,
        _ record: TransferRecord
    ) async throws -> (HTTPClientResponse, HTTPClientPool.Lease) {
        var outgoing = outgoing
        let exchange = Exchange(target: target.text, start: time.now, record: record)
        let key = pool.registry.register(exchange)
        defer { _ = pool.registry.remove(key) }
        outgoing.headers.add(name: ExchangeRegistry.field, value: key)
        do {
            let lease = try pool.lease(target.endpoint.host, at: host)
            let response = try await lease.client.execute(outgoing, deadline: .distantFuture)
            if let cookies = options.cookies, options.usesCookies(address) {
                let now = UnixSeconds(Date().timeIntervalSince1970)
                for field in response.headers["Set-Cookie"] { cookies.store(setCookie: field, from: address, now: now) }
            }
            return (response, lease)
        } catch {
            throw TransportError.convertingErrors(error, address: address, proxy: options.proxy)
        }
    }

    private func outgoingRequest(
        _ request: TransportRequest,
        at address: ResourceAddress,
        _ target: RequestTarget
    ) -> HTTPClientRequest {
        var outgoing = HTTPClientRequest(url: target.endpoint.address)
        outgoing.headers.add(name: "Host", value: target.endpoint.hostField)
        outgoing.headers.add(name: "User-Agent", value: options.userAgent)
        outgoing.headers.add(name: "Accept", value: "*/*")
        outgoing.headers.add(name: "Accept-Encoding", value: request.mayBeCompressed ? "gzip, deflate" : "identity")
        if let authorization = target.endpoint.authorization {
            outgoing.headers.add(name: "Authorization", value: authorization)
        }
        if let jar = options.cookies, options.usesCookies(address),
            let cookies = jar.header(for: address, now: UnixSeconds(Date().timeIntervalSince1970))
        {
            outgoing.headers.add(name: "Cookie", value: cookies)
        }
        for field in fields(of: request, for: address) {
            outgoing.headers.replaceOrAdd(name: field.name, value: field.value)
        }
        if let range = request.rangeField { outgoing.headers.replaceOrAdd(name: "Range", value: range) }
        if let resumption = request.resumption {
            outgoing.headers.replaceOrAdd(name: "If-Range", value: resumption.validator)
        }
        return outgoing
    }

    /// Returns the configured header fields that are sent to a URL.
    private func fields(of request: TransportRequest, for address: ResourceAddress) -> [HeaderField] {
        let isOrigin = HeaderFieldScope(originOf: request.address)?.contains(address) == true
        // `Range` only selects bytes and is sent to any origin; every other field may contain a secret.
        let own = isOrigin ? request.headers : request.headers.filter { $0.name.lowercased() == "range" }
        return (options.headers + request.scopedHeaders).fields(for: address) + own
    }

    /// Returns a Boolean value that indicates whether a request, sent to its own URL, carries header fields that are
    /// given for its host, cookies, or a password.
    public func carriesCredentials(_ request: TransportRequest) -> Bool {
        carriesCredentials(request, to: request.address)
    }

    private func carriesCredentials(_ request: TransportRequest, to address: ResourceAddress) -> Bool {
        if address.authority?.contains("@") == true { return true }
        if !(options.headers + request.scopedHeaders).fields(for: address).isEmpty { return true }
        guard let jar = options.cookies, options.usesCookies(address) else { return false }
        return jar.header(for: address, now: UnixSeconds(Date().timeIntervalSince1970)) != nil
    }

    /// Returns a Boolean value that indicates whether a configured header field is not sent to a URL.
    private func omitsFields(of request: TransportRequest, for address: ResourceAddress) -> Bool {
        (options.headers + request.scopedHeaders).contains { !$0.scope.contains(address) }
    }
}

extension TransportRequest {
    /// A Boolean value that indicates whether the body is text that servers may compress.
    fileprivate var mayBeCompressed: Bool {
        guard byteRange == nil, resumption == nil, !headers.contains(where: { $0.name.lowercased() == "range" }) else {
            return false
        }
        return kind == .playlist || kind == .subtitle || kind == .other
    }

    /// The value of the `Range` header field (RFC 9110 §14.2); `nil` for the entire resource.
    fileprivate var rangeField: String? {
        let offset = resumption?.offset ?? 0
        if let byteRange { return "bytes=\(byteRange.start +| offset)-\(byteRange.end -| 1)" }
        return offset > 0 ? "bytes=\(offset)-" : nil
    }
}

extension UnixSeconds {
    fileprivate init(_ seconds: Double) { self.init(Int64(saturating: seconds)) }
}
