import MediaTiming

/// The packets of a segment that were passed to a decoder, and those of them that it could not decode.
///
/// Decoders also reject single packets of intact streams, and those before the first key frame. Therefore a segment is
/// reported only if most of its packets from a key frame on are damaged.
struct DecodingDamage: Sendable {
    /// The minimum number of damaged packets of a segment that is reported.
    private static let minimumCount = 3

    /// The identifier of the timeline entry that contains the packets.
    private var entryID: Int?
    private var hasKeyFrame = false
    private var packetCount = 0
    private var damagedCount = 0
    private var range: MediaTimeRange?

    /// Adds a packet that was passed to the decoder.
    ///
    /// - Parameters:
    ///   - packet: The time range of the packet.
    ///   - isKeyFrame: A Boolean value that indicates whether the packet is decodable without other packets.
    ///   - isDamaged: A Boolean value that indicates whether the decoder could not decode it.
    ///   - entryID: The identifier of the timeline entry that contains it.
    /// - Returns: The time range of the previous entry if the packet is the first one of another entry and most packets
    ///   of the previous one are damaged; otherwise `nil`.
    mutating func add(
        _ packet: MediaTimeRange,
        isKeyFrame: Bool,
        isDamaged: Bool,
        of entryID: Int?
    ) -> MediaTimeRange? {
        let previous = entryID == self.entryID ? nil : damagedRange
        if entryID != self.entryID {
            self.entryID = entryID
            (packetCount, damagedCount, range) = (0, 0, nil)
        }
        hasKeyFrame = hasKeyFrame || isKeyFrame
        guard hasKeyFrame else { return previous }
        packetCount += 1
        if isDamaged { damagedCount += 1 }
        let known = range ?? packet
        range = MediaTimeRange(start: min(known.start, packet.start), end: max(known.end, packet.end))
        return previous
    }

    /// Ends the sequence of packets, as at a discontinuity or at the end of the buffer.
    ///
    /// - Returns: The time range of the packets of the last entry if most of them are damaged; otherwise `nil`.
    mutating func finish() -> MediaTimeRange? {
        let last = damagedRange
        self = Self()
        return last
    }

    private var damagedRange: MediaTimeRange? {
        damagedCount >= Self.minimumCount && damagedCount > packetCount / 2 ? range : nil
    }
}
