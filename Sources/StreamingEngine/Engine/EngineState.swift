import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing
import SegmentFormat

/// The state of an engine, which decides the effects of each event.
///
/// It uses no clock, task or pipeline.
///
/// It is composed of state machines that are tested separately: the playhead (``Playhead``), the seek (``SeekState``),
/// the sources of the tracks (``FetchPlan``) with one ``TrackState`` for each media type, the playlists
/// (``PlaylistFollower``), the segments (``SegmentFetcher``), the live window (``LiveState``), and the media that the
/// decoder refused (``UndecodableMedia``).
struct EngineState: Sendable {
    private enum Lifecycle {
        case created
        case opening(began: Duration)
        case playing
        case failed(StreamingError)
        /// The pipeline is being stopped before it is closed.
        case closing
        case ended
    }

    private(set) var control: PlaybackControl
    private(set) var playlists = PlaylistFollower()
    private var segments = SegmentFetcher()
    private var lifecycle = Lifecycle.created
    private var undecodableMedia = UndecodableMedia()

    /// Creates the state of an engine that has not been started.
    init(options: StreamingOptions, at now: Duration) { control = PlaybackControl(options: options, at: now) }

    // MARK: Events

    /// Decides the effects of an event.
    ///
    /// - Parameters:
    ///   - event: The event.
    ///   - now: The time of the clock.
    /// - Returns: The effects, in the order in which they must be performed.
    mutating func handle(_ event: EngineEvent, at now: Duration) -> [EngineEffect] {
        if case .observed(let observation) = event {
            control.playhead.observation = observation
            control.sink.networkCost = observation.networkCost
            return []
        }
        control.sink.begin(at: now)
        control.stampReports()
        settle(first: apply(event))
        endStandstill()
        if isPlaying { PathwaySteering.reportPathway(&control.plan, &control.sink) }
        if case .command = event { control.reviewAgain() }
        let snapshot = control.sink.isSnapshotRequested ? PlaybackSnapshot(self) : nil
        return control.sink.takeEffects(with: snapshot)
    }

    /// The time of the next ``EngineEvent/timerFired``; `nil` if no timer is needed.
    var nextDeadline: Duration? {
        guard isPlaying else { return nil }
        return [nextPlaybackDeadline, nextManifestLoad].compactMap(\.self).min()
    }

    /// The earliest time at which playback itself must continue; `nil` if it waits for an event.
    private var nextPlaybackDeadline: Duration? {
        let mayReload = mayReload
        var deadlines = TrackKind.allCases.compactMap { control.plan.tracks[$0].nextDeadline(mayReload: mayReload) }
        if case .at(let time) = control.review { deadlines.append(time) }
        return deadlines.min()
    }

    /// The time at which the steering manifest is loaded again; `nil` if it is not, or while playback is paused.
    private var nextManifestLoad: Duration? {
        let machine = control.playhead.machine
        return machine.desiredRate != 0 && !machine.hasEnded ? control.plan.catalog.steering.nextLoad : nil
    }

    /// Applies an event.
    ///
    /// - Returns: The track to which the event belongs, which acts before the others.
    private mutating func apply(_ event: EngineEvent) -> TrackKind {
        switch event {
        case .observed: break
        case .started:
            lifecycle = .opening(began: control.sink.now)
            control.sink.requestSnapshot()
            control.sink.add(.begin(.open))
        case .command(let command): apply(command)
        case .requestsCompleted(let requests):
            for (request, error) in requests {
                control.sink.report(.resourceRequest(request))
                if let error { control.sink.reportRecovered(StreamingError(error, "a try", at: request.address)) }
            }
            control.sink.noteChange()
        case .stopped: stop()
        case .pipelineFinished(let result): pipelineFinished(result)
        case .opened(let source, let request): opened(source, request)
        case .fileIndexed(let file, let presentation, let address):
            guard case .opening(let began) = lifecycle else { break }
            playlists.openFile(&control.sink)
            segments.appender.file = file
            if let variant = presentation.variants.first { control.plan.trackList.setTracks(file.tracks, of: variant) }
            begin(presentation, media: file.playlist, at: address, began: began)
            if let shortfall = file.shortfall { control.sink.reportRecovered(shortfall.error(at: address)) }
        case .openingFailed(let error, let request):
            if let request { control.sink.report(.resourceRequest(request)) }
            fail(error)
        case .playlistReceived, .segmentReceived, .transferMeasured, .transferCancelled, .appended, .pipelineReported,
            .timerFired, .reopened, .steeringManifestReceived:
            if isPlaying { return applyWhilePlaying(event) }
        }
        return .main
    }

