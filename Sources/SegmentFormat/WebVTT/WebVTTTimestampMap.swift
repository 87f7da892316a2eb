package import MediaTiming

/// The `X-TIMESTAMP-MAP` header, which maps cue times of a WebVTT segment to media timestamps (RFC 8216bis §3.1.4).
package struct WebVTTTimestampMap: Sendable, Hashable {
    /// The media timestamp, a 33-bit value at 90 kHz.
    package let mediaTimestamp: UInt64
    /// The cue time that corresponds to the media timestamp.
    package let localTime: MediaTime

    /// The map that applies if a segment has none: cue time zero corresponds to timestamp zero.
    package static let none = WebVTTTimestampMap(mediaTimestamp: 0, localTime: .zero)

    /// Creates a map; only the lowest 33 bits of the timestamp are used.
    package init(mediaTimestamp: UInt64, localTime: MediaTime) {
        self.mediaTimestamp = mediaTimestamp & 0x1_FFFF_FFFF
        self.localTime = localTime
    }

    /// Creates a map from a header line with its two fields in any order, or `nil` for other and for invalid lines.
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
    /// Returns the cues with times on the media timeline.
    ///
    /// The map's timestamp has 33 bits and wraps to zero after 26.5 hours; it is unwrapped such that the first cue is
    /// as near as possible to `reference`.
    ///
    /// - Parameter reference: The first timestamp of the corresponding media segment, unwrapped.
    /// - Returns: The shifted cues; cues that start before time zero are included with negative times.
    package func cues(near reference: MediaTime) -> [WebVTTCue] {
        guard let first = cues.first else { return [] }
        let map = timestampMap ?? .none
        let plain = TimestampUnwrapper.mediaTime(of: Int64(clamping: map.mediaTimestamp)) - map.localTime
        // Clock units are precise enough to determine the number of wraps; the offset itself remains exact.
        let position = (first.timeRange.start + plain).units(per: UInt32(clamping: TimestampUnwrapper.timescale))
        let near = TimestampUnwrapper.unwrap(
            UInt64(bitPattern: position),
            near: reference.units(per: UInt32(clamping: TimestampUnwrapper.timescale))
        )
        let offset = plain + TimestampUnwrapper.mediaTime(of: near.subtractingSaturated(position))
        return cues.map { $0.shifted(by: offset) }
    }
}
