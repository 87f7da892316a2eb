import HTTPTypes
import MediaTiming
import PlaylistEditing
package import ResourceAddressing

/// An address below `/segment` that this server writes into playlists.
package struct SegmentAddress: Sendable, Hashable {
    /// The last path component, percent-decoded: the name of the resource, whose extension some players need.
    package let name: String
    /// The address of the segment, the initialization section or the key.
    package let target: ResourceAddress
    /// A value that indicates whether a player is redirected to the resource or receives it through this server.
    let delivery: PlaybackRequest.SegmentDelivery
    /// The conditioned link that all requests of the stream share; `nil` if no network conditions are simulated.
    let link: LinkParameters?
    /// The expiry of the playlist that has the address; `nil` if it does not expire.
    let expiry: AddressExpiry?

    /// Creates the address of a resource in an edited playlist.
    package init(
        _ target: ResourceAddress,
        delivery: PlaybackRequest.SegmentDelivery,
        link: LinkParameters?,
        expiry: AddressExpiry? = nil
    ) {
        let written = EmbeddedKey(target) == nil ? target.lastPathComponent : "key"
        let decoded = PercentEncoding.decode(written.isEmpty ? "segment" : written) ?? "segment"
        // The name becomes a path component, which must have only one interpretation.
        name =
            RequestParsing.isUnambiguous(path: "/" + PercentEncoding.encode(decoded))
            ? decoded : "segment"
        self.target = target
        self.delivery = link == nil ? delivery : .proxy
        self.link = link
        self.expiry = expiry
    }

    /// Creates an address from a request, and verifies its signature.
    ///
    /// - Parameters:
    ///   - name: The last path component of the request.
    ///   - query: The query; unknown items are ignored, since some players add measurements.
    ///   - signer: The signer of this server.
    /// - Throws: ``ServerError`` with the status 400 for an incomplete address, and 403 for one that this server did
    ///   not sign.
    package init(name: String, query: QueryItems, signer: SegmentSigner) throws {
        guard let url = query["url"], ResourceAddress(url).isHTTP || EmbeddedKey(ResourceAddress(url)) != nil else {
            throw ServerError(.badRequest, "missing-url", "url has to be an http or https address")
        }
        let items = query.items.filter { Self.itemNames.contains($0.name) }
        guard Set(items.map(\.name)).count == items.count else {
            throw ServerError(
                .badRequest,
                "repeated-item",
                "url, segments, conditions, link, expires and signature must appear once"
            )
        }
        guard let delivery = PlaybackRequest.SegmentDelivery(rawValue: query["segments"] ?? "redirect"),
            delivery != .direct
        else {
            throw ServerError(.badRequest, "invalid-value", "segments is redirect or proxy")
        }
        let target = ResourceAddress(url)
        let link = LinkParameters(query, source: target)
        self.name = PercentEncoding.decode(name) ?? name
        self.target = target
        self.delivery = link == nil ? delivery : .proxy
        self.link = link
        expiry = try AddressExpiry(query)
        guard let signature = query["signature"], signer.isValid(signature, for: self) else {
            throw ServerError(
                .forbidden,
                "invalid-signature",
                "this server did not write this address into a playlist",
                hint: "load the playlist again and take the address from there"
            )
        }
    }

    /// Creates the address of the media file that a playback request names in place of a playlist; `nil` for a request of anything
    /// else.
    ///
    /// - Parameters:
    ///   - query: The query of the playback request.
    ///   - limits: The limits of its edits.
    ///   - expiry: The expiry of the address; `nil` if it does not expire.
    ///   - isKnownFile: A Boolean value that indicates whether the source is a media file whatever its name; `true` if its
    ///     content was recognized.
    /// - Throws: ``ServerError`` if the request has edits, which a media file cannot have.
    init?(
        mediaFileIn query: QueryItems,
        limits: EditLimits,
        expiry: AddressExpiry?,
        isKnownFile: Bool = false
    ) throws {
        guard let url = query["url"], isKnownFile || StreamCatalog.Stream.isMediaFile(ResourceAddress(url)) else {
            return nil
        }
        let playback = try PlaybackRequest(query, limits: limits)
        guard playback.plan.edits.allSatisfy({ $0 == .absolute }) else {
            throw ServerError(
                .unsupportedMediaType,
                "not-a-playlist",
                "\(playback.address) is a media file, which has no playlist that could be edited"
            )
        }
        // The request is redirected in any case.
        let delivery = playback.delivery == .direct ? .redirect : playback.delivery
        self.init(playback.source, delivery: delivery, link: playback.link, expiry: expiry)
    }

    private static let itemNames: Set<String> = ["url", "segments", "conditions", "link", "expires", "signature"]

    /// Returns the address as a path with a query and a signature.
    package func path(signedBy signer: SegmentSigner) -> String {
        var items = [
            QueryItems.Item(name: "url", value: target.text),
            QueryItems.Item(name: "signature", value: signer.signature(of: self)),
        ]
        if let expiry { items.append(expiry.item) }
        items += link?.items ?? (delivery == .proxy ? [QueryItems.Item(name: "segments", value: "proxy")] : [])
        return "/segment/\(PercentEncoding.encode(name))?" + QueryItems(items).text
    }

    /// The parts to sign.
    fileprivate var signedParts: [String] {
        let parts = [name, target.text, delivery.rawValue, link?.conditions ?? "", link?.id ?? ""]
        return parts + (expiry.map { [$0.item.value] } ?? [])
    }
}

/// Signs the addresses of segments, so that the server redirects and proxies only to addresses from its own playlists.
package struct SegmentSigner: Sendable {
    private let signer: AddressSigner

    /// Creates a signer; two with the same secret accept each other's signatures.
    package init(_ secret: ServerSecret) { signer = AddressSigner(secret, purpose: "segment addresses") }

    /// Returns the signature of an address.
    func signature(of address: SegmentAddress) -> String { signer.signature(of: address.signedParts) }

    /// Returns whether a signature is valid for an address.
    func isValid(_ signature: String, for address: SegmentAddress) -> Bool {
        signer.isValid(signature, for: address.signedParts)
    }
}
