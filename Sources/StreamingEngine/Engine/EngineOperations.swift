import HLSPlaylist
import MediaTiming
import MediaTransport
import NIOCore
import PlaybackReporting
import ResourceAddressing

/// The asynchronous work of an engine, separate from its state.
struct EngineOperations: Sendable {
    /// The address of the item.
    let source: ResourceAddress
    /// The kind of content at the address; `nil` to recognize it by its first bytes.
    let kind: SourceOpener.Kind?
    let fetch: ResourceFetcher
    let loader: SegmentLoader
    let pipeline: any MediaPipeline

    /// Performs work.
    ///
    /// - Parameters:
    ///   - work: The work.
    ///   - transfer: The transfer of a segment; `nil` if it was canceled before it began.
    /// - Returns: The event to deliver; `nil` if the work was canceled.
    func carryOut(_ work: EngineWork, _ transfer: SegmentTransfer?) async -> EngineEvent? {
        switch work {
        case .open: return await open()
        case .reopen(let request): return await reopen(request)
        case .loadSteeringManifest(let request, let address): return await loadSteeringManifest(request, at: address)
        case .indexFile(let head, let address, let length, let began):
            return await indexFile(head, at: address, length: length, began: began)
        case .loadPlaylist(let request, let resource, let variables):
            let response = await loadPlaylist(resource, variables: variables)
            return response.map { .playlistReceived(request: request, $0) }
        case .fetch(let request, let segment, let track):
            guard let transfer, let result = await load(segment, for: track, transfer) else { return nil }
            return .segmentReceived(request: request, result, transfer.watch.progress)
        case .append(let request, let piece): return .appended(request: request, await append(piece))
        case .pipeline(let command): return .pipelineFinished(await perform(command))
        case .closePipeline:
            await pipeline.close()
            return nil
        }
    }

    // MARK: Opening

    /// Loads the address of the item.
    ///
    /// - Returns: The event to deliver; `nil` if the task was canceled.
    func open() async -> EngineEvent? {
        await opening(since: fetch.time.now) { began in
            let (opened, request) = try await SourceOpener(fetch: fetch, kind: kind).open(source, &began)
            switch opened {
            case .playlist(let playlist, let address):
                let media: MediaPlaylist? = if case .media(let media) = playlist { media } else { nil }
                return .opened(.presentation(presentation(of: playlist), media: media, address), request)
            case .file(let head, let address, let length):
                return .opened(.file(head: head, address, length: length), request)
            }
        }
    }

    /// Loads the address of the item again.
    ///
    /// - Parameter number: The number of the request.
    /// - Returns: The event to deliver; `nil` if the task was canceled.
    func reopen(_ number: Int) async -> EngineEvent? {
        var began = fetch.time.now
        do {
            // A cache may still have the addresses that have expired.
            let opener = SourceOpener(fetch: fetch, kind: .playlist, bypassesCache: true)
            let (opened, request) = try await opener.open(source, &began)
            guard case .playlist(let playlist, _) = opened else {
                throw StreamingError(.unreadablePlaylist, "a playlist was expected, and a file came", address: source)
            }
            return .reopened(request: number, .success(presentation(of: playlist)), request)
        } catch {
            guard !Task.isCancelled else { return nil }
            let (failure, request) = failure(of: error, began: began)
            return .reopened(request: number, .failure(failure), request)
        }
    }

    /// Reads the index of a media file.
    ///
    /// - Parameters:
    ///   - head: The first bytes of the file.
    ///   - address: The address of the file.
    ///   - length: The length of the file; `nil` if it is unknown.
    ///   - began: The start of the first request for the item.
    /// - Returns: The event to deliver; `nil` if the task was canceled.
    func indexFile(
        _ head: [UInt8],
        at address: ResourceAddress,
        length: Int64?,
        began: Duration
    ) async -> EngineEvent? {
        await opening(since: began) { _ in
            let opener = MediaFileOpener(fetch: fetch, readsEarlierSubtitles: address.filePath != nil)
            let file = try await opener.open(head, at: address, length: length)
            await loader.limitSegments(ofFileAt: address)
            // A local file is read with its segments, so that they count as media.
            if address.filePath == nil, length == Int64(head.count) { await loader.keepFile(head, at: address) }
            return .fileIndexed(file, Presentation(file), address)
        }
    }

