import MediaTiming

/// The packets of a segment that were passed to a decoder, and those of them that it could not decode.
///
/// Decoders also reject single packets of intact streams, and those before the first key frame. Therefore a segment is
/// reported only if most of its packets from a key frame on are damaged, or, where packets do not depend on each other,
/// if several are.
struct DecodingDamage: Sendable {
    /// The minimum number of damaged packets of a segment that is reported.
    private static let minimumCount = 3

    /// A Boolean value that indicates whether a segment is also reported if less than half of its packets are damaged.
    private let reportsParts: Bool
    /// The identifier of the timeline entry that contains the packets.
    private var entryID: Int?
    private var hasKeyFrame = false
    private var packetCount = 0
    private var damagedCount = 0
    private var range: MediaTimeRange?
    /// The range from the first to the last damaged packet.
    private var damagedPart: MediaTimeRange?

    /// Creates a record without packets.
    ///
    /// - Parameter reportsParts: A Boolean value that indicates whether a segment is also reported if less than half of
    ///   its packets are damaged, as is right for audio, whose packets are decodable without each other.
    init(reportsParts: Bool = false) { self.reportsParts = reportsParts }

    /// Adds a packet that was passed to the decoder.
    ///
    /// - Parameters:
    ///   - packet: The time range of the packet.
    ///   - isKeyFrame: A Boolean value that indicates whether the packet is decodable without other packets.
    ///   - isDamaged: A Boolean value that indicates whether the decoder could not decode it.
    ///   - entryID: The identifier of the timeline entry that contains it.
    /// - Returns: The damaged time range of the previous entry if the packet is the first one of another entry and the
    ///   previous one is to be reported; otherwise `nil`.
    mutating func add(
        _ packet: MediaTimeRange,
        isKeyFrame: Bool,
        isDamaged: Bool,
        of entryID: Int?
    ) -> MediaTimeRange? {
        let previous = entryID == self.entryID ? nil : damagedRange
        if entryID != self.entryID {
            self.entryID = entryID
            (packetCount, damagedCount, range, damagedPart) = (0, 0, nil, nil)
        }
        hasKeyFrame = hasKeyFrame || isKeyFrame
        guard hasKeyFrame else { return previous }
        packetCount += 1
        if isDamaged {
            damagedCount += 1
            damagedPart = damagedPart?.union(packet) ?? packet
        }
        range = range?.union(packet) ?? packet
        return previous
    }

    /// Ends the sequence of packets, as at a discontinuity or at the end of the buffer.
    ///
    /// - Returns: The damaged time range of the last entry if it is to be reported; otherwise `nil`.
    mutating func finish() -> MediaTimeRange? {
        let last = damagedRange
        self = Self(reportsParts: reportsParts)
        return last
    }

    private var damagedRange: MediaTimeRange? {
        guard damagedCount >= Self.minimumCount else { return nil }
        if damagedCount > packetCount / 2 { return range }
        return reportsParts ? damagedPart : nil
    }
}
