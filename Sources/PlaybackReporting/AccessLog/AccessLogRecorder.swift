public import MediaTiming

/// Makes an access log of the events of playback.
///
/// A period, and with it an event of the log, begins
/// - when another variant is **played** (not when it is chosen: what it cost to fetch it ahead counts where it happened,
///   and ``AccessLog/Event/durationWatched`` is then of the variant that the event names),
/// - when a seek begins, and
/// - when play stops for want of media.
///
/// A period in which nothing was played yet is used again: somebody who drags the play head about leaves one event and not
/// twenty. A pause interrupts nothing, however long it is, as in AVFoundation.
///
/// Everything counts in the period in which it happened, so that the sums over the log are those over the session.
public struct AccessLogRecorder: Sendable {
    /// How much is kept.
    public struct Options: Sendable, Hashable {
        /// How many events a log has at most, 40 or more; 10,000 by default: a switch every nine seconds for a day.
        ///
        /// Where there would be more, the oldest tenth becomes one event, or two where some of them name no bit rate: their
        /// counts and durations are added, so that sums and time-weighted rates stay what they were.
        public var mostEvents: Int

        /// Makes options.
        public init(mostEvents: Int = 10_000) {
            self.mostEvents = mostEvents
        }
    }

    /// The log up to the last event of playback.
    ///
    /// - Complexity: O(1); but who keeps a copy makes the next event of playback copy it.
    public private(set) var log = AccessLog()
    /// How many periods were added to others because there were too many, and have no event of their own.
    public private(set) var mergedPeriods = 0

    private let session: PlaybackSession
    private let mostEvents: Int
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

    /// Makes a recorder without events.
    public init(session: PlaybackSession, options: Options = Options()) {
        self.session = session
        // A tenth has to be more than the two events that it may become.
        mostEvents = max(40, options.mostEvents)
    }

    /// Takes an event; after ``PlaybackEvent/Kind/ended`` there are none.
    ///
    /// - Returns: What became of the log: an end, a beginning, or other figures in the last event.
    public mutating func add(_ event: PlaybackEvent) -> [AccessLog.Change] {
        guard !hasEnded else { return [] }
        let step = progress.add(event)
        var changes: [AccessLog.Change] = []
        if progress.isPlaying || step.played > .zero || Self.isWorthAnEntry(event.kind) { begin(&changes) }
        period?.add(played: step.played)
        if step.didStall { period?.count(\.numberOfStalls) }
        take(event)
        if case .seekStarted = event.kind, period?.event.durationWatched == .zero { period?.forgetStart() }
        if isBoundary(event.kind, step) {
            finish(&changes)
            begin(&changes)
        }
        if step.didSwitch, case .variantSwitched(let change, _) = event.kind {
            period?.set(\.switchBitrate, to: change.numbers.throughput)
        }
        period?.show(progress.variant, tracks)
        startIfPlaying(at: event.time)
        publish(&changes)
        if case .ended = event.kind {
            finish(&changes)
            hasEnded = true
        }
        return changes
    }

    /// Brings the last event of the log up to now, while nothing happens but play.
    ///
    /// - Parameters:
    ///   - time: Now, on the clock of the session.
    ///   - mediaTime: Where the play head is.
    /// - Returns: What became of the log.
    public mutating func advance(to time: Duration, mediaTime: MediaTime?) -> [AccessLog.Change] {
        guard !hasEnded else { return [] }
        var changes: [AccessLog.Change] = []
        period?.add(played: progress.advance(to: time, mediaTime: mediaTime))
        publish(&changes)
        return changes
    }

    private mutating func take(_ event: PlaybackEvent) {
        switch event.kind {
        case .statusChanged(.readyToPlay) where startupTime == nil:
            startupTime = event.time.subtractingToZero(session.start)
            if log.events.count == 1 { period?.set(\.startupTime, to: startupTime) }
        case .playbackTypeKnown(let type):
            playbackType = type
            period?.set(\.playbackType, to: type)
        case .resourceRequest(let request): take(request)
        case .segmentLoaded(let segment):
            tracks.add(segment)
            if segment.isOverdue { period?.count(\.downloadOverdue) }
        case .selectionChanged(let change) where change.mediaType == .audio: tracks.forgetAudio()
        case .frames(let frames):
            hasFrames = true
            period?.count(\.numberOfDroppedVideoFrames, frames.dropped)
        default: break
        }
    }

    private mutating func take(_ request: ResourceRequest) {
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
        period?.show(server: address, didChange: serverAddress != nil && serverAddress != address)
        serverAddress = address
    }

    private mutating func begin(_ changes: inout [AccessLog.Change]) {
        guard period == nil else { return }
        var next = AccessLogPeriod(session: session, type: playbackType, showsFrames: hasFrames)
        next.show(progress.variant, tracks)
        if log.events.isEmpty { next.set(\.startupTime, to: startupTime) }
        period = next
        log.events.append(next.event)
        shorten()
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

    /// Writes the figures of the period into the log, and reports them where they are others.
    private mutating func publish(_ changes: inout [AccessLog.Change]) {
        guard let event = period?.event, let last = log.events.indices.last, log.events[last] != event else { return }
        log.events[last] = event
        if case .newEntry = changes.last {
            changes[changes.count - 1] = .newEntry(event)
        } else {
            changes.append(.updated(event))
        }
    }

    private mutating func shorten() {
        guard log.events.count > mostEvents else { return }
        let oldest = mostEvents / 10
        let merged = AccessLog.Event.merged(log.events.prefix(oldest))
        log.events.replaceSubrange(..<oldest, with: merged)
        mergedPeriods = mergedPeriods.addingClamped(oldest - merged.count)
    }

    private func isBoundary(_ kind: PlaybackEvent.Kind, _ step: PlaybackProgress.Step) -> Bool {
        guard let period, period.hasStarted else { return false }
        if case .seekStarted = kind { return true }
        // What was played of a variant that nobody named is not of the one that is named now.
        let wasNamed = step.variant != nil || period.event.durationWatched == .zero
        return step.didSwitch || step.didStall || !wasNamed && progress.variant != nil
    }

    /// Whether an event belongs in an entry: what is said before anything is fetched or played does not begin one.
    private static func isWorthAnEntry(_ kind: PlaybackEvent.Kind) -> Bool {
        switch kind {
        case .resourceRequest, .segmentLoaded, .frames, .stalled: true
        default: false
        }
    }
}
