import Foundation
import MediaTiming
import ResourceAddressing
import Synchronization

/// A host as requests name it.
struct RequestSite: Sendable {
    /// The host as name servers and certificates know it.
    let host: String
    /// `http` or `https` with host and port, for the client to connect to.
    let address: String
    /// The value of `Host`.
    let hostField: String
    /// `Authorization` for a name and a password in the address (RFC 7617).
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
        authorization = Self.credentials(in: address.authority ?? "").map { credentials in
            "Basic " + Data(credentials.utf8).base64EncodedString()
        }
    }

    private static func credentials(in authority: String) -> String? {
        guard let at = authority.lastIndex(of: "@") else { return nil }
        let parts = authority[..<at].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let decoded = parts.map { PercentEncoding.decode(String($0)) ?? String($0) }
        guard let name = decoded.first, !name.isEmpty else { return nil }
        return "\(name):\(decoded.count > 1 ? decoded[1] : "")"
    }
}

/// The sites that were asked before: a stream has few, and thousands of segments.
final class RequestSites: Sendable {
    private static let mostSites = 64
    private let known = Mutex<[String: RequestSite]>([:])

    /// The site at the beginning of an address.
    ///
    /// - Parameter prefix: Scheme, user, host and port as they were written.
    /// - Returns: `nil` where it is not one of HTTP with a host.
    func site(_ prefix: String) -> RequestSite? {
        if let site = known.withLock({ $0[prefix] }) { return site }
        guard let site = RequestSite(ResourceAddress(prefix)) else { return nil }
        known.withLock { known in
            if known.count >= Self.mostSites { known = [:] }
            known[prefix] = site
        }
        return site
    }
}
