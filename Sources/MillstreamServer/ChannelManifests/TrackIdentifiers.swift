import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The identifiers of the tracks of a manifest, which must stay the same when the manifest is loaded again.
///
/// If redundant variants are left out while they are unavailable, the positions of the other tracks in the playlist change. Their
/// identifiers are therefore those of the positions in the source.
struct TrackIdentifiers: Sendable {
    private var variants: [ResourceAddress: Int] = [:]
    private var renditions: [ResourceAddress: Int] = [:]
    private let followsSource: Bool

    /// Creates identifiers that are the positions in the edited playlist.
    init() { followsSource = false }

    /// Creates identifiers that are the positions in the source, with all redundant variants.
    ///
    /// - Parameter source: The multivariant playlist before variants are removed.
    init(of source: MultivariantPlaylist) {
        followsSource = true
        for (position, variant) in source.variants.enumerated() where variants[variant.address] == nil {
            variants[variant.address] = position
        }
        for (position, rendition) in source.renditions.enumerated() {
            guard let address = rendition.address, renditions[address] == nil else { continue }
            renditions[address] = position
        }
    }

    /// Returns the identifier of a variant.
    ///
    /// - Parameters:
    ///   - position: The position in the edited playlist.
    ///   - address: The URL of the media playlist.
    /// - Returns: The identifier, without white space.
    func identifier(ofVariantAt position: Int, _ address: ResourceAddress) -> String {
        identifier("v", position, variants[address], address)
    }

    /// Returns the identifier of a rendition.
    ///
    /// - Parameters:
    ///   - position: The position in the edited playlist.
    ///   - address: The URL of the media playlist.
    /// - Returns: The identifier, without white space.
    func identifier(ofRenditionAt position: Int, _ address: ResourceAddress) -> String {
        identifier("a", position, renditions[address], address)
    }

    /// Returns the identifier of a track; its position in the source is `nil` if it is not known.
    private func identifier(_ kind: String, _ position: Int, _ known: Int?, _ address: ResourceAddress) -> String {
        guard followsSource else { return "\(kind)\(position)" }
        // An edit has changed the URL, or has made a variant of a rendition.
        return known.map { "\(kind)\($0)" } ?? "\(kind)-\(String(StableHash(address.text).value, radix: 36))"
    }
}
