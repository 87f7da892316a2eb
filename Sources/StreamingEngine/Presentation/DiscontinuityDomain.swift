/// An interval of a timeline between two discontinuities, with continuous timestamps and one encoding.
///
/// The audio and video playlists of a presentation have matching discontinuity sequence numbers, and may change to the
/// next one at slightly different times (RFC 8216bis §4.4.3.3 and §6.2.4).
package struct DiscontinuityDomain: Sendable, Hashable, Comparable {
    /// The number of times that the numbering of the playlist restarted, as after a restart of the encoder; initially
    /// 0.
    package let epoch: Int
    /// The discontinuity sequence number (§4.4.3.3).
    package let sequence: Int64

    /// Creates a domain.
    package init(epoch: Int = 0, sequence: Int64) {
        self.epoch = epoch
        self.sequence = sequence
    }

    /// Returns whether the left domain precedes the right one.
    package static func < (left: DiscontinuityDomain, right: DiscontinuityDomain) -> Bool {
        left.epoch != right.epoch ? left.epoch < right.epoch : left.sequence < right.sequence
    }
}

extension DiscontinuityDomain: CustomStringConvertible {
    /// A human-readable description.
    package var description: String { epoch == 0 ? "\(sequence)" : "\(epoch)/\(sequence)" }
}
