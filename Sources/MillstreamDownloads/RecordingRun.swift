import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization

/// One run of a recording: it follows the media playlists, and fetches each new segment once.
struct RecordingRun: Sendable {
    private let environment: RecordingEnvironment
    private let options: RecordingOptions
    private let tracks: [RecordingTrack]
    private let activity: RecordingActivity
    private let fetcher: RecordingFetcher

    /// The time after which a recording ends if a playlist cannot be loaded, or if no playlist has a new segment.
    private static let maximumFailureDuration = Duration.seconds(300)
    /// The number of target durations without a new segment after which a recording ends, if that is longer.
    private static let maximumStallTargets = 3
    /// The number of target durations without a new segment after which the stream counts as stalled, as for a player.
    private static let stallTargets = 2.5
    /// The minimum interval between two loads of a playlist.
    private static let minimumInterval = Duration.seconds(1)
    /// The maximum interval between two loads of a playlist, whatever its target duration is.
    private static let maximumInterval = Duration.seconds(120)
    /// The media time by which a track may end before the wanted duration: the segments of audio are not exactly as long as
    /// those of video, and another segment would end the track late by its duration.
    private static let durationTolerance = MediaTime(value: 1, timescale: 10)

    init(_ environment: RecordingEnvironment, options: RecordingOptions, tracks: [RecordingTrack]) {
        self.environment = environment
        self.options = options
        self.tracks = tracks
        activity = RecordingActivity(at: environment.time.now)
        fetcher = RecordingFetcher(environment, trackCount: tracks.count, activity: activity)
    }

    private var time: any TimeSource { environment.time }

    /// The indexes of the segments before which the renditions end, by the directories of the renditions, if the run has ended
    /// early; see ``RecordingFetcher/ends``.
    var ends: [String: Int] { fetcher.ends }

    /// Fetches files that are not stored, such as those of an earlier run; segments that are not available any more become gaps.
    func recover(_ missing: [[RecordingWriter.File]]) async throws {
        try await fetch(missing.map { files in files.map { RecordingRequest(file: $0, isLast: true) } })
    }