    private mutating func applyWhilePlaying(_ event: EngineEvent) -> TrackKind {
        var first = TrackKind.main
        switch event {
        case .playlistReceived(let request, let response):
            follow(
                playlists.receive(response, for: request, &control.plan, &control.live, control.moment, &control.sink)
            )
        case .segmentReceived(let request, let result, let progress):
            first = control.plan.tracks.kind(ofTransfer: request) ?? first
            follow(segments.receive(result, progress, for: request, &control.plan, control.moment, &control.sink))
        case .transferMeasured(let request, let progress):
            segments.review(progress, of: request, &control.plan, control.moment, &control.sink)
        case .transferCancelled(let request, let progress):
            segments.cancelled(request, progress, &control.plan, &control.sink)
        case .appended(let request, let result):
            first = control.plan.tracks.kind(ofAppend: request) ?? first
            let (consequence, discarded) = segments.appended(
                result,
                for: request,
                &control.plan,
                control.moment,
                &control.sink
            )
            if let discarded { control.sink.command(.discard([discarded])) }
            follow(consequence)
        case .reopened(let request, let result, let report): reopened(request, result, report)
        case .steeringManifestReceived(let request, let result, let report):
            if let report { control.sink.report(.resourceRequest(report)) }
            PathwaySteering.receive(result, for: request, &control.plan, &control.sink)
        case .pipelineReported(let event): pipelineReported(event)
        case .timerFired: timerFired()
        case .observed, .started, .command, .requestsCompleted, .stopped, .pipelineFinished, .opened, .fileIndexed,
            .openingFailed:
            break
        }
        skipUndecodableMedia()
        return first
    }

    private var isPlaying: Bool { if case .playing = lifecycle { true } else { false } }

    /// A Boolean value that indicates whether the item can still be played.
    private var isAlive: Bool {
        switch lifecycle {
        case .created, .opening, .playing: true
        case .failed, .closing, .ended: false
        }
    }

    /// The title, the artist, the album and the artwork of a media file; empty for a stream.
    var fileMetadata: MediaFileMetadata { segments.appender.file?.metadata ?? MediaFileMetadata() }

    /// The error with which playback ended; `nil` if it did not fail.
    var failure: StreamingError? {
        guard case .failed(let error) = lifecycle else { return nil }
        return error
    }

    /// Performs the consequence that a decision about a track has for the whole item.
    private mutating func follow(_ consequence: Consequence?) {
        switch consequence {
        case nil: break
        case .fail(let error): fail(error)
        case .mainPlaylistLoaded: control.placePlayhead()
        case .jump(let target):
            control.sink.report(.timeJumped(from: control.position, to: target))
            let isStart = control.seek.pending?.isStart == true
            control.beginSeek(to: target, tolerance: .any, origin: isStart ? .start : .jump)
        }
    }

    // MARK: Opening

    private mutating func opened(_ source: OpenedSource, _ request: ResourceRequest) {
        guard case .opening(let began) = lifecycle else { return }
        control.sink.report(.resourceRequest(request))
        switch source {
        case .file(let head, let address, let length):
            control.sink.add(.begin(.indexFile(head: head, address, length: length, began: began)))
        case .presentation(let presentation, let media, let address):
            guard !presentation.variants.isEmpty else { return fail(.nothingPlayable(presentation, at: address)) }
            control.plan.catalog.renewal.enable()
            begin(presentation, media: media, at: address, began: began)
        }
    }

    private mutating func reopened(
        _ request: Int,
        _ result: Result<Presentation, StreamingError>,
        _ report: ResourceRequest?
    ) {
        if let report { control.sink.report(.resourceRequest(report)) }
        if case .failure(let error) = result { control.sink.reportRecovered(error) }
        control.plan.endRenewal(request, with: try? result.get(), control.moment, &control.sink)
    }

    /// Begins with the first variant of an opened item.
    private mutating func begin(
        _ presentation: Presentation,
        media: MediaPlaylist?,
        at address: ResourceAddress,
        began: Duration
    ) {
        if let media {
            do {
                try PlaylistFollower.validate(media, at: address)
            } catch {
                return fail(error)
            }
        }
        control.plan.catalog.open(
            presentation,
            control.options.selectionRules,
            networkCost: control.sink.networkCost,
            at: control.sink.now
        )
        let capacity = control.plan.tracks.capacity(control.moment).duration
        guard let variant = control.plan.catalog.chooser.first(bufferCapacity: capacity) else {
            return fail(.nothingPlayable(presentation, at: address))
        }
        if let media {
            let source = StreamSource(variant, location: 0, address: address)
            follow(
                playlists.adopt(
                    media,
                    from: source,
                    for: .main,
                    began: began,
                    &control.plan,
                    &control.live,
                    control.moment,
                    &control.sink
                )
            )
        }
        control.plan.begin(with: variant, control.moment, &control.sink)
        PathwaySteering.loadManifest(&control.plan, &control.sink)
        control.sink.requestSnapshot()
        lifecycle = .playing
        control.sink.noteChange()
    }

