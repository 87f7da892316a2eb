import Adaptation
public import HLSPlaylist
public import MediaTiming
public import MediaTransport
public import PlaybackReporting
public import ResourceAddressing
import Synchronization

/// What comes out of an engine.
public enum PlaybackEngineOutput: Sendable {
    /// Something happened.
    case event(PlaybackEvent)
    /// What can be said of the item has changed.
    case snapshot(PlaybackSnapshot)
}

/// Plays one item: loads its playlists, fetches its media, and lets the play head of a pipeline move.
///
/// Decisions are made by values that know no clock; here they are put in order and carried out. Everything that happens is
/// told as an event.
public actor PlaybackEngine {
    /// Where the item is.
    public nonisolated let source: ResourceAddress
    nonisolated let loading: ResourceLoading
    /// What the source must be; `nil` to go by its first bytes.
    nonisolated let kind: SourceOpening.Kind?
    nonisolated let pipeline: any MediaPipeline
    nonisolated let time: any TimeSource
    private let session: PlaybackSession
    private let observer: @Sendable (PlaybackEngineOutput) -> Void
    private let published = Mutex(PlaybackSnapshot())

    let changes = Signal()
    let fetch: ResourceFetch
    var loader: SegmentLoader?
    var options: StreamingOptions
    var machine: PlaybackStateMachine
    var keepUp = KeepUpRule()
    var presentation: Presentation?
    var playbackType: PlaybackType?
    /// The file that is played, for one.
    var file: OpenedFile?
    var selection = MediaSelection()
    var chooser: VariantChooser
    let streams = StreamStates()
    /// Timelines of playlists that have ended and need not be loaded again.
    var knownTimelines = BoundedCache<StreamSource, PresentationTimeline>(
        limit: mostKnownTimelineBytes,
        mostValues: mostKnownTimelines
    )
    /// Playlists that could not be loaded, and until when they are left alone.
    var excluded: [StreamSource: Duration] = [:]
    /// Live playlists that went no further, and the number behind their last segment.
    var stuckPlaylists: [StreamSource: Int64] = [:]
    var pendingSeek: PendingSeek?
    /// While only pictures that stand alone are played: what is fetched when that is over.
    var sourceAfterScan: StreamSource?
    /// Whether what came for fast motion is being forgotten: nothing is fetched meanwhile.
    var isLeavingScan = false
    var lastSeekID = 0
    var lastJobID = 0
    /// Whether the play head is where playing begins.
    var isPositioned = false
    var failure: StreamingError?
    /// Whether there has been media that could be played.
    var hasMedia = false
    var playedVariant: VariantDescription?
    var tracks: [PlaybackTrack] = []
    var seekableRange: MediaTimeRange?
    var liveOffset = LiveOffsetControl()
    var recommendedOffset: MediaTime?
    /// From where on sound that comes with pictures is the one that was chosen; `nil` for nowhere.
    var soundOfPicturesStart: MediaTime? = .zero
    /// Up to where sound is fetched apart, before it comes with the pictures.
    var endOfSound: MediaTime?
    var dateRanges: [TimedDateRange] = []
    var interstitialRanges: [TimedDateRange] = []
    var segmentBorders = SegmentBorders()
    /// The end, once the play head is there.
    var end: MediaTime?
    /// When the play head is to begin to move, where that was said.
    private var scheduledStart: Duration?
    /// When it begins to play, where that was agreed on.
    var appointment: Duration?
    private var rateCommandCount = 0
    private var isRunning = false
    private var hasEnded = false
    /// The date that was sought before any playlist was there.
    var dateToBeginAt: ProgramDateTime?
    private var isMoving = false
    /// The frames that were told of last, and when.
    var lastFrames = FrameCounts()
    var lastFrameReport = Duration.zero
    /// Whether frames were left out on purpose since then.
    var leavesOutFrames = false
    /// What it took until there was enough to play through; `nil` afterwards.
    private var startRequests: [ResourceRequest]? = []
    /// The captions that the pipeline looks for.
    var captionChannel: String?
    /// How the pipeline was told that sound is to be heard.
    var appliedSound: SoundSettings?

    /// Makes an engine; nothing happens before ``run()``.
    ///
    /// - Parameters:
    ///   - source: The address of a playlist or of a file.
    ///   - mimeType: What it is, whatever its bytes say; `nil` to go by those.
    ///   - loading: Where bytes come from, and how often is tried.
    ///   - pipeline: What media is given to; it is the engine's alone.
    ///   - options: How to play.
    ///   - time: The clock; that of the pipeline, too.
    ///   - session: What names the session in events.
    ///   - observer: Told everything, in order, while the engine is busy: it has to return at once.
    public init(
        source: ResourceAddress,
        mimeType: String? = nil,
        loading: ResourceLoading,
        pipeline: any MediaPipeline,
        options: StreamingOptions = StreamingOptions(),
        time: any TimeSource = SystemTimeSource(),
        session: PlaybackSession,
        observer: @escaping @Sendable (PlaybackEngineOutput) -> Void
    ) {
        self.source = source
        kind = mimeType.map { SourceOpening.Kind(mimeType: $0) }
        self.loading = loading
        self.pipeline = pipeline
        self.options = options
        self.time = time
        self.session = session
        self.observer = observer
        let noted = noted
        fetch = ResourceFetch(loading: loading, time: time) { noted.add($0, $1) }
        machine = PlaybackStateMachine(start: time.now)
        machine.waitsToMinimizeStalls = options.waitsToMinimizeStalls
        chooser = VariantChooser(options)
    }

    /// What can be said of the item now.
    public nonisolated var snapshot: PlaybackSnapshot { published.withLock { $0 } }

    /// Plays until the task is cancelled, or until the item cannot be played on.
    ///
    /// It stands still at first.
    ///
    /// - Precondition: It is called once.
    public func run() async {
        precondition(!isRunning, "an engine runs once")
        isRunning = true
        loader = SegmentLoader(fetch) { [weak self] request in
            // The loader is an actor of its own: what it tells comes in order all the same, since it waits for the answer.
            self?.noteRequest(request)
        }
        publish()
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.pipeline.run() }
            await play()
            group.cancelAll()
        }
        hasEnded = true
        reportPendingSeek(landed: nil)
        finishSeek(SeekResult(isFinished: false, landed: position))
        changes.notify()
        perform(machine.fail(at: time.now))
        await applyRate()
        reportNotedRequests()
        reportFrames(isLast: true)
        report(.ended)
        await pipeline.close()
    }

    private func play() async {
        do {
            try await open()
            await follow()
        } catch let error as StreamingError {
            fail(error)
        } catch {
            if !(error is CancellationError) { fail(StreamingError(.notLoaded, "\(error)", cause: error)) }
        }
    }

    /// What happened while something was loaded, until the engine tells of it.
    private nonisolated let noted = NotedRequests()

    private nonisolated func noteRequest(_ request: ResourceRequest) {
        noted.add(request, nil)
        changes.notify()
    }

    /// Tells of requests that were made aside.
    func reportNotedRequests() {
        for (request, error) in noted.take() {
            report(.resourceRequest(request))
            if let error { fail(StreamingError(error, "a try", at: request.address), recovered: true) }
        }
    }

    private func follow() async {
        await withTaskGroup(of: Void.self) { group in
            for kind in StreamKind.allCases {
                group.addTask { await self.fetchLoop(kind) }
                group.addTask { await self.reloadLoop(kind) }
            }
            group.addTask { await self.clockLoop() }
            group.addTask { await self.pipelineLoop() }
            // The first to end is the one that found out that nothing goes on.
            await group.next()
            group.cancelAll()
        }
    }

    // MARK: Limits

    /// The maximum number of playlists in memory that are not played now.
    private static let mostKnownTimelines = 64
    /// The maximum memory that such playlists take, in bytes; beyond, they are loaded again when they are needed.
    static let mostKnownTimelineBytes = 64 << 20

    // MARK: Commands

    /// Lets the play head move, or stops it.
    ///
    /// - Parameters:
    ///   - rate: Seconds of media a second; 0 is a pause.
    ///   - reason: Why, for those who are told.
    ///   - atOnce: Whether to play whatever is there, instead of waiting until it suffices.
    public func setRate(_ rate: Double, reason: RateChange.Reason = .setRateCalled, atOnce: Bool = false) {
        guard rate.isFinite, rate >= 0 || pipeline.abilities.playsBackward else { return }
        // Whoever plays again, or the other way, wants it tried again.
        if rate != 0, machine.desiredRate == 0 || (rate < 0) != (machine.desiredRate < 0) { forgiveStreams() }
        rateCommandCount += 1
        (scheduledStart, appointment) = (nil, nil)
        if rate < 0, machine.hasEnded, let end {
            // What came for fast motion is forgotten by then.
            if playableRanges.contains(end - MediaTime(value: 1, timescale: 10)) {
                self.end = nil
            } else {
                _ = beginSeek(to: end, tolerance: .exact, isStart: false, isRefresh: true)
            }
        }
        perform(machine.setRate(rate, reason: reason, atOnce: atOnce, at: time.now))
        changes.notify()
    }

    /// Lets the play head be at a time at a moment, as whoever else plays the same has it.
    ///
    /// What is there then is played, without waiting for enough. A moment that has passed is caught up with, where a time is
    /// given.
    ///
    /// - Parameters:
    ///   - rate: Seconds of media a second; not 0.
    ///   - target: Where the play head is to be; `nil` for where it is.
    ///   - moment: When, on the clock of the engine.
    /// - Returns: Whether that was done: not where another rate or seek came first.
    public func setRate(_ rate: Double, from target: MediaTime?, at moment: Duration) async -> Bool {
        guard rate != 0, rate.isFinite, isPositioned, failure == nil else { return false }
        forgiveStreams()
        rateCommandCount += 1
        (scheduledStart, appointment) = (nil, nil)
        let count = rateCommandCount
        perform(machine.setRate(0, reason: .setRateCalled, at: time.now))
        changes.notify()
        if let target {
            // A seek takes a while; what has passed by then is caught up with by another, for which all is there.
            for _ in 0..<4 {
                let aimed = max(moment, time.now)
                let late = MediaTime(aimed - moment, scaledBy: rate)
                let result = await seek(to: target + late, tolerance: .exact)
                guard result.isFinished, count == rateCommandCount else { return false }
                if time.now - aimed < .milliseconds(20) { break }
            }
        }
        (scheduledStart, appointment) = (moment, moment)
        perform(machine.setRate(rate, reason: .setRateCalled, atOnce: true, at: time.now))
        changes.notify()
        return true
    }

    /// Moves the play head.
    ///
    /// A later seek ends this one, which then says that it did not finish.
    public func seek(to target: MediaTime, tolerance: SeekTolerance = .any) async -> SeekResult {
        guard failure == nil, !hasEnded else { return SeekResult(isFinished: false, landed: position) }
        let id = beginSeek(to: target, tolerance: tolerance, isStart: false)
        return await withCheckedContinuation { continuation in
            guard pendingSeek?.id == id else {
                return continuation.resume(returning: SeekResult(isFinished: false, landed: position))
            }
            pendingSeek?.waiter = continuation
            changes.notify()
        }
    }

    /// Moves the play head to a date of a stream that has dates.
    ///
    /// - Returns: What came of it; not finished at once where the stream has no dates.
    public func seek(to date: ProgramDateTime, tolerance: SeekTolerance = .any) async -> SeekResult {
        if streams[.main].timeline == nil {
            // Where it lies is known with the first playlist; until then another seek may take its place.
            lastSeekID += 1
            let id = lastSeekID
            dateToBeginAt = date
            while streams[.main].timeline == nil {
                let seen = changes.count
                guard failure == nil, !hasEnded, lastSeekID == id else {
                    return SeekResult(isFinished: false, landed: position)
                }
                await changes.wait(after: seen)
            }
        }
        guard let found = streams[.main].timeline?.position(of: date) else {
            return SeekResult(isFinished: false, landed: position)
        }
        return await seek(to: found.time, tolerance: tolerance)
    }

    /// Goes on by single frames while the play head stands.
    ///
    /// - Parameter count: How many frames; below zero for those before.
    /// - Returns: Whether the play head moved.
    public func step(by count: Int) async -> Bool {
        guard count != 0, isPositioned, pendingSeek == nil, machine.rate == 0, pipeline.abilities.steps,
            let landed = await pipeline.step(by: count)
        else { return false }
        if let end, landed < end {
            self.end = nil
            machine.leaveEnd()
        }
        perform(machine.bufferChanged(bufferState(), variant: playedVariant, at: time.now))
        publish()
        changes.notify()
        return true
    }

    /// Ends a seek that is under way; the play head stays where it is.
    public func cancelPendingSeeks() {
        if dateToBeginAt != nil {
            dateToBeginAt = nil
            lastSeekID += 1
            changes.notify()
        }
        guard pendingSeek?.isAsked == true else { return }
        reportPendingSeek(landed: nil)
        finishSeek(SeekResult(isFinished: false, landed: position))
        perform(machine.seekEnded(bufferState(), at: time.now))
        // Where nothing was positioned yet, it begins where it would have.
        if let timeline = streams[.main].timeline { placePlayhead(in: timeline) }
        changes.notify()
    }

    /// Chooses among the options of a type.
    ///
    /// What plays goes on until the other is there.
    public func select(_ option: MediaSelectionOption?, for type: Rendition.MediaType) {
        guard let presentation else { return }
        if let option, presentation.group(type)?.option(option.id) == nil { return }
        guard selection[type] != option else { return }
        selection[type] = option
        applySelection(changed: type)
        changes.notify()
    }

    /// Lets a track be seen or heard, or not.
    public func setEnabled(_ type: MediaType, _ isEnabled: Bool) async { await pipeline.setEnabled(type, isEnabled) }

    /// Changes how the item is played.
    public func update(_ change: @Sendable (inout StreamingOptions) -> Void) {
        let pinnedBefore = options.pinnedVariant
        change(&options)
        machine.waitsToMinimizeStalls = options.waitsToMinimizeStalls
        chooser.options = options
        if options.pinnedVariant != pinnedBefore { followPin() }
        changes.notify()
    }

    // MARK: Telling

    private static let mostStartRequests = 64

    /// Where the play head is.
    var position: MediaTime {
        if let end { return end }
        return max(.zero, pipeline.timebase.mediaTime(at: time.now))
    }

    func report(_ kind: PlaybackEvent.Kind) {
        var kind = kind
        if case .resourceRequest(var request) = kind {
            if let cost = loading.network?.cost, !request.wasReadFromCache {
                request.usedCellularNetwork = cost.contains(.cellular)
                kind = .resourceRequest(request)
            }
            if let count = startRequests?.count, count < Self.mostStartRequests { startRequests?.append(request) }
        }
        let mediaTime = isPositioned ? position : nil
        observer(.event(PlaybackEvent(time: time.now, mediaTime: mediaTime, kind: kind)))
    }

    func publish() {
        let snapshot = makeSnapshot()
        published.withLock { $0 = snapshot }
        observer(.snapshot(snapshot))
    }

    func fail(_ error: StreamingError, recovered: Bool = false) {
        let record = PlaybackErrorRecord(
            statusCode: error.status ?? error.number,
            domain: error.domain,
            comment: error.message,
            address: error.address?.text,
            serverAddress: (error.cause as? TransportError)?.serverAddress?.withoutPort,
            responseHeaders: (error.cause as? TransportError)?.headerFields ?? [:],
            didRecover: recovered
        )
        if recovered { return report(.error(record)) }
        guard failure == nil else { return }
        failure = error
        let wasReady = machine.isReady
        let actions = machine.fail(at: time.now)
        // Whoever is told of the failure asks what it was.
        publish()
        perform(actions)
        report(.error(record))
        if wasReady { report(.failedToPlayToEnd(record)) }
        report(.statusChanged(.failed))
        reportPendingSeek(landed: nil)
        finishSeek(SeekResult(isFinished: false, landed: position))
        changes.notify()
    }

    // MARK: Doing

    func perform(_ actions: [PlaybackStateMachine.Action]) {
        for action in actions {
            switch action {
            case .setRate: break
            case .report(let kind): report(completed(kind))
            }
        }
        if !actions.isEmpty { changes.notify() }
    }

    /// The machine knows nothing of ranges.
    private func completed(_ kind: PlaybackEvent.Kind) -> PlaybackEvent.Kind {
        if case .rateChanged(let change) = kind, change.variant == nil {
            return .rateChanged(
                RateChange(
                    rate: change.rate,
                    previousRate: change.previousRate,
                    reason: change.reason,
                    variant: fetchedVariant.map { VariantDescription($0) }
                )
            )
        }
        guard case .likelyToKeepUp(let keepUp) = kind else { return kind }
        defer { if keepUp.isInitial { startRequests = nil } }
        return .likelyToKeepUp(
            KeepUp(
                isInitial: keepUp.isInitial,
                variant: fetchedVariant.map { VariantDescription($0) } ?? keepUp.variant,
                timeTaken: keepUp.timeTaken,
                loadedTimeRanges: loadedRanges.ranges,
                requests: keepUp.isInitial ? startRequests ?? [] : []
            )
        )
    }

    /// Lets the pipeline do what the machine decided; one call at a time, and the last decision counts.
    func applyRate() async {
        guard !isMoving else { return }
        isMoving = true
        defer { isMoving = false }
        while pipeline.timebase.rate != machine.rate || machine.rate != 0 && scheduledStart != nil {
            await pipeline.setRate(machine.rate, at: machine.rate == 0 ? nil : scheduledStart.take())
            if pipeline.timebase.rate == machine.rate { break }
            // A pipeline that cannot is not asked for ever.
            if machine.rate != 0, pipeline.timebase.rate == 0 { break }
        }
    }
}
