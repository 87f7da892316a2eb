import Foundation
import MediaTiming
import ResourceAddressing
import Synchronization

/// The scheme, host, port, and credentials of a URL in the forms that requests need.
struct RequestEndpoint: Sendable {
    /// The host name in ASCII, as in DNS and certificates.
    let host: String
    /// The URL for the HTTP client to connect to: `http` or `https` with host and port.
    let address: String
    /// The value of the `Host` header field.
    let hostField: String
    /// The value of the `Authorization` header field for a user name and password in the URL (RFC 7617); `nil` without
    /// them.
    let authorization: String?

    init?(_ address: ResourceAddress) {
        guard address.isHTTP, let scheme = address.normalizedScheme, let host = address.asciiHost,
            let port = address.port, (1...65_535).contains(port)
        else { return nil }
        self.host = host
        let bracketed = host.contains(":") ? "[\(host)]" : host
        let isDefaultPort = port == (scheme == "https" ? 443 : 80)
        hostField = isDefaultPort ? bracketed : "\(bracketed):\(port)"
        self.address = "\(scheme)://\(bracketed):\(port)/"
        authorization = Self.authorization(for: address)
    }

    /// Returns the value of the `Authorization` header field for the user name and password in a URL; `nil` without a
    /// user name.
    static func authorization(for address: ResourceAddress) -> String? {
        let parts = address.userInformation?.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = (parts ?? []).map { PercentEncoding.decode(String($0)) ?? String($0) }
        guard let name = decoded.first, !name.isEmpty else { return nil }
        let credentials = "\(name):\(decoded.count > 1 ? decoded[1] : "")"
        return "Basic " + Data(credentials.utf8).base64EncodedString()
    }
}

/// A cache of request sites, because a stream has few of them and thousands of segments.
final class RequestEndpointCache: Sendable {
    private static let maximumCount = 64
    private let endpoints = Mutex<[String: RequestEndpoint]>([:])

    /// The number of cached sites.
    var count: Int { endpoints.withLock { $0.count } }

    /// Returns the site at the start of a URL.
    ///
    /// - Parameter prefix: The scheme, user information, host, and port as written.
    /// - Returns: `nil` if it is not the start of an HTTP URL with a host.
    func endpoint(forPrefix prefix: String) -> RequestEndpoint? {
        if let site = endpoints.withLock({ $0[prefix] }) { return site }
        guard let site = RequestEndpoint(ResourceAddress(prefix)) else { return nil }
        endpoints.withLock { known in
            if known.count >= Self.maximumCount { known = [:] }
            known[prefix] = site
        }
        return site
    }
}