    // MARK: Commands

    private mutating func apply(_ command: EngineCommand) {
        switch command {
        case .setRate(let rate, let reason, let atOnce): control.setRate(rate, reason, atOnce: atOnce)
        case .setRateSynchronized(let rate, let target, let time, let waiter):
            guard isAlive else { return refuse(waiter) }
            let request = SynchronizedStart.Request(rate: rate, target: target, time: time, waiter: waiter)
            control.startSynchronized(request)
        case .seek(let target, let tolerance, let waiter):
            guard isAlive else { return refuse(waiter) }
            control.beginSeek(to: target, tolerance: tolerance, origin: .command(waiter: waiter))
        case .seekToDate(let date, let tolerance, let waiter):
            guard isAlive else { return refuse(waiter) }
            control.beginSeek(to: date, tolerance, waiter)
        case .step(let count, let waiter):
            guard count != 0, isAlive, control.moment.isSettled, control.playhead.machine.rate == 0,
                control.playhead.observation.abilities.supportsStepping
            else { return refuse(waiter) }
            control.sink.command(.step(count: count, waiter: waiter))
        case .cancelPendingSeeks: control.cancelPendingSeeks()
        case .select(let option, let type): control.plan.select(option, for: type, control.moment, &control.sink)
        case .update(let options): control.update(options)
        }
    }

    private mutating func refuse(_ waiter: Int) {
        control.sink.add(.resume(waiter: waiter, control.unfinishedSeek))
    }

    // MARK: Decisions

    /// Performs the next steps of all state machines until none of them changes the state.
    private mutating func settle(first: TrackKind) {
        while isPlaying, control.sink.takeChange() {
            segments.measureTransfer(&control.plan, &control.sink)
            advance(first)
            for kind in TrackKind.allCases where kind != first { advance(kind) }
            if isPlaying { reviewPlayhead() }
        }
        _ = control.sink.takeChange()
    }

    private mutating func reviewPlayhead() {
        let item = ItemFacts(
            playbackType: playlists.playbackType,
            isFile: segments.appender.file != nil,
            hasMedia: segments.appender.hasMedia
        )
        follow(control.reviewPlayhead(item))
    }

    private mutating func timerFired() {
        let now = control.sink.now
        let mayReload = mayReload
        if let time = control.plan.tracks.main.nextReviewTime, time <= now {
            segments.measureTransfer(&control.plan, &control.sink)
        }
        for kind in TrackKind.allCases {
            let time = control.plan.tracks[kind].nextDeadline(mayReload: mayReload)
            if let time, time <= now { advance(kind) }
        }
        if case .at(let time) = control.review, time <= now, isPlaying { reviewPlayhead() }
        if let time = nextManifestLoad, time <= now { PathwaySteering.loadManifest(&control.plan, &control.sink) }
    }

    /// Performs the next steps of a track.
    private mutating func advance(_ kind: TrackKind) {
        guard isPlaying else { return }
        follow(playlists.resumeLoad(for: kind, &control.plan, &control.live, control.moment, &control.sink))
        if mayReload { playlists.beginReload(for: kind, &control.plan, control.moment, &control.sink) }
        while isPlaying {
            let start = control.startOfPlayback
            switch segments.advance(
                kind,
                &control.plan,
                playlists,
                control.moment,
                startOfPlayback: start,
                &control.sink
            ) {
            case .settled: return
            case .loadPlaylist(let source):
                guard playlists.load(source, for: kind, &control.plan, control.moment, &control.sink) else { return }
            case .consequence(let consequence): follow(consequence)
            }
        }
    }

    // MARK: Standstill

    /// A Boolean value that indicates whether playback waits for an event that can never occur.
    ///
    /// Playback waits while the item is not ready, a seek has not ended, or media is missing. No event can occur if no work
    /// is in progress and no timer is set.
    private var isAtStandstill: Bool {
        let machine = control.playhead.machine
        let isWaiting =
            !control.playhead.isPositioned || control.seek.pending != nil
            || machine.desiredRate != 0 && machine.rate == 0 && !machine.hasEnded
        return isPlaying && isWaiting && control.sink.isPipelineIdle && !control.plan.tracks.hasWorkInProgress
            && !control.plan.catalog.renewal.isLoading && nextPlaybackDeadline == nil
    }

