public import MediaTiming
public import ResourceAddressing
import Synchronization

/// A transport that adds tokens to the requests of another transport.
///
/// A token is used until it expires, or for a minute if that is not known. After a status of 401, 403 or 410 a new one is
/// requested, and the request is sent once more.
///
/// A source that does not return within a minute is canceled, and the request fails with the code
/// ``TransportError/Code/timedOut``.
///
/// The URLs of responses and errors are those without tokens, also after redirects.
public final class TokenTransport: Transport {
    private let base: any Transport
    private let sources: [(scope: HeaderFieldScope, tokens: TokenMemory)]
    /// The URLs with tokens to which servers redirected at other hosts, by the URL without the token.
    ///
    /// No token is requested for these hosts, so that further requests, such as for the next part of a file, need it.
    private let redirects = Mutex(TokenRedirects())

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - base: The transport that sends the requests.
    ///   - sources: The sources of tokens; the first one whose scope contains the URL of a request is asked.
    ///   - time: The clock that limits how long a request waits for a source.
    ///   - now: The current time.
    public init(
        _ base: any Transport,
        sources: [ScopedTokenSource],
        time: any TimeSource = SystemTimeSource(),
        now: @escaping @Sendable () -> UnixSeconds
    ) {
        self.base = base
        self.sources = sources.map { ($0.scope, TokenMemory($0.source, time: time, now: now)) }
    }

    /// The executor of the underlying transport; see ``Transport/executor``.
    public var executor: (any TaskExecutor)? { base.executor }

    /// Sends a request with a token; see ``Transport/send(_:)``.
    public func send(_ request: TransportRequest) async throws -> TransportResponse {
        guard let tokens = tokens(for: request.address) else {
            guard let target = redirects.withLock({ $0.target(of: request.address) }) else {
                return try await base.send(request)
            }
            return try await send(request, AccessToken(.url(target)))
        }
        let first = try await tokens.token(for: request.address, after: nil)
        do {
            return try await send(request, first.token)
        } catch let error as TransportError where FailureCategory.mayIndicateExpiry(status: error.status ?? 0) {
            let second = try await tokens.token(for: request.address, after: first.number)
            guard second.token != first.token else { throw error }
            return try await send(request, second.token)
        }
    }

    /// Returns the URL with its token, for clients that are redirected to it; header fields cannot be passed on to them.
    ///
    /// - Throws: The error of the source of the token.
    public func signed(_ address: ResourceAddress) async throws -> ResourceAddress {
        guard let tokens = tokens(for: address) else { return address }
        return try await tokens.token(for: address, after: nil).token.signed(address)
    }

    private func tokens(for address: ResourceAddress) -> TokenMemory? {
        sources.first { $0.scope.contains(address) }?.tokens
    }

    private func send(_ request: TransportRequest, _ token: AccessToken) async throws -> TransportResponse {
        var signed = request
        signed.address = token.signed(request.address)
        // Responses to requests with fields for a host are not stored in a cache.
        signed.scopedHeaders += [ScopedHeaderField](token.headers, forOriginsOf: [signed.address])
        // The token is not part of the URL of a resource, which is stored, logged and written into playlists.
        let (sent, added) = (signed.address, AddedParameters(from: request.address, to: signed.address))
        do {
            let response = try await base.send(signed)
            let address = response.address == sent ? request.address : removing(added, from: response.address)
            return redirecting(response, without: added).at(address)
        } catch let error as TransportError {
            guard let address = error.address else { throw error }
            throw error.at(address == sent ? request.address : added.removed(from: address))
        }
    }

    /// Returns the URL of a redirect without the parameters of a token.
    ///
    /// If no token is requested for its host, the URL with them is stored for further requests.
    private func removing(_ added: AddedParameters, from target: ResourceAddress) -> ResourceAddress {
        let address = added.removed(from: target)
        guard address != target, tokens(for: address) == nil else { return address }
        redirects.withLock { $0.store(target, for: address) }
        return address
    }

    /// Returns a response whose `Location` header field, if the client is to follow it, has no parameters of a token.
    private func redirecting(_ response: TransportResponse, without added: AddedParameters) -> TransportResponse {
        guard (300...399).contains(response.status), let location = response.header("Location") else { return response }
        let target = response.address.resolving(location)
        let address = removing(added, from: target)
        guard address != target else { return response }
        let others = response.headers.filter { $0.name.lowercased() != "location" }
        return TransportResponse(
            status: response.status,
            headers: others + [HeaderField("Location", address.text)],
            address: response.address,
            expectedLength: response.expectedLength,
            body: response.body,
            record: response.record
        )
    }
}