    private func presentation(of playlist: Playlist) -> Presentation {
        let pipeline = pipeline
        return Presentation(playlist, capabilities: PlaybackCapabilities { pipeline.canDecode([$0]) })
    }

    private func opening(
        since began: Duration,
        _ body: (_ began: inout Duration) async throws -> EngineEvent
    ) async -> EngineEvent? {
        var began = began
        do {
            return try await body(&began)
        } catch {
            // A transport may throw a `CancellationError` although the task was not canceled. That is reported as a
            // failure, because the state waits for an event.
            guard !Task.isCancelled else { return nil }
            let (failure, request) = failure(of: error, began: began)
            return .openingFailed(failure, request)
        }
    }

    /// Returns the error for the failure to load the address of the item, with the request if that was the cause.
    private func failure(of error: any Error, began: Duration) -> (StreamingError, ResourceRequest?) {
        switch error {
        case let error as TransportError:
            let request = TransportRequest(source, kind: .playlist)
            let failed = ResourceRequest(.multivariantPlaylist, request, began: began, now: fetch.time.now, error)
            return (StreamingError(error, "the playlist"), failed)
        case let error as StreamingError: return (error, nil)
        default: return (StreamingError(.notLoaded, "\(error)", cause: error), nil)
        }
    }

    // MARK: Steering

    /// Loads the steering manifest.
    ///
    /// A failed request is not repeated at once: the server determines when it is asked again (RFC 8216bis §7.2).
    ///
    /// - Returns: The event to deliver; `nil` if the task was canceled.
    func loadSteeringManifest(_ number: Int, at address: ResourceAddress) async -> EngineEvent? {
        // A cache may still have the manifest that has expired.
        let request = TransportRequest(address, kind: .other, headers: [HeaderField("Cache-Control", "no-cache")])
        let loader = ResourceLoader(fetch.loader.transport, policy: RecoveryPolicy(retries: 0), time: fetch.time)
        let began = fetch.time.now
        do {
            let fetched = try await ResourceFetcher(loader: loader, time: fetch.time)
                .load(request, limit: SteeringManifest.maximumSize)
            let made = ResourceRequest(.other, request, fetched)
            let bytes = Array(fetched.bytes.readableBytesView)
            do throws(StreamingError) {
                let manifest = try SteeringManifest(parsing: bytes, at: fetched.address)
                return .steeringManifestReceived(request: number, .success(manifest), made)
            } catch {
                return .steeringManifestReceived(request: number, .failure(error), made)
            }
        } catch {
            guard !Task.isCancelled else { return nil }
            let made = ResourceRequest(.other, request, began: began, now: fetch.time.now, error)
            let failure =
                (error as? TransportError).map { StreamingError($0, "the steering manifest") }
                ?? StreamingError(.notLoaded, "the steering manifest: \(error)", address: address, cause: error)
            return .steeringManifestReceived(request: number, .failure(failure), made)
        }
    }

    // MARK: Playlists

    /// Loads and parses a media playlist.
    ///
    /// - Returns: The response; `nil` if the task was canceled.
    func loadPlaylist(_ request: TransportRequest, variables: [String: String]) async -> PlaylistResponse? {
        var began = fetch.time.now
        let fetched: FetchedResource
        do {
            fetched = try await fetch.load(request, &began, limit: ResourceLoader.defaultSizeLimit)
        } catch {
            guard !Task.isCancelled else { return nil }
            guard let failure = error as? TransportError else {
                return PlaylistResponse(
                    request: nil,
                    result: .failure(StreamingError(.notLoaded, "\(error)", cause: error))
                )
            }
            let failed = ResourceRequest(.mediaPlaylist, request, began: began, now: fetch.time.now, failure)
            return PlaylistResponse(request: failed, result: .failure(StreamingError(failure, "a media playlist")))
        }
        guard let result = parse(fetched, variables, at: request.address) else { return nil }
        return PlaylistResponse(request: ResourceRequest(.mediaPlaylist, request, fetched), result: result)
    }

