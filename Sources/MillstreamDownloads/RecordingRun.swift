import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing
import Synchronization

/// One run of a recording: it follows the media playlists, and fetches each new segment once.
struct RecordingRun: Sendable {
    let download: AssetDownload
    let assetID: String
    let options: RecordingOptions
    let resolver: DownloadResolver
    let tracks: [RecordingTrack]
    let meter: ProgressMeter
    let budget: DownloadBudget
    let report: @Sendable (AssetDownload.Event) -> Void
    private let commits: CommitQueue
    private let limiter: RateLimiter?
    private let renewal = RecordingRenewal()
    private let activity: RecordingActivity
    private let failedFiles = FailedFiles()
    private let keys: RecordingKeys
    private let openSegments = OpenSegments()

    /// The time after which a recording ends if a playlist cannot be loaded, or if no playlist has a new segment.
    private static let maximumFailureDuration = Duration.seconds(300)
    /// The number of target durations without a new segment after which a recording ends, if that is longer.
    private static let maximumStallTargets = 3
    /// The number of target durations without a new segment after which the stream counts as stalled, as for a player.
    private static let stallTargets = 2.5
    /// The number of keys and initialization sections that are requested again with each update of a playlist.
    private static let repeatedFetchCount = 2
    /// The minimum interval between two loads of a playlist.
    private static let minimumInterval = Duration.seconds(1)
    /// The maximum interval between two loads of a playlist, whatever its target duration is.
    private static let maximumInterval = Duration.seconds(120)
    /// The times to wait before each of the last requests of segments that are missing when the recording ends.
    private static let finalDelays = [Duration.seconds(1), .seconds(2), .seconds(4)]
    /// The time after the end of a track within which its missing segments are requested a last time.
    private static let finalDuration = Duration.seconds(30)
    /// The maximum number of concurrent fetches of one media playlist.
    private static let maximumFetchCount = 4
    /// The number of target durations for which a missing segment is requested again: the local playlist has no segment after
    /// one that is missing, so that it does not wait for long.
    private static let repeatTargets = 3
    /// The media time by which a track may end before the wanted duration: the segments of audio are not exactly as long as
    /// those of video, and another segment would end the track late by its duration.
    private static let durationTolerance = MediaTime(value: 1, timescale: 10)
    /// The minimum time for which a missing segment is requested again.
    private static let minimumRepeatDuration = Duration.seconds(15)

    init(
        download: AssetDownload,
        assetID: String,
        options: RecordingOptions,
        resolver: DownloadResolver,
        tracks: [RecordingTrack],
        meter: ProgressMeter,
        budget: DownloadBudget,
        report: @escaping @Sendable (AssetDownload.Event) -> Void
    ) {
        self.download = download
        self.assetID = assetID
        self.options = options
        self.resolver = resolver
        self.tracks = tracks
        self.meter = meter
        self.budget = budget
        self.report = report
        commits = CommitQueue(download.library)
        activity = RecordingActivity(at: download.time.now)
        limiter = download.makeLimiter()
        keys = RecordingKeys(of: assetID, in: download.library)
    }

    private var time: any TimeSource { download.time }

    /// The indexes of the segments before which the renditions end, by the directories of the renditions, if the run has ended
    /// early.
    ///
    /// From there on, segments were not requested, or their requests were stopped by the end of the run; the server may have them.
    var ends: [String: Int] { openSegments.firstPositions }

    /// Fetches files that are not stored, such as those of an earlier run; segments that are not available any more become gaps.
    func recover(_ missing: [[RecordingWriter.File]]) async throws {
        try await fetch(missing.map { files in files.map { RecordingRequest(file: $0, isLast: true) } })
    }

    /// Requests the files of a track that has ended again that could not be fetched so far; segments that stay missing become
    /// gaps.
    private func fetchFailedFiles(of track: RecordingTrack) async throws {
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
        let files = failedFiles.take(.max, of: folder)
        try await fetch(files.map { RecordingRequest(file: $0, isLast: true) }, of: track)
    }

