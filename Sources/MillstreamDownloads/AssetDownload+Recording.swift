import AssetStorage
import HLSPlaylist
import MediaTiming
import MediaTransport
import ResourceAddressing

extension AssetDownload {
    /// The interval between attempts to load a stream that is not available yet.
    private static let waitingInterval = Duration.seconds(10)

    /// Records the stream until it ends, the duration is reached, or the task is canceled.
    ///
    /// The asset is playable at any time. In all three cases, as well as after an error, its playlists are ended, unless the recording
    /// was interrupted while a key or an initialization section was missing: a later run requests it again.
    ///
    /// - Returns: The complete asset.
    /// - Throws: ``DownloadError``, with ``DownloadError/Code/otherSelection`` if an earlier run recorded another selection;
    ///   `CancellationError` when canceled.
    func record(_ options: RecordingOptions, _ report: @escaping @Sendable (Event) -> Void) async throws -> StoredAsset
    {
        try RecordedAsset.verify(configuration.selection, of: source, in: library)
        var resolver = resolver
        resolver.acceptsLive = true
        resolver.bypassesCache = true
        let resolution = try await resolveWhenAvailable(resolver, options, report)
        let (id, lock) = try createAsset()
        defer { withExtendedLifetime(lock) {} }
        let (writers, missing) = try await BlockingOperation.run { [library] in
            try library.beginRecording(
                of: id,
                source: resolution.playlist,
                at: resolution.address,
                renditions: resolution.renditions
            )
        }
        let asset = try library.asset(id)
        let meter = ProgressMeter(ProgressCounter(asset, recordingGoal: options.duration))
        let environment = RecordingEnvironment(
            download: self,
            assetID: id,
            resolver: resolver,
            meter: meter,
            budget: DownloadBudget(
                asset,
                in: library,
                configuration.limits,
                isRecording: true,
                playlistSize: writers.reduce(0) { $0 +| $1.formerByteCount }
            ),
            report: report
        )
        let run = RecordingRun(
            environment,
            options: options,
            tracks: zip(writers, resolution.renditions).map { RecordingTrack($0, $1) }
        )
        var failure: (any Error)?
        do {
            try await run.recover(missing)
            try await BlockingOperation.run { [library] in try library.publishRecording(id) }
            report(.resolved(id: id, meter.progress, folders: nil))
            try await run.follow()
        } catch {
            failure = error
        }
        report(.ended(id: id, meter.figures))
        // This is not done on another thread, because the thread pool would not run it after a cancellation.
        try? library.describeMedia(of: id)
        // After an error, a later run can still fetch keys that are missing.
        let end = Result { try library.endRecording(id, isComplete: failure == nil, endingBefore: run.ends) }
        if case .success((_, let lostCount)) = end, lostCount > 0 { environment.reportLoss(ofSegments: lostCount) }
        report(.progress(id: id, meter.progress))
        if let failure { throw failure }
        guard try end.get().hasMedia else {
            throw DownloadError(.notAPlaylist, "the stream ended before any of it was recorded", address: source)
        }
        let complete = try library.asset(id)
        let scheme = try await BlockingOperation.run { [library] in try ProtectedMedia.scheme(of: id, in: library) }
        if let scheme {
            throw DownloadError(
                .contentProtected,
                "the recording is stored, but its media is protected (\(scheme)) and its playlist named no key, so it cannot be played",
                hint: "delete it with: millstream library delete \(id)",
                address: source
            )
        }
        report(.completed(complete))
        return complete
    }

    /// Loads the playlists; if the options say so, waits until they are available and have segments.
    private func resolveWhenAvailable(
        _ resolver: DownloadResolver,
        _ options: RecordingOptions,
        _ report: @escaping @Sendable (Event) -> Void
    ) async throws -> DownloadResolver.Resolution {
        var hasReported = false
        while true {
            do {
                return try await resolver.resolve(source)
            } catch let error as DownloadError where options.waitsForStream && error.mayEndWhenStreamBegins {
                if !hasReported { report(.waiting(error)) }
                hasReported = true
                try await time.sleep(for: Self.waitingInterval)
            }
        }
    }
}

extension DownloadError {
    /// A Boolean value that indicates whether a stream that has not begun can be the cause of the error.
    fileprivate var mayEndWhenStreamBegins: Bool {
        if detail == Self.notBegun { return true }
        guard let error = cause as? TransportError else { return false }
        if let status = error.status { return [404, 410].contains(status) || status >= 500 }
        return [.cannotConnect, .connectionLost, .timedOut, .unknownHost, .fileNotFound].contains(error.code)
    }
}

/// A media playlist that is recorded.
struct RecordingTrack: Sendable {
    let writer: RecordingWriter
    /// The playlist that was loaded first, and the URL of its next version.
    let playlist: MediaPlaylist
    let address: ResourceAddress

    init(_ writer: RecordingWriter, _ rendition: PlannedRendition) {
        self.writer = writer
        playlist = rendition.playlist
        address = rendition.reloadAddress
    }

    func isRecording(_ rendition: PlannedRendition) -> Bool {
        writer.role == rendition.role && writer.position == rendition.position
    }
}
