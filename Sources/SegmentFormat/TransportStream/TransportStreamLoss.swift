/// The parts of a section of a transport stream that are lost.
package struct TransportStreamLoss: Sendable, Hashable {
    /// The number of bytes before, between and after the packets, because there are no sync bytes.
    package let skippedByteCount: Int
    /// The packet identifiers of the streams whose continuity counters tell that packets are missing.
    package let discontinuousPIDs: Set<UInt16>
}
