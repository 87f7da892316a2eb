import HLSPlaylist
import MediaTiming
import ReportFormat
import ResourceAddressing

/// The reports of playlists for the player of the console.
enum BrowserPlaybackReport {
    /// The scheme and host of addresses on this server, which the reports leave out.
    static let base = "http://server"

    /// Returns the report of a multivariant playlist whose address begins with ``base``.
    static func report(of playlist: MultivariantPlaylist) -> ReportValue {
        .fields([
            "type": .string("multivariant"),
            "variants": .array(playlist.variants.filter { !$0.isIFramesOnly }.map(report)),
            "renditions": .array(playlist.renditions.compactMap(report)),
        ])
    }

    /// Returns an address on this server without the scheme and the host.
    private static func path(_ address: ResourceAddress) -> ReportValue? {
        guard address.text.hasPrefix(base + "/") else { return nil }
        return .string(String(address.text.dropFirst(base.count)))
    }

    private static func report(_ variant: Variant) -> ReportValue {
        .fields([
            "address": path(variant.address),
            "bandwidth": variant.bandwidth.map { .integer($0.bitsPerSecond) },
            "width": variant.resolution.map { .integer($0.width) },
            "height": variant.resolution.map { .integer($0.height) },
            "codecs": .strings(variant.codecs),
            "audio": variant.attributes["AUDIO"].map { .string($0) },
            "subtitles": variant.attributes["SUBTITLES"].map { .string($0) },
        ])
    }

    private static func report(_ rendition: Rendition) -> ReportValue? {
        guard let type = rendition.type, [.audio, .subtitles].contains(type) else { return nil }
        return .fields([
            "type": .string(type == .audio ? "audio" : "subtitles"),
            "group": .string(rendition.groupID),
            "name": .string(rendition.name),
            "language": rendition.language.map { .string($0) },
            "address": rendition.address.flatMap(path),
            "default": .bool(rendition.isDefault),
            "autoselect": .bool(rendition.isAutoselect),
            "forced": .bool(rendition.isForced),
        ])
    }

    /// Returns the report of a media playlist.
    static func report(of playlist: MediaPlaylist) -> ReportValue {
        let segments = playlist.segments
        return .fields([
            "type": .string("media"),
            "ended": .bool(!playlist.isLive),
            "targetDuration": playlist.targetDuration.map { .seconds($0) },
            "start": playlist.start.map { .seconds($0.offset) },
            "segments": .sequence(
                ReportSequence(count: segments.count) { position in
                    let segment = segments[position]
                    return .fields([
                        "sequence": .integer(segment.sequence),
                        "duration": .seconds(segment.duration),
                        "discontinuity": .integer(segment.discontinuitySequence),
                        "date": segment.programDateTime.map { .seconds($0.sinceEpoch) },
                        "gap": segment.isGap ? .bool(true) : nil,
                    ])
                }
            ),
        ])
    }
}
