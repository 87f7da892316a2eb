/// A stretch of a timeline with one sequence of timestamps and one encoding, between two discontinuities.
///
/// Sound and pictures of one presentation share the numbers of their domains, and may pass from one to the next at
/// slightly different times (RFC 8216bis §4.4.3.3 and §6.2.4).
public struct DiscontinuityDomain: Sendable, Hashable, Comparable {
    /// How often the playlist has begun to count anew, as an encoder does that was started again; 0 at first.
    public let epoch: Int
    /// The discontinuity sequence number (§4.4.3.3).
    public let sequence: Int64

    /// Makes a domain.
    public init(epoch: Int = 0, sequence: Int64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    /// Whether the left domain comes before the right one.
    public static func < (left: DiscontinuityDomain, right: DiscontinuityDomain) -> Bool {
        left.epoch != right.epoch ? left.epoch < right.epoch : left.sequence < right.sequence
    }
}

extension DiscontinuityDomain: CustomStringConvertible {
    /// The value as text, for people.
    public var description: String { epoch == 0 ? "\(sequence)" : "\(epoch)/\(sequence)" }
}
