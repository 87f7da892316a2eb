import HLSPlaylist
import MediaTiming
import ResourceAddressing

extension PresentationTimeline {
    /// The incomplete segment at the live edge, or `nil` if the playlist has ended or contains no partial segments of
    /// it.
    package var pendingSegment: PendingSegment? {
        let parts = playlist.trailingParts
        guard !hasEnded, !parts.isEmpty else { return nil }
        let sequence = sequences.upperBound
        return PendingSegment(
            sequence: sequence,
            start: end,
            domain: pendingDomain,
            protection: Protection(playlist.keys(for: placements.count), sequence: sequence),
            initialization: pendingInitialization,
            parts: self.parts(parts, of: sequence, from: endPosition)
        )
    }

    /// The preload hints, whose resources may be requested in advance; empty if the playlist has ended (RFC 8216bis
    /// §4.4.5.3).
    package var preloads: [PreloadReference] {
        hasEnded ? [] : playlist.preloadHints.compactMap { PreloadReference($0) }
    }

    private var pendingDomain: DiscontinuityDomain {
        let crossed = playlist.lines(ofSegment: placements.count).count { $0.tag == .discontinuity }
        guard let last = placements.indices.last else {
            let sequence = playlist.discontinuitySequence.addingSaturated(Int64(crossed)).addingSaturated(domainShift)
            return DiscontinuityDomain(epoch: epoch, sequence: sequence)
        }
        let domain = domain(at: last)
        return DiscontinuityDomain(epoch: epoch, sequence: domain.sequence.addingSaturated(Int64(crossed)))
    }

    /// The media initialization section of the last segment, or the one of an `EXT-X-MAP` tag after it.
    private var pendingInitialization: InitializationReference? {
        let trailing = playlist.lines(ofSegment: placements.count).last { $0.tag == .map }
        guard let trailing else {
            return placements.indices.last.flatMap { playlist.segments[$0].map }.map { InitializationReference($0) }
        }
        let attributes = AttributeList(playlist.bytes, in: trailing.value)
        guard let uri = attributes["URI"] else { return nil }
        let address = playlist.context.address?.resolving(uri) ?? ResourceAddress(uri)
        let range = attributes["BYTERANGE"].flatMap { Self.byteRange($0) }
        return InitializationReference(
            address: address,
            byteRange: range,
            keys: playlist.keys(for: placements.count)
        )
    }

    /// Parses `length[@start]`.
    private static func byteRange(_ text: String) -> ByteRange? {
        let numbers = text.split(separator: "@", omittingEmptySubsequences: false).map { Int64($0) }
        guard let length = numbers.first ?? nil, numbers.count <= 2 else { return nil }
        guard numbers.count == 2 else { return ByteRange(start: 0, length: length) }
        return numbers[1].flatMap { ByteRange(start: $0, length: length) }
    }
}
