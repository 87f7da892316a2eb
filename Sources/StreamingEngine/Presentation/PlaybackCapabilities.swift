public import HLSPlaylist

/// The capabilities of a player, by which playable variants are determined.
public struct PlaybackCapabilities: Sendable {
    /// A function that returns whether a codec (RFC 6381) can be decoded.
    public var canDecode: @Sendable (_ codec: String) -> Bool
    /// The supported video ranges (RFC 8216bis §4.4.6.2, VIDEO-RANGE).
    public var videoRanges: Set<VideoRange>
    /// The supported specifiers of `REQ-VIDEO-LAYOUT`; variants with other specifiers are not played.
    public var videoLayouts: Set<String>
    /// The supported key formats.
    public var keyFormats: Set<String>
    /// The HDCP level of the output; variants that require a higher level are not played.
    public var hdcpLevel: HDCPLevel

    /// Creates capabilities.
    ///
    /// - Parameters:
    ///   - videoRanges: The supported video ranges. Default: all that RFC 8216bis defines.
    ///   - videoLayouts: The supported video layouts. Default: monoscopic rectilinear video, `CH-MONO` and `PROJ-RECT`.
    ///   - keyFormats: The supported key formats. Default: `identity`.
    ///   - hdcpLevel: The HDCP level of the output. Default: none.
    ///   - canDecode: The function that returns whether a codec can be decoded. Default: true for all codecs, so that the
    ///     decoder decides.
    public init(
        videoRanges: Set<VideoRange> = [.sdr, .hlg, .pq],
        videoLayouts: Set<String> = ["CH-MONO", "PROJ-RECT"],
        keyFormats: Set<String> = ["identity"],
        hdcpLevel: HDCPLevel = .none,
        canDecode: @escaping @Sendable (_ codec: String) -> Bool = { _ in true }
    ) {
        self.videoRanges = videoRanges
        self.videoLayouts = videoLayouts
        self.keyFormats = keyFormats
        self.hdcpLevel = hdcpLevel
        self.canDecode = canDecode
    }

    /// Returns the reasons for which a variant cannot be played; empty if it can.
    func obstacles(to variant: Variant, sessionKeys: [EncryptionKey]) -> [PlaybackObstacle] {
        var obstacles = variant.codecs.filter { !canDecode($0) }.map { PlaybackObstacle.codec($0) }
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

    /// Returns whether the output satisfies an HDCP level; unknown levels are not satisfied.
    private func allows(_ level: HDCPLevel) -> Bool {
        let order: [HDCPLevel] = [.none, .type0, .type1]
        guard let asked = order.firstIndex(of: level) else { return false }
        return asked <= (order.firstIndex(of: hdcpLevel) ?? 0)
    }
}

/// A reason for which a variant cannot be played.
package enum PlaybackObstacle: Sendable, Hashable {
    /// The codec cannot be decoded.
    case codec(String)
    /// The video range is not supported or unknown (RFC 8216bis §4.4.6.2).
    case videoRange(VideoRange)
    /// The video layout is not supported; such variants must be ignored (§4.4.6.2).
    case videoLayout(String)
    /// Only DRM systems with the given key formats provide the keys.
    case keyFormats([String])
    /// The output does not satisfy the required HDCP level.
    case hdcp(HDCPLevel)
}

extension PlaybackObstacle: CustomStringConvertible {
    /// A human-readable description.
    package var description: String {
        switch self {
        case .codec(let name): "the codec \(name) cannot be decoded"
        case .videoRange(let range): "the video range \(range.rawValue) is not supported"
        case .videoLayout(let name): "the video layout \(name) is not supported"
        case .keyFormats(let names):
            "the content is protected with \(names.joined(separator: ", ")), which is not supported"
        case .hdcp(let level): "the output does not satisfy HDCP level \(level.rawValue)"
        }
    }
}
