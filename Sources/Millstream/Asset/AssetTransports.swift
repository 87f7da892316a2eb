import Foundation
import MediaTiming
import MediaTransport
import ResourceAddressing

/// The HTTP connections that all assets of this process share unless their options need a transport of their own; they
/// stay open until the process ends.
enum SharedHTTPTransport {
    private static let http = HTTPTransport(HTTPTransport.Options(cookies: CookieJar()))

    /// Returns the shared transport, or a new one if the options set a user agent or cookies, with the cache of the
    /// options in front of it.
    static func transport(for address: ResourceAddress, _ options: AssetOptions) -> any Transport {
        guard options.userAgent != nil || !options.cookies.isEmpty else { return caching(http, of: http, options) }
        var own = HTTPTransport.Options(cookies: options.makeCookieJar(for: address, now: now))
        if let userAgent = options.userAgent { own.userAgent = userAgent }
        let dedicated = HTTPTransport(own)
        return caching(DedicatedHTTPTransport(dedicated), of: dedicated, options)
    }

    private static func caching(
        _ transport: any Transport,
        of http: HTTPTransport,
        _ options: AssetOptions
    ) -> any Transport {
        // The cache does not know which responses depend on a signature.
        guard let cache = options.cache, options.authorizer == nil else { return transport }
        return CachedTransport(transport, cache: cache) { http.carriesCredentials($0) }
    }

    private static var now: UnixSeconds { UnixSeconds(Int64(saturating: Date().timeIntervalSince1970)) }
}

/// A transport with its own connections, which are closed when the last reference to it is released.
private final class DedicatedHTTPTransport: Transport {
    private let http: HTTPTransport

    init(_ http: HTTPTransport) { self.http = http }

    deinit {
        // A deinitializer cannot wait, so the shutdown runs in a separate task.
        let http = http
        _ = launch(on: SystemTimeSource()) { try? await http.shutdown() }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse { try await http.send(request) }
}

extension AssetOptions {
    /// Returns a cookie jar that contains ``cookies``; those that the jar does not accept are omitted.
    func makeCookieJar(for address: ResourceAddress, now: UnixSeconds) -> CookieJar {
        let jar = CookieJar()
        for cookie in cookies {
            let isSecure = cookie.isSecure ?? (address.normalizedScheme == "https")
            var field = "\(cookie.name)=\(cookie.value); Path=\(cookie.path)" + (isSecure ? "; Secure" : "")
            // A secure cookie is stored as if an `https` response had set it; the jar accepts it from no other.
            var origin = isSecure ? ResourceAddress("https://\(address.authority ?? "")/") : address
            if let domain = cookie.domain {
                field += "; Domain=\(domain)"
                // Stored as if that host had set it: the host of the asset may not set cookies for other hosts.
                origin = ResourceAddress("https://\(domain.drop { $0 == "." })/")
            }
            jar.store(setCookie: field, from: origin, now: now)
        }
        return jar
    }

    /// Returns a transport whose requests carry the header fields.
    ///
    /// They are sent only to the origin of the asset and to the hosts that ``headerFieldsByHost`` names, since they may
    /// be secrets.
    ///
    /// - Parameters:
    ///   - transport: The transport that sends the requests.
    ///   - address: The URL of the asset.
    ///   - time: The clock for the time limit of the ``authorizer``.
    /// - Returns: The transport.
    func authorizing(
        _ transport: any Transport,
        for address: ResourceAddress,
        time: any TimeSource = SystemTimeSource()
    ) -> any Transport {
        guard !headerFields.isEmpty || !headerFieldsByHost.isEmpty || authorizer != nil else { return transport }
        let scoped = headerFieldsByHost.sorted { $0.key.description < $1.key.description }.flatMap { scope, fields in
            Self.fields(fields).map { ScopedHeaderField($0, for: scope) }
        }
        var authorization = RequestAuthorization(
            trustedAddresses: [address],
            headers: Self.fields(headerFields),
            scopedHeaders: scoped
        )
        if let authorizer {
            authorization.sign = { try await authorizer.authorize($0) }
            authorization.renew = { try await authorizer.renewCredentials(after: $0) }
            authorization.responseTimeLimit = authorizer.responseTimeLimit
        }
        return AuthorizedTransport(transport, authorization: authorization, time: time)
    }

    private static func fields(_ fields: [String: String]) -> [HeaderField] {
        fields.sorted { $0.key < $1.key }.compactMap { HeaderField(line: "\($0.key): \($0.value)") }
    }
}
