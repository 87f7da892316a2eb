public import HLSPlaylist
public import MediaTiming

/// Where a media playlist lies beside one that is already placed in presentation time.
///
/// Variants and renditions are aligned by time, by date and by discontinuity; never by the order of segments, and by media
/// sequence numbers only where nothing else is left and they agree with the live edges: numbers of two playlists have
/// nothing to do with each other (RFC 8216bis §4.4.3.2 and §6.3.2).
public struct TimelineAlignment: Sendable, Hashable {
    /// How a place was found, best first.
    public enum Method: Sendable, Hashable {
        /// Both begin with the presentation: nothing was taken from their beginnings.
        case commonStart
        /// By dates within the discontinuity domain that both list.
        case datesInDomain
        /// By dates, without a domain that both list.
        case dates
        /// By the border of a discontinuity domain that both list.
        case discontinuity
        /// By the same media sequence number, which puts the live edges together too.
        case mediaSequence
        /// By their live edges.
        case liveEdge
        /// One of them lists nothing: it begins where the other ends.
        case none
    }

    /// When the first segment of the playlist begins, in presentation time.
    public let start: MediaTime
    /// How it was found.
    public let method: Method
    /// How far off ``start`` may be to either side; the timestamps of the first segment tell.
    public let uncertainty: MediaTime
    /// How often the presentation has begun to count anew.
    let epoch: Int
    /// What has to be added to the playlist's discontinuity numbers.
    let domainShift: Int64

    /// Finds the place.
    ///
    /// - Parameters:
    ///   - playlist: The playlist that was just loaded, whole.
    ///   - reference: A timeline of the same presentation, as fresh as it can be had.
    ///   - age: How long ago the reference had something new, of what is live: by so much its edge is behind.
    /// - Complexity: O(*d* log *n*) in discontinuities.
    public init(of playlist: MediaPlaylist, to reference: PresentationTimeline, age: Duration = .zero) {
        self.init(TimelineComparison(playlist, reference, age: age).place, reference)
    }

    init(_ place: TimelineComparison.Place, _ reference: PresentationTimeline) {
        start = MediaTime(nanoseconds: place.start)
        method = place.method
        uncertainty = MediaTime(nanoseconds: place.uncertainty)
        epoch = reference.epoch
        domainShift = reference.domainShift
    }
}

extension PresentationTimeline {
    /// Places a playlist that was just loaded beside a timeline of the same presentation.
    ///
    /// The same as making a ``TimelineAlignment`` and the timeline that it places, in one go.
    ///
    /// - Parameters:
    ///   - playlist: The playlist, whole.
    ///   - reference: A timeline of the same presentation, as fresh as it can be had.
    /// - Returns: The timeline, and how its place was found.
    /// - Complexity: O(*n*) in segments.
    public static func aligned(
        _ playlist: MediaPlaylist,
        to reference: PresentationTimeline
    ) -> (timeline: PresentationTimeline, alignment: TimelineAlignment) {
        let comparison = TimelineComparison(playlist, reference)
        let place = comparison.place
        var timeline = comparison.other
        timeline.shift(by: MediaTime(nanoseconds: place.start))
        return (timeline, TimelineAlignment(place, reference))
    }
}