    /// Fetches files of each track.
    private func fetch(_ requests: [[RecordingRequest]]) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (track, requests) in zip(tracks, requests) {
                group.addTask { try await fetch(requests, of: track) }
            }
            // Unlike `waitForAll()`, an error ends the loop, and the group cancels the other tasks.
            for try await _ in group {}
        }
    }

    private func fetch(_ requests: [RecordingRequest], of track: RecordingTrack) async throws {
        let (stream, continuation) = AsyncStream<RecordingRequest>.makeStream()
        for request in requests { continuation.yield(request) }
        continuation.finish()
        try await fetch(stream, continuation, of: track)
    }

    /// Records all media playlists until each of them has ended or has the wanted duration, and requests missing files again.
    func follow() async throws {
        // The task is canceled at the end of this scope.
        async let _: Void = download.reportProgress(meter, of: assetID, report)
        let starts = startPositions()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (track, start) in zip(tracks, starts) {
                let (stream, continuation) = AsyncStream<RecordingRequest>.makeStream()
                group.addTask {
                    defer { continuation.finish() }
                    try await follow(track, startingAt: start) { continuation.yield($0) }
                }
                group.addTask {
                    try await fetch(stream, continuation, of: track)
                    try await fetchFailedFiles(of: track)
                }
            }
            // The first error ends the run. `waitForAll()` would wait for the other tasks, which follow a live playlist.
            for try await _ in group {}
        }
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
        var isFirst = true
        while true {
            let hasNews = try await add(playlist, to: track, startingAt: isFirst ? start : 0, &cursor, yield)
            isFirst = false
            if !playlist.isLive || hasReachedDuration(track) { return }
            try await repeatRequests(of: track, in: playlist, yield)
            if hasNews {
                activity.addUpdate(at: time.now)
                for file in failedFiles.take(Self.repeatedFetchCount, of: track.writer.folder) {
                    yield(RecordingRequest(file: file))
                }
            } else {
                try checkActivity(of: playlist, at: address)
            }
            var interval = Self.interval(of: playlist, hasNews: hasNews)
            while true {
                try await time.sleep(for: max(.zero, began + interval - time.now))
                began = time.now
                do {
                    playlist = try await resolver.playlists.reload(address, after: playlist)
                    lastSuccess = time.now
                    break
                } catch let error as DownloadError {
                    guard time.now - lastSuccess < Self.maximumFailureDuration else { throw error }
                    if error.mayIndicateMove, let renewed = await renewal.renew(track, after: address, resolver, source)
                    {
                        (playlist, address) = renewed
                        lastSuccess = time.now
                        break
                    }
                    interval = Self.interval(of: playlist, hasNews: true)
                }
            }
        }
    }

    private var source: ResourceAddress { download.source }

    /// Reports that the stream has stalled if no playlist has a new segment.
    ///
    /// - Throws: ``DownloadError`` if the stream has stalled for so long that the recording ends.
    private func checkActivity(of playlist: MediaPlaylist, at address: ResourceAddress) throws {
        let target = Self.targetDuration(of: playlist)
        let idle = activity.idleTime(at: time.now)
        let error = DownloadError(
            TransportError(
                .timedOut,
                "the live playlist has had no new segment for \(idle.components.seconds) seconds",
                address: address
            )
        )
        guard idle < max(Self.maximumFailureDuration, target * Self.maximumStallTargets) else { throw error }
        if idle >= target * Self.stallTargets, activity.reportsStall() { report(.waiting(error)) }
    }

    /// Returns the interval between the beginnings of two loads (RFC 8216bis §6.3.4).
    static func interval(of playlist: MediaPlaylist, hasNews: Bool) -> Duration {
        let duration = targetDuration(of: playlist)
        return min(maximumInterval, max(minimumInterval, hasNews ? duration : duration / 2))
    }

    private static func targetDuration(of playlist: MediaPlaylist) -> Duration {
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
        meter.extend(writer.folder, to: adopted)
        let lostCount = step.lostCount +| added.unplayableCount
        if lostCount > 0 { report(.lost(id: assetID, count: lostCount)) }
        for file in added.files {
            addToCheck(file, of: writer, in: playlist)
            openSegments.insert(file)
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
            willStore: { [budget] in try budget.addBytes($0) }
        )
        return try await withTaskCancellationHandler {
            try await onBlockingThread { try body(supervision) }
        } onCancel: {
            isCanceled.withLock { $0 = true }
        }
    }

    private func reportOmission(of writer: RecordingWriter) {
        if writer.takeMetadataOmission() { report(.metadataOmitted(id: assetID)) }
    }

    /// Adds a new segment to those with which its key is checked.
    private func addToCheck(_ file: RecordingWriter.File, of writer: RecordingWriter, in playlist: MediaPlaylist) {
        // The parts of segments in I-frame playlists have no padding of their own.
        guard file.isSegment, writer.role != .subtitles, writer.role != .iFrames,
            let segment = Self.segment(of: file, in: playlist)
        else { return }
        keys.add(file, segment)
    }

    /// Requests segments again that could not be fetched, while the playlist lists them, and then a last time.
    private func repeatRequests(
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
        max(minimumRepeatDuration, targetDuration(of: playlist) * repeatTargets)
    }

    // MARK: Files

    /// Fetches files, a few at a time, until the stream of them ends or a fetch throws an error.
    private func fetch(
        _ requests: AsyncStream<RecordingRequest>,
        _ continuation: AsyncStream<RecordingRequest>.Continuation,
        of track: RecordingTrack
    ) async throws {
        let wantedCount = download.configuration.maximumConcurrentFetches
        let fetchCount = limiter?.fetchCount(atMost: wantedCount) ?? wantedCount
        let count = max(1, min(Self.maximumFetchCount, fetchCount.dividedSaturated(by: tracks.count)))
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
        do {
            do {
                try await transfer(file).run()
            } catch let error as TransportError
                where file.isSegment && !request.isRepeated && error.mayIndicateMove
            {
                guard let (playlist, _) = await renewal.renew(track, after: nil, resolver, source),
                    let moved = try await moved(file, in: playlist, of: track)
                else { throw error }
                try await transfer(moved).run()
            }
            failedFiles.forget(file)
            openSegments.remove(file)
            try await onBlockingThread {
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
        failedFiles.forget(file)
        openSegments.remove(file)
        keys.remove(file)
        try await onBlockingThread { try writer.markAsGap(file.position) }
        report(.lost(id: assetID, count: 1))
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
        return try await onBlockingThread { try track.writer.move(file, to: segment) }
    }

    private func transfer(_ file: RecordingWriter.File) -> FileTransfer {
        FileTransfer(
            resource: file.resource,
            assetID: assetID,
            library: download.library,
            loader: download.loader,
            commits: commits,
            meter: meter,
            budget: budget,
            limiter: limiter,
            // The server may no longer have the segment after a wait.
            yieldsToPlayback: false,
            time: time
        )
    }

    private func onBlockingThread<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value
    {
        try await BlockingOperation.run(body)
    }
}

extension TransportError {
    /// A Boolean value that indicates whether the resource can have another URL in playlists that are loaded again.
    fileprivate var mayIndicateMove: Bool { status.map { FailureCategory.mayIndicateExpiry(status: $0) } ?? false }
}

extension DownloadError {
    /// A Boolean value that indicates whether the playlist can have another URL in the multivariant playlist.
    fileprivate var mayIndicateMove: Bool {
        guard let status = (cause as? TransportError)?.status else { return false }
        return status == 404 || FailureCategory.mayIndicateExpiry(status: status)
    }
}