    /// Fetches files of each track.
    private func fetch(_ requests: [[RecordingRequest]]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (track, requests) in zip(tracks, requests) {
                group.addTask { try await fetcher.fetch(requests, of: track) }
            }
            // Unlike `waitForAll()`, an error ends the loop, and the group cancels the other tasks.
            for try await _ in group {}
        }
    }

    /// Records all media playlists until each of them has ended or has the wanted duration, and requests missing files again.
    ///
    /// - Throws: ``DownloadError`` if the stream has stalled for so long that the recording ends, after the requests in progress are
    ///   finished; any other error ends the recording at once.
    func follow() async throws {
        // The task is canceled at the end of this scope.
        async let _: Void = environment.download.reportProgress(
            environment.meter,
            of: environment.assetID,
            environment.report
        )
        let starts = startPositions()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (track, start) in zip(tracks, starts) {
                let (stream, continuation) = AsyncStream<RecordingRequest>.makeStream()
                group.addTask {
                    defer { continuation.finish() }
                    try await follow(track, startingAt: start) { continuation.yield($0) }
                }
                group.addTask {
                    try await fetcher.fetch(stream, continuation, of: track)
                    try await fetcher.fetchFailedFiles(of: track)
                }
            }
            // The first error ends the run. `waitForAll()` would wait for the other tasks, which follow a live playlist.
            for try await _ in group {}
        }
        if let error = activity.endError { throw error }
    }

    /// Returns the position in the first playlist of each track at which it begins.
    private func startPositions() -> [Int] {
        guard let leading = tracks.first else { return [] }
        let begins = options.startsFromBeginning || !leading.playlist.isLive
        let first = begins ? 0 : RecordingCursor.livePosition(in: leading.playlist)
        return tracks.map { track in
            begins ? 0 : RecordingCursor.position(in: track.playlist, with: (leading.playlist, first))
        }
    }

    // MARK: Playlists

    private func follow(
        _ track: RecordingTrack,
        startingAt start: Int,
        _ yield: (RecordingRequest) -> Void
    ) async throws {
        var cursor = RecordingCursor()
        var playlist = track.playlist
        var address = track.address
        var began = time.now
        var lastSuccess = began
        while true {
            // The start has no effect after a segment was recorded; a position other than 0 has segments.
            let hasNews = try await add(playlist, to: track, startingAt: start, &cursor, yield)
            if !playlist.isLive || hasReachedDuration(track) { return }
            try await fetcher.repeatRequests(of: track, in: playlist, yield)
            if hasNews {
                activity.addUpdate(at: time.now)
                fetcher.repeatSharedRequests(of: track, yield)
            } else {
                checkActivity(of: playlist, at: address)
            }
            if activity.endError != nil { return }
            var interval = Self.interval(of: playlist, hasNews: hasNews)
            while true {
                try await time.sleep(for: max(.zero, began + interval - time.now))
                // Another track may have found meanwhile that the stream has stalled.
                if activity.endError != nil { return }
                began = time.now
                do {
                    playlist = try await environment.resolver.playlists.reload(address, after: playlist)
                    lastSuccess = time.now
                    break
                } catch let error as DownloadError {
                    // A playlist that only grows does not become smaller; a sliding window can have had one wrong response.
                    let isFinal = error.code == .tooLarge && Self.onlyGrows(playlist, since: track.playlist)
                    guard !isFinal, time.now - lastSuccess < Self.maximumFailureDuration else { throw error }
                    if error.mayIndicateMove, let renewed = await fetcher.renewedPlaylist(of: track, after: address) {
                        (playlist, address) = renewed
                        lastSuccess = time.now
                        break
                    }
                    interval = Self.interval(of: playlist, hasNews: true)
                }
            }
        }
    }

    /// Returns a Boolean value that indicates whether no segment leaves a playlist, as far as its versions tell.
    ///
    /// - Parameters:
    ///   - playlist: The current version.
    ///   - first: The version that was loaded first.
    /// - Returns: The value; true for playlists of the type `EVENT` (RFC 8216bis §4.4.3.5).
    private static func onlyGrows(_ playlist: MediaPlaylist, since first: MediaPlaylist) -> Bool {
        playlist.playlistType == .event || playlist.mediaSequence == first.mediaSequence
    }

    /// Reports that the stream has stalled if no playlist has a new segment, and ends the recording if it has stalled for long.
    private func checkActivity(of playlist: MediaPlaylist, at address: ResourceAddress) {
        let target = Self.targetDuration(of: playlist)
        let idle = activity.idleTime(at: time.now)
        let error = DownloadError(
            TransportError(
                .timedOut,
                "the live playlist has had no new segment for \(idle.components.seconds) seconds",
                address: address
            )
        )
        guard idle < max(Self.maximumFailureDuration, target * Self.maximumStallTargets) else {
            return activity.end(error, at: time.now)
        }
        if idle >= target * Self.stallTargets, activity.reportsStall() { environment.report(.waiting(error)) }
    }

    /// Returns the interval between the beginnings of two loads (RFC 8216bis §6.3.4).
    static func interval(of playlist: MediaPlaylist, hasNews: Bool) -> Duration {
        let duration = targetDuration(of: playlist)
        return min(maximumInterval, max(minimumInterval, hasNews ? duration : duration / 2))
    }

    /// Returns the target duration of a playlist, at least a second; without one, it is the duration of the last segment.
    static func targetDuration(of playlist: MediaPlaylist) -> Duration {
        let target = playlist.targetDuration ?? playlist.segments.last?.duration ?? MediaTime(seconds: 2)
        return max(minimumInterval, target.duration)
    }

    private func hasReachedDuration(_ track: RecordingTrack) -> Bool {
        options.duration.map { track.writer.end + Self.durationTolerance >= $0 } ?? false
    }

    /// Adds the new segments of a playlist to the recording; returns whether there are any.
    private func add(
        _ playlist: MediaPlaylist,
        to track: RecordingTrack,
        startingAt start: Int,
        _ cursor: inout RecordingCursor,
        _ yield: (RecordingRequest) -> Void
    ) async throws -> Bool {
        guard !playlist.segments.isEmpty, !hasReachedDuration(track) else { return false }
        let writer = track.writer
        var step = cursor.step(to: playlist, after: writer.last, startingAt: start)
        guard !step.positions.isEmpty else {
            // The end of a break can be known without a new segment.
            if !playlist.dateRanges.isEmpty {
                try await supervised { try writer.updateDateRanges(of: playlist, supervision: $0) }
                reportOmission(of: writer)
            }
            return false
        }
        if let duration = options.duration {
            let before = step.gaps.reduce(writer.end) { $0 + $1 }
            let first = playlist.segments[step.positions.lowerBound].start
            let all = playlist.segments
            let last = step.positions.first {
                all.timeRange(at: $0).end - first + before + Self.durationTolerance >= duration
            }
            if let last { step.positions = step.positions.lowerBound..<(last + 1) }
        }
        let (adopted, added) = try await supervised { [step] supervision in
            let added = try writer.append(
                step.positions,
                of: playlist,
                gaps: step.gaps,
                hasDiscontinuity: step.hasDiscontinuity,
                supervision: supervision
            )
            return (writer.end, added)
        }
        reportOmission(of: writer)
        environment.meter.extend(writer.folder, to: adopted)
        let lostCount = step.lostCount +| added.unplayableCount
        if lostCount > 0 { environment.reportLoss(ofSegments: lostCount) }
        for file in added.files {
            fetcher.add(file, of: writer, in: playlist)
            yield(RecordingRequest(file: file))
        }
        return true
    }

    /// Runs an operation of a writer on another thread; it ends early if the task is canceled, or if the asset becomes too large.
    private func supervised<Value: Sendable>(
        _ body: @escaping @Sendable (RecordingWriter.Supervision) throws -> Value
    ) async throws -> Value {
        let isCanceled = Mutex(false)
        let supervision = RecordingWriter.Supervision(
            checkCancellation: { if isCanceled.withLock({ $0 }) { throw CancellationError() } },
            willStore: { [budget = environment.budget] in try budget.addBytes($0) }
        )
        return try await withTaskCancellationHandler {
            try await BlockingOperation.run { try body(supervision) }
        } onCancel: {
            isCanceled.withLock { $0 = true }
        }
    }

    private func reportOmission(of writer: RecordingWriter) {
        if writer.takeMetadataOmission() { environment.report(.metadataOmitted(id: environment.assetID)) }
    }
}

extension DownloadError {
    /// A Boolean value that indicates whether the playlist can have another URL in the multivariant playlist.
    fileprivate var mayIndicateMove: Bool {
        guard let status = (cause as? TransportError)?.status else { return false }
        return status == 404 || FailureCategory.mayIndicateExpiry(status: status)
    }
}
