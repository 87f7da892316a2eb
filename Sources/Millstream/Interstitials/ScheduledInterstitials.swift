import MediaTiming
import StreamingEngine

/// The interstitials that are scheduled for an item, by its stream or by the application.
struct ScheduledInterstitials: Sendable {
    /// The events, in the order of the stream or of the application.
    private(set) var events: [InterstitialEvent] = []
    /// The date ranges of the stream.
    private(set) var ranges: [TimedDateRange] = []
    /// The events of the application; `nil` while those of the stream are scheduled.
    private(set) var ownEvents: [InterstitialEvent]?
    private var handlesStreamEvents = true
    /// The revision of the segment boundaries with which dates and boundaries were last resolved.
    private var revision = 0

    /// The events that are played; without those of the stream if the application handles them.
    var playedEvents: [InterstitialEvent] { handlesStreamEvents || ownEvents != nil ? events : [] }

    /// The date ranges whose instructions to load in advance are followed: those of a stream whose own events are played.
    var preloadRanges: [TimedDateRange] { handlesStreamEvents && ownEvents == nil ? ranges : [] }

    /// Accepts the events that are scheduled now.
    ///
    /// - Parameters:
    ///   - primary: The player and its item.
    ///   - ownEvents: The events of the application; `nil` for those of the stream.
    /// - Returns: Whether the events or their positions may have changed.
    mutating func update(_ primary: InterstitialObservation.Primary, ownEvents: [InterstitialEvent]?) -> Bool {
        let playback = primary.playback
        let isSame =
            playback.interstitialRanges == ranges && ownEvents == self.ownEvents
            && primary.handlesStreamEvents == handlesStreamEvents
        if !isSame {
            (ranges, self.ownEvents) = (playback.interstitialRanges, ownEvents)
            handlesStreamEvents = primary.handlesStreamEvents
            events = ownEvents ?? ranges.compactMap { InterstitialEvent($0) }
        }
        let needsSegments = events.contains { $0.alignsStartWithPrimarySegmentBoundary || $0.time == nil }
        guard !isSame || needsSegments && playback.segmentBorders.revision != revision else { return false }
        revision = playback.segmentBorders.revision
        return true
    }

    /// Returns the position of an event; `nil` if the item has no media of its date.
    static func position(of event: InterstitialEvent, _ boundaries: SegmentBoundaries) -> MediaTime? {
        guard let time = event.time ?? event.date.flatMap({ boundaries.time(of: $0) }) else { return nil }
        guard event.alignsStartWithPrimarySegmentBoundary else { return time }
        return boundaries.nearest(to: time, latest: false) ?? time
    }
}
