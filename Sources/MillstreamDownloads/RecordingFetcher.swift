import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing

/// The fetching of the files of a recording, and the requests of files again that could not be fetched.
struct RecordingFetcher: Sendable {
    private let environment: RecordingEnvironment
    /// The number of tracks, which share the concurrent fetches of the download.
    private let trackCount: Int
    private let commits: CommitQueue
    private let limiter: RateLimiter?
    private let keys: RecordingKeys
    private let renewal = RecordingRenewal()
    private let failedFiles = FailedFiles()
    private let openSegments = OpenSegments()
    private let activity: RecordingActivity

    /// The number of keys and initialization sections that are requested again with each update of a playlist.
    private static let repeatedFetchCount = 2
    /// The times to wait before each of the last requests of segments that are missing when the recording ends.
    private static let finalDelays = [Duration.seconds(1), .seconds(2), .seconds(4)]
    /// The time after the end of a track within which its missing segments are requested a last time.
    private static let finalDuration = Duration.seconds(30)
    /// The maximum number of concurrent fetches of one media playlist.
    private static let maximumFetchCount = 4
    /// The number of target durations for which a missing segment is requested again: the local playlist has no segment after
    /// one that is missing, so that it does not wait for long.
    private static let repeatTargets = 3
    /// The minimum time for which a missing segment is requested again.
    private static let minimumRepeatDuration = Duration.seconds(15)

    init(_ environment: RecordingEnvironment, trackCount: Int, activity: RecordingActivity) {
        self.environment = environment
        self.activity = activity
        self.trackCount = trackCount
        commits = CommitQueue(environment.library)
        limiter = environment.download.makeLimiter()
        keys = RecordingKeys(of: environment.assetID, in: environment.library)
    }

    private var download: AssetDownload { environment.download }
    private var time: any TimeSource { environment.time }

    /// The indexes of the segments before which the renditions end, by the directories of the renditions, if the run has ended
    /// early.
    ///
    /// From there on, segments were not requested, or their requests were stopped by the end of the run; the server may have them.
    var ends: [String: Int] { openSegments.firstPositions }

    /// Adds a new file, which is going to be requested; a segment is one of those with which its key is checked.
    func add(_ file: RecordingWriter.File, of writer: RecordingWriter, in playlist: MediaPlaylist) {
        openSegments.insert(file)
        // The parts of segments in I-frame playlists have no padding of their own.
        guard file.isSegment, writer.role != .subtitles, writer.role != .iFrames,
            let segment = Self.segment(of: file, in: playlist)
        else { return }
        keys.add(file, segment)
    }

    /// Loads the source again, and returns the new playlist of a track and its URL; `nil` if it has none.
    ///
    /// - Parameters:
    ///   - track: The track.
    ///   - former: The URL of the playlist that does not work; `nil` if only the URLs of segments do not work.
    /// - Returns: The playlist and its URL.
    func renewedPlaylist(
        of track: RecordingTrack,
        after former: ResourceAddress?
    ) async -> (MediaPlaylist, ResourceAddress)? {
        await renewal.renew(track, after: former, environment.resolver, download.source)
    }

    // MARK: Repeated requests

    /// Requests a few keys and initialization sections again that could not be fetched.
    func repeatSharedRequests(of track: RecordingTrack, _ yield: (RecordingRequest) -> Void) {
        for file in failedFiles.take(Self.repeatedFetchCount, of: track.writer.folder) {
            yield(RecordingRequest(file: file))
        }
    }

    /// Requests segments again that could not be fetched, while the playlist lists them, and then a last time.
    func repeatRequests(
        of track: RecordingTrack,
        in playlist: MediaPlaylist,
        _ yield: (RecordingRequest) -> Void
    ) async throws {
        let folder = track.writer.folder
        let limit = Self.repeatDuration(of: playlist)
        let now = time.now
        // All that are requested a last time, because the local playlist waits for them, and a few of the others.
        let last = failedFiles.takeSegments(of: folder) { file, failureTime in
            now - failureTime >= limit || Self.segment(of: file, in: playlist) == nil
        }
        let others = failedFiles.takeSegments(Self.maximumFetchCount, of: folder) { _ in true }
        for (index, (file, _)) in (last + others).enumerated() {
            let listed = Self.segment(of: file, in: playlist)
            // After a restart of the origin, the number is that of another segment.
            let isSame = listed?.address.lastPathComponent == file.resource.address.lastPathComponent
            let moved = try await isSame ? moved(file, in: playlist, of: track) : nil
            yield(
                RecordingRequest(
                    file: moved ?? file,
                    isRepeated: true,
                    isLast: index < last.count
                )
            )
        }
    }

    /// Returns the time after the first failed request of a segment after which it is requested only once more.
    private static func repeatDuration(of playlist: MediaPlaylist) -> Duration {
        max(minimumRepeatDuration, RecordingRun.targetDuration(of: playlist) * repeatTargets)
    }

    /// Requests the files of a track that has ended again that could not be fetched so far; segments that stay missing become
    /// gaps.
    func fetchFailedFiles(of track: RecordingTrack) async throws {
        let folder = track.writer.folder
        let deadline = time.now + Self.finalDuration
        let limit = Self.repeatDuration(of: track.playlist)
        for (number, delay) in Self.finalDelays.enumerated() where failedFiles.hasSegments(of: folder) {
            try await time.sleep(for: delay)
            let isLast = number == Self.finalDelays.count - 1
            let now = time.now
            let requests = failedFiles.takeSegments(of: folder) { _ in true }.map { file, failureTime in
                // A segment that was requested for long has one more request.
                let isDue = now - failureTime >= limit
                return RecordingRequest(file: file, isRepeated: true, isLast: isLast || isDue, deadline: deadline)
            }
            try await fetch(requests, of: track)
        }
        // The segments are stored or gaps by now, so that only keys and initialization sections are left.
        let files = failedFiles.take(.max, of: folder)
        try await fetch(files.map { RecordingRequest(file: $0) }, of: track)
    }