    /// Ends operations that cannot complete, so that no caller waits forever: a seek ends without effect, and an item
    /// that cannot continue to play fails.
    private mutating func endStandstill() {
        guard isAtStandstill else { return }
        control.abandonSeek()
        settle(first: .main)
        guard isAtStandstill else { return }
        fail(
            StreamingError(
                .stuck,
                "playback cannot continue: no media is available at the position, and none is awaited"
            )
        )
    }

    /// A Boolean value that indicates whether live playlists are reloaded, which includes pauses unless the application
    /// disables it.
    private var mayReload: Bool {
        let options = control.options
        return options.usesNetworkWhilePaused || options.isHeld || control.playhead.machine.desiredRate != 0
            || !control.playhead.machine.isReady || control.seek.pending != nil || playlists.playbackType != .live
    }

    // MARK: Pipeline

    private mutating func pipelineFinished(_ result: PipelineResult) {
        control.sink.pipelineFinished()
        switch result {
        case .done: if case .afterCommands = control.review { control.sink.noteChange() }
        case .rateSet:
            control.playhead.rate.applied(actualRate: control.playhead.timebase.rate)
            control.sink.noteChange()
            if case .closing = lifecycle { close() }
        case .sought(let id, let result): if isPlaying { follow(control.sought(id, result)) }
        case .stepped(let landed, let waiter): control.stepped(landed, waiter)
        case .trickPlayDiscarded:
            if isPlaying { control.leaveTrickPlay() }
            control.sink.noteChange()
        }
    }

    private mutating func pipelineReported(_ event: MediaPipelineEvent) {
        switch event {
        case .timebaseChanged, .firstFrame: control.sink.noteChange()
        case .videoSizeChanged: control.sink.requestSnapshot()
        case .tracksChanged(let tracks):
            guard tracks != control.plan.trackList.tracks else { return }
            control.plan.trackList.set(tracks, &control.sink)
            control.sink.requestSnapshot()
        case .timedMetadata(let message): control.sink.report(.timedMetadata(message))
        case .unplayable(let type, let range): undecodableMedia.add(range, of: type)
        case .failed(let message): fail(StreamingError(.pipelineLost, message))
        }
    }

    /// Reports the media that the decoder refused, except for that of segments that are being appended, and ends playback
    /// if it refuses all video.
    private mutating func skipUndecodableMedia() {
        guard isPlaying, !undecodableMedia.isEmpty else { return }
        let appending = TrackKind.allCases.compactMap { kind -> MediaTimeRange? in
            guard case .appending(let append) = control.plan.tracks[kind].fetch else { return nil }
            return append.job.segment.range
        }
        let (tracks, appender) = (control.plan.tracks, segments.appender)
        let outcomes = undecodableMedia.takeOutcomes(
            appending: appending,
            targetDuration: tracks.main.timeline?.targetDuration ?? .zero,
            skippedSegments: control.plan.policy.limits.skippedResources,
            segment: { type, range in
                tracks.segment(of: type, in: range)
                    ?? tracks.listedSegment(of: type, at: range.start).map { appender.identification(of: $0) }
            }
        )
        for outcome in outcomes {
            switch outcome {
            case .skip(let segment, let error):
                control.sink.reportRecovered(error)
                control.sink.report(.segmentSkipped(segment))
            case .fail(let error): fail(error)
            }
        }
    }

    // MARK: End

    private mutating func fail(_ error: StreamingError) {
        guard isAlive else { return }
        lifecycle = .failed(error)
        let wasReady = control.playhead.machine.isReady
        // The snapshot tells observers of the failure the error.
        control.sink.requestSnapshot()
        control.stopPlayhead()
        let record = PlaybackErrorRecord(error, didRecover: false)
        control.sink.report(.error(record))
        if wasReady { control.sink.report(.failedToPlayToEnd(record)) }
        control.sink.report(.statusChanged(.failed))
        control.endSeeks()
        control.sink.add(.finish)
    }

    private mutating func stop() {
        lifecycle = .closing
        control.endSeeks()
        control.stopPlayhead()
        if !control.stopPipeline() { close() }
    }

    private mutating func close() {
        lifecycle = .ended
        control.reportFrames(isFinal: true)
        control.sink.report(.ended)
        control.sink.add(.begin(.closePipeline))
    }
}
