import Foundation
import MediaTiming
import MediaTransport
import ResourceAddressing

/// The connections of this process, for assets that ask for nothing special; they are there until it ends.
enum SharedConnections {
    private static let http = HTTPTransport(HTTPTransport.Options(cookies: CookieJar()))

    /// Connections for an asset: the shared ones, or its own where its options ask for it.
    static func transport(for address: ResourceAddress, _ options: AssetOptions) -> any Transport {
        guard options.userAgent != nil || !options.cookies.isEmpty else { return http }
        var own = HTTPTransport.Options(cookies: options.jar(for: address, now: now))
        if let userAgent = options.userAgent { own.userAgent = userAgent }
        return OwnConnections(HTTPTransport(own))
    }

    private static var now: UnixSeconds { UnixSeconds(Int64(saturating: Date().timeIntervalSince1970)) }
}

/// Connections that end when nobody loads through them any more.
private final class OwnConnections: Transport {
    private let http: HTTPTransport

    init(_ http: HTTPTransport) { self.http = http }

    deinit {
        // Nobody is left who could wait for it.
        let http = http
        _ = launch(on: SystemTimeSource()) { try? await http.shutdown() }
    }

    func send(_ request: TransportRequest) async throws -> TransportResponse { try await http.send(request) }
}

extension AssetOptions {
    /// A jar with the cookies to begin with; what may not be set is left out.
    func jar(for address: ResourceAddress, now: UnixSeconds) -> CookieJar {
        let jar = CookieJar()
        for cookie in cookies {
            let isSecure = cookie.isSecure ?? (address.normalizedScheme == "https")
            var field = "\(cookie.name)=\(cookie.value); Path=\(cookie.path)" + (isSecure ? "; Secure" : "")
            // A cookie that is for https only is set as if it had come that way.
            var origin = isSecure ? ResourceAddress("https://\(address.authority ?? "")/") : address
            if let domain = cookie.domain {
                field += "; Domain=\(domain)"
                // As if that host had set it: the one of the asset may not speak for others.
                origin = ResourceAddress("https://\(domain.drop { $0 == "." })/")
            }
            jar.store(setCookie: field, from: origin, now: now)
        }
        return jar
    }

    /// Returns a transport whose requests carry the header fields: those to the origin of the asset and to the hosts that are
    /// named, since they may be secrets.
    func authorizing(_ transport: any Transport, for address: ResourceAddress) -> any Transport {
        guard !headerFields.isEmpty || !headerFieldsByHost.isEmpty else { return transport }
        let scoped = headerFieldsByHost.sorted { $0.key.description < $1.key.description }.flatMap { scope, fields in
            Self.fields(fields).map { ScopedHeaderField($0, for: scope) }
        }
        return AuthorizedTransport(
            transport,
            authorization: RequestAuthorization(
                trustedAddresses: [address],
                headers: Self.fields(headerFields),
                scopedHeaders: scoped
            )
        )
    }

    private static func fields(_ fields: [String: String]) -> [HeaderField] {
        fields.sorted { $0.key < $1.key }.compactMap { HeaderField(line: "\($0.key): \($0.value)") }
    }
}
