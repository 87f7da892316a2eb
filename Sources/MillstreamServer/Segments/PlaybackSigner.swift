import HTTPTypes
public import MediaTransport
public import ResourceAddressing

/// Signs playback addresses, so that a server which is reachable by others plays only the sources that its owner chose.
///
/// The signature covers the decoded names and values of the query in their order, other than the signature itself and the
/// delivery directives that players add (RFC 8216bis §6.2.5). Therefore other spellings of the same query are valid, and
/// any other query is not.
package struct PlaybackSigner: Sendable {
    private let signer: AddressSigner

    /// The name of the query item.
    static let name = "signature"

    /// Creates a signer; two with the same secret accept each other's signatures.
    package init(_ secret: ServerSecret) { signer = AddressSigner(secret, purpose: "playback addresses") }

    /// Returns the query item with the signature of a query.
    func signatureItem(of items: [QueryItems.Item]) -> QueryItems.Item {
        QueryItems.Item(name: Self.name, value: signer.signature(of: Self.parts(items)))
    }

    /// Verifies the signature of a query, and that it has not expired.
    ///
    /// - Parameters:
    ///   - query: The query of a playback address.
    ///   - now: The current time.
    /// - Returns: The expiry of the address; `nil` if it does not expire.
    /// - Throws: ``ServerError`` with the status 403, or 400 if the expiry cannot be read.
    package func verify(_ query: QueryItems, at now: UnixSeconds) throws -> AddressExpiry? {
        let signatures = query.items.filter { $0.name == Self.name }
        guard let signature = signatures.first else {
            throw ServerError(
                .forbidden,
                "missing-signature",
                "this server plays only signed addresses",
                hint: "sign the address with: millstream sign ADDRESS --secret FILE"
            )
        }
        guard signatures.count == 1, signer.isValid(signature.value, for: Self.parts(query.items)) else {
            throw ServerError(
                .forbidden,
                "invalid-signature",
                "the signature is not that of this address",
                hint: "an address cannot be changed after it was signed; sign it again"
            )
        }
        let expiry = try AddressExpiry(query)
        try expiry?.verify(at: now)
        return expiry
    }

    private static func parts(_ items: [QueryItems.Item]) -> [String] {
        items.filter { $0.name != name && !$0.name.hasPrefix("_HLS_") }.flatMap { [$0.name, $0.value] }
    }
}

/// The permission of a player to request a playlist, which the addresses in that playlist inherit.
struct PlaybackPermission: Sendable {
    let signer: PlaybackSigner
    /// The expiry of the addresses; `nil` if they do not expire.
    let expiry: AddressExpiry?
}

extension ServerSecret {
    /// Returns a playback address with a signature, with which a server that has this secret plays it.
    ///
    /// - Parameters:
    ///   - address: The URL or path of `/play.m3u8` or `/play.mpd` with its query. A signature and an expiry in it are replaced, all
    ///     other parts stay as they are.
    ///   - expires: The time from which on the address is invalid; `nil` for an address that does not expire.
    /// - Returns: The signed address.
    /// - Throws: ``SigningError`` if it is no valid playback address.
    public func signedAddress(
        _ address: ResourceAddress,
        expires: UnixSeconds? = nil
    ) throws(SigningError) -> ResourceAddress {
        guard ["/play.m3u8", PlaybackRequest.manifestRoute].contains(address.path), address.fragment == nil,
            !address.isAbsolute || address.isHTTP
        else {
            throw SigningError(description: "\(address) is not the address of /play.m3u8 or /play.mpd on a server")
        }
        do {
            _ = try PlaybackRequest(QueryItems(address.query))
        } catch {
            throw SigningError(description: "\(address) cannot be played: \(ServerError(error).message)")
        }
        let pairs = (address.query ?? "").utf8.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        let kept = pairs.map { String(Substring($0)) }.filter { pair in
            let name = QueryItems(pair).items.first?.name ?? ""
            return name != PlaybackSigner.name && name != AddressExpiry.name
        }.joined(separator: "&")
        let expiry = expires.map { AddressExpiry($0).item }.map { [$0] } ?? []
        let items = QueryItems(kept).items + expiry
        let added = QueryItems(expiry + [PlaybackSigner(self).signatureItem(of: items)]).text
        let end = address.text.utf8.firstIndex(of: UInt8(ascii: "?")) ?? address.text.endIndex
        return ResourceAddress("\(address.text[..<end])?\(kept)&\(added)")
    }
}

/// An error about an address that cannot be signed.
public struct SigningError: MillstreamError {
    /// The kind of the error.
    public enum Code: String, ErrorCode {
        /// The address is no valid playback address.
        case invalidAddress = "invalid-playback-address"
    }

    /// The kind of the error.
    public var code: Code { .invalidAddress }
    /// The description of the error.
    public var message: String { description }
    /// The failure and the address that it concerns.
    public let description: String
}
