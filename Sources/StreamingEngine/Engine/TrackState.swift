import HLSPlaylist
import MediaTiming
import MediaTransport
import PlaybackReporting
import ResourceAddressing

/// A media playlist, and its role in the presentation.
struct StreamSource: Sendable, Hashable {
    /// The role of the playlist.
    enum Identity: Sendable, Hashable {
        /// A variant, at one of its locations.
        case variant(Presentation.Variant.ID, location: Int)
        /// An option of a rendition group.
        case option(MediaSelectionOption.ID)
    }

    let identity: Identity
    let address: ResourceAddress
    /// The number of renewals of the addresses of the item after which the source was created.
    var renewal = 0

    /// The variant; `nil` for an option of a rendition group.
    var variantID: Presentation.Variant.ID? {
        guard case .variant(let id, _) = identity else { return nil }
        return id
    }
}

extension StreamSource {
    init(_ variant: Presentation.Variant, location: Int, address: ResourceAddress, renewal: Int = 0) {
        self.init(identity: .variant(variant.id, location: location), address: address, renewal: renewal)
    }
}

/// A media playlist that was loaded for a track.
struct LoadedPlaylist: Sendable {
    let source: StreamSource
    var timeline: PresentationTimeline
    /// The start of the request that returned the timeline.
    var requestStart: Duration
    /// The start of the last request that returned new segments.
    var lastUpdate: Duration
}

/// A request for a media playlist that is in progress.
struct PlaylistRequest: Sendable, Equatable {
    let number: Int
    let source: StreamSource
    let request: TransportRequest
    let began: Duration
    /// The source of segments until the playlist is loaded; `nil` to wait for the playlist.
    var substitute: Substitute?

    /// The source of the segments that are fetched until a playlist is loaded, and the earliest time to fetch them.
    struct Substitute: Sendable, Equatable {
        let source: StreamSource
        let earliest: Duration
    }

    static func == (left: PlaylistRequest, right: PlaylistRequest) -> Bool { left.number == right.number }
}

/// The first load of the playlist of a source.
enum PlaylistLoad: Sendable {
    case idle
    case loading(PlaylistRequest)
    /// The playlist is loaded, but cannot be aligned before that of the main track is loaded.
    case waitingForMainTrack(PlaylistRequest, MediaPlaylist)
}

/// The reloads of the playlist of a live stream.
struct PlaylistReloads: Sendable {
    var schedule = ReloadSchedule()
    /// The next reload; `nil` if none is due.
    private(set) var next: ReloadSchedule.Reload?
    /// The reload that is in progress, which may be that of a former source; `nil` if there is none.
    private(set) var inProgress: PlaylistRequest?
    /// The message of the error with which the last reload has failed; `nil` if it has not failed.
    var failure: String?

    /// Applies the decision of the schedule.
    mutating func apply(_ action: ReloadSchedule.Action?) {
        switch action {
        case .reload(let reload), .stuck(let reload): next = reload
        case .finish, .abandon, nil: next = nil
        }
    }

    /// Begins a reload.
    mutating func begin(_ request: PlaylistRequest) { inProgress = request }

    /// Ends the reload with the given number.
    ///
    /// - Returns: The request; `nil` if it is not in progress.
    mutating func end(_ number: Int) -> PlaylistRequest? {
        guard let request = inProgress, request.number == number else { return nil }
        inProgress = nil
        return request
    }
}

/// The transfer of a segment.
struct FetchJob: Sendable {
    let request: Int
    let segment: SegmentReference
    let source: StreamSource
    let began: Duration
    /// A Boolean value that indicates whether the segment is fetched only until the playlist of another variant is loaded.
    let isSubstitute: Bool
}

/// A segment that the pipeline is about to accept.
struct SegmentAppend: Sendable {
    let job: FetchJob
    let type: MediaType
    let variant: VariantDescription?
    let byteCount: Int
    let transferredBytes: ByteCount
    let transferDuration: Duration
    let isTrickPlay: Bool
}

/// A range without media that the pipeline is about to accept.
struct GapAppend: Sendable {
    let request: Int
    let range: MediaTimeRange
    /// The segment; `nil` for a range for which the playlist has no segment.
    let segment: SegmentIdentification?
    let type: MediaType
    let reason: SkippedSegment.Reason
    let isTrickPlay: Bool
    /// The error that caused the gap, which ends playback if there is no other media.
    let error: StreamingError?
}

/// The activity of a track.
enum FetchPhase: Sendable {
    case idle
    case transferring(FetchJob)
    /// The transfer is no longer needed, and is canceled with the next step.
    case obsolete(FetchJob)
    /// The transfer is being canceled; its bytes are still counted for the logs.
    case cancelling(FetchJob)
    case appending(SegmentAppend)
    case appendingGap(GapAppend)
}

