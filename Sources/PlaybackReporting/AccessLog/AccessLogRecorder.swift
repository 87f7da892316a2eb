public import MediaTiming

/// A recorder that creates an access log from playback events.
///
/// A period, and with it an event of the log, begins
/// - when another variant is **played**,
/// - when a seek begins, and
/// - when playback stalls.
///
/// All activity counts in the period in which it happened, so that the sums over the log are those of the session. The
/// segments of a new variant that are loaded in advance therefore count in the period of the old one, while
/// ``AccessLog/Event/durationWatched`` belongs to the variant of the event.
///
/// A period in which nothing has been played is reused, so that repeated seeks create only one event. A pause of any
/// length does not end a period, as in AVFoundation.
public struct AccessLogRecorder: Sendable {
    /// The limits of a recorder.
    public struct Options: Sendable, Hashable {
        /// The maximum number of events in the log, at least 40; the default of 10,000 allows a switch every nine
        /// seconds for a day.
        ///
        /// When it is exceeded, the oldest tenth is merged into one event, or into two if some of them have no bit
        /// rate. Counts and durations are added up, so that sums and time-weighted bit rates do not change.
        public var maximumEventCount: Int

        /// Creates options.
        public init(maximumEventCount: Int = 10_000) {
            self.maximumEventCount = maximumEventCount
        }
    }

    /// The log up to the last event that was added.
    ///
    /// - Complexity: O(1), but while a copy is kept, the next added event copies the log.
    public private(set) var log = AccessLog()
    /// The number of periods that were merged into others because of the limit and have no event of their own.
    public private(set) var mergedPeriodCount = 0

    private let session: PlaybackSession
    private let maximumEventCount: Int
    private var progress = PlaybackProgress()
    private var period: AccessLogPeriod?
    private var tracks = TrackBitRates()
    private var transferTime = BusyTime()
    private var mediaTransferTime = BusyTime()
    private var playbackType: PlaybackType?
    private var serverAddress: String?
    private var startupTime: Duration?
    private var hasFrames = false
    private var hasEnded = false

    /// Creates a recorder with an empty log.
    public init(session: PlaybackSession, options: Options = Options()) {
        self.session = session
        // A tenth has to be more than the two events into which it may be merged.
        maximumEventCount = max(40, options.maximumEventCount)
    }

    /// Adds an event; events after ``PlaybackEvent/Kind/ended`` are ignored.
    ///
    /// - Returns: The changes to the log: finished, new and updated events.
    public mutating func add(_ event: PlaybackEvent) -> [AccessLog.Change] {
        guard !hasEnded else { return [] }
        let step = progress.add(event)
        var changes: [AccessLog.Change] = []
        if progress.isPlaying || step.passed.played > .zero || Self.beginsPeriod(event.kind) { begin(&changes) }
        period?.add(step.passed.played, to: \.durationWatched)
        period?.remove(played: step.skippedLate)
        if step.didStall { period?.count(\.numberOfStalls) }
        apply(event)
        if case .seekStarted = event.kind, period?.event.durationWatched == .zero { period?.removeStart() }
        if isBoundary(event.kind, step) {
            finish(&changes)
            begin(&changes)
        }
        if step.didSwitch, case .variantSwitched(let change, _) = event.kind {
            period?.set(\.switchBitrate, to: change.evidence.throughput)
        }
        period?.setVariant(progress.variant, trackBitRates: tracks)
        startIfPlaying(at: event.time)
        publish(&changes)
        if case .ended = event.kind {
            finish(&changes)
            hasEnded = true
        }
        return changes
    }

    /// Updates the last event of the log to the current time, during playback without other events.
    ///
    /// - Parameters:
    ///   - time: The current time on the clock of the session.
    ///   - mediaTime: The current playback position.
    /// - Returns: The changes to the log.
    public mutating func advance(to time: Duration, mediaTime: MediaTime?) -> [AccessLog.Change] {
        guard !hasEnded else { return [] }
        var changes: [AccessLog.Change] = []
        period?.add(progress.advance(to: time, mediaTime: mediaTime).played, to: \.durationWatched)
        publish(&changes)
        return changes
    }

