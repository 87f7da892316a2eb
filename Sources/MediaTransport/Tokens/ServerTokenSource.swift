public import ResourceAddressing

/// A server that answers with tokens: a GET request with the parameter `url`.
public struct ServerTokenSource: AccessTokenSource {
    private let address: ResourceAddress
    private let loader: ResourceLoader

    /// Creates a source.
    ///
    /// - Parameters:
    ///   - address: The URL to which the parameter `url` is added, the percent-encoded URL that the token is for.
    ///   - loader: The loader of the responses.
    public init(_ address: ResourceAddress, loader: ResourceLoader) {
        self.address = address
        self.loader = loader
    }

    /// Returns the token of the server; see ``AccessToken/init(response:for:)``.
    ///
    /// - Throws: ``TransportError``.
    public func token(for target: ResourceAddress) async throws -> AccessToken {
        let parameter = "url=" + PercentEncoding.encode(target.text, allowing: PercentEncoding.unreservedBytes)
        let request = TransportRequest(
            ResourceAddress("\(address.text)\(address.query == nil ? "?" : "&")\(parameter)"),
            kind: .other
        )
        do {
            let loaded = try await loader.load(request, limit: AccessToken.responseLimit)
            return try AccessToken(response: loaded.bytes, for: target)
        } catch let error as TransportError where error.code != .tokenUnavailable {
            // The URL of the request contains that of the resource, which is shortened elsewhere.
            throw TransportError(
                .tokenUnavailable,
                "the server \(address) gave no token (\(error.code.rawValue))",
                address: target,
                cause: error
            )
        }
    }
}
