import MediaTiming
import StreamingEngine

/// The progress of a break: the interstitials that are played one after the other at one position of the primary item.
struct InterstitialBreak: Sendable {
    /// The interstitials, and the position at which the primary item resumes after them.
    let due: InterstitialSchedule.Break
    /// The number of the primary item.
    let item: Int?
    /// The position of the primary item.
    var position: SuspendedPosition
    /// The time of the clock until which media is waited for.
    var timeoutTime: Duration
    private var index = 0
    private var played: [(event: InterstitialEvent, offset: MediaTime)] = []
    private var wasAnythingPlayed = false
    /// A Boolean value that indicates whether an interstitial that was played asks for a segment boundary (X-SNAP=IN).
    private var resumesAtBoundary = false

    /// Creates a break that begins with its first interstitial.
    init(_ due: InterstitialSchedule.Break, of item: Int?, at position: MediaTime, timeoutTime: Duration) {
        self.due = due
        self.item = item
        self.position = .stopping(near: position)
        self.timeoutTime = timeoutTime
    }

    /// The current interstitial.
    var event: InterstitialEvent { due.events[index] }

    /// The distance from the start of a live interstitial to the position at which playback joins it; `nil` if it is
    /// played from its start.
    var startOffset: MediaTime? { index == 0 ? due.startOffset : nil }

    /// Records the end of the current interstitial.
    ///
    /// - Parameters:
    ///   - offset: The amount of the primary item that it replaced.
    ///   - wasPlayed: Whether any of its media was played.
    mutating func finishEvent(offset: MediaTime, wasPlayed: Bool) {
        played.append((event, offset))
        guard wasPlayed else { return }
        wasAnythingPlayed = true
        if event.alignsResumptionWithPrimarySegmentBoundary { resumesAtBoundary = true }
    }

    /// Moves to the next interstitial.
    ///
    /// - Returns: Whether there is one.
    mutating func beginNextEvent() -> Bool {
        guard index + 1 < due.events.count else { return false }
        index += 1
        return true
    }

    /// Returns the position at which the primary item resumes.
    func resumptionTime(_ boundaries: SegmentBoundaries) -> MediaTime {
        if !wasAnythingPlayed, let wanted = due.requestedPosition { return wanted }
        let target = InterstitialSchedule.target(due.resumption, played)
        // Neither the position that a viewer chose nor that of an interstitial without media moves to a boundary.
        guard resumesAtBoundary, case .offset = due.resumption else { return target }
        return boundaries.nearest(to: target, latest: true) ?? target
    }
}
