import HLSPlaylist

/// A reader that combines variants that differ only in their location.
struct VariantReader {
    let capabilities: PlaybackCapabilities
    let sessionKeys: [EncryptionKey]
    let contents: GroupContents
    private var variants: [(variant: Presentation.Variant, obstacles: [PlaybackObstacle])] = []
    private var positions: [String: Int] = [:]

    init(capabilities: PlaybackCapabilities, sessionKeys: [EncryptionKey], contents: GroupContents) {
        self.capabilities = capabilities
        self.sessionKeys = sessionKeys
        self.contents = contents
    }

    var playable: [Presentation.Variant] { variants.filter(\.obstacles.isEmpty).map(\.variant) }
    var unplayable: [Presentation.UnplayableVariant] {
        variants.filter { !$0.obstacles.isEmpty }.map {
            Presentation.UnplayableVariant(variant: $0.variant, obstacles: $0.obstacles)
        }
    }

    mutating func read(_ variant: Variant) {
        let groupIDs = Dictionary(
            uniqueKeysWithValues: Rendition.MediaType.allCases.compactMap { type in
                variant.groupID(type).map { (type, $0) }
            }
        )
        let location = Presentation.Variant.Location(
            address: variant.address,
            pathwayID: variant.pathwayID,
            groupIDs: groupIDs
        )
        let identity = identity(of: variant, groupIDs)
        if let position = positions[identity] {
            variants[position].variant.locations.append(location)
            return
        }
        positions[identity] = variants.count
        let obstacles = capabilities.obstacles(to: variant, sessionKeys: sessionKeys)
        variants.append((Presentation.Variant(variant, id: .init(text: identity), location: location), obstacles))
    }

    /// Returns all attributes of a variant except URLs and the identifiers of pathways and groups.
    ///
    /// A stable variant identifier is not sufficient, because variants with different rendition groups may share it.
    private func identity(of variant: Variant, _ groupIDs: [Rendition.MediaType: String]) -> String {
        let attributes = variant.attributes
        let names = [
            "BANDWIDTH", "AVERAGE-BANDWIDTH", "CODECS", "SUPPLEMENTAL-CODECS", "RESOLUTION", "FRAME-RATE",
            "VIDEO-RANGE", "HDCP-LEVEL", "ALLOWED-CPC", "REQ-VIDEO-LAYOUT", "SCORE", "STABLE-VARIANT-ID", "NAME",
        ]
        let values = names.map { attributes[$0] ?? "" }
        let groups = Rendition.MediaType.allCases.map { type in
            groupIDs[type].map { contents.text(of: type, $0) } ?? ""
        }
        // An I-frame variant may have the same attributes as a regular variant.
        return (values + groups + (variant.isIFramesOnly ? ["I-FRAMES"] : [])).joined(separator: "|")
    }
}
