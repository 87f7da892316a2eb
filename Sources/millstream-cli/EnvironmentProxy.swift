import Foundation
import ResourceAddressing

/// The HTTP proxy that environment variables name, as for curl: `http_proxy`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
struct EnvironmentProxy {
    private let variables: [String: String]

    /// The names of the variables for `http` URLs, in order of precedence.
    ///
    /// HTTP_PROXY in capitals is not used, because a header field of a CGI request could set it.
    private static let plainNames = ["http_proxy", "all_proxy", "ALL_PROXY"]
    /// The names of the variables for `https` URLs, in order of precedence.
    private static let secureNames = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]

    init(_ variables: [String: String] = ProcessInfo.processInfo.environment) { self.variables = variables }

    /// Returns the proxy for the first HTTP URL of a command; `nil` if no proxy is set, or if the host of that URL is this
    /// machine or is in `NO_PROXY`.
    ///
    /// - Throws: ``Failure`` if the variable does not name an HTTP proxy without a password. The URL is not loaded directly
    ///   then, because that would reveal the client's address.
    func proxy(for sources: [ResourceAddress]) throws -> (host: String, port: Int)? {
        guard let source = sources.first(where: \.isHTTP), let host = source.host,
            !Self.isLoopback(host), !isExcluded(host)
        else { return nil }
        let names = source.normalizedScheme == "https" ? Self.secureNames : Self.plainNames
        guard let name = names.first(where: isSet), var value = variables[name] else { return nil }
        if value.hasSuffix("/") { value.removeLast() }
        if value.lowercased().hasPrefix("http://") { value = String(value.dropFirst("http://".count)) }
        guard !value.contains("@"), !value.contains("://"), let proxy = HTTPFlags.hostAndPort(value) else {
            throw Failure(
                .failed,
                "proxy-not-supported",
                "the environment variable \(name) must be HOST:PORT of an HTTP proxy, without a password",
                hint: "set another proxy with --proxy HOST:PORT, or name the host of the stream in NO_PROXY"
            )
        }
        return proxy
    }

    /// The name of a variable that names a proxy for some URLs; `nil` if there is none.
    var variable: String? { (Self.secureNames + Self.plainNames).first(where: isSet) }

    private func isSet(_ name: String) -> Bool { variables[name]?.isEmpty == false }

    private func isExcluded(_ host: String) -> Bool {
        let list = variables["no_proxy"] ?? variables["NO_PROXY"] ?? ""
        let name = host.lowercased()
        return list.lowercased().split(whereSeparator: { $0 == "," || $0 == " " }).contains { entry in
            let suffix = entry.hasPrefix(".") ? entry.dropFirst() : entry
            return entry == "*" || name == suffix || name.hasSuffix("." + suffix)
        }
    }

    private static func isLoopback(_ host: String) -> Bool {
        let name = host.lowercased()
        return name == "localhost" || name.hasSuffix(".localhost") || name.hasPrefix("127.") || name == "::1"
            || name == "[::1]"
    }
}