/// The failures of a track since its last success.
struct TrackFailures: Sendable {
    var history = RecoveryPolicy.History()
    /// The error with which playback ends at the end of the buffer; `nil` while more media may follow.
    var terminalError: StreamingError?
    /// The sources that could not provide what is needed next, so that none is tried twice before the buffer grows.
    ///
    /// The times of the segments that failed do not matter: variants may have different segment boundaries and timelines.
    var tried: Set<StreamSource> = []
    /// The time before which nothing is fetched; `nil` for no delay.
    var retryTime: Duration?

    /// Resets the failures, so that everything is tried again.
    mutating func reset() {
        terminalError = nil
        history = RecoveryPolicy.History()
        retryTime = nil
    }

    /// Resets the failures that depend on the position, after a seek.
    mutating func resetForSeek() {
        reset()
        tried = []
    }

    /// Records that a segment was loaded and accepted.
    mutating func succeeded() {
        history = RecoveryPolicy.History()
        tried = []
    }
}

/// A track of the item: its source, its playlist, its buffer, and the work that is in progress.
struct TrackState: Sendable {
    /// The source of the next segments; `nil` if the track has no separate playlist.
    var source: StreamSource? {
        didSet { if source != oldValue { failures.terminalError = nil } }
    }
    /// The playlist that was loaded last, which may be that of a former source; `nil` if there is none.
    var playlist: LoadedPlaylist?
    var load = PlaylistLoad.idle
    var reloads = PlaylistReloads()
    var buffer = StreamBuffer()
    var failures = TrackFailures()
    var fetch = FetchPhase.idle
    /// A Boolean value that indicates whether the variant of the next segment was selected.
    var isVariantDecided = false
    /// The time at which the next step is decided again; `nil` to wait for a change.
    var nextStepTime: Duration?
    /// The time at which the current transfer is measured again; `nil` if it cannot be abandoned.
    var nextReviewTime: Duration?

    var timeline: PresentationTimeline? { playlist?.timeline }
    /// The source of the playlist that was loaded last.
    var playlistSource: StreamSource? { playlist?.source }

    /// The current transfer; `nil` if there is none.
    var job: FetchJob? {
        guard case .transferring(let job) = fetch else { return nil }
        return job
    }

    var isFetching: Bool { if case .idle = fetch { false } else { true } }
    var isLoadingPlaylist: Bool { if case .idle = load { false } else { true } }

    /// A Boolean value that indicates whether work is in progress that will end with an event.
    var hasWorkInProgress: Bool {
        if case .loading = load { return true }
        return isFetching || reloads.inProgress != nil
    }

    /// Marks the current transfer as no longer needed.
    mutating func abandonTransfer() {
        guard case .transferring(let job) = fetch else { return }
        fetch = .obsolete(job)
    }

    /// Changes the source of the track, and cancels the current transfer.
    mutating func change(to source: StreamSource?) {
        self.source = source
        abandonTransfer()
        failures.retryTime = nil
    }

    /// Cancels work that a seek does not need.
    mutating func seek(to target: MediaTime) {
        failures.resetForSeek()
        guard let job else { return }
        let needed = SegmentScheduler.loadedEnd(from: target, in: buffer.current)
        if !job.segment.range.contains(needed) { abandonTransfer() }
    }

    /// Returns whether all segments that the playlist lists up to an end are loaded.
    func isComplete(upTo end: MediaTime?) -> Bool {
        guard let timeline, let limit = timeline.isLive ? end : min(end ?? timeline.end, timeline.end) else {
            return false
        }
        guard let last = buffer.loaded.ranges.last?.end else { return timeline.range.isEmpty && !timeline.isLive }
        return last >= limit - MediaTime(value: 1, timescale: 10)
    }

    /// Returns whether no more media is fetched until some of the buffer is played.
    func isFull(at position: MediaTime, capacity: MediaTime, isBackward: Bool) -> Bool {
        guard let timeline else { return false }
        return SegmentScheduler(position: position, loaded: buffer.loaded, capacity: capacity, isReverse: isBackward)
            .isFull(in: timeline)
    }

    /// Returns the time since the last update of a live playlist, if it exceeds one and a half target durations; zero
    /// otherwise.
    func standstill(at now: Duration) -> Duration {
        guard let playlist, playlist.timeline.isLive else { return .zero }
        let age = now - playlist.lastUpdate
        return age > playlist.timeline.targetDuration.duration * 3 / 2 ? age : .zero
    }

    /// Returns the earliest time at which the track must act without another event.
    func nextDeadline(mayReload: Bool) -> Duration? {
        [nextStepTime, nextReviewTime, nextReload(mayReload: mayReload)?.time].compactMap(\.self).min()
    }

    /// Returns the reload that can begin as soon as its time is reached.
    func nextReload(mayReload: Bool) -> ReloadSchedule.Reload? {
        guard mayReload, source != nil, playlistSource == source, reloads.inProgress == nil else { return nil }
        return reloads.next
    }
}