    /// Parses a media playlist.
    ///
    /// - Returns: The playlist or the error; `nil` if the task was canceled.
    private func parse(
        _ fetched: FetchedResource,
        _ variables: [String: String],
        at address: ResourceAddress
    ) -> Result<MediaPlaylist, StreamingError>? {
        var context = PlaylistContext(address: fetched.address, importableVariables: variables)
        context.mayNameFiles = fetched.mayNameFiles
        let bytes = Array(fetched.bytes.readableBytesView)
        guard let parsed = try? Playlist.parseUnlessCanceled(bytes, context: context) else { return nil }
        do {
            guard case .media(let playlist) = try parsed.get() else {
                let message = "a media playlist was expected, and a multivariant playlist came"
                return .failure(StreamingError(.unreadablePlaylist, message, address: address))
            }
            try Playlist.media(playlist).checkHeader()
            try playlist.checkImports()
            return .success(playlist)
        } catch {
            return .failure(StreamingError(.unreadablePlaylist, "\(error)", address: address, cause: error))
        }
    }

    // MARK: Segments

    /// Loads a segment, unless the transfer is canceled.
    ///
    /// - Returns: The result; `nil` if the transfer was canceled.
    func load(
        _ segment: SegmentReference,
        for track: TrackKind,
        _ transfer: SegmentTransfer
    ) async -> Result<SegmentLoader.Loaded, any Error>? {
        await withTaskGroup(of: Result<SegmentLoader.Loaded, any Error>?.self) { group in
            group.addTask {
                do {
                    return .success(try await loader.load(segment, for: track, monitor: transfer.watch))
                } catch {
                    return .failure(error)
                }
            }
            group.addTask {
                await transfer.cancellation.wait(after: 0)
                return nil
            }
            let first = await group.next() ?? nil
            group.cancelAll()
            return Task.isCancelled ? nil : first
        }
    }

    // MARK: Pipeline

    /// Appends media to the pipeline.
    func append(_ piece: PipelineSegment) async -> Result<MediaTimeRange, any Error> {
        do {
            return .success(try await pipeline.append(piece))
        } catch {
            return .failure(error)
        }
    }

    /// Performs a command of the pipeline.
    func perform(_ command: PipelineCommand) async -> PipelineResult {
        switch command {
        case .seek(let seek, let target, let tolerance):
            do {
                return .sought(seek: seek, .success(try await pipeline.seek(to: target, tolerance: tolerance)))
            } catch {
                return .sought(seek: seek, .failure(error))
            }
        case .setRate(let rate, let time):
            await pipeline.setRate(rate, at: time)
            return .rateSet
        case .step(let count, let waiter): return .stepped(landed: await pipeline.step(by: count), waiter: waiter)
        case .discard(let ranges):
            for discarded in ranges { await pipeline.discard(discarded.type, in: discarded.range) }
            return .done
        case .discardTrickPlay(let ranges):
            for discarded in ranges { await pipeline.discard(discarded.type, in: discarded.range) }
            return .trickPlayDiscarded
        case .selectCaptions(let channel):
            await pipeline.selectCaptions(channel)
            return .done
        case .selectTrack(let type, let track):
            await pipeline.selectTrack(track, of: type)
            return .done
        case .setAudioSettings(let settings):
            await pipeline.setAudio(settings)
            return .done
        }
    }
}

/// The observer of a transfer that is in progress, and the signal that cancels it.
struct SegmentTransfer: Sendable {
    let watch = TransferMonitor()
    /// Cancels the transfer.
    let cancellation = Broadcast()
}
