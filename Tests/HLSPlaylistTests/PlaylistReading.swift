import HLSPlaylist
import MediaTiming
import ResourceAddressing

/// The values of a parsed playlist as lines that a test can spell out; missing values are omitted.
struct PlaylistReading {
    let lines: [String]

    init(_ playlist: Playlist) {
        switch playlist {
        case .multivariant(let playlist):
            let head: [String?] = [
                "multivariant", playlist.declaredVersion.map { "version \($0)" },
                playlist.hasIndependentSegments ? "independent" : nil, playlist.start.map { "start \($0.offset)" },
            ]
            lines =
                [head.compactMap(\.self).joined(separator: ", ")] + playlist.renditions.map(Self.line)
                + playlist.variants.map { Self.line($0, kind: "variant") }
                + playlist.iFrameVariants.map { Self.line($0, kind: "I-frames") }
        case .media(let playlist):
            let head: [String?] = [
                "media", playlist.declaredVersion.map { "version \($0)" },
                playlist.targetDuration.map { "target \($0)" }, playlist.playlistType?.rawValue,
                playlist.declaredMediaSequence.map { "from \($0)" },
                playlist.discontinuitySequence > 0 ? "discontinuity \(playlist.discontinuitySequence)" : nil,
                playlist.start.map { "start \($0.offset)" }, playlist.hasEndMarker ? "ended" : nil,
            ]
            lines =
                [head.compactMap(\.self).joined(separator: ", ")] + playlist.segments.map(Self.line)
                + playlist.dateRanges.map { range in
                    let values = range.attributes.filter { $0.name != "ID" }.map { "\($0.name)=\($0.value)" }
                    return Self.line(["date range", range.id] + values)
                }
        }
    }

    private static func line(_ parts: [String?]) -> String { parts.compactMap(\.self).joined(separator: " ") }

    private static func line(_ variant: Variant, kind: String) -> String {
        line([
            kind, variant.address.text, variant.bandwidth.map { "\($0.bitsPerSecond)" },
            variant.averageBandwidth.map { "average \($0.bitsPerSecond)" }, variant.resolution?.description,
            variant.codecs.isEmpty ? nil : variant.codecs.joined(separator: "+"),
            variant.attributes["VIDEO-RANGE"], variant.groupID(.audio).map { "audio \($0)" },
        ])
    }

    private static func line(_ rendition: Rendition) -> String {
        line([
            rendition.type?.rawValue ?? "rendition", rendition.groupID.isEmpty ? nil : "in \(rendition.groupID)",
            rendition.name.isEmpty ? nil : "'\(rendition.name)'", rendition.language,
            rendition.isDefault ? "default" : nil, rendition.address?.text,
        ])
    }

    private static func line(_ segment: MediaSegment) -> String {
        let keys = segment.keys.map { key in
            line([key.method.rawValue, key.address?.text, key.initializationVector.map { "IV \($0)" }])
        }
        return line(
            [
                "\(segment.sequence)", segment.address.text, "\(segment.duration) s", segment.title.map { "'\($0)'" },
                segment.byteRange?.description,
                segment.map.map { line(["map", $0.address.text, $0.byteRange?.description]) },
                segment.programDateTime?.description, segment.hasDiscontinuity ? "discontinuity" : nil,
                segment.isGap ? "gap" : nil, segment.bitRate.map { "\($0.bitsPerSecond) bit/s" },
            ] + keys
        )
    }
}
