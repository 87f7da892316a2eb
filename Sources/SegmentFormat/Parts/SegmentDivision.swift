package import MediaTiming

/// The division of a segment into partial segments, each of which contains the samples of a part of its duration
/// (RFC 8216bis §3.1).
///
/// Transport streams, fragmented MP4 and packed audio are divided. The samples of all parts together are those of the
/// segment, unchanged; the first part begins as the segment does. A boundary inside a sample moves to the end of it.
package struct SegmentDivision: Sendable {
    /// The ends of all parts but the last one, as fractions of the duration of the segment, in increasing order.
    private let boundaries: [Double]

    /// The number of parts.
    package var partCount: Int { boundaries.count + 1 }

    /// Creates a division into parts of equal durations, the last of which may be shorter.
    ///
    /// - Parameters:
    ///   - duration: The duration of the segment, greater than zero.
    ///   - target: The duration of a part, greater than zero.
    ///   - count: The number of parts, at least one.
    package init(of duration: MediaTime, target: MediaTime, count: Int) {
        let share = target.seconds / duration.seconds
        boundaries = (1..<max(1, count)).map { min(1, Double($0) * share) }
    }

    /// Returns the parts of a segment.
    ///
    /// - Parameters:
    ///   - segment: The bytes of the segment, which is not encrypted.
    ///   - initialization: The bytes of its initialization section, which contains default values for the samples of
    ///     fragmented MP4; empty if there is none.
    /// - Returns: ``partCount`` parts.
    /// - Throws: ``MediaFormatError`` if the segment has another format or fewer samples than parts, or is damaged.
    package func parts(of segment: [UInt8], initialization: [UInt8] = []) throws(MediaFormatError) -> [[UInt8]] {
        switch MediaContainer(segment.span) {
        case .isoBaseMedia?:
            return try FragmentedMedia(segment, initialization: initialization).parts(self)
        case .transportStream?: return try transportStreamParts(of: segment)
        case .aac?, .mpegAudio?, .ac3?, .enhancedAC3?: return try packedAudioParts(of: segment)
        case let container?:
            throw .malformed("\(container.nameWithArticle), which cannot be divided into parts,")
        case nil: throw .malformed("a segment of an unknown format, which cannot be divided into parts,")
        }
    }

    /// Returns the positions at which a list of samples is divided, so that each part has a sample if there are as many.
    ///
    /// - Parameters:
    ///   - times: The time of each sample after the first one.
    ///   - duration: The duration of all samples.
    /// - Returns: The position of the first sample of each part, and the number of samples.
    func positions(times: [UInt64], duration: UInt64) -> [Int] {
        var positions = [0]
        for (number, boundary) in boundaries.enumerated() {
            // Durations in playlists are rounded.
            let time = boundary * Double(duration) - 0.000_1 * Double(duration)
            let position = times.partitioningIndex { Double($0) >= time }
            guard times.count >= partCount else {
                positions.append(position)
                continue
            }
            // At least one sample remains for this part and each of the later ones.
            let least = (positions.last ?? 0) + 1
            positions.append(min(max(position, least), times.count - (boundaries.count - number)))
        }
        return positions + [times.count]
    }

    // MARK: Transport streams

    /// Returns the bytes between the packets with which the frames of the leading stream begin.
    ///
    /// A stream with few timestamps, such as audio with several frames after each, is divided into equal numbers of packets.
    private func transportStreamParts(of segment: [UInt8]) throws(MediaFormatError) -> [[UInt8]] {
        let bytes = segment.span
        guard let summary = TransportStreamSummary(bytes), let pid = summary.leadingPID else {
            throw .missing("a stream with timestamps")
        }
        var packets: [Int] = []
        var starts: [Int] = []
        var times: [UInt64] = []
        var first: Int64?
        var last: Int64 = 0
        TransportStreamSummary.forEachPacket(in: bytes, summary.layout) { packet, offset in
            packets.append(offset)
            guard packet.pid == pid, packet.isUnitStart, !packet.isScrambled,
                let stamps = PESTimestamps(packet.payload, in: bytes)
            else { return }
            let stamp = stamps.decode ?? stamps.presentation
            last = first == nil ? Int64(clamping: stamp) : TimestampUnwrapper.unwrap(stamp, near: last)
            let origin = first ?? last
            first = origin
            starts.append(offset)
            // A timestamp that goes back begins no part of its own.
            times.append(max(times.last ?? 0, UInt64(clamping: last -| origin)))
        }
        var duration = times.last ?? 0
        if times.count > 1 {
            duration = duration.addingSaturated(duration.dividedSaturated(by: UInt64(clamping: times.count - 1)))
        }
        if times.count < partCount {
            (starts, times) = (packets, packets.indices.map { UInt64(clamping: $0) })
            duration = UInt64(clamping: packets.count)
        }
        guard times.count >= partCount else { throw .missing("a frame for each part of the segment") }
        let positions = positions(times: times, duration: duration)
        let cuts = [0] + positions.dropFirst().dropLast().map { starts[$0] } + [segment.count]
        return zip(cuts, cuts.dropFirst()).map { Array(segment[$0..<$1]) }
    }

    // MARK: Packed audio

    /// Returns the bytes between frames, each part after a tag with its timestamp (RFC 8216bis §3.1.4).
    private func packedAudioParts(of segment: [UInt8]) throws(MediaFormatError) -> [[UInt8]] {
        let bytes = segment.span
        var starts: [Int] = []
        var times: [UInt64] = []
        var time: UInt64 = 0
        var rate = 0
        let start = ID3Tag.endOffset(in: bytes)
        var offset = AudioFrameHeader.firstFrame(in: bytes, from: start, within: 4_096)?.offset ?? bytes.count
        while offset < bytes.count, let header = AudioFrameHeader(bytes, at: offset) {
            // A dependent substream belongs to the frame before it.
            if header.samplesPerFrame > 0 {
                starts.append(offset)
                times.append(time)
                time +|= UInt64(clamping: header.samplesPerFrame)
                rate = header.sampleRate
            }
            offset += max(1, header.frameLength)
        }
        guard times.count >= partCount else { throw .missing("a frame for each part of the segment") }
        let positions = positions(times: times, duration: time)
        let cuts = [0] + positions.dropFirst().dropLast().map { starts[$0] } + [segment.count]
        let timestamp = ID3Tag(bytes)?.transportTimestamp
        var parts: [[UInt8]] = []
        for number in 0..<partCount {
            var part: [UInt8] = []
            if number > 0, let timestamp, rate > 0 {
                let elapsed = times[positions[number]].multipliedSaturated(by: 90_000).dividedSaturated(
                    by: UInt64(clamping: rate)
                )
                part = ID3Tag.bytes(withTransportTimestamp: timestamp.addingSaturated(elapsed))
            }
            parts.append(part + segment[cuts[number]..<cuts[number + 1]])
        }
        return parts
    }
}
