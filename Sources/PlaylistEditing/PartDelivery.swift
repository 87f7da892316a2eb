/// The delivery of the partial segments of a simulated channel by a server that divides its segments.
package struct PartDelivery: Sendable, Hashable {
    /// A position in a live playlist for which a client waits (RFC 8216bis §6.2.5.2).
    package struct Position: Sendable, Hashable {
        /// The media sequence number of a segment.
        package let sequence: Int64
        /// The index of a part of the segment; `nil` for the whole segment.
        package let part: Int?

        /// Creates a position.
        package init(sequence: Int64, part: Int? = nil) {
            self.sequence = sequence
            self.part = part
        }
    }

    /// The position that the playlist has to contain; `nil` if the client does not wait.
    package let awaited: Position?

    /// Creates a delivery.
    package init(awaited: Position? = nil) { self.awaited = awaited }
}