/// The valid tokens of a source.
private final class TokenMemory: Sendable {
    struct Entry {
        let number: Int
        let token: AccessToken
        let address: ResourceAddress
        let start: UnixSeconds
        let expiry: UnixSeconds
    }

    private struct State {
        var entries: [Entry] = []
        var lastNumber = 0
        /// The folders for whose resources the source is asked.
        var asking: Set<String> = []
        /// The last failures by folder, each with the time until which it is thrown to other requests without asking the
        /// source again.
        var failures: [String: (error: any Error, end: UnixSeconds)] = [:]
    }

    private let source: any AccessTokenSource
    private let time: any TimeSource
    private let now: @Sendable () -> UnixSeconds
    private let state = Mutex(State())
    private let responses = Broadcast()

    /// The maximum number of tokens, beyond which the oldest is removed.
    private static let maximumCount = 256
    /// The maximum number of concurrent requests to the source.
    private static let maximumConcurrentRequests = 4
    /// The time for which a token without an expiry is used, in seconds.
    private static let defaultLifetime: Int64 = 60
    /// The time before its expiry after which a token is not used anymore, in seconds: a request takes time.
    private static let margin: Int64 = 10
    /// The time after which a source that has not returned is canceled.
    private static let responseTimeLimit = Duration.seconds(60)
    /// The minimum time, in seconds, after which the source is asked again after a failure, or after a new token was
    /// refused.
    private static let pause: Int64 = 1

    init(_ source: any AccessTokenSource, time: any TimeSource, now: @escaping @Sendable () -> UnixSeconds) {
        self.source = source
        self.time = time
        self.now = now
    }

    /// Returns a token for a URL; requests that need a new one at the same time wait for the same response.
    ///
    /// - Parameters:
    ///   - address: The URL.
    ///   - refused: The number of a token that was refused; only later ones are returned.
    /// - Returns: The token and its number.
    /// - Throws: The error of the source.
    func token(for address: ResourceAddress, after refused: Int?) async throws -> (token: AccessToken, number: Int) {
        let folder = Self.folder(of: address)
        while true {
            enum Turn { case known(Entry), failed(any Error), wait, ask }
            let seen = responses.count
            let now = now()
            let turn: Turn = state.withLock { state in
                state.entries.removeAll { $0.expiry < now }
                state.failures = state.failures.filter { $0.value.end >= now }
                let entry = state.entries.last { $0.token.isValid(for: address, requestedFor: $0.address) }
                // A token that was refused although it is new would be refused again.
                if let entry, entry.number > refused ?? -1 || entry.start.rawValue +| Self.pause >= now.rawValue {
                    return .known(entry)
                }
                if let failure = state.failures[folder] { return .failed(failure.error) }
                // A token for one resource may be valid for its whole folder, so further requests wait for it.
                guard state.asking.count < Self.maximumConcurrentRequests, state.asking.insert(folder).inserted else {
                    return .wait
                }
                return .ask
            }
            switch turn {
            case .known(let entry): return (entry.token, entry.number)
            case .failed(let error): throw error
            case .wait:
                await responses.wait(after: seen)
                try Task.checkCancellation()
            case .ask:
                defer {
                    state.withLock { _ = $0.asking.remove(folder) }
                    responses.notify()
                }
                do {
                    let token = try await ApplicationCall.result(
                        within: Self.responseTimeLimit,
                        time,
                        of: address,
                        "supplied a token"
                    ) { [source] in try await source.token(for: address) }
                    return (token, store(token, for: address))
                } catch {
                    if !(error is CancellationError) { recordFailure(error, of: folder) }
                    throw error
                }
            }
        }
    }

    private func recordFailure(_ error: any Error, of folder: String) {
        let end = UnixSeconds(now().rawValue +| Self.pause)
        state.withLock { state in
            if state.failures.count >= Self.maximumCount { state.failures = [:] }
            state.failures[folder] = (error, end)
        }
    }

    private static func folder(of address: ResourceAddress) -> String {
        let whole = address.text.prefix { $0 != "?" && $0 != "#" }
        return String(whole[..<(whole.lastIndex(of: "/") ?? whole.endIndex)])
    }

    private func store(_ token: AccessToken, for address: ResourceAddress) -> Int {
        let now = now().rawValue
        let end = token.expiry.map { $0.rawValue -| Self.margin } ?? (now +| Self.defaultLifetime)
        return state.withLock { state in
            state.lastNumber += 1
            state.entries.append(
                Entry(
                    number: state.lastNumber,
                    token: token,
                    address: address,
                    start: UnixSeconds(now),
                    expiry: UnixSeconds(max(now, end))
                )
            )
            if state.entries.count > Self.maximumCount { state.entries.removeFirst() }
            return state.lastNumber
        }
    }
}