    /// Adds the contents of an event to the current period, before the event itself can end that period.
    ///
    /// There is no period before the first request or playback; events before it count in none.
    private mutating func apply(_ event: PlaybackEvent) {
        switch event.kind {
        case .statusChanged(.readyToPlay) where startupTime == nil:
            startupTime = event.time.subtractingClampedToZero(session.start)
            if log.events.count == 1 { period?.set(\.startupTime, to: startupTime) }
        case .playbackTypeKnown(let type):
            playbackType = type
            period?.set(\.playbackType, to: type)
        case .resourceRequest(let request): apply(request)
        case .segmentLoaded(let segment):
            tracks.add(segment)
            if segment.isOverdue { period?.count(\.downloadOverdue) }
        case .selectionChanged(let change) where change.mediaType == .audio: tracks.removeAudio()
        case .frames(let frames):
            hasFrames = true
            period?.count(\.numberOfDroppedVideoFrames, frames.dropped)
        case .statusChanged, .rateChanged, .timeControlChanged, .segmentSkipped, .likelyToKeepUp, .stalled, .stallEnded,
            .seekStarted, .seekEnded, .timeJumped, .variantSwitchStarted, .variantSwitched, .pathwayChanged,
            .selectionChanged, .tracksChanged, .seekableRangeChanged, .timedMetadata, .error, .playedToEnd,
            .failedToPlayToEnd, .ended:
            break
        }
    }

    private mutating func apply(_ request: ResourceRequest) {
        guard !request.wasReadFromCache else { return }
        if let responseStart = request.responseStart ?? (request.bytes > .zero ? request.requestStart : nil) {
            let duration = transferTime.add(from: responseStart, to: request.responseEnd)
            period?.add(bytes: request.bytes, in: duration)
        }
        guard request.kind == .mediaSegment else { return }
        if request.bytes > .zero {
            let duration = mediaTransferTime.add(from: request.requestStart, to: request.responseEnd)
            period?.add(mediaBytes: request.bytes, in: duration)
        }
        guard request.failure == nil, !request.wasAbandoned else { return }
        period?.addSegment(request)
        guard let address = request.serverAddress?.withoutPort.limited else { return }
        period?.setServerAddress(address, didChange: serverAddress != nil && serverAddress != address)
        serverAddress = address
    }

    private mutating func begin(_ changes: inout [AccessLog.Change]) {
        guard period == nil else { return }
        var next = AccessLogPeriod(session: session, type: playbackType, showsFrames: hasFrames)
        next.setVariant(progress.variant, trackBitRates: tracks)
        if log.events.isEmpty { next.set(\.startupTime, to: startupTime) }
        period = next
        log.events.append(next.event)
        mergeOldestEvents()
        changes.append(.newEntry(next.event))
    }

    private mutating func finish(_ changes: inout [AccessLog.Change]) {
        guard let event = period?.event, let last = log.events.indices.last else { return }
        log.events[last] = event
        if case .newEntry = changes.last { changes[changes.count - 1] = .newEntry(event) }
        changes.append(.finished(event))
        period = nil
    }

    private mutating func startIfPlaying(at time: Duration) {
        guard progress.isPlaying, period?.hasStarted == false else { return }
        period?.start(at: session.date(at: time), offset: progress.position)
    }

    /// Copies the figures of the period into the log, and reports them if they changed.
    private mutating func publish(_ changes: inout [AccessLog.Change]) {
        guard let event = period?.event, let last = log.events.indices.last, log.events[last] != event else { return }
        log.events[last] = event
        if case .newEntry = changes.last {
            changes[changes.count - 1] = .newEntry(event)
        } else {
            changes.append(.updated(event))
        }
    }

    private mutating func mergeOldestEvents() {
        guard log.events.count > maximumEventCount else { return }
        let oldest = maximumEventCount / 10
        let merged = AccessLog.Event.merged(log.events.prefix(oldest))
        log.events.replaceSubrange(..<oldest, with: merged)
        mergedPeriodCount = mergedPeriodCount.addingClamped(oldest - merged.count)
    }

    private func isBoundary(_ kind: PlaybackEvent.Kind, _ step: PlaybackProgress.Step) -> Bool {
        guard let period, period.hasStarted else { return false }
        if case .seekStarted = kind { return true }
        // Time played with an unknown variant does not belong to the variant that is known now.
        let wasNamed = step.variant != nil || period.event.durationWatched == .zero
        return step.didSwitch || step.didStall || !wasNamed && progress.variant != nil
    }

    /// Returns whether an event of this kind begins a period; status events before the first request or playback do
    /// not.
    private static func beginsPeriod(_ kind: PlaybackEvent.Kind) -> Bool {
        switch kind {
        case .resourceRequest, .segmentLoaded, .frames, .stalled: true
        case .statusChanged, .playbackTypeKnown, .rateChanged, .timeControlChanged, .segmentSkipped, .likelyToKeepUp,
            .stallEnded, .seekStarted, .seekEnded, .timeJumped, .variantSwitchStarted, .variantSwitched,
            .pathwayChanged, .selectionChanged, .tracksChanged, .seekableRangeChanged, .timedMetadata, .error,
            .playedToEnd, .failedToPlayToEnd, .ended:
            false
        }
    }
}
