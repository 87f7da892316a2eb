public import MediaTiming

/// `X-TIMESTAMP-MAP`: which media timestamp belongs to which time of a WebVTT segment (RFC 8216bis §3.1.4).
public struct WebVTTTimestampMap: Sendable, Hashable {
    /// The timestamp of the media: 33 bits of 90 kHz.
    public let mediaTimestamp: UInt64
    /// The time of cues that it belongs to.
    public let localTime: MediaTime

    /// What counts where a segment does not say: time zero of cues is timestamp zero.
    public static let none = WebVTTTimestampMap(mediaTimestamp: 0, localTime: .zero)

    /// Makes a map; of the timestamp the lowest 33 bits count.
    public init(mediaTimestamp: UInt64, localTime: MediaTime) {
        self.mediaTimestamp = mediaTimestamp & 0x1_FFFF_FFFF
        self.localTime = localTime
    }

    /// Reads the header's line, whose two parts may stand in either order; `nil` for other and for damaged lines.
    init?(line: some StringProtocol) {
        guard line.hasPrefix("X-TIMESTAMP-MAP") else { return nil }
        let rest = line.dropFirst(15).drop { $0 == " " || $0 == "\t" }
        guard rest.first == "=" || rest.first == ":" else { return nil }
        var timestamp: UInt64?
        var local: MediaTime?
        for part in rest.dropFirst().split(separator: ",") {
            let field = part.drop { $0 == " " || $0 == "\t" }
            if field.hasPrefix("MPEGTS:") {
                timestamp = UInt64(field.dropFirst(7).prefix { $0 != " " && $0 != "\t" })
            } else if field.hasPrefix("LOCAL:") {
                var text = WebVTTScanner(String(field.dropFirst(6)))
                local = text.timestamp()
            }
        }
        guard let timestamp, let local else { return nil }
        self.init(mediaTimestamp: timestamp, localTime: local)
    }
}

extension WebVTTDocument {
    /// The cues at their places on the media's timeline.
    ///
    /// The timestamp of the map has 33 bits and begins again at zero after 26.5 hours; it is unrolled so that the first cue
    /// comes as near as possible to `reference`.
    ///
    /// - Parameter reference: The first timestamp of the media segment that goes with this one, unrolled.
    /// - Returns: The cues, moved; those that would begin before time zero stay there as they are, with negative times.
    public func cues(near reference: MediaTime) -> [WebVTTCue] {
        guard let first = cues.first else { return [] }
        let map = timestampMap ?? .none
        let plain = TimestampWrap.time(Int64(clamping: map.mediaTimestamp)) - map.localTime
        // Units of the clock are exact enough to choose the turn; the offset itself stays exact.
        let place = (first.timeRange.start + plain).units(per: UInt32(clamping: TimestampWrap.timescale))
        let near = TimestampWrap.unroll(
            UInt64(bitPattern: place),
            near: reference.units(per: UInt32(clamping: TimestampWrap.timescale))
        )
        let offset = plain + TimestampWrap.time(near.subtractingSaturated(place))
        return cues.map { $0.moved(by: offset) }
    }
}
