package import HLSPlaylist
package import MediaTiming

/// The position of a media playlist in presentation time, relative to a playlist that is already placed.
///
/// Variants and renditions are aligned by time, by date and by discontinuity, never by the order of segments. Media
/// sequence numbers are used only if there is no other information, and if they are consistent with the live edges. The
/// reason is that the numbers of two playlists are unrelated (RFC 8216bis §4.4.3.2 and §6.3.2).
package struct TimelineAlignment: Sendable, Hashable {
    /// The method by which a position was determined, in descending order of reliability.
    package enum Method: Sendable, Hashable {
        /// Both playlists begin with the presentation, because no segments were removed at the beginning.
        case commonStart
        /// The dates within a discontinuity domain that both playlists contain.
        case datesInDomain
        /// The dates, without a common discontinuity domain.
        case dates
        /// The start of a discontinuity domain that both playlists contain.
        case discontinuity
        /// A common media sequence number that is consistent with the live edges.
        case mediaSequence
        /// The live edges.
        case liveEdge
        /// One of the playlists is empty; the playlist begins at the end of the reference.
        case none
    }

    /// The presentation time of the first segment of the playlist.
    package let start: MediaTime
    /// The method by which the position was determined.
    package let method: Method
    /// The maximum error of ``start`` in either direction, which the timestamps of the first segment resolve.
    package let uncertainty: MediaTime
    /// The number of times that the numbering of the presentation restarted.
    let epoch: Int
    /// The offset on the discontinuity sequence numbers of the playlist.
    let domainShift: Int64

    /// Creates the alignment of a playlist to a reference timeline.
    ///
    /// - Parameters:
    ///   - playlist: The complete loaded playlist.
    ///   - reference: A timeline of the same presentation, as recent as possible.
    ///   - age: The time since the reference was last updated, by which the live edge of a live reference is behind.
    /// - Complexity: O(*d* log *n*) in the number of discontinuities.
    package init(of playlist: MediaPlaylist, to reference: PresentationTimeline, age: Duration = .zero) {
        self.init(TimelineComparison(playlist, reference, age: age).position, reference)
    }

    init(_ position: TimelineComparison.Position, _ reference: PresentationTimeline) {
        start = MediaTime(nanoseconds: position.start)
        method = position.method
        uncertainty = MediaTime(nanoseconds: position.uncertainty)
        epoch = reference.epoch
        domainShift = reference.domainShift
    }
}

extension PresentationTimeline {
    /// Creates the timeline of a loaded playlist, aligned with another timeline of the same presentation.
    ///
    /// The result is the same as that of creating a ``TimelineAlignment`` and a timeline with it.
    ///
    /// - Parameters:
    ///   - playlist: The complete playlist.
    ///   - reference: A timeline of the same presentation, as recent as possible.
    /// - Returns: The timeline and its alignment.
    /// - Complexity: O(*n*) in the number of segments.
    package static func aligned(
        _ playlist: MediaPlaylist,
        to reference: PresentationTimeline
    ) -> (timeline: PresentationTimeline, alignment: TimelineAlignment) {
        let comparison = TimelineComparison(playlist, reference)
        let position = comparison.position
        var timeline = comparison.other
        timeline.shift(by: MediaTime(nanoseconds: position.start))
        return (timeline, TimelineAlignment(position, reference))
    }
}