    // MARK: Requests

    /// Fetches files of a track, which are known already.
    func fetch(_ requests: [RecordingRequest], of track: RecordingTrack) async throws {
        let (stream, continuation) = AsyncStream<RecordingRequest>.makeStream()
        for request in requests { continuation.yield(request) }
        continuation.finish()
        try await fetch(stream, continuation, of: track)
    }

    /// Fetches files, a few at a time, until the stream of them ends or a fetch throws an error.
    func fetch(
        _ requests: AsyncStream<RecordingRequest>,
        _ continuation: AsyncStream<RecordingRequest>.Continuation,
        of track: RecordingTrack
    ) async throws {
        let wantedCount = download.configuration.maximumConcurrentFetches
        let fetchCount = limiter?.fetchCount(atMost: wantedCount) ?? wantedCount
        let count = max(1, min(Self.maximumFetchCount, fetchCount.dividedSaturated(by: trackCount)))
        try await withThrowingTaskGroup(of: Void.self) { group in
            var running = 0
            for await request in requests {
                if running >= count {
                    try await group.next()
                    running -= 1
                }
                running += 1
                group.addTask(executorPreference: download.loader.transport.executor) {
                    do {
                        try await store(request, of: track)
                    } catch {
                        // The loop ends, although the next segment may not appear for long.
                        continuation.finish()
                        throw error
                    }
                }
            }
            for try await _ in group {}
        }
        // The stream of files ends early if the task is canceled.
        try Task.checkCancellation()
    }

    /// Fetches a file; a segment that is not available for the last request becomes a gap.
    private func store(_ request: RecordingRequest, of track: RecordingTrack) async throws {
        let (file, writer) = (request.file, track.writer)
        if let deadline = request.deadline, time.now >= deadline { return try await lose(file, of: writer) }
        // The recording ends before a segment that was never requested; a later recording can still add it.
        if file.isSegment, !request.isRepeated, !request.isLast, !activity.permitsRequest(at: time.now) { return }
        do {
            do {
                try await transfer(file).run()
            } catch let error as TransportError
                where file.isSegment && !request.isRepeated && error.mayIndicateMove
            {
                guard let (playlist, _) = await renewedPlaylist(of: track, after: nil),
                    let moved = try await moved(file, in: playlist, of: track)
                else { throw error }
                try await transfer(moved).run()
            }
            failedFiles.forget(file)
            openSegments.remove(file)
            try await BlockingOperation.run {
                try keys.check(after: file)
                if file.isSegment { try writer.settle(file.position) }
            }
        } catch is TransportError {
            // A request that was stopped by the end of the run has not failed.
            try Task.checkCancellation()
            // A missing key or initialization section is requested again with the next segments. If it stays missing, the
            // segments that need it are gaps at the end of the recording.
            guard file.isSegment, request.isLast else {
                openSegments.remove(file)
                return failedFiles.add(file, of: writer.folder, at: time.now)
            }
            try await lose(file, of: writer)
        }
    }

    /// Marks a segment as a gap.
    private func lose(_ file: RecordingWriter.File, of writer: RecordingWriter) async throws {
        // It is not an open segment: it has failed before, or is one of an earlier run.
        failedFiles.forget(file)
        keys.remove(file)
        try await BlockingOperation.run { try writer.markAsGap(file.position) }
        environment.reportLoss(ofSegments: 1)
    }

    /// Returns the segment of a file in a later version of its playlist; `nil` if it is not listed.
    private static func segment(of file: RecordingWriter.File, in playlist: MediaPlaylist) -> MediaSegment? {
        let index = file.sequence -| playlist.mediaSequence
        guard index >= 0, index < Int64(playlist.segments.count) else { return nil }
        let segment = playlist.segments[Int(index)]
        return segment.duration == file.resource.timeRange.duration ? segment : nil
    }

    /// Returns a file with its address in a later version of its playlist; `nil` if it is not listed at another one.
    private func moved(
        _ file: RecordingWriter.File,
        in playlist: MediaPlaylist,
        of track: RecordingTrack
    ) async throws -> RecordingWriter.File? {
        guard let segment = Self.segment(of: file, in: playlist), segment.address != file.resource.address else {
            return nil
        }
        return try await BlockingOperation.run { try track.writer.move(file, to: segment) }
    }

    private func transfer(_ file: RecordingWriter.File) -> FileTransfer {
        FileTransfer(
            resource: file.resource,
            assetID: environment.assetID,
            library: environment.library,
            loader: download.loader,
            commits: commits,
            meter: environment.meter,
            budget: environment.budget,
            limiter: limiter,
            // The server may no longer have the segment after a wait.
            yieldsToPlayback: false,
            time: time
        )
    }
}

extension TransportError {
    /// A Boolean value that indicates whether the resource can have another URL in playlists that are loaded again.
    fileprivate var mayIndicateMove: Bool { status.map { FailureCategory.mayIndicateExpiry(status: $0) } ?? false }
}
