import Foundation
import ResourceAddressing

/// The HTTP proxy that environment variables name, as for curl: `http_proxy`, `HTTPS_PROXY`, `ALL_PROXY` and `NO_PROXY`.
struct EnvironmentProxy {
    private let variables: [String: String]

    init(_ variables: [String: String] = ProcessInfo.processInfo.environment) { self.variables = variables }

    /// Returns the proxy for the URLs of a command; `nil` if there is none, if `NO_PROXY` names a host of the URLs, or if they
    /// are on this machine.
    ///
    /// - Throws: ``Failure`` if the proxy is not an HTTP proxy without a password, because a direct connection would reveal
    ///   what the proxy hides.
    func proxy(for sources: [ResourceAddress]) throws -> (host: String, port: Int)? {
        guard let source = sources.first(where: \.isHTTP), let host = source.host,
            !Self.isLoopback(host), !isExcluded(host)
        else { return nil }
        // HTTP_PROXY in capitals is not used, because a header field of a CGI request could set it.
        let names =
            source.normalizedScheme == "https"
            ? ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] : ["http_proxy", "all_proxy", "ALL_PROXY"]
        guard let name = names.first(where: { !(variables[$0] ?? "").isEmpty }), var value = variables[name] else {
            return nil
        }
        if value.hasSuffix("/") { value.removeLast() }
        if value.lowercased().hasPrefix("http://") { value = String(value.dropFirst("http://".count)) }
        guard !value.contains("@"), !value.contains("://"), let proxy = HTTPFlags.hostAndPort(value) else {
            throw Failure(
                .failed,
                "proxy-not-supported",
                "the proxy of the environment variable \(name) is not HOST:PORT of an HTTP proxy without a password",
                hint: "give another one with --proxy HOST:PORT, or name the host of the stream in NO_PROXY"
            )
        }
        return proxy
    }

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
