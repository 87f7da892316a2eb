import Foundation
import MediaTiming
public import ResourceAddressing

/// A token that permits requests: query parameters, header fields, or a signed URL.
public struct AccessToken: Sendable, Hashable {
    /// The change of the URL of a request.
    public enum Signature: Sendable, Hashable {
        /// Parameters that are added to the query, such as `token=1234`.
        case query(String)
        /// A URL that replaces that of the request.
        case url(ResourceAddress)
    }

    /// The change of the URL; `nil` for none.
    public var signature: Signature?
    /// The header fields for the origin of the request.
    public var headers: [HeaderField]
    /// The beginning of the URLs that the token is for; `nil` if it is for one URL only.
    public var prefix: String?
    /// The time after which the token is not valid; `nil` if it is not known.
    public var expiry: UnixSeconds?

    /// Creates a token.
    public init(
        _ signature: Signature?,
        headers: [HeaderField] = [],
        prefix: String? = nil,
        expiry: UnixSeconds? = nil
    ) {
        self.signature = signature
        self.headers = headers
        self.prefix = prefix
        self.expiry = expiry
    }

    /// The fields of a response in JSON.
    private struct Fields: Decodable {
        let url: String?
        let query: String?
        let headers: [String: String]?
        let prefix: String?
        let expires: Double?
    }

    /// The maximum size of a response in bytes.
    static let maximumResponseSize = 64 << 10
    static var responseLimit: ByteCount { ByteCount(Int64(maximumResponseSize)) }

    /// Creates a token from the response of a program or a server.
    ///
    /// The response is a line with a signed URL or with query parameters, or a JSON object with the fields `url` or `query`,
    /// `headers`, `prefix`, and `expires` in seconds since 1970, all of them optional.
    ///
    /// - Parameters:
    ///   - response: The bytes of the response.
    ///   - address: The URL that the token is for, to which a relative `url` or `prefix` is resolved.
    /// - Throws: ``TransportError`` with the code ``TransportError/Code/tokenUnavailable``.
    public init(response: [UInt8], for address: ResourceAddress) throws {
        func failure(_ problem: String) -> TransportError {
            TransportError(.tokenUnavailable, "the response with the token \(problem)", address: address)
        }
        let text = String(decoding: response, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        guard !text.isEmpty else { throw failure("is empty") }
        guard text.hasPrefix("{") else {
            guard Self.isWritable(text) else { throw failure("is neither one line nor a JSON object") }
            let url = ResourceAddress(text)
            guard url.isHTTP || !Self.hasFragment(text) else { throw failure("has an invalid query") }
            self.init(url.isHTTP ? .url(url) : .query(text.first == "?" ? String(text.dropFirst()) : text))
            return
        }
        let fields: Fields
        do {
            fields = try JSONDecoder().decode(Fields.self, from: Data(text.utf8))
        } catch {
            throw failure("is not a JSON object with url, query, headers, prefix and expires")
        }
        var signature: Signature?
        if let url = fields.url {
            let target = address.resolving(url)
            guard Self.isWritable(url), target.isHTTP else { throw failure("has a url that is not an http URL") }
            signature = .url(target)
        } else if let query = fields.query, !query.isEmpty {
            guard Self.isWritable(query), !Self.hasFragment(query) else { throw failure("has an invalid query") }
            signature = .query(query.first == "?" ? String(query.dropFirst()) : query)
        }
        let headers = try (fields.headers ?? [:]).sorted { $0.key < $1.key }.map { name, value in
            guard let field = HeaderField(line: "\(name): \(value)"), field.name == name else {
                throw failure("has an invalid header field")
            }
            return field
        }
        let prefix = fields.prefix.map { address.resolving($0).text }
        // A signed URL is for one resource.
        let isForOne = if case .url = signature { true } else { false }
        self.init(
            signature,
            headers: headers,
            prefix: isForOne ? nil : prefix,
            expiry: fields.expires.map { UnixSeconds(Int64(saturating: $0)) }
        )
    }

    /// Returns a Boolean value that indicates whether a text has no spaces and control characters.
    private static func isWritable(_ text: String) -> Bool { text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } }

    /// Returns a Boolean value that indicates whether a text has the separator of a fragment, also before a combining character.
    private static func hasFragment(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "#")) }

    /// Returns a Boolean value that indicates whether the token is for a URL.
    func isValid(for address: ResourceAddress, requestedFor original: ResourceAddress) -> Bool {
        prefix.map { address.text.hasPrefix($0) } ?? (address == original)
    }

    /// Returns the URL with the signature.
    func signed(_ address: ResourceAddress) -> ResourceAddress {
        switch signature {
        case nil: return address
        case .url(let url): return url
        case .query(let query):
            let parts = address.text.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
            let separator = parts[0].contains("?") ? "&" : "?"
            return ResourceAddress("\(parts[0])\(separator)\(query)\(parts.count > 1 ? "#\(parts[1])" : "")")
        }
    }
}

/// A source of tokens, such as a program or a server that signs URLs.
public protocol AccessTokenSource: Sendable {
    /// Returns a token for a request.
    ///
    /// - Throws: An error, which the request reports.
    func token(for address: ResourceAddress) async throws -> AccessToken
}

/// A source of tokens with the hosts that it is asked for.
public struct ScopedTokenSource: Sendable {
    /// The source.
    public let source: any AccessTokenSource
    /// The hosts.
    public let scope: HeaderFieldScope

    /// Creates a scoped source.
    public init(_ source: any AccessTokenSource, for scope: HeaderFieldScope) {
        self.source = source
        self.scope = scope
    }
}
