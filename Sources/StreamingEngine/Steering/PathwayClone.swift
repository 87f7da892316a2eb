import HLSPlaylist
package import ResourceAddressing

/// A pathway that a steering manifest derives from another one (RFC 8216bis §7.2).
package struct PathwayClone: Sendable, Hashable {
    /// The maximum number of query parameters of a clone, because each URL is searched for each of them.
    package static let maximumParameterCount = 64

    /// The identifier of the pathway from which this one is derived.
    package let baseID: String
    /// The identifier of the new pathway.
    package let id: String
    /// The host, with a port if it has one, that replaces that of each URL; `nil` to keep it.
    private let host: String?
    /// The query parameters that are set in each URL, sorted by name.
    package let parameters: [QueryParameter]
    /// The URLs of variants by their stable identifier.
    package let variantAddresses: [String: ResourceAddress]
    /// The URLs of renditions by their stable identifier.
    package let renditionAddresses: [String: ResourceAddress]

    /// Creates a clone from its written form; `nil` if it is invalid.
    ///
    /// - Parameters:
    ///   - written: The written form.
    ///   - address: The URL of the manifest, to which relative URLs are resolved.
    init?(_ written: WrittenPathwayClone, at address: ResourceAddress) {
        let replacement = written.replacement
        guard !written.baseID.isEmpty, Self.isIdentifier(written.id),
            replacement.parameters?.count ?? 0 <= Self.maximumParameterCount
        else { return nil }
        baseID = written.baseID
        id = written.id
        if let written = replacement.host, !written.isEmpty {
            guard ResourceAddress.isHost(written) else { return nil }
            host = written
        } else {
            host = nil
        }
        parameters = (replacement.parameters ?? [:]).filter { !$0.key.isEmpty }.sorted { $0.key < $1.key }.map {
            QueryParameter(name: $0.key, value: $0.value)
        }
        func resolved(_ references: [String: String]?) -> [String: ResourceAddress] {
            (references ?? [:]).compactMapValues { reference in
                let target = address.resolving(reference)
                return target.isHTTP ? target : nil
            }
        }
        variantAddresses = resolved(replacement.variantURIs)
        renditionAddresses = resolved(replacement.renditionURIs)
    }

    /// Returns a Boolean value that indicates whether a text consists of the characters of a pathway identifier
    /// (RFC 8216bis §4.4.6.2, PATHWAY-ID).
    private static func isIdentifier(_ text: String) -> Bool {
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_".utf8)
        return !text.isEmpty && text.utf8.allSatisfy(allowed.contains)
    }

    /// Returns the location of a variant on the clone.
    ///
    /// - Parameters:
    ///   - location: The location on the base pathway.
    ///   - stableID: The stable identifier of the variant; `nil` if it has none.
    /// - Returns: The location.
    func location(_ location: Presentation.Variant.Location, stableID: String?) -> Presentation.Variant.Location {
        Presentation.Variant.Location(
            address: stableID.flatMap { variantAddresses[$0] } ?? replaced(location.address),
            pathwayID: id,
            groupIDs: location.groupIDs.mapValues(groupID)
        )
    }

    /// Returns the encoding of an option on the clone.
    func encoding(_ encoding: MediaSelectionOption.Encoding) -> MediaSelectionOption.Encoding {
        MediaSelectionOption.Encoding(
            groupID: groupID(encoding.groupID),
            // Media that is muxed into the variant has no URL on any pathway.
            address: encoding.address.map { address in
                encoding.stableID.flatMap { renditionAddresses[$0] } ?? replaced(address)
            },
            channels: encoding.channels,
            bitDepth: encoding.bitDepth,
            sampleRate: encoding.sampleRate,
            stableID: encoding.stableID
        )
    }

    /// Returns the identifier of the rendition group of the clone.
    ///
    /// It differs from those in the playlist, which cannot contain a quotation mark.
    private func groupID(_ base: String) -> String { "\(base)\"\(id)" }

    /// Returns the URL of a resource on the clone that has no URL of its own there.
    package func replaced(_ address: ResourceAddress) -> ResourceAddress {
        let moved = host.map { address.replacingHost(with: $0) } ?? address
        return moved.isHTTP ? moved.setting(parameters) : moved
    }
}
