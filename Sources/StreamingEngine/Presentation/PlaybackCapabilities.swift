public import HLSPlaylist

/// What a player can play: what a presentation's variants are held against.
public struct PlaybackCapabilities: Sendable {
    /// Whether a format can be decoded, by its RFC 6381 name.
    public var decodes: @Sendable (_ codec: String) -> Bool
    /// The transfer characteristics that pictures may have (RFC 8216bis §4.4.6.2, VIDEO-RANGE).
    public var videoRanges: Set<VideoRange>
    /// The specifiers of `REQ-VIDEO-LAYOUT` that are understood; a variant with another one must be ignored.
    public var videoLayouts: Set<String>
    /// The key formats that keys can be had in.
    public var keyFormats: Set<String>
    /// How well the output is protected; a variant that asks for more is set apart.
    public var hdcpLevel: HDCPLevel

    /// Makes capabilities.
    ///
    /// - Parameters:
    ///   - videoRanges: Defaults to all that the standard knows.
    ///   - videoLayouts: Defaults to flat pictures for one eye, `CH-MONO` and `PROJ-RECT`.
    ///   - keyFormats: Defaults to plain keys, `identity`.
    ///   - hdcpLevel: Defaults to none, as for an output that nobody vouches for.
    ///   - decodes: Defaults to everything: then the decoder finds out.
    public init(
        videoRanges: Set<VideoRange> = [.sdr, .hlg, .pq],
        videoLayouts: Set<String> = ["CH-MONO", "PROJ-RECT"],
        keyFormats: Set<String> = ["identity"],
        hdcpLevel: HDCPLevel = .none,
        decodes: @escaping @Sendable (_ codec: String) -> Bool = { _ in true }
    ) {
        self.videoRanges = videoRanges
        self.videoLayouts = videoLayouts
        self.keyFormats = keyFormats
        self.hdcpLevel = hdcpLevel
        self.decodes = decodes
    }

    /// Why a variant cannot be played; empty where it can.
    func obstacles(to variant: Variant, sessionKeys: [EncryptionKey]) -> [PlaybackObstacle] {
        var obstacles = variant.codecs.filter { !decodes($0) }.map { PlaybackObstacle.codec($0) }
        if let range = variant.videoRange, !videoRanges.contains(range) { obstacles.append(.videoRange(range)) }
        let specifiers = variant.requiredVideoLayouts.flatMap { $0.split(separator: "/").map(String.init) }
        obstacles += specifiers.filter { !videoLayouts.contains($0) }.map { .videoLayout($0) }
        let configured = variant.allowedContentProtection.map(\.keyFormat)
        if !configured.isEmpty, keyFormats.isDisjoint(with: configured) {
            obstacles.append(.keyFormats(configured))
        } else if !sessionKeys.isEmpty, !sessionKeys.contains(where: { keyFormats.contains($0.keyFormat) }) {
            var seen: Set<String> = []
            obstacles.append(.keyFormats(sessionKeys.map(\.keyFormat).filter { seen.insert($0).inserted }))
        }
        if let level = variant.hdcpLevel, !allows(level) { obstacles.append(.hdcp(level)) }
        return obstacles
    }

    /// A level that the standard does not know asks for more than anybody has.
    private func allows(_ level: HDCPLevel) -> Bool {
        let order: [HDCPLevel] = [.none, .type0, .type1]
        guard let asked = order.firstIndex(of: level) else { return false }
        return asked <= (order.firstIndex(of: hdcpLevel) ?? 0)
    }
}

/// Why a variant cannot be played.
public enum PlaybackObstacle: Sendable, Hashable {
    /// A format that cannot be decoded.
    case codec(String)
    /// Transfer characteristics that cannot be shown, or are not known (RFC 8216bis §4.4.6.2).
    case videoRange(VideoRange)
    /// An arrangement of the picture that is not understood: such variants must be ignored (§4.4.6.2).
    case videoLayout(String)
    /// All keys belong to systems of rights management, whose key formats these are.
    case keyFormats([String])
    /// The output is not protected as well as the variant asks.
    case hdcp(HDCPLevel)
}

extension PlaybackObstacle: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String {
        switch self {
        case .codec(let name): "the format \(name) cannot be decoded"
        case .videoRange(let range): "the video range \(range.rawValue) cannot be shown"
        case .videoLayout(let name): "the video layout \(name) is not known"
        case .keyFormats(let names): "the content is protected with \(names.joined(separator: ", "))"
        case .hdcp(let level): "the output would have to be protected by HDCP of level \(level.rawValue)"
        }
    }
}
